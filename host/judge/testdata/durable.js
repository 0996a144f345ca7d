// The orchestrators, activities and entities of the stories in durable.tsv.
const { app } = require('@azure/functions');
const df = require('durable-functions');

const orchestration = (name, f) => df.app.orchestration(name, f);
const activity = (name, f) => df.app.activity(name, { handler: f });
const caught = (error) => `caught ${error.name}: ${String(error.message).split('\n')[0].trim()}`;
const after = (context, seconds) => new Date(context.df.currentUtcDateTime.getTime() + seconds * 1000);
const calls = new Map(); // of activities, by key
const times = (key) => { calls.set(key, (calls.get(key) ?? 0) + 1); return calls.get(key); };

activity('Hello', (name) => `Hello, ${name}!`);
activity('Square', (n) => n * n);
activity('Echo', (input) => input);
activity('Kind', (input) => `${input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input} ${JSON.stringify(input)}`);
activity('Fail', (input) => { throw new Error(input ?? 'no stock'); });
activity('FailType', () => { throw new TypeError('of another type'); });
activity('FailText', () => { throw 'a text'; });
activity('FailLines', () => { throw new Error('first\nsecond: {"a":1}\nthird'); });
activity('FailJson', () => { throw new Error('{"code":7,"message":"as JSON"}'); });
activity('FailEmpty', () => { throw new Error(''); });
activity('FailsTwice', (key) => { const n = times(key); if (n < 3) throw new Error(`attempt ${n}`); return `attempt ${n}`; });
activity('Slow', async (name) => { await new Promise((done) => setTimeout(done, 1500)); return `slow ${name}`; });
activity('Nothing', () => {});
activity('Null', () => null);
activity('Big', (n) => 'x'.repeat(n));
activity('Values', (which) => ({ date: new Date(0), nan: NaN, buffer: Buffer.from('ab'), map: new Map([[1, 2]]), nested: { a: [1, { b: null, c: undefined }] }, unicode: 'äöü 漢字 😀', number: 0.1 + 0.2, big: 12345678901234567890, negative: -0, exponent: 1e21, html: '<a href="x">&</a>', zero: 0, no: false, empty: '', array: [], object: {} })[which]);
activity('Circular', () => { const a = {}; a.a = a; return a; });
activity('BigInt', () => 10n);
activity('OffActivity', () => 'never');

orchestration('OffOrchestrator', function* () { return 'never'; });
orchestration('Chain', function* (context) {
  const out = [];
  for (const city of ['Tokyo', 'Seattle', 'London']) out.push(yield context.df.callActivity('Hello', city));
  return out;
});
orchestration('FanAll', function* (context) {
  const tasks = [];
  for (let i = 0; i < context.df.getInput(); i++) tasks.push(context.df.callActivity('Square', i));
  return (yield context.df.Task.all(tasks)).reduce((a, b) => a + b, 0);
});
orchestration('FanFails', function* (context) {
  try {
    return yield context.df.Task.all([context.df.callActivity('Square', 2), context.df.callActivity('Fail', 'one of them'), context.df.callActivity('Square', 3)]);
  } catch (error) { return caught(error); }
});
orchestration('FanAny', function* (context) {
  const fast = context.df.callActivity('Hello', 'fast');
  const slow = context.df.callActivity('Slow', 'one');
  const winner = yield context.df.Task.any([slow, fast]);
  return [winner === fast, winner.result, slow.isCompleted];
});
orchestration('AnyEmpty', function* (context) { try { return yield context.df.Task.any([]); } catch (error) { return caught(error); } });
orchestration('AllEmpty', function* (context) { return yield context.df.Task.all([]); });
orchestration('Nested', function* (context) {
  const all = (...names) => context.df.Task.all(names.map((n) => context.df.callActivity('Hello', n)));
  return yield context.df.Task.all([all('a', 'b'), all('c')]);
});
orchestration('Retry', function* (context) {
  const { activity, input, first, most, options, child, id } = context.df.getInput();
  const retry = new df.RetryOptions(first ?? 1, most ?? 3);
  Object.assign(retry, options);
  try {
    return child ? yield context.df.callSubOrchestratorWithRetry(child, retry, input, id) : yield context.df.callActivityWithRetry(activity, retry, input);
  } catch (error) { return caught(error); }
});
orchestration('RetryUncaught', function* (context) {
  yield context.df.callActivityWithRetry('Fail', new df.RetryOptions(1, 2), 'again and again');
});
orchestration('RetryMany', function* (context) {
  const retry = new df.RetryOptions(1, 3);
  return yield context.df.Task.all(['a', 'b'].map((n) => context.df.callActivityWithRetry('FailsTwice', retry, `${context.df.instanceId}${n}`)));
});

orchestration('Child', function* (context) { return [context.df.parentInstanceId ? 'has a parent' : 'has none', context.df.getInput() ?? null, yield context.df.callActivity('Hello', 'child')]; });
orchestration('Throws', function* (context) { throw new Error(context.df.getInput() ?? 'no'); });
orchestration('Waits', function* (context) { context.df.setCustomStatus('waits'); return yield context.df.waitForExternalEvent('go'); });
orchestration('Parent', function* (context) {
  const { name, input, id, twice } = context.df.getInput();
  try {
    if (twice) return yield context.df.Task.all([context.df.callSubOrchestrator(name, 1), context.df.callSubOrchestrator(name, 2)]);
    return yield context.df.callSubOrchestrator(name, input, id);
  } catch (error) { return caught(error); }
});
orchestration('ParentUncaught', function* (context) { yield context.df.callSubOrchestrator('Throws', 'of the child'); });
orchestration('GrandParent', function* (context) { return yield context.df.callSubOrchestrator('Parent', { name: 'Child', input: 'deep' }); });
orchestration('Detached', function* (context) {
  context.df.callSubOrchestrator('Child', 'alone', `${context.df.instanceId}-child`);
  return 'did not wait';
});

orchestration('Timer', function* (context) {
  const { seconds, cancel } = context.df.getInput();
  const timer = context.df.createTimer(after(context, seconds));
  if (cancel) { yield context.df.callActivity('Hello', 'x'); timer.cancel(); return [timer.isCanceled, timer.isCompleted]; }
  const begun = context.df.currentUtcDateTime.getTime();
  yield timer;
  return context.df.currentUtcDateTime.getTime() - begun >= Math.max(0, seconds - 1) * 1000;
});
orchestration('TwoTimers', function* (context) {
  const [a, b] = [context.df.createTimer(after(context, 3)), context.df.createTimer(after(context, 1))];
  const first = yield context.df.Task.any([a, b]);
  a.cancel();
  return first === b;
});
orchestration('TimerOpen', function* (context) {
  const a = context.df.createTimer(after(context, 4));
  const b = context.df.createTimer(after(context, 1));
  yield context.df.Task.any([a, b]);
  return 'waits for the other';
});
orchestration('CancelTwice', function* (context) {
  const timer = context.df.createTimer(after(context, 600));
  yield context.df.callActivity('Hello', 'x');
  timer.cancel();
  try { timer.cancel(); return 'twice'; } catch (error) { return caught(error); }
});
orchestration('Race', function* (context) {
  const timer = context.df.createTimer(after(context, context.df.getInput() ?? 3600));
  const go = context.df.waitForExternalEvent('go');
  context.df.setCustomStatus('waits');
  if ((yield context.df.Task.any([go, timer])) !== go) return 'late';
  timer.cancel();
  return go.result;
});

orchestration('TwoWaiters', function* (context) {
  const [a, b] = [context.df.waitForExternalEvent('go'), context.df.waitForExternalEvent('go')];
  context.df.setCustomStatus('waits');
  return yield context.df.Task.all([a, b]);
});
orchestration('TwoInTurn', function* (context) {
  context.df.setCustomStatus('waits');
  const a = yield context.df.waitForExternalEvent('go');
  context.df.setCustomStatus('one');
  return [a, yield context.df.waitForExternalEvent('go')];
});
orchestration('Buffered', function* (context) {
  yield context.df.waitForExternalEvent('first');
  return [yield context.df.waitForExternalEvent('go'), yield context.df.waitForExternalEvent('go')];
});
orchestration('AnyEvent', function* (context) {
  const [a, b] = [context.df.waitForExternalEvent('a'), context.df.waitForExternalEvent('b')];
  const winner = yield context.df.Task.any([a, b]);
  return [winner === b, winner.result];
});

orchestration('Again', function* (context) {
  const n = context.df.getInput();
  context.df.setCustomStatus(n);
  yield context.df.callActivity('Hello', `${n}`);
  if (n > 0) { context.df.continueAsNew(n - 1); return 'of an execution'; }
  return `done ${JSON.stringify(n)}`;
});
orchestration('AgainKeepsStatus', function* (context) {
  if (context.df.getInput() === 1) { context.df.setCustomStatus('old'); context.df.continueAsNew(2); return; }
  yield context.df.waitForExternalEvent('go');
  yield context.df.waitForExternalEvent('go');
});
orchestration('AgainText', function* (context) { if (context.df.getInput() === 'a') { context.df.continueAsNew('b'); return; } return context.df.getInput(); });
orchestration('Drops', function* (context) {
  if (context.df.getInput() === 2) { context.df.setCustomStatus('second'); return yield context.df.waitForExternalEvent('x'); }
  context.df.setCustomStatus('first');
  yield context.df.waitForExternalEvent('go');
  context.df.continueAsNew(2);
});
orchestration('LateThrow', function* (context) { context.df.continueAsNew(1); throw new Error('behind it'); });

orchestration('ThrowsLate', function* (context) { yield context.df.callActivity('Hello', 'x'); throw new RangeError('after an activity'); });
orchestration('ThrowsText', function* () { throw 'a text'; });
orchestration('ThrowsObject', function* () { throw { a: 1 }; });
orchestration('ThrowsEmpty', function* () { throw new Error(''); });
orchestration('ThrowsLines', function* () { throw new Error('first\nsecond\n\n$OutOfProcData$:{}'); });
orchestration('Uncaught', function* (context) { yield context.df.callActivity(context.df.getInput(), 'of the activity'); });
orchestration('Caught', function* (context) { try { yield context.df.callActivity(context.df.getInput()); return 'no failure'; } catch (error) { return caught(error); } });
orchestration('Unknown', function* (context) { return yield context.df.callActivity('Nope', 1); });
orchestration('UnknownLeft', function* (context) { context.df.callActivity('Nope', 1); return 'left'; });
orchestration('WrongCase', function* (context) { return yield context.df.callActivity('hELLO', 'case'); });
orchestration('YieldsNone', function* () { const x = yield 5; return `got ${x}`; });
orchestration('NoYield', function* (context) { return context.df.getInput() ?? 'none'; });
orchestration('NotGenerator', function (context) { return 'plain'; });
orchestration('LeftActivity', function* (context) { context.df.callActivity('Hello', 'left'); return 'did not wait'; });
orchestration('CircularOutput', function* () { const a = {}; a.a = a; return a; });
orchestration('Value', function* (context) { return yield context.df.callActivity('Values', context.df.getInput()); });
orchestration('Kinds', function* (context) {
  const out = [];
  for (const v of [1, 1.5, 'x', '1', 'true', '{"a":1}', true, false, null, { i: 0 }, [1, 'a'], '', undefined]) out.push(yield context.df.callActivity('Kind', v));
  return out;
});
orchestration('InputKind', function* (context) { const v = context.df.getInput(); return `${v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v} ${JSON.stringify(v)}`; });
orchestration('BigInput', function* (context) { return [JSON.stringify(context.df.getInput()).length, (yield context.df.callActivity('Big', 200000)).length]; });
orchestration('Status', function* (context) {
  for (const s of context.df.getInput()) { context.df.setCustomStatus(s); yield context.df.callActivity('Hello', 'x'); }
});
orchestration('StatusLength', function* (context) { context.df.setCustomStatus('a'.repeat(context.df.getInput())); return 'set'; });
orchestration('StatusFails', function* (context) { context.df.setCustomStatus({ before: 'the failure' }); throw new Error('no'); });
orchestration('Guids', function* (context) {
  const a = context.df.newGuid('x'), b = context.df.newGuid('x');
  yield context.df.callActivity('Hello', 'x');
  return [/^[0-9a-f-]{36}$/.test(a), a === b, context.df.isReplaying];
});
orchestration('Rewind', function* (context) {
  const key = context.df.instanceId;
  return yield context.df.Task.all([context.df.callActivity('Hello', 'fine'), context.df.callActivity('FailsTwice', key)]);
});
orchestration('RewindParent', function* (context) { return yield context.df.callSubOrchestrator('Rewind', null, `${context.df.instanceId}-child`); });

const counter = (context) => {
  const state = context.df.getState(() => 0);
  const input = context.df.getInput();
  switch (context.df.operationName) {
    case 'add': context.df.setState(state + input); break;
    case 'reset': context.df.setState(0); break;
    case 'get': context.df.return(state); break;
    case 'fail': context.df.setState(100); throw new Error('of an entity');
    case 'delete': context.df.destructOnExit(); break;
    case 'who': context.df.return([context.df.entityName, context.df.entityKey, context.df.isNewlyConstructed ?? null]); break;
    case 'forward': context.df.signalEntity(new df.EntityId('Counter', input), 'add', 7); break;
  }
};
df.app.entity('Counter', counter);
df.app.entity('Lone', counter);
const callsOf = (name) => function* (context) {
  const { key, ops } = context.df.getInput();
  const id = new df.EntityId(name, key);
  const out = [];
  for (const [op, input] of ops) {
    try { out.push((yield context.df.callEntity(id, op, input)) ?? null); } catch (error) { out.push(caught(error)); }
  }
  return out;
};
orchestration('Calls', callsOf('Counter'));
orchestration('CallsLone', callsOf('Lone'));
orchestration('Signals', function* (context) {
  const id = new df.EntityId('Counter', context.df.getInput());
  for (let i = 0; i < 3; i++) context.df.signalEntity(id, 'add', i + 1);
  return yield context.df.callEntity(id, 'get');
});
orchestration('SignalsOnly', function* (context) { context.df.signalEntity(new df.EntityId('Counter', context.df.getInput()), 'add', 1); return 'sent'; });
orchestration('SignalsUnknown', function* (context) { context.df.signalEntity(new df.EntityId('Nobody', 'k'), 'add', 1); return 'sent'; });
orchestration('CallsUnknown', function* (context) { return yield context.df.callEntity(new df.EntityId('Nobody', 'k'), 'get'); });

orchestration('Http', function* (context) {
  const r = yield context.df.callHttp(context.df.getInput());
  return { statusCode: r.statusCode, content: r.content, custom: valueOf(r.headers, 'x-custom'), type: valueOf(r.headers, 'content-type'), keys: Object.keys(r).sort() };
});
const valueOf = (headers, name) => Object.entries(headers).find(([n]) => n.toLowerCase() === name)?.[1] ?? null;
app.http('Answer', { methods: ['GET', 'POST', 'PUT'], authLevel: 'anonymous', handler: async (request) => {
  const status = Number(request.query.get('status') ?? 200);
  const left = request.query.get('polls');
  const key = request.query.get('key');
  if (left && times(key) <= Number(left)) return { status: 202, headers: { Location: request.url, 'Retry-After': '1' }, body: 'not yet' };
  return { status, headers: { 'x-custom': request.headers.get('x-given') ?? 'none' }, body: `${request.method} ${request.headers.get('content-type')} ${await request.text()}` };
} });

// The package's client, called by one HTTP function.
app.http('Client', { route: 'client/{op}', methods: ['POST'], authLevel: 'anonymous', extraInputs: [df.input.durableClient()], handler: async (request, context) => {
  const client = df.getClient(context);
  const a = await request.json();
  const id = a.entity && new df.EntityId('Counter', a.entity);
  const ops = {
    start: () => client.startNew(a.name, { instanceId: a.id, input: a.input }),
    status: async () => { const s = await client.getStatus(a.id, a.options); return { runtimeStatus: s.runtimeStatus, output: s.output, input: s.input, customStatus: s.customStatus, history: s.historyEvents?.length ?? null, name: s.name }; },
    raise: () => client.raiseEvent(a.id, a.name, a.data),
    terminate: () => client.terminate(a.id, a.reason),
    suspend: () => client.suspend(a.id, a.reason),
    resume: () => client.resume(a.id, a.reason),
    rewind: () => client.rewind(a.id, a.reason),
    purge: () => client.purgeInstanceHistory(a.id),
    purgeBy: () => client.purgeInstanceHistoryBy(a.options),
    by: async () => (await client.getStatusBy({ runtimeStatus: a.statuses, createdTimeFrom: new Date(0) })).filter((s) => s.instanceId.startsWith(a.prefix)).map((s) => [s.instanceId, s.runtimeStatus]).sort(),
    all: async () => (await client.getStatusAll()).filter((s) => s.instanceId.startsWith(a.prefix)).length,
    signal: () => client.signalEntity(id, a.name, a.data),
    read: () => client.readEntityState(id),
    payload: () => Object.entries(client.createHttpManagementPayload(a.id)).sort(),
    check: async () => { const r = client.createCheckStatusResponse(request, a.id); return [r.status, [...new Headers(r.headers).entries()].sort(), Object.entries(JSON.parse(typeof r.body === 'string' ? r.body : await new Response(r.body).text())).sort()]; },
    wait: async () => { const r = await client.waitForCompletionOrCreateCheckStatusResponse(request, a.id, { timeoutInMilliseconds: a.timeout, retryIntervalInMilliseconds: 200 }); return [r.status, typeof r.body === 'string' && r.status !== 202 ? r.body : typeof r.body]; },
  };
  try { return { jsonBody: { ok: (await ops[request.params.op]()) ?? null } }; } catch (error) { return { status: 418, jsonBody: { error: caught(error) } }; }
} });
