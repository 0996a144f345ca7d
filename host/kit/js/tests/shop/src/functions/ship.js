const { app } = require('@azure/functions');
const { carrier } = require('../carrier');

app.serviceBusQueue('Ship', {
  queueName: 'parcels',
  connection: 'ServiceBusConnection',
  retry: { strategy: 'fixedDelay', maxRetryCount: 4, delayInterval: { seconds: 30 } },
  handler: async (order, context) => {
    context.log(`booking ${order.id}, retry ${context.retryContext ? context.retryContext.retryCount : 0}`);
    await carrier.book(order);
  },
});
