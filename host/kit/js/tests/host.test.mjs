// Every call of a host, and how handlers of the test's process run.
import { fileURLToPath } from 'node:url';
import { test, mock } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import testing, { redeliver, start, seeds, Failure, KitError, KitTimeout, Host } from '@redeliver/testing';

const boxes = { type: 'queueTrigger', queueName: 'boxes' };
const pack = (handler, more) => ({ functions: { Pack: { trigger: boxes, handler, ...more } } });

/** Runs a test with a host, and ends that. */
async function on(options, run) {
  const host = await start(options);
  try {
    await run(host);
  } catch (error) {
    await host.stop().catch(() => {});
    throw error;
  }
  await host.stop();
}

test('exports', () => {
  assert.equal(testing.start, redeliver.start);
  assert.deepEqual(seeds(3), [1, 2, 3]);
});

test('handlers have the item and a context', () => on(pack(async (box, context) => {
  context.log(`packing ${box.id}`);
  assert.equal(context.functionName, 'Pack');
}), async (host) => {
  assert.ok(host instanceof Host);
  await host.send('boxes', { id: 7 });
  assert.equal((await host.completed('Pack')).decision, 'deleted');
  assert.deepEqual(await host.logs('Pack'), ['information: packing 7']);
  assert.match(await host.explain(), /attempt 1/);
}));

test('the clock moves when it is told to, and not while a handler runs', () => on(pack(() => new Promise((resolve) => { setTimeout(resolve, 50); })), async (host) => {
  const begin = await host.clock.now();
  await host.send('boxes', '1');
  await host.settled();
  assert.deepEqual(await host.clock.now(), begin);
  assert.equal(await host.clock.advance('30s') - begin, 30_000);
  assert.equal(await host.clock.advance({ minutes: 1 }) - begin, 90_000);
  assert.equal(await host.clock.jump('1h') - begin, 3_690_000);
  await host.clock.next();
  await host.idle();
  await assert.rejects(() => host.clock.advance(30), TypeError);
}));

test('journals are equal, whatever real time handlers take', async () => {
  const journals = new Set();
  for (const nap of [0, 1, 2]) {
    const handler = () => new Promise((_, reject) => { setTimeout(() => reject(new Error('no box')), nap); });
    await on({ ...pack(handler), seed: 7 }, async (host) => {
      for (const id of [1, 2, 3]) await host.send('boxes', { id });
      await host.poisoned();
      journals.add(JSON.stringify(await host.journal()));
    });
  }
  assert.equal(journals.size, 1);
});

test('services', async () => {
  const scripted = (trigger, more) => ({ functions: { Pack: { trigger, handler: 'succeed' } }, ...more });
  await on(scripted({ type: 'serviceBusTrigger', topicName: 'orders', subscriptionName: 'all' }), async (host) => {
    assert.equal(await host.sendServiceBus('orders', '1', { messageId: 'm1', properties: { a: 'b' } }), 'm1');
    await host.completed('Pack');
    assert.deepEqual(await host.serviceBus('orders/all'), []);
  });
  await on(scripted({ type: 'eventHubTrigger', eventHubName: 'telemetry' }), async (host) => {
    await host.sendEvents('telemetry', [{ n: 1 }, { n: 2 }], { key: 'a' });
    await host.checkpointed('Pack');
  });
  const topics = { redeliver: { eventGrid: { topics: [{ name: 'orders', subscriptions: [{ name: 'pack', function: 'Pack' }] }] } } };
  await on(scripted({ type: 'eventGridTrigger' }, { host: topics }), async (host) => {
    assert.deepEqual(await host.publish('orders', { id: 'e1', eventType: 'Order', subject: 's', eventTime: '2030-01-01T00:00:00Z', data: {}, dataVersion: '1' }), ['e1']);
    await host.settled('Pack');
  });
  await on(scripted({ type: 'blobTrigger', path: 'labels/{name}' }), async (host) => {
    await host.upload('labels/7.txt', 'label', { contentType: 'text/plain' });
    await host.settled('Pack');
    assert.equal(Buffer.from(await host.blob('labels/7.txt')).toString(), 'label');
  });
  await on(scripted({ type: 'cosmosDBTrigger', databaseName: 'shop', containerName: 'orders', createLeaseContainerIfNotExists: true, startFromBeginning: true }), async (host) => {
    assert.deepEqual(await host.write('shop/orders', { id: '7' }), ['7']);
    await host.settled('Pack');
    assert.equal((await host.documents('shop/orders'))[0].id, '7');
  });
});

test('requests and calls', async () => {
  const orders = { trigger: { type: 'httpTrigger', route: 'orders/{id}', methods: ['post'], authLevel: 'anonymous' }, handler: () => ({ status: 201, jsonBody: { id: 7 } }) };
  await on({ functions: { Orders: orders } }, async (host) => {
    const answer = await host.request('POST', '/api/orders/7', { body: { id: 7 }, headers: { 'x-own': '1' } });
    assert.deepEqual([answer.status, answer.json()], [201, { id: 7 }]);
    assert.equal((await host.request('POST', '/api/nothing')).status, 404);
  });
  await on(pack('succeed'), async (host) => assert.equal((await host.call('Pack', '1')).succeeded, true));
});

test('what fails on demand', async () => {
  const notice = { type: 'signalR', direction: 'out', name: 'notice', hubName: 'orders' };
  await on(pack({ outputs: { notice: { target: 'packed' } } }, { bindings: [notice] }), async (host) => {
    await host.failOutput('Pack', { times: 1 });
    await host.send('boxes', '1');
    await host.completed('Pack');
    assert.deepEqual((await host.attempts('Pack')).map((a) => a.status), ['failed', 'succeeded']);
    assert.match((await host.outputs('Pack'))[0].body, /packed/);
  });
  await assert.rejects(() => on(pack('succeed'), (host) => host.fault({ service: 'queue', entity: 'boxes', operation: 'Delete', times: 1 })), Failure);
  const slow = { trigger: { type: 'serviceBusTrigger', queueName: 'parcels' }, handler: [{ do: 'succeed', take: '30s', times: 1 }, 'succeed'] };
  await on({ functions: { Pack: slow } }, async (host) => {
    await host.sendServiceBus('parcels', '1');
    await host.expireLocks('parcels');
    await host.completed('Pack');
    assert.deepEqual(await host.deliveries('Pack'), [1, 1]);
  });
});

test('a host ends and begins again', () => on({ ...pack('succeed'), instances: true }, async (host) => {
  await host.send('boxes', '1', { visibility: '1m' });
  await host.crash();
  await assert.rejects(() => host.settled(), (error) => error instanceof KitError && error.code === 'host_down');
  await host.startAgain();
  await host.completed('Pack');
  await host.restart();
  await host.scaleOut();
}));

test('state is kept and dropped', () => on({ functions: { Other: { trigger: { type: 'queueTrigger', queueName: 'others' }, handler: 'succeed' } } }, async (host) => {
  await host.send('kept', '1');
  const state = await host.save();
  await host.reset();
  await host.load(state);
  assert.deepEqual((await host.queue('kept')).map((m) => m.text()), ['1']);
}));

test('the journal of a test that has a name is kept', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kept'));
  process.env.REDELIVER_KEEP = folder;
  try {
    const host = await start({ name: 'a box: ü', functions: { Pack: { trigger: boxes, handler: 'succeed' } } });
    await host.send('boxes', 1);
    await host.stop();
    assert.deepEqual(fs.readdirSync(folder), ['a_box.jsonl']);
    assert.match(fs.readFileSync(path.join(folder, 'a_box.jsonl'), 'utf8'), /"kind":"settled"/);
  } finally {
    delete process.env.REDELIVER_KEEP;
    fs.rmSync(folder, { recursive: true });
  }
});

test('failures say why', () => on(pack('fail'), async (host) => {
  await host.send('boxes', '1');
  await host.until({ kind: 'attempt_ended' });
  await assert.rejects(() => host.expect({ functions: { Pack: { deliveries: [1, 1] } } }), (error) => {
    assert.ok(error instanceof Failure && error instanceof assert.AssertionError);
    assert.match(error.message, /want {2}\[1 1\]\n/);
    assert.match(error.message, /attempt 1 failed/);
    assert.match(error.message, /seed 1; again with REDELIVER_SEED=1 node .*--test .*host\.test\.mjs'?$/);
    return true;
  });
  await assert.rejects(() => host.deadLettered(), /a dead-lettered message has not come, and nothing is left to happen/);
}));

test('a handler that hangs is named', async () => {
  const host = await start({ ...pack(() => new Promise(() => {})), timeout: 4 });
  await assert.rejects(() => host.send('boxes', '1').then(() => host.settled()), (error) => error instanceof KitTimeout && /Pack attempt 1 has run for 4 s/.test(error.message));
});

test('fake timers of a test do not stop the kit', () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  return on(pack(() => {}), async (host) => {
    await host.send('boxes', '1');
    await host.settled();
  }).finally(() => mock.timers.reset());
});

test('a program that is not there', () => {
  const { binary } = testing.internal;
  const { PATH, REDELIVER_BINARY } = process.env;
  try {
    process.env.REDELIVER_BINARY = '/no/such/redeliver';
    assert.throws(binary, /no such file/);
    delete process.env.REDELIVER_BINARY;
    process.env.PATH = '';
    assert.throws(binary, /npm install/);
  } finally {
    Object.assign(process.env, { PATH, REDELIVER_BINARY });
  }
});

test('a test that is killed leaves nothing', { skip: process.platform !== 'linux' }, async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', `
    import { start } from '@redeliver/testing';
    const host = await start({ functions: { Pack: { trigger: ${JSON.stringify(boxes)}, handler: () => new Promise(() => {}) } } });
    console.log(host.kit.child.pid);
    await host.send('boxes', '1');
    setInterval(() => {}, 1000);
  `], { stdio: ['ignore', 'pipe', 'inherit'], cwd: fileURLToPath(new URL('.', import.meta.url)) });
  const [line] = await once(child.stdout, 'data');
  const kit = Number(String(line));
  child.kill('SIGKILL');
  const gone = () => !fs.existsSync(`/proc/${kit}/stat`) || / Z /.test(fs.readFileSync(`/proc/${kit}/stat`, 'utf8'));
  for (let i = 0; i < 6000 && !gone(); i++) await new Promise((resolve) => { setTimeout(resolve, 5); });
  assert.ok(gone());
});

test('every public name is in a test', () => {
  const types = fs.readFileSync(fileURLToPath(new URL('./index.d.ts', import.meta.resolve('@redeliver/testing'))), 'utf8');
  const all = fs.readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.mjs'));
  const text = all.map((name) => fs.readFileSync(new URL(name, import.meta.url), 'utf8')).join('');
  const names = ['Host', 'Clock'].flatMap((of) => [...types.split(new RegExp(`(?:class|interface) ${of} `))[1].split('\n}')[0].matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name));
  const exported = [...types.matchAll(/export declare (?:class|function|const) (\w+)/g)].map(([, name]) => name);
  assert.ok(names.length >= 43 && exported.length >= 7, `${names.length} and ${exported.length} names`);
  assert.deepEqual(names.filter((name) => name !== 'constructor' && !new RegExp(`\\.${name}\\(`).test(text)), []);
  assert.deepEqual(exported.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)), []);
});
