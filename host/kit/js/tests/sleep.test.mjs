// Handlers that sleep by the clock of their host.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { start } from '@redeliver/testing';

const boxes = { type: 'queueTrigger', queueName: 'boxes' };

/** A host with a handler that has its clock. */
async function napping(handler, more) {
  const holder = {};
  const host = await start({ functions: { Nap: { trigger: boxes, handler: (item, context) => handler(holder.clock, item, context) } }, host: { functionTimeout: '-1' }, ...more });
  holder.clock = host.clock;
  return host;
}

test('a handler sleeps in virtual time', async () => {
  const host = await napping(async (clock, item, context) => {
    context.log('before');
    await clock.sleep('15m');
    context.log('between');
    await clock.sleep({ minutes: 5 });
    await clock.sleep(1500);
    await clock.sleep('1.00:00:00.5');
  });
  const begin = await host.clock.now();
  await host.send('boxes', '1');
  const { time } = await host.completed('Nap');
  assert.equal(new Date(time) - begin, 20 * 60_000 + 1500 + 86_400_500);
  assert.deepEqual((await host.journal({ kind: 'handler_log' })).map((r) => new Date(r.time) - begin), [0, 15 * 60_000]);
  await host.stop();
});

test('several sleeps of one handler, and one that is cancelled', async () => {
  const woken = [];
  const host = await napping(async (clock) => {
    const other = new AbortController();
    const late = clock.sleep('9h', { signal: other.signal }).catch((error) => woken.push(error.name));
    await Promise.all([
      clock.sleep('2m').then(() => woken.push('2m')),
      clock.sleep('1m').then(() => clock.sleep('90s')).then(() => woken.push('2m30s')),
      clock.sleep('1m').then(() => woken.push('1m')),
    ]);
    other.abort();
    await late;
    await assert.rejects(() => clock.sleep('1m', { signal: AbortSignal.abort() }), { name: 'AbortError' });
    await Promise.race([clock.sleep('1m'), clock.sleep('7h')]); // the loser is nobody's
  });
  const begin = await host.clock.now();
  await host.send('boxes', '1');
  const { time } = await host.completed('Nap');
  assert.deepEqual(woken, ['1m', '2m', '2m30s', 'AbortError']);
  assert.equal(new Date(time) - begin, 210_000);
  await host.stop();
});

test('a sleep ends with its invocation', async () => {
  const seen = [];
  const host = await napping(async (clock) => {
    await clock.sleep('2h').catch((error) => { seen.push(error.name); throw error; });
  }, { host: { functionTimeout: '00:30:00' } });
  await host.send('boxes', '1');
  await host.settled('Nap');
  assert.deepEqual(seen, ['AbortError']);
  assert.equal((await host.attempts('Nap'))[0].status, 'timed_out');
  await host.stop();
});

test('a sleep beside handlers is a tick', async () => {
  const host = await napping(async () => {});
  let ticked = false;
  const tick = host.clock.sleep('1h').then(() => { ticked = true; });
  await host.send('boxes', '1');
  await host.completed('Nap'); // nothing moves time for a tick
  assert.equal(ticked, false);
  while (!ticked) await host.clock.advance('2h'); // it may come after a call that moves time
  await tick;
  await assert.rejects(() => host.clock.sleep('soon'), TypeError);
  await assert.rejects(() => host.clock.sleep(), TypeError);
  await host.stop();
});

test('journals are equal, however long handlers take between sleeps', async () => {
  const journals = new Set();
  for (let run = 0; run < 5; run++) {
    const host = await napping(async (clock, item, context) => {
      for (let i = 0; i < 3; i++) {
        await new Promise((resolve) => { setTimeout(resolve, (run * 7 + i * 3 + Number(item)) % 4); });
        context.log(`round ${i}`);
        await clock.sleep(`${item}m`);
      }
    }, { seed: 7 });
    await host.send('boxes', '1');
    await host.send('boxes', '2');
    await host.idle();
    journals.add(JSON.stringify(await host.journal()));
    await host.stop();
  }
  assert.equal(journals.size, 1);
});
