const { redeliver } = require('@redeliver/testing');

const pack = jest.fn();
const options = { functions: { Pack: { trigger: { type: 'queueTrigger', queueName: 'parcels' }, handler: pack } } };

test.each([1, 2, 3])('poison after five deliveries, %i', async (id) => {
  pack.mockReset().mockRejectedValue(new Error('no box'));
  const host = await redeliver.start(options);
  await host.send('parcels', { id });
  await host.poisoned('Pack');
  expect(pack).toHaveBeenCalledTimes(5);
  expect((await host.queue('parcels-poison'))[0].json()).toEqual({ id });
  await host.stop();
});

test('fake timers do not stop the kit', async () => {
  jest.useFakeTimers();
  const host = await redeliver.start({ functions: { Pack: { trigger: { type: 'queueTrigger', queueName: 'parcels' }, handler: 'succeed' } } });
  await host.send('parcels', 1);
  await host.completed('Pack');
  await host.stop();
  jest.useRealTimers();
});
