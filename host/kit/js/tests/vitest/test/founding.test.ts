import { expect, test, vi } from 'vitest';
import { redeliver } from '@redeliver/testing';
import { carrier } from '../src/carrier.js';
vi.mock('../src/carrier.js', () => ({ carrier: { book: vi.fn() } }));
const ship = () => import('../src/functions/ship.js'); // app.serviceBusQueue('Ship', …, 4 retries, 30 s)

test('50 attempts, then the dead-letter queue', async () => {
  vi.mocked(carrier.book).mockRejectedValue(new Error('carrier unavailable'));
  await using host = await redeliver.start({ import: ship });
  await host.sendServiceBus('parcels', { id: 7 }, { messageId: 'm7' });
  await host.deadLettered('parcels');
  expect(carrier.book).toHaveBeenCalledTimes(50);
  expect(await host.deliveries('Ship')).toEqual(Array(10).fill(5));
  const attempts = await host.attempts('Ship');
  expect(attempts.at(-1)).toMatchObject({ delivery: 10, attempt: 5, retryCount: 4, decision: 'exhausted' });
  const [dead] = await host.serviceBus('parcels/$DeadLetterQueue');
  expect(dead).toMatchObject({ id: 'm7', reason: 'MaxDeliveryCountExceeded' });
});

test('a queue message is poison after 5 deliveries', async () => {
  await using host = await redeliver.start({
    functions: { Pack: { trigger: { type: 'queueTrigger', queueName: 'parcels' }, handler: async () => { throw new Error('no box'); } } },
  });
  await host.send('parcels', { id: 7 });
  await host.poisoned('Pack');
  expect(await host.deliveries('Pack')).toEqual([1, 1, 1, 1, 1]);
  expect((await host.queue('parcels-poison'))[0].json()).toEqual({ id: 7 });
});

test('a crash between attempts begins the count anew', async () => {
  await using host = await redeliver.start({
    functions: { Pack: { trigger: { type: 'queueTrigger', queueName: 'parcels' },
      retry: { strategy: 'fixedDelay', maxRetryCount: 4, delayInterval: '00:00:30' }, handler: 'fail' } },
  });
  await host.crashAt('Pack', 'betweenAttempts', 3);
  await host.send('parcels', { id: 7 });
  await host.startAgain();
  await host.poisoned('Pack');
  expect(await host.deliveries('Pack')).toEqual([3, 5, 5, 5, 5]);
});
