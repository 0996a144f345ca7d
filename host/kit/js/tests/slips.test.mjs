// Slips with which a test would pass whatever happens.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { start, seeds, Failure } from '@redeliver/testing';

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
  ['options of null', (host) => host.sendServiceBus('parcels', 1, { session: null }), /session is null/],
  ['attempts of no name', (host) => host.attempts(''), /the function has to be a name, and is ""/],
  ['attempts of undefined', (host) => host.attempts(undefined), /the function is undefined: leave it out for all/],
  ['attempts of two', (host) => host.attempts('Pack', 'Ship'), /there are 2 names/],
  ['deliveries of undefined', (host) => host.deliveries(undefined), /the function has to be a name, and is undefined/],
  ['settled of no name', (host) => host.settled(''), /has to be a name/],
  ['settled of null', (host) => host.settled(null), /the function is null/],
  ['deadLettered of undefined', (host) => host.deadLettered(undefined), /the entity is undefined/],
  ['logs of undefined', (host) => host.logs(undefined), /the function is undefined/],
  ['explain of undefined', (host) => host.explain(undefined), /the message is undefined/],
  ['journal of undefined', (host) => host.journal(undefined), /the pattern is undefined/],
  ['journal, a member without a value', (host) => host.journal({ kind: 'settled', function: undefined }), /pattern\.function is undefined/],
  ['until, a member without a value', (host) => host.until({ kind: 'settled', function: undefined }), /until\.function is undefined/],
  ['expect nothing', (host) => host.expect({}), /it expects nothing/],
  ['expect undefined', (host) => host.expect(undefined), /then is undefined/],
  ['expect, a member without a value', (host) => host.expect({ functions: { Pack: { attempts: undefined } } }), /then\.functions\.Pack\.attempts is undefined/],
  ['expect, no number', (host) => host.expect({ functions: { Pack: { deliveries: [NaN] } } }), /then\.functions\.Pack\.deliveries\[0\] is NaN/],
  ['expect, a member that is none', (host) => host.expect({ functions: { Pack: { attempt: 0 } } }), /did you mean "attempts"/],
  ['fault, a member without a value', (host) => host.fault({ service: 'queue', entity: undefined }), /fault\.entity is undefined/],
  ['fault, no times', (host) => host.fault({ service: 'queue', operation: 'Put', times: 0 }), /times has to be a whole number from 1/],
  ['crashAt of nothing', (host) => host.crashAt(undefined, 'beforeSettle'), /the function has to be a name/],
  ['crashAt never', (host) => host.crashAt('Pack', 'beforeSettle', 0), /nth has to be a whole number from 1/],
  ['send to undefined', (host) => host.send(undefined, 1), /the queue has to be a name/],
  ['send nothing', (host) => host.send('boxes', undefined), /the body is undefined/],
  ['send no number', (host) => host.send('boxes', NaN), /the body is NaN/],
  ['upload nothing', (host) => host.upload('labels/7', undefined), /the body is undefined/],
  ['a property without a value', (host) => host.sendServiceBus('parcels', 1, { properties: { kind: undefined } }), /property kind is undefined/],
  ['a span below zero', (host) => host.clock.advance({ seconds: -1 }), /want numbers from 0/],
  ['a text below zero', (host) => host.clock.advance('-1s'), /below zero/],
  ['a span that is none', (host) => host.clock.advance({ seconds: undefined }), /want numbers from 0/],
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
  await assert.rejects(() => start({ ...pack, timeout: Infinity }), /has to be seconds/);
  await assert.rejects(() => start({ ...pack, seed: NaN }), /the seed has to be a whole number from 0, and is NaN/);
  await assert.rejects(() => start({ ...pack, seed: null }), /seed is null/);
  await assert.rejects(() => start({ functions: { Pack: { trigger, handler: undefined } } }), /functions\.Pack\.handler is undefined/);
  await assert.rejects(() => start({ ...pack, settings: { MODE: undefined } }), /settings\.MODE is undefined/);
  assert.throws(() => seeds(0), /the number of seeds has to be a whole number from 1/);
  assert.throws(() => seeds(3, NaN), /the first seed/);
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

test('a call that has ended, and that nobody has awaited, fails the end', async () => {
  const host = await start(pack);
  await host.clock.advance('1s');
  host.expect({ functions: { Pack: { attempts: 0 } } });
  host.attempts();
  await Promise.all([host.queue('boxes'), host.clock.now()]);
  await assert.rejects(() => host.stop(), (error) => error instanceof Failure && /called, and not awaited: expect, attempts$/.test(error.message));
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
