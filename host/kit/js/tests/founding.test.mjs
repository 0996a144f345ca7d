import { test, mock } from 'node:test';
import assert from 'node:assert/strict';
import { redeliver } from '@redeliver/testing';
import carrierModule from './shop/src/carrier.js';

const { carrier } = carrierModule;
const ship = () => import('./shop/src/functions/ship.js'); // app.serviceBusQueue('Ship', …, 4 retries, 30 s)
const app = new URL('./shop', import.meta.url);

test('50 attempts, then the dead-letter queue', async () => {
  const book = mock.method(carrier, 'book', async () => { throw new Error('carrier unavailable'); });
  const host = await redeliver.start({ app, import: ship });
  await host.sendServiceBus('parcels', { id: 7 }, { messageId: 'm7' });
  await host.deadLettered('parcels');
  assert.equal(book.mock.callCount(), 50);
  assert.deepEqual(await host.deliveries('Ship'), Array(10).fill(5));
  const last = (await host.attempts('Ship')).at(-1);
  assert.deepEqual([last.delivery, last.attempt, last.retryCount, last.decision], [10, 5, 4, 'exhausted']);
  const [dead] = await host.serviceBus('parcels/$DeadLetterQueue');
  assert.deepEqual([dead.id, dead.reason], ['m7', 'MaxDeliveryCountExceeded']);
  await host.stop();
});

test('a queue message is poison after 5 deliveries', async () => {
  const host = await redeliver.start({
    functions: { Pack: { trigger: { type: 'queueTrigger', queueName: 'parcels' }, handler: async () => { throw new Error('no box'); } } },
  });
  await host.send('parcels', { id: 7 });
  await host.poisoned('Pack');
  assert.deepEqual(await host.deliveries('Pack'), [1, 1, 1, 1, 1]);
  assert.deepEqual((await host.queue('parcels-poison'))[0].json(), { id: 7 });
  await host.stop();
});

test('a crash between attempts begins the count anew', async () => {
  const host = await redeliver.start({
    functions: { Pack: { trigger: { type: 'queueTrigger', queueName: 'parcels' },
      retry: { strategy: 'fixedDelay', maxRetryCount: 4, delayInterval: '00:00:30' }, handler: 'fail' } },
  });
  await host.crashAt('Pack', 'betweenAttempts', 3);
  await host.send('parcels', { id: 7 });
  await host.startAgain();
  await host.poisoned('Pack');
  assert.deepEqual(await host.deliveries('Pack'), [3, 5, 5, 5, 5]);
  await host.stop();
});
