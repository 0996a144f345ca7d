'use strict';
// The programming model of function.json apps: a script exports a function that gets a
// context, and the inputs in the order of their bindings. Apps need no package for it.

const { EventEmitter } = require('events');
const { format } = require('util');
const { randomUUID } = require('crypto');
const { Request, Response, httpOutput } = require('./classichttp');
const { plain, typed, defined } = require('./values');

const model = { name: '@azure/functions', version: '3.x', getInvocationModel: (core) => new Invocation(core) };

class Invocation {
  constructor(core) {
    this.core = core;
    this.events = new EventEmitter();
    this.over = false;
    this.async = false; // the function has returned a promise
    this.bindings = core.metadata.bindings || {};
  }

  names(wanted) {
    return Object.keys(this.bindings).filter((name) => wanted(this.bindings[name]));
  }

  /** The binding of that type, in any letters. */
  ofType(type) {
    return this.names((b) => String(b.type).toLowerCase() === type)[0];
  }

  async getArguments() {
    const { core } = this;
    const { request } = core;
    const timer = this.ofType('timertrigger');
    const context = {
      invocationId: core.invocationId,
      executionContext: {
        invocationId: core.invocationId, functionName: core.metadata.name, functionDirectory: core.metadata.directory,
        retryContext: request.retryContext || null,
      },
      bindings: {},
      bindingData: Object.assign({ invocationId: core.invocationId }, camel(request.triggerMetadata)),
      bindingDefinitions: Object.entries(this.bindings).map(([name, b]) => ({ name, type: b.type || '', direction: b.direction })),
      traceContext: trace(request.traceContext),
      log: this.logger(),
      done: (error, result) => this.events.emit('done', error, result),
    };
    const inputs = [];
    for (const { name, data } of request.inputData) {
      let value;
      if (data.http) {
        value = context.req = new Request(data.http);
        context.res = new Response(context.done);
        context.bindingData.sys = { methodName: core.metadata.name, utcNow: new Date().toISOString(), randGuid: randomUUID() };
        if (!context.bindingData.query) context.bindingData.query = Object.assign({}, value.query);
        if (!context.bindingData.headers) context.bindingData.headers = Object.assign({}, value.headers);
      } else {
        value = plain(data);
        if (name === timer) value = camelKeys(value);
      }
      context.bindings[name] = value;
      inputs.push(value);
    }
    return { context, inputs };
  }

  logger() {
    const log = (level) => (...args) => this.log(level, args);
    return Object.assign(log('information'), { error: log('error'), warn: log('warning'), info: log('information'), verbose: log('trace') });
  }

  log(level, args) {
    if (this.over && this.core.state !== 'postInvocationHooks') {
      this.core.log('warning', 'system', `Warning: 'log' was called on the context after the function had ended. Await what it starts, and call 'done' last. Function: ${this.core.metadata.name}. Invocation: ${this.core.invocationId}.`);
    }
    this.core.log(level, 'user', format(...args));
  }

  async invokeFunction(context, inputs, callback) {
    const done = new Promise((resolve, reject) => {
      this.events.on('done', (error, result) => {
        this.end(context.suppressAsyncDoneError);
        if (defined(error)) reject(error);
        else resolve(result);
      });
    });
    try {
      const result = callback(context, ...inputs);
      this.async = Boolean(result) && typeof result.then === 'function';
      if (!this.async) return await done;
      const returned = Promise.resolve(result).then((value) => {
        this.end(context.suppressAsyncDoneError);
        return value;
      });
      return await Promise.race([returned, done]);
    } finally {
      this.over = true;
    }
  }

  /** Takes note of an end. A second one is told, and changes nothing. */
  end(silent) {
    if (this.over && !(this.async && silent)) {
      this.core.log('error', 'system', this.async
        ? "Error: Choose either to return a promise or call 'done'. Do not use both in your script."
        : "Error: 'done' has already been called. Please check your script for extraneous calls to 'done'.");
    }
    this.over = true;
  }

  async getResponse(context, result) {
    const response = { invocationId: this.core.invocationId, outputData: [] };
    const outputs = this.names((b) => b.direction !== 'in');
    const http = outputs.find((name) => String(this.bindings[name].type).toLowerCase() === 'http');
    if (http && context.res && context.bindings[http] === undefined) context.bindings[http] = context.res;
    const convert = (name, value) => (name === http ? httpOutput(value) : typed(value));
    const set = new Set();
    const add = (name, value) => {
      set.add(name);
      const data = convert(name, value);
      if (data !== undefined) response.outputData.push({ name, data });
    };
    const hasReturn = outputs.includes('$return');
    if (result) {
      if (hasReturn) {
        response.returnValue = convert('$return', result);
      } else if (typeof result === 'object') {
        for (const name of outputs) if (result[name] !== undefined) add(name, result[name]);
      }
      if (!response.returnValue && set.size === 0 && !this.ofType('httptrigger')) response.returnValue = typed(result);
    }
    // Also $return, of which the host takes what is returned only.
    for (const name of outputs) if (context.bindings[name] !== undefined && !set.has(name)) add(name, context.bindings[name]);
    return response;
  }
}

function trace(context) {
  if (!context) return {};
  return { traceparent: context.traceParent, tracestate: context.traceState, attributes: context.attributes };
}

/** The trigger's metadata, with names that begin in small letters at every depth. */
function camel(metadata) {
  const out = {};
  for (const [name, data] of Object.entries(metadata || {})) {
    const value = plain(data);
    out[small(name)] = camelKeys(value === undefined ? unread(data) : value);
  }
  return out;
}

/** An empty text stays the message of gRPC that it came in, with the name of its choice. */
const unread = (data) => (typeof data === 'object' ? { ...data, data: Object.keys(data)[0] } : data);

function camelKeys(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || Buffer.isBuffer(value)) return value;
  const out = {};
  for (const [name, inner] of Object.entries(value)) out[small(name)] = camelKeys(inner);
  return out;
}

const small = (name) => name.charAt(0).toLowerCase() + name.slice(1);

module.exports = { model };
