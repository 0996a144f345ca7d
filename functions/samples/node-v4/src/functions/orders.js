// The orders app in the model that declares functions in code: orders come in over HTTP,
// wait in a queue, are processed, and leave an invoice to send. Some orders fail, which is
// the point:
//
//	cd functions/samples/node-v4 && npm install && redeliver start .
//	redeliver send queue orders '{"id":"7","fail":true}'
//
// The policy in host.json (4 retries) covers every function; SendInvoice has one of its
// own, which takes its place.
const { app, output } = require('@azure/functions');

const connection = 'AzureWebJobsStorage';
const orders = output.storageQueue({ queueName: 'orders', connection });
const invoices = output.storageQueue({ queueName: 'invoices', connection });

// Answers POST /api/orders and puts the order on the queue.
app.http('PlaceOrder', {
  route: 'orders', methods: ['POST'], authLevel: 'anonymous', extraOutputs: [orders],
  handler: async (request, context) => {
    const order = await request.json().catch(() => null);
    if (!order || !order.id) return { status: 400, body: 'want {"id":"..."}\n' }; // an answer, not a failure
    context.extraOutputs.set(orders, order);
    return { status: 202, body: `order ${order.id} accepted\n` };
  },
});

// Handles one order. An error is tried again by the policy, and after the last attempt by
// the queue.
app.storageQueue('ProcessOrder', {
  queueName: 'orders', connection, extraOutputs: [invoices],
  handler: async (order, context) => {
    const retry = context.retryContext; // undefined without a policy
    if (retry && retry.retryCount === retry.maxRetryCount) context.warn('last attempt of this delivery');
    if (order.fail || (retry && retry.retryCount < (order.flaky || 0))) throw new Error('payment service unavailable');
    context.log(`order ${order.id} processed`);
    context.extraOutputs.set(invoices, { order: order.id });
  },
});

app.storageQueue('SendInvoice', {
  queueName: 'invoices', connection,
  retry: { strategy: 'exponentialBackoff', maxRetryCount: 3, minimumInterval: { seconds: 2 }, maximumInterval: { minutes: 1 } },
  handler: async (invoice, context) => context.log(`invoice of order ${invoice.order} sent`),
});

app.timer('Heartbeat', {
  schedule: '0 */5 * * * *',
  handler: async (timer, context) => context.log(`still here, past due: ${timer.isPastDue}`),
});
