import testing from './index.js';

export const { start, seeds, redeliver, Failure, KitError, KitTimeout, Host } = testing;
export default testing;
