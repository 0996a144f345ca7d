// Lets each request to a Node server say what time it is, so that tests of locks,
// leases and expiry need not wait. Loaded before the server:
//
//     node --require ./clock.cjs server.js
//
// A request with the header redeliver-time (milliseconds since 1970) is served
// at that time, from its first line of code to the last callback that it
// causes; all others, and what the server does by itself, at the machine's.
const { AsyncLocalStorage } = require("node:async_hooks");
const http = require("node:http");

const serving = new AsyncLocalStorage();
const now = () => serving.getStore() ?? RealDate.now();
const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, args, as) => Reflect.construct(target, args.length === 0 ? [now()] : args, as),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});

const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (event, request, ...rest) {
  const at = event === "request" && request.headers["redeliver-time"];
  if (!at) return emit.call(this, event, request, ...rest);
  return serving.run(Number(at), () => emit.call(this, event, request, ...rest));
};
