const { app, input, output } = require('@azure/functions');
const { inspect } = require('util');
const show = (v) => inspect(v, { depth: 5, breakLength: Infinity, compact: true });

const blob = input.storageBlob({ path: 'in/{id}', connection: 'AzureWebJobsStorage', name: 'blob' });
const queue = output.storageQueue({ queueName: 'done', connection: 'AzureWebJobsStorage', name: 'queue' });

app.storageQueue('orders', {
  queueName: 'orders', connection: 'AzureWebJobsStorage', name: 'order', extraInputs: [blob], extraOutputs: [queue], return: output.storageQueue({ queueName: 'returned', connection: 'AzureWebJobsStorage' }),
  retry: { strategy: 'fixedDelay', maxRetryCount: -1, delayInterval: { milliseconds: 1500 } },
  handler: async (order, context) => {
    if (order.fail) throw new RangeError(order.fail);
    context.trace('trace'); context.debug('debug'); context.info('info'); context.log('log'); context.warn('warn'); context.error('error');
    context.extraOutputs.set(queue, { id: order.id });
    return show([order, context.extraInputs.get(blob), context.retryContext, context.triggerMetadata, context.functionName]);
  },
});
app.timer('timer', { schedule: '0 * * * * *', name: 'timer', retry: { strategy: 'fixedDelay', maxRetryCount: Number.MAX_SAFE_INTEGER, delayInterval: 1000 }, handler: (timer) => show(timer) });
app.serviceBusQueue('deferred', { queueName: 'orders', connection: 'Bus', name: 'message', cardinality: 'many', handler: (messages) => show(messages) });
app.http('web', {
  route: 'web/{id}', methods: ['GET', 'POST'], authLevel: 'anonymous', name: 'request',
  handler: async (request) => ({
    status: 201, headers: { 'x-a': 'b' }, cookies: [{ name: 'c', value: 'd e', path: '/' }, { name: 'f', value: 'g' }],
    body: show([request.method, request.url, request.params, request.query.get('q'), request.headers.get('x-h'), await request.text()]),
  }),
});
