// The types of index.d.ts, for ES modules.
import { redeliver, seeds, start } from './index.js';

export * from './index.js';

declare const testing: { start: typeof start; seeds: typeof seeds; redeliver: typeof redeliver };
export default testing;
