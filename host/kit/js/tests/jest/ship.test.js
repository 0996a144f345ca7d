const { redeliver } = require('@redeliver/testing');
const { carrier } = require('../shop/src/carrier');

jest.mock('../shop/src/carrier', () => ({ carrier: { book: jest.fn() } }));

test('50 attempts, then the dead-letter queue', async () => {
  carrier.book.mockRejectedValue(new Error('carrier unavailable'));
  const host = await redeliver.start({ app: `${__dirname}/../shop`, import: async () => require('../shop/src/functions/ship') });
  await host.sendServiceBus('parcels', { id: 7 }, { messageId: 'm7' });
  await host.deadLettered('parcels');
  expect(carrier.book).toHaveBeenCalledTimes(50);
  expect(await host.deliveries('Ship')).toEqual(Array(10).fill(5));
  await expect(host.poisoned('Ship')).rejects.toThrow(/again with REDELIVER_SEED=1 npx jest \S*ship\.test\.js'? -t '\^50 attempts, then the dead-letter queue\$'$/);
  await host.stop();
});
