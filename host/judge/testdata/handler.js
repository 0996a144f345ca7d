// The handler of the apps in JavaScript, in both programming models: it adds what it is
// given to a file, and fails as often as the function's name says.
const fs = require('fs');

const failed = {};

// shown is a value as JSON that tells the types apart.
function shown(v) {
  if (v === undefined) return { undefined: true };
  if (v === null || typeof v === 'boolean' || typeof v === 'number' || typeof v === 'string') return v;
  if (Buffer.isBuffer(v)) return { Buffer: v.toString('base64') };
  if (v instanceof Uint8Array) return { Uint8Array: Buffer.from(v).toString('base64') };
  if (v instanceof Date) return { Date: v.toISOString() };
  if (v instanceof Map) return { Map: shown(Object.fromEntries(v)) };
  if (Array.isArray(v)) return v.map(shown);
  if (typeof v !== 'object') return { [typeof v]: String(v) };
  return Object.fromEntries(Object.entries(v).map(([key, value]) => [key, shown(value)]));
}

exports.called = function (name, data, metadata, retry) {
  if (retry) retry = { Count: retry.retryCount, Max: retry.maxRetryCount, Exception: retry.exception ? Object.keys(retry.exception).sort().join(' ') : null };
  fs.appendFileSync(process.env.JUDGE_GIVEN, JSON.stringify({ Function: name, Data: shown(data), Metadata: shown(metadata), Retry: shown(retry) }) + '\n');
  const times = name.match(/^Fails(\d*)/);
  if (!times) return;
  failed[name] = (failed[name] || 0) + 1;
  if (times[1] === '' || failed[name] <= Number(times[1])) throw new Error('boom');
  failed[name] = 0;
};
