'use strict';
// A host, and all that a test does with it.

const fs = require('fs');
const path = require('path');
const { fileURLToPath } = require('url');
const { kit } = require('./process');
const { Client, checked, refused, target } = require('./http');
const { Handlers, registry, inClassicForm } = require('./attached');
const real = require('./real');
const { give } = require('./environment');
const { calls } = require('./naps');
const { only, named, optional, whole, whollyJson, span, milliseconds, seconds, filled, several } = require('./options');
const { Failure, KitError } = require('./errors');
const { noted } = require('./awaited');
const { command } = require('./again');
const { keep } = require('./keep');
const timeline = require('./timeline');

const optionalSpan = (given) => (given === undefined ? undefined : span(given));

/** A body as it travels: bytes and text as they are, all else as JSON. */
function encoded(body) {
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body);
  if (body === undefined || body === null) throw new TypeError(`the body is ${body}: JSON's null is the text "null"`);
  if (typeof body === 'function' || typeof body === 'symbol' || (typeof body === 'number' && !Number.isFinite(body))) throw new TypeError(`the body is ${String(body)}, which JSON does not have`);
  return Buffer.from(JSON.stringify(body));
}

/** A message as it lies in a queue. */
class Message {
  constructor(told) {
    Object.assign(this, told);
  }

  text() {
    return Buffer.from(this.body).toString('utf8');
  }

  json() {
    return JSON.parse(this.text());
  }
}

/** An application property: a text as it is, a number and a truth value with its type. */
function property([name, value]) {
  if (typeof value === 'string') return `${name}=${value}`;
  if (typeof value === 'boolean' || Number.isFinite(value)) return `${name}:=${value}`;
  throw new TypeError(`property ${name} is ${String(value)}, and has to be text, a number, true or false`);
}

const dataOf = (told) => (told.binary ? Buffer.from(told.binary, 'base64') : Buffer.from(told.body || ''));
const moment = (text) => (text ? new Date(text) : undefined);

/** The path of a queue, or of a subscription, which may be topic/subscription. */
function entity(name) {
  const [first, ...rest] = name.split('/');
  if (rest.length > 0 && !rest[0].startsWith('$') && rest[0].toLowerCase() !== 'subscriptions') rest.unshift('Subscriptions');
  return [first, ...rest].join('/');
}

/** The folder of the app in or above one: it has host.json. */
function folder(from) {
  if (fs.existsSync(path.join(from, 'host.json'))) return from;
  return path.dirname(from) === from ? undefined : folder(path.dirname(from));
}

function seedOf(given) {
  if (given !== undefined) return whole('the seed', given, 0);
  const text = process.env.REDELIVER_SEED || '1';
  if (text === 'random') return 1 + Math.floor(Math.random() * 2 ** 32);
  if (!/^\d+$/.test(text)) throw new KitError(`REDELIVER_SEED is ${JSON.stringify(text)}, and has to be a whole number or random`);
  return Number(text);
}

/** The virtual time of a host. */
class Clock {
  constructor(host) {
    this.host = host;
  }

  async now() {
    return new Date((await this.host.control('GET', 'clock')).now);
  }

  async advance(by) {
    return this.host.drive({ by: span(by) });
  }

  async next() {
    return this.host.drive({ next: true });
  }

  async jump(by) {
    return this.host.drive({ jump: span(by) });
  }

  /** Waits for virtual time, in a handler: time goes on meanwhile. */
  async sleep(by, options) {
    const { signal } = only('options of sleep', ['signal'], options);
    const ms = milliseconds(by);
    const naps = calls.getStore();
    if (naps) return naps.sleep(ms, signal);
    await this.host.wait({ for: `${ms}ms` }); // of something beside handlers
    return undefined;
  }
}

/** A host of one test: its own services, clock and journal. */
class Host {
  static async start(options) {
    const host = new Host();
    host.owed = new Set(); // calls that nobody has awaited
    host.options = only('options of start', ['app', 'functions', 'import', 'host', 'settings', 'set', 'seed', 'start', 'timeout', 'ports', 'instances', 'name'], options);
    host.clock = new Clock(host);
    host.kit = await kit();
    try {
      await host.open();
    } catch (error) {
      if (error.code !== 'kit_ended' || host.id !== undefined || host.kit.lives) throw error;
      host.kit = await kit(); // the one of the test before was killed, and this one was the first to see
      await host.open();
    }
    return host;
  }

  async open() {
    const { app, functions = {}, import: load, host, settings, set, start, instances, ports, name } = this.options;
    const timeout = this.options.timeout === undefined ? process.env.REDELIVER_TIMEOUT || 30 : this.options.timeout;
    this.seed = seedOf(this.options.seed);
    this.client = new Client(this.kit, seconds(timeout), () => [...(this.handlers ? this.handlers.calls.values() : [])].sort().join(', '));
    const attached = new Map(load ? await registry.of(load) : []);
    const sent = { seed: this.seed, name, ports, instances, host, settings };
    if (app !== undefined) sent.app = typeof app === 'string' ? path.resolve(app) : fileURLToPath(app);
    else if (load) sent.app = folder(process.cwd());
    if (start !== undefined) sent.start = new Date(start).toISOString();
    if (set !== undefined) sent.set = Array.isArray(set) ? set : Object.entries(set).map(([key, value]) => `${key}=${value}`);
    sent.functions = {};
    for (const [id, spec] of Object.entries(functions)) {
      const { handler, ...rest } = Object(spec);
      whollyJson(`functions.${id}`, 'handler' in Object(spec) && typeof handler !== 'function' ? spec : rest);
    }
    for (const [name, value] of Object.entries(settings || {})) if (typeof value !== 'string') throw new TypeError(`settings.${name} is ${value}, and has to be text`);
    for (const [id, spec] of Object.entries(functions)) sent.functions[id] = typeof spec.handler === 'function' ? written(id, spec, attached) : spec;
    if (attached.size > 0) sent.attached = true;
    const info = await this.client.ask('POST', '/kit/hosts', sent);
    this.id = info.id;
    try {
      if (attached.size > 0) {
        this.handlers = new Handlers(attached, () => { this.client.alive = real.now(); }, (body) => this.wait(body));
        this.handlers.connect(info.worker);
        const { environment = [] } = await this.verb('POST', 'ready');
        this.takeBack = give(environment, this.options);
      }
    } catch (error) {
      await this.stop().catch(() => {});
      throw error;
    }
  }

  path(verb) {
    return `/kit/hosts/${this.id}/${verb}`;
  }

  verb(method, verb, body, query) {
    return this.client.ask(method, target(this.path(verb), query), body);
  }

  async control(method, operation, query, body, type = 'application/octet-stream') {
    return checked(await this.client.raw(method, target(this.path(`admin/redeliver/${operation}`), query), body, body === undefined ? {} : { 'content-type': type }));
  }

  /** Asks for virtual time, beside the test. */
  wait(body) {
    return this.client.ask('POST', this.path('clock/wait'), body, true);
  }

  async drive(how) {
    return new Date((await this.verb('POST', 'drive', how)).now);
  }

  /** Ends the host. A Failure says what the test has asked for and nothing has met. */
  async stop() {
    if (this.stopped) return;
    this.stopped = true;
    const running = [...this.client.calls];
    await keep(this);
    try {
      const { failures = [] } = (await this.client.ask('DELETE', `/kit/hosts/${this.id}`)) || {};
      if (failures.length > 0) throw new Failure(timeline.failures(failures), failures[0]);
      const owed = [...this.owed].map(({ name }) => name);
      this.owed.clear();
      if (owed.length + running.length > 0) throw new Failure(`called, and not awaited: ${(owed.length > 0 ? owed : running).join(', ')}`);
    } finally {
      if (this.takeBack) this.takeBack();
      this.client.close();
    }
  }

  async [Symbol.asyncDispose || Symbol.for('nodejs.asyncDispose')]() {
    await this.stop();
  }

  // What comes in.

  async send(queue, body, options) {
    const { raw, visibility, ttl } = only('options of send', ['raw', 'visibility', 'ttl'], options);
    const query = { raw, visibility: optionalSpan(visibility), ttl: optionalSpan(ttl) };
    named('the queue', queue);
    return (await this.control('POST', `queues/${encodeURIComponent(queue)}/messages`, query, encoded(body))).id;
  }

  async sendServiceBus(name, body, options) {
    const { messageId, session, subject, contentType, correlationId, properties, delay } = only(
      'options of sendServiceBus', ['messageId', 'session', 'subject', 'contentType', 'correlationId', 'properties', 'delay'], options,
    );
    const query = {
      path: named('the entity', name), id: messageId, session, subject, contentType, correlation: correlationId, delay: optionalSpan(delay),
      property: Object.entries(properties || {}).map(property),
    };
    return (await this.control('POST', 'servicebus/messages', query, encoded(body))).messageId;
  }

  async publish(topic, events) {
    return (await this.control('POST', 'eventgrid/events', { topic: named('the topic', topic) }, encoded(filled('events', events)), 'application/json')).ids;
  }

  async sendEvents(hub, bodies, options) {
    const { key } = only('options of sendEvents', ['key'], options);
    for (const body of several('bodies', bodies)) await this.control('POST', 'eventhubs/events', { hub: named('the hub', hub), key }, encoded(body));
  }

  async upload(blob, data, options) {
    const { contentType } = only('options of upload', ['contentType'], options);
    named('the blob', blob);
    const [container, ...name] = blob.split('/');
    await this.control('PUT', `containers/${encodeURIComponent(container)}/blob`, { name: name.join('/'), create: true }, encoded(data), contentType);
  }

  async write(container, documents) {
    return (await this.control('POST', 'cosmos/documents', { container: named('the container', container), create: true }, encoded(filled('documents', documents)), 'application/json')).ids;
  }

  /** Makes a request of an HTTP function. */
  async request(method, url, options) {
    const { body, headers = {} } = only('options of request', ['body', 'headers'], options);
    if (!String(url).startsWith('/')) throw new TypeError(`the path ${JSON.stringify(url)} has to begin with a slash, as in "/api/orders"`);
    const { authorization, ...rest } = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    if (authorization !== undefined) rest['x-redeliver-authorization'] = authorization;
    const got = await this.client.raw(method, this.path('http') + url, body === undefined ? undefined : encoded(body), rest);
    refused(got);
    return Object.assign(new Message({ body: got.body }), { status: got.status, headers: got.headers });
  }

  async call(name, input = '') {
    return this.verb('POST', 'call', { function: named('the function', name), input: encoded(input).toString('utf8') });
  }

  // What a test waits for.

  async settled(...name) {
    return this.until({ settled: optional('the function', name) || true });
  }

  async completed(...name) {
    return this.until({ completed: optional('the function', name) || true });
  }

  async poisoned(...name) {
    return this.until({ poisoned: optional('the function', name) || true });
  }

  async checkpointed(...name) {
    return this.until({ checkpointed: optional('the function', name) || true });
  }

  async deadLettered(...name) {
    return this.until({ deadLettered: optional('the entity', name) || true });
  }

  async until(pattern) {
    const told = await this.verb('POST', 'drive', { until: whollyJson('until', pattern) });
    if (told.stopped === 'met' && told.record) return told.record;
    throw new Failure([`${told.text}; it is ${told.now}`, ...timeline.indented(told), this.again()].join('\n'));
  }

  async idle() {
    const { now, stopped } = await this.verb('POST', 'drive', { idle: true });
    if (stopped === 'horizon') throw new Failure(`something is still left to happen after 7 days of virtual time; it is ${now}, ${this.again()}`);
    return new Date(now);
  }

  again() {
    return `seed ${this.seed}; again with REDELIVER_SEED=${this.seed} ${command(this.options.name)}`;
  }

  // What there is.

  async attempts(...name) {
    const list = await this.verb('GET', 'attempts', undefined, { function: optional('the function', name) });
    return list.map((one) => ({ ...one, deliveryCount: one.deliveryCount || 0, started: moment(one.started), ended: moment(one.ended), logs: (one.logs || []).map((line) => line.text) }));
  }

  async deliveries(name) {
    const counts = new Map();
    for (const { messageId, delivery, deliveryId } of await this.attempts(named('the function', name))) {
      const key = `${messageId} ${delivery} ${deliveryId}`;
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    return [...counts.values()];
  }

  async explain(...message) {
    return timeline.text(await this.control('GET', 'explain', { message: optional('the message', message) }));
  }

  async queue(name) {
    named('the queue', name);
    const { messages = [] } = await this.control('GET', `queues/${encodeURIComponent(name)}/messages`);
    return messages.map((m) => new Message({ id: m.id, body: dataOf(m), deliveryCount: m.dequeueCount, enqueued: moment(m.inserted), lastError: m.lastError || '' }));
  }

  async serviceBus(name) {
    named('the entity', name);
    const { messages = [] } = await this.control('GET', 'servicebus/messages', { path: entity(name) });
    return messages.map((m) => new Message({
      id: m.messageId, body: dataOf(m), deliveryCount: m.failedDeliveries || 0, enqueued: moment(m.enqueued), state: m.state, properties: m.properties || {},
      reason: m.deadLetterReason || '', description: m.deadLetterDescription || '', source: m.deadLetterSource || '',
    }));
  }

  async blob(name) {
    named('the blob', name);
    const [container, ...rest] = name.split('/');
    const got = await this.client.raw('GET', target(this.path(`admin/redeliver/containers/${encodeURIComponent(container)}/blob`), { name: rest.join('/') }));
    if (got.status >= 400) checked(got);
    return got.body;
  }

  async documents(container) {
    return (await this.control('GET', 'cosmos/documents', { container: named('the container', container) })).documents || [];
  }

  async outputs(name) {
    return (await this.control('GET', 'outputs/values', { name: named('the output', name) })).outputs || [];
  }

  async journal(...pattern) {
    if (pattern.length > 0 && Object(pattern[0]) !== pattern[0]) throw new TypeError(`the pattern is ${pattern[0]}: leave it out for all records`);
    return this.verb('POST', 'records', pattern.length === 0 ? {} : { pattern: whollyJson('pattern', pattern[0]) });
  }

  async logs(...name) {
    const of = optional('the function', name);
    const lines = await this.journal(of === undefined ? { kind: 'handler_log' } : { kind: 'handler_log', function: of });
    return lines.map((line) => `${line.level}: ${line.message}`);
  }

  // What must have happened.

  async expect(then) {
    const told = await this.verb('POST', 'expect', { then: whollyJson('then', then) });
    if (told.failures && told.failures.length > 0) throw new Failure(told.text ? `${told.text} ${command(this.options.name)}` : timeline.failures(told.failures), told.failures[0]);
  }

  // What goes wrong.

  async fault(options) {
    const { latency, ...rest } = only('members of a fault', ['service', 'entity', 'operation', 'after', 'lost', 'error', 'status', 'latency', 'times'], options);
    whollyJson('fault', options);
    if (rest.times !== undefined) whole('times', rest.times);
    await this.control('POST', 'faults', { ...rest, latency: optionalSpan(latency) });
  }

  async failOutput(name, options) {
    const { times = 1, error = '' } = only('options of failOutput', ['times', 'error'], options);
    await this.control('PUT', 'outputs/fault', { name: named('the output', name), times: times === -1 ? times : whole('times', times) }, encoded(error));
  }

  async expireLocks(name) {
    await this.verb('POST', 'expire-locks', { entity: named('the entity', name) });
  }

  async crash() {
    await this.verb('POST', 'crash', {});
  }

  async crashAt(name, point, nth = 1) {
    await this.verb('POST', 'crash', { function: named('the function', name), point: named('the point', point), nth: whole('nth', nth) });
  }

  async startAgain() {
    await this.verb('POST', 'start');
  }

  async restart() {
    await this.verb('POST', 'restart');
  }

  async scaleOut() {
    await this.verb('POST', 'instances');
  }

  // State.

  async save() {
    const got = await this.client.raw('GET', this.path('admin/redeliver/state'));
    if (got.status >= 400) checked(got);
    return got.body;
  }

  async load(state) {
    await this.control('PUT', 'state', {}, encoded(state));
  }

  /** A new host under this one. */
  async reset() {
    await this.stop();
    this.stopped = false;
    await this.open();
  }
}

noted(Clock, ['now', 'advance', 'next', 'jump'], (clock) => clock.host);
noted(Host, [
  'send', 'sendServiceBus', 'publish', 'sendEvents', 'upload', 'write', 'request', 'call', 'settled', 'completed', 'poisoned', 'checkpointed', 'deadLettered', 'until', 'idle',
  'attempts', 'deliveries', 'explain', 'queue', 'serviceBus', 'blob', 'documents', 'outputs', 'journal', 'logs', 'expect', 'fault', 'failOutput', 'expireLocks', 'crash', 'crashAt',
  'startAgain', 'restart', 'scaleOut', 'save', 'load',
]);

/** A function that the test has written, as a scenario has it; its handler is attached. */
function written(id, spec, attached) {
  const trigger = { direction: 'in', name: 'item', ...spec.trigger };
  const bindings = [trigger, ...(spec.bindings || [])];
  if (trigger.type.toLowerCase() === 'httptrigger' && !bindings.some((b) => b.name === '$return')) bindings.push({ type: 'http', direction: 'out', name: '$return' });
  const byName = Object.fromEntries(bindings.map(({ name, ...rest }) => [name, rest]));
  const metadata = {
    functionId: id, name: id, language: 'node', directory: process.cwd(), scriptFile: '', properties: {},
    bindings: Object.fromEntries(bindings.map((b) => [b.name, { type: b.type, direction: b.direction || 'in' }])),
    rawBindings: bindings.map((b) => JSON.stringify(b)),
  };
  attached.set(id, { metadata, core: { functionId: id, name: id, directory: process.cwd(), bindings: byName, written: true }, callback: inClassicForm(spec.handler), declared: true });
  return { ...spec, trigger, handler: { attached: true } };
}

module.exports = { Host };
