// Tells what a value is.
function shape(v) {
  if (v === null || v === undefined) return String(v);
  if (Buffer.isBuffer(v)) return `Buffer ${v.toString('hex')}`;
  if (Array.isArray(v)) return `[${v.map(shape).join(', ')}]`;
  if (typeof v === 'string') return `string ${v}`;
  if (typeof v !== 'object') return `${typeof v} ${v}`;
  if (v.method) return `request ${v.method}`;
  return `object ${Object.keys(v).filter((key) => key[0] !== '_' && v[key] !== null).join(',')}`;
}

exports.tell = async (context) => context.log(`shape: ${shape(context.bindings.item)}`);

exports.write = async (context) => { context.bindings.row = context.bindings.item; };
