'use strict';
// The handlers of a test, attached to its host: what a worker does in a process of its own.

const net = require('net');
const { registry, App } = require('./registry');
const classic = require('./worker/classic');
const { line } = require('./worker/line');
const { Naps, calls } = require('./naps');

/** The worker's side of one host, with functions by ID. */
class Handlers extends App {
  constructor(functions, alive, wait) {
    super(undefined);
    this.functions = functions;
    this.hooks = registry.hooks;
    this.model = { ...registry.model, getInvocationModel: (core) => (core.metadata.written ? classic.model : registry.model).getInvocationModel(core) };
    this.alive = alive; // is told of each call
    this.wait = wait; // asks the host for virtual time
    this.calls = new Map(); // that run: what people call them, by invocation
  }

  /** The functions are there already. */
  async start() {}

  async invoke(request) {
    const retry = (request.retryContext && request.retryContext.retryCount) || 0;
    this.calls.set(request.invocationId, `${request.functionId} attempt ${retry + 1}`);
    this.alive();
    try {
      const { invocationId } = request;
      return await calls.run(new Naps((ms) => this.wait({ for: `${ms}ms`, invocation: invocationId })), () => super.invoke(request));
    } finally {
      this.calls.delete(request.invocationId);
      this.alive();
    }
  }

  async terminate() {
    this.wire.end();
  }

  /** Connects with the host. */
  connect({ address, id, requestId, maxMessageLength }) {
    const [host, port] = address.split(':');
    const socket = net.connect({ host, port: Number(port), noDelay: true });
    socket.on('error', () => {});
    socket.unref(); // a host that nobody has stopped does not keep the test's process alive
    let parts = [];
    socket.on('data', (chunk) => {
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
        parts.push(chunk.subarray(0, end));
        const text = Buffer.concat(parts).toString('utf8');
        parts = [];
        chunk = chunk.subarray(end + 1);
        this.receive(JSON.parse(text));
      }
      parts.push(chunk);
    });
    this.wire = {
      send: (message) => socket.write(line(message, maxMessageLength || Infinity)),
      end: () => socket.end(),
    };
    this.wire.send({ requestId, startStream: { workerId: id } });
  }
}

/** A handler that a test has written, (item, context), in the form of function.json apps. */
function inClassicForm(handler) {
  return async (context, ...inputs) => {
    const { invocationId, bindingData: triggerMetadata, executionContext, traceContext, log } = context;
    const { functionName, retryContext } = executionContext;
    const own = { invocationId, functionName, triggerMetadata, retryContext: retryContext || undefined, traceContext, extraInputs: inputs.slice(1), log };
    for (const level of ['error', 'warn', 'info']) own[level] = log[level];
    const result = await handler(inputs[0], own);
    if (result && typeof result === 'object' && 'jsonBody' in result) {
      const { jsonBody, headers, ...rest } = result;
      return { ...rest, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(jsonBody) };
    }
    return result;
  };
}

module.exports = { Handlers, registry, inClassicForm };
