// Slips with which a test would pass whatever happens.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { start, Failure } from '@redeliver/testing';

const trigger = { type: 'queueTrigger', queueName: 'boxes' };
const pack = { functions: { Pack: { trigger, handler: 'fail' } } };
const ask = { functions: { Ask: { trigger: { type: 'httpTrigger', authLevel: 'anonymous' }, handler: () => ({ body: 'yes' }) } } };

const slips = [
  ['send, an option', (host) => host.send('boxes', 1, { visibilty: '30s' }), /options of send have no "visibilty"/],
  ['sendServiceBus, an option', (host) => host.sendServiceBus('parcels', 1, { messageID: 'm7' }), /have no "messageID"/],
  ['sendEvents, an option', (host) => host.sendEvents('hub', [1], { keys: 'a' }), /have no "keys"/],
  ['upload, an option', (host) => host.upload('labels/7', 'x', { contenttype: 'a/b' }), /have no "contenttype"/],
  ['request, an option', (host) => host.request('POST', '/api/Ask', { bdy: 1 }), /have no "bdy"/],
  ['failOutput, an option', (host) => host.failOutput('Pack', { time: 3 }), /have no "time"/],
  ['fault, a member', (host) => host.fault({ service: 'queue', time: 1 }), /have no "time"/],
  ['options that are none', (host) => host.send('boxes', 1, 30), /are an object, and not 30/],
  ['journal, a member', (host) => host.journal({ kidn: 'settled' }), /did you mean "kind"/],
  ['journal, a kind', (host) => host.journal({ kind: 'setled' }), /did you mean "settled"/],
  ['logs, a function', (host) => host.logs('Pak'), /did you mean "Pack"/],
  ['attempts of no name', (host) => host.attempts(''), /no function/],
  ['settled of no name', (host) => host.settled(''), /want the name of a function/],
  ['deadLettered of nothing', (host) => host.deadLettered('parcls'), /there is no Service Bus entity/],
  ['a start without a crash', (host) => host.startAgain(), /no crash was asked for/],
  ['no events', (host) => host.sendEvents('hub', []), /nothing would be sent/],
  ['a text as events', (host) => host.sendEvents('hub', 'abc'), /are a list/],
  ['no documents', (host) => host.write('shop/orders', []), /nothing would be sent/],
  ['a span without units', (host) => host.clock.advance({}), /a span of time is text/],
  ['a path without a slash', (host) => host.request('GET', 'api/Ask'), /begin with a slash/],
];

for (const [name, call, says] of slips) {
  test(name, async () => {
    const host = await start(pack);
    await assert.rejects(async () => call(host), says);
    await host.stop();
  });
}

test('options of start', async () => {
  await assert.rejects(() => start({ ...pack, sed: 7 }), /options of start have no "sed"/);
  await assert.rejects(() => start({ ...pack, timeout: 'soon' }), /has to be seconds/);
  await (await start({ ...pack, timeout: '30s' })).stop();
});

test('a host that has ended, or crashed, has no answer', async () => {
  const host = await start(ask);
  assert.equal((await host.request('GET', '/api/Ask')).text(), 'yes');
  assert.equal((await host.request('GET', '/api/nothing')).status, 404);
  await host.crash();
  await assert.rejects(() => host.request('GET', '/api/Ask'), /has crashed/);
  await host.stop();
  for (const call of [() => host.request('GET', '/api/Ask'), () => host.journal(), () => host.logs(), () => host.attempts(), () => host.idle()]) {
    await assert.rejects(call, /it has ended, or never was/);
  }
});

test('idle is not a policy without an end', async () => {
  const retry = { strategy: 'fixedDelay', maxRetryCount: -1, delayInterval: '01:00:00' };
  const host = await start({ functions: { Pack: { trigger, retry, handler: 'fail' } } });
  await host.send('boxes', 1);
  await assert.rejects(() => host.idle(), /something is still left to happen/);
  await host.stop();
});

test('a call that nobody awaits fails the end', async () => {
  let go;
  const held = new Promise((resolve) => { go = resolve; });
  const host = await start({ functions: { Pack: { trigger, handler: () => held } } });
  const sent = host.send('boxes', 1).catch(() => {});
  const stopped = host.stop();
  go();
  await assert.rejects(() => stopped, (error) => error instanceof Failure && /called, and not awaited: POST admin\/redeliver\/queues\/boxes\/messages/.test(error.message));
  await sent;
});

test('settings are those of the host that runs', async () => {
  const seen = [];
  const functions = { Pack: { trigger, handler: () => { seen.push(process.env.MODE); } } };
  process.env.MODE = 'mine';
  const first = await start({ functions, settings: { MODE: 'a' } });
  const second = await start({ functions, settings: { MODE: 'a' } });
  await first.stop();
  await second.send('boxes', 1);
  await assert.rejects(() => start({ functions, settings: { MODE: 'b' } }), /another host of this process/);
  await second.send('boxes', 1);
  await second.stop();
  assert.deepEqual([seen, process.env.MODE], [['a', 'a'], 'mine']);
});

test('the host after a program that was killed has another one', async () => {
  const host = await start(pack);
  process.kill(host.kit.child.pid, 'SIGKILL');
  await assert.rejects(() => host.idle(), { code: 'kit_ended' });
  await assert.rejects(() => host.stop(), { code: 'kit_ended' });
  const next = await start(pack);
  await next.send('boxes', 1);
  await next.poisoned('Pack');
  await next.stop();
});
