'use strict';
// One function app: its start, its functions, and the calls of them.

const fs = require('fs');
const path = require('path');
const { createRequire } = require('module');
const { entryPoints } = require('./entries');
const { failure, loadFailure, untold, textOf } = require('./failure');
const { loadFile, exported } = require('./load');
const { hookNames } = require('./core');
const { decodeRequest, encode, defined } = require('./values');
const classic = require('./classic');

const version = '1.0.0';

const levels = { trace: 'Trace', debug: 'Debug', information: 'Information', warning: 'Warning', error: 'Error', critical: 'Critical', none: 'None' };
const categories = { user: 'User', system: 'System', customMetric: 'CustomMetric' };

/** What this worker can do (spec workers 5). A model that serves HTTP itself adds HttpUri, and the host passes requests on to it. */
const capabilities = {
  RawHttpBodyBytes: 'true',
  RpcHttpBodyOnly: 'true',
  RpcHttpTriggerMetadataRemoved: 'true',
  IgnoreEmptyValuedRpcHttpHeaders: 'true',
  UseNullableValueDictionaryForHttp: 'true',
  TypedDataCollection: 'true',
  WorkerStatus: 'true',
  HandlesWorkerTerminateMessage: 'true',
};

class App {
  constructor(wire) {
    this.wire = wire;
    this.directory = process.cwd();
    this.hostVersion = '';
    this.functions = new Map(); // by ID: { metadata, callback, thisArg, error }
    this.hooks = new Map(hookNames.map((name) => [name, []]));
    this.hookData = {}; // of the app, for its hooks
    this.model = classic.model;
    this.startError = undefined; // of the app's own entry point
    this.registering = true; // functions may be declared
    this.current = undefined; // the entry point that is being run
  }

  /** Deals with a message of the host. */
  receive(message) {
    const { requestId } = message;
    if (message.workerInitRequest) return this.answer(requestId, 'workerInitResponse', this.init(message.workerInitRequest));
    if (message.functionsMetadataRequest) return this.answer(requestId, 'functionMetadataResponse', this.metadata());
    if (message.functionLoadRequest) return this.answer(requestId, 'functionLoadResponse', this.load(message.functionLoadRequest));
    if (message.invocationRequest) return this.answer(requestId, 'invocationResponse', this.invoke(message.invocationRequest));
    if (message.workerStatusRequest) return this.answer(requestId, 'workerStatusResponse', Promise.resolve({}));
    if (message.workerTerminate) return this.terminate();
  }

  /** Sends an answer, whatever happens: one that cannot travel becomes a failure. */
  async answer(requestId, kind, made) {
    const content = await made;
    try {
      this.wire.send({ requestId, [kind]: content });
    } catch (error) {
      const { invocationId, functionId } = content;
      this.wire.send({ requestId, [kind]: { invocationId, functionId, result: untold(content, error) } });
    }
  }

  /** Answers a call that came in a line which is no text that JavaScript can hold. */
  refuse(head, error) {
    const part = (name) => (new RegExp(`"${name}":\\s*"([^"]*)"`).exec(head) || [])[1];
    const invocationId = part('invocationId');
    if (invocationId === undefined) throw error;
    const result = failure(new RangeError(`What the function is given is larger than JavaScript can take in one message: ${textOf(error)}`));
    this.wire.send({ requestId: part('requestId'), invocationResponse: { invocationId, result } });
  }

  log(level, category, message, invocation = { id: '', category: '' }) {
    if (category !== 'system') ({ level, message } = this.hookedLine(level, category, String(message), invocation.context));
    const line = { invocationId: invocation.id, category: invocation.category, level: levels[level] || 'Information', logCategory: categories[category] || 'System', message: String(message) };
    try {
      this.wire.send({ rpcLog: line });
    } catch (error) {
      this.wire.send({ rpcLog: Object.assign(line, { message: `${line.message.slice(0, 1 << 15)}... (the rest of the line is left out: ${textOf(error)})` }) });
    }
  }

  /** A line after the hooks for lines, which may change it. */
  hookedLine(level, category, message, invocationContext) {
    const line = { level, category, message, invocationContext, hookData: {}, appHookData: this.hookData };
    for (const callback of [...this.hooks.get('log')]) callback(line);
    return line;
  }

  /** Runs the app's entry points, if it names some. What goes wrong there is told with the functions. */
  async init(request) {
    this.directory = request.functionAppDirectory || this.directory;
    this.hostVersion = request.hostVersion || '';
    try {
      await this.start();
    } catch (error) {
      this.startError = defined(error) ? error : new Error(`the app failed with ${error}`);
    }
    let can = Object.assign({}, capabilities);
    try {
      if (this.model.getCapabilities) can = (await this.model.getCapabilities(can)) || can;
    } catch (error) {
      this.startError = this.startError || error;
    }
    return {
      workerVersion: version,
      capabilities: can,
      result: { status: 'Success' },
      workerMetadata: {
        runtimeName: 'node', runtimeVersion: process.versions.node, workerVersion: version, workerBitness: process.arch,
        customProperties: { modelName: this.model.name || '', modelVersion: this.model.version || '' },
      },
    };
  }

  async start() {
    process.chdir(this.directory);
    this.useModelOfApp();
    const entries = entryPoints(this.directory);
    if (entries.missing !== undefined) {
      const text = `"main" of package.json names ${JSON.stringify(entries.missing)}, and there is no such file`;
      if (!this.hasFunctionFiles()) throw new Error(`${text}: ${entries.built ? 'build the app first (npm install, npm run build)' : 'write that file, or correct "main"'}`);
      this.log('warning', 'system', text);
    }
    for (const file of entries.files) {
      this.current = file;
      await loadFile(file);
    }
    this.current = undefined;
    await this.runHooks('appStart', { functionAppDirectory: this.directory, hostVersion: this.hostVersion });
  }

  /** The app's own @azure/functions 3, which is for function.json apps, takes the place of ours. */
  useModelOfApp() {
    const require = createRequire(path.join(this.directory, 'package.json'));
    let version;
    try {
      ({ version } = require('@azure/functions/package.json'));
    } catch {
      return; // there is none
    }
    if (!version.startsWith('3.')) return;
    const { setup } = require('@azure/functions');
    if (typeof setup === 'function') setup();
  }

  /** Whether there are functions that are described by files. */
  hasFunctionFiles() {
    return fs.readdirSync(this.directory, { withFileTypes: true })
      .some((entry) => entry.isDirectory() && fs.existsSync(path.join(this.directory, entry.name, 'function.json')));
  }

  /** The functions that are declared in code. Without any, the files count. */
  async metadata() {
    this.registering = false;
    const declared = [...this.functions.values()].filter((f) => f.declared).map((f) => f.metadata);
    if (this.startError && (declared.length > 0 || !this.hasFunctionFiles())) {
      return { result: loadFailure(this.startError, this.directory) };
    }
    return {
      useDefaultMetadataIndexing: declared.length === 0,
      functionMetadataResults: declared,
      result: { status: 'Success' },
    };
  }

  /** Declares a function (the run-time module's registerFunction). */
  register(metadata, callback) {
    if (!this.registering) throw new Error('A function can only be registered during app startup.');
    const id = metadata.functionId || metadata.name;
    if (this.functions.has(id)) throw new Error(`A function with id "${id}" has already been registered.`);
    const bindings = {};
    const raw = [];
    for (const [name, binding] of Object.entries(metadata.bindings || {})) {
      bindings[name] = { type: binding.type, direction: binding.direction || 'in', dataType: dataType(binding.dataType), properties: strings(binding.properties) };
      raw.push(JSON.stringify(Object.assign({}, binding, { name, direction: binding.direction || 'in', type: binding.type })));
    }
    const wireForm = {
      functionId: id, name: metadata.name, language: 'node', directory: this.current ? path.dirname(this.current) : this.directory,
      scriptFile: this.current ? path.basename(this.current) : '', bindings,
      rawBindings: metadata.rawBindings && metadata.rawBindings.length > 0 ? metadata.rawBindings : raw,
    };
    if (metadata.retryOptions) wireForm.retryOptions = retryOptions(metadata.retryOptions);
    this.functions.set(id, { metadata: wireForm, core: Object.assign({}, metadata, { functionId: id }), callback, declared: true });
  }

  /** Takes a declaration back. */
  unregister(id) {
    if (!this.registering) throw new Error('A function can only be disposed during app startup.');
    this.functions.delete(id);
  }

  async load(request) {
    const { functionId } = request;
    const known = this.functions.get(functionId);
    if (known && known.declared) return { functionId, result: { status: 'Success' } };
    const metadata = request.metadata || {};
    const f = { metadata, core: coreMetadata(metadata), declared: false };
    this.functions.set(functionId, f);
    try {
      if (this.startError) throw this.startError;
      const found = exported(await loadFile(metadata.scriptFile), metadata.entryPoint, metadata.name);
      f.callback = found.callback;
      f.thisArg = found.thisArg;
      return { functionId, result: { status: 'Success' } };
    } catch (error) {
      f.failure = loadFailure(error, this.directory);
      return { functionId, result: f.failure };
    }
  }

  /** Makes one attempt. */
  async invoke(wireRequest) {
    const { invocationId } = wireRequest;
    const context = { state: undefined };
    try {
      const f = this.functions.get(wireRequest.functionId);
      if (f && f.failure) return { invocationId, result: f.failure };
      if (!f || !f.callback) throw new Error(`Function code for '${wireRequest.functionId}' is not loaded.`);
      const core = {
        invocationId, request: decodeRequest(wireRequest), metadata: f.core, get state() { return context.state; },
        log: (level, category, ...args) => this.log(level, category, args.join(' '), { id: invocationId, category: `${f.core.name}.Invocation`, context: context.own }),
      };
      const model = await this.model.getInvocationModel(core);
      const { context: own, inputs } = await model.getArguments();
      context.own = own;
      const hooks = { hookData: {}, invocationContext: own, inputs, functionCallback: f.callback };
      context.state = 'preInvocationHooks';
      await this.runHooks('preInvocation', hooks);
      context.state = 'invocation';
      const after = { hookData: hooks.hookData, invocationContext: own, inputs: hooks.inputs, result: null, error: null };
      try {
        after.result = await model.invokeFunction(own, hooks.inputs, f.thisArg === undefined ? hooks.functionCallback : hooks.functionCallback.bind(f.thisArg));
      } catch (error) {
        after.error = error;
        if (!defined(error)) core.log('warning', 'user', `Warning: the function threw ${error}, which counts as success. Throw an Error.`);
      }
      context.state = 'postInvocationHooks';
      await this.runHooks('postInvocation', after);
      context.state = undefined;
      if (defined(after.error)) throw after.error;
      return this.response(invocationId, await model.getResponse(own, after.result));
    } catch (error) {
      return { invocationId, result: failure(error) };
    }
  }

  response(invocationId, response) {
    const out = { invocationId, result: { status: 'Success' }, outputData: [] };
    for (const { name, data } of response.outputData || []) {
      const value = encode(data);
      if (value !== undefined) out.outputData.push({ name, data: value });
    }
    const value = encode(response.returnValue);
    if (value !== undefined) out.returnValue = value;
    return out;
  }

  /** Runs hooks in their order, with data that they share. */
  async runHooks(name, context) {
    context.appHookData = this.hookData;
    if (!context.hookData) context.hookData = {};
    for (const callback of [...this.hooks.get(name)]) await callback(context);
  }

  async terminate() {
    try {
      await this.runHooks('appTerminate', { functionAppDirectory: this.directory });
    } catch (error) {
      this.log('error', 'system', `a hook of appTerminate failed: ${textOf(error)}`);
    }
    this.wire.end();
  }
}

function dataType(name) {
  return ['string', 'binary', 'stream'].includes(String(name).toLowerCase()) ? String(name).toLowerCase() : 'undefined';
}

function strings(properties) {
  const out = {};
  for (const [name, value] of Object.entries(properties || {})) out[name] = String(value);
  return out;
}

/** A policy as it travels. Counts are 32 bits, as protobuf takes them; durations are whole seconds (spec workers 4.3). */
function retryOptions(options) {
  const out = { maxRetryCount: options.maxRetryCount | 0, retryStrategy: options.retryStrategy === 'fixedDelay' ? 'fixed_delay' : 'exponential_backoff' };
  for (const name of ['delayInterval', 'minimumInterval', 'maximumInterval']) {
    const value = options[name];
    if (value !== null && value !== undefined) out[name] = `${Math.round(Number(value.seconds || 0) + Number(value.nanos || 0) / 1e9)}s`;
  }
  return out;
}

/** A function of a file as the programming models know it. */
function coreMetadata(metadata) {
  const bindings = {};
  for (const [name, b] of Object.entries(metadata.bindings || {})) {
    bindings[name] = Object.assign({}, b, { direction: b.direction || 'in', dataType: b.dataType });
  }
  return Object.assign({}, metadata, { bindings });
}

module.exports = { App };
