import { app, type InvocationContext } from '@azure/functions';
import { carrier } from '../carrier.js';

const options = {
  queueName: 'parcels',
  connection: 'ServiceBusConnection',
  retry: { strategy: 'fixedDelay', maxRetryCount: 4, delayInterval: { seconds: 30 } },
  handler: async (order: unknown, context: InvocationContext): Promise<void> => {
    context.log('booking');
    await carrier.book(order as { id: number });
  },
}; // the types of the platform's library have no policy here, and its worker takes it

app.serviceBusQueue('Ship', options);
