const { app, input, output } = require('@azure/functions');

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

const triggers = {
  queueTrigger: 'storageQueue', blobTrigger: 'storageBlob', eventHubTrigger: 'eventHub', cosmosDBTrigger: 'cosmosDB',
  eventGridTrigger: 'eventGrid', timerTrigger: 'timer', httpTrigger: 'http',
};

const inputs = { blob: 'storageBlob', cosmosDB: 'cosmosDB', table: 'table' };

for (const { name, item, on, out } of require('./shapes.json')) {
  const { type, ...options } = on ?? item;
  const extra = on && input[inputs[item.type]](item);
  const row = out && output.table(out);
  const handler = async (given, context) => {
    if (row) context.extraOutputs.set(row, given);
    else context.log(`shape: ${shape(extra ? context.extraInputs.get(extra) : given)}`);
  };
  const register = triggers[type] ?? (options.topicName ? 'serviceBusTopic' : 'serviceBusQueue');
  app[register](name, { ...options, extraInputs: extra ? [extra] : [], extraOutputs: row ? [row] : [], handler });
}
