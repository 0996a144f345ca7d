export const a = await Promise.resolve(1); export const run = async () => ({ out: `awaited ${a}` });
