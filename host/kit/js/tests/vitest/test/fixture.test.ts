import { expect, vi } from 'vitest';
import { test as base } from '@redeliver/testing/vitest';
import { carrier } from '../src/carrier.js';

vi.mock('../src/carrier.js', () => ({ carrier: { book: vi.fn() } }));

const test = base.extend({
  hostOptions: { import: () => import('../src/functions/ship.js') },
});

test.for([1, 2, 3])('a host of its own, %i', async (n, { host }) => {
  vi.mocked(carrier.book).mockReset().mockRejectedValue(new Error('carrier unavailable'));
  await host.sendServiceBus('parcels', { id: n }, { messageId: `m${n}` });
  await host.deadLettered('parcels');
  expect(await host.deliveries('Ship')).toEqual(Array(10).fill(5));
  expect(carrier.book).toHaveBeenCalledTimes(50);
});

base.extend({ hostOptions: { functions: { Pack: { trigger: { type: 'queueTrigger', queueName: 'boxes' }, handler: 'succeed' } } } })(
  'options of a test',
  async ({ host }) => {
    await host.send('boxes', 1);
    expect((await host.completed('Pack')).decision).toBe('deleted');
  },
);
