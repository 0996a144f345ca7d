const { app } = require('@azure/functions');

// Fails until the last retry, and says what it knows of the attempts before.
async function working(item, context) {
  const { retryCount, maxRetryCount, exception } = context.retryContext;
  const before = /attempt \d+ fails/.exec(exception ? exception.message : '');
  const text = `attempt ${retryCount + 1} fails; retry ${retryCount} of ${maxRetryCount}; before: ${before ? before[0] : 'nothing'}`;
  if (retryCount < maxRetryCount) throw new Error(text);
  return undefined;
}

const policies = {
  Fixed: { strategy: 'fixedDelay', maxRetryCount: 4, delayInterval: { seconds: 10 } },
  Exponential: { strategy: 'exponentialBackoff', maxRetryCount: 5, minimumInterval: { seconds: 10 }, maximumInterval: { minutes: 15 } },
};

for (const [name, retry] of Object.entries(policies)) {
  const queueName = name.toLowerCase();
  app.storageQueue(`${name}Queue`, { queueName, connection: 'AzureWebJobsStorage', retry, handler: working });
  app.serviceBusQueue(`${name}ServiceBus`, { queueName, connection: 'AzureWebJobsServiceBus', retry, handler: working });
  app.http(`${name}Http`, { methods: ['GET'], authLevel: 'anonymous', retry, handler: working });
}

// What is wrong with it is wrong in each attempt.
app.http('Literal', {
  methods: ['GET'], authLevel: 'anonymous', retry: policies.Fixed,
  handler: async (request, context) => context.nothing(`retry ${context.retryContext.retryCount}`),
});
