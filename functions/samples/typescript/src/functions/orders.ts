// The orders app in TypeScript: orders come in over HTTP, wait in a queue, are processed,
// and leave an invoice to send. Some orders fail, which is the point. See README.md.
//
// The policy in host.json (4 retries) covers every function; SendInvoice has one of its
// own, which takes its place.
import { app, HttpRequest, HttpResponseInit, InvocationContext, output, Timer, trigger } from '@azure/functions';

interface Order {
  id: string;
  fail?: boolean; // makes every attempt fail
  flaky?: number; // makes that many attempts of a delivery fail
}

interface Invoice {
  order: string;
}

const connection = 'AzureWebJobsStorage';
const orders = output.storageQueue({ queueName: 'orders', connection });
const invoices = output.storageQueue({ queueName: 'invoices', connection });

// Answers POST /api/orders and puts the order on the queue.
app.http('PlaceOrder', {
  route: 'orders', methods: ['POST'], authLevel: 'anonymous', extraOutputs: [orders],
  handler: async (request: HttpRequest, context: InvocationContext): Promise<HttpResponseInit> => {
    const order = (await request.json().catch(() => null)) as Order | null;
    if (!order?.id) return { status: 400, body: 'want {"id":"..."}\n' }; // an answer, not a failure
    context.extraOutputs.set(orders, order);
    return { status: 202, body: `order ${order.id} accepted\n` };
  },
});

// Handles one order. An error is tried again by the policy, and after the last attempt by
// the queue.
app.storageQueue('ProcessOrder', {
  queueName: 'orders', connection, extraOutputs: [invoices],
  handler: async (message: unknown, context: InvocationContext): Promise<void> => {
    const order = message as Order;
    const retry = context.retryContext; // undefined without a policy
    if (retry && retry.retryCount === retry.maxRetryCount) context.warn('last attempt of this delivery');
    if (order.fail || (retry && retry.retryCount < (order.flaky ?? 0))) throw new Error('payment service unavailable');
    context.log(`order ${order.id} processed`);
    context.extraOutputs.set(invoices, { order: order.id });
  },
});

// The types of the package let a queue function have a policy by app.generic only.
app.generic('SendInvoice', {
  trigger: trigger.storageQueue({ queueName: 'invoices', connection }),
  retry: { strategy: 'exponentialBackoff', maxRetryCount: 3, minimumInterval: { seconds: 2 }, maximumInterval: { minutes: 1 } },
  handler: async (message: unknown, context: InvocationContext): Promise<void> => context.log(`invoice of order ${(message as Invoice).order} sent`),
});

app.timer('Heartbeat', {
  schedule: '0 */5 * * * *',
  handler: async (timer: Timer, context: InvocationContext): Promise<void> => context.log(`still here, past due: ${timer.isPastDue}`),
});
