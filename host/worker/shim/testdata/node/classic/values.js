// What a function is given, written as JSON that tells types apart, and what it gives back.
const { inspect } = require('util');
const show = (v) => inspect(v, { depth: 5, breakLength: Infinity, compact: true });

const outputs = {
  text: 'text', empty: '', bytes: Buffer.from([0, 255]), view: new Uint16Array([1, 2]), int: 7, large: 1e30, least: -(2 ** 63), double: 1.5, object: { a: [1] }, list: ['a', 2], yes: true, no: false,
};

exports.given = async (context, input, second) => ({ out: show([input, second]) });
exports.echo = async (context, input) => ({ out: input });
exports.returned = async (context, name) => outputs[name];
exports.spread = async (context, name) => ({ out: outputs[name], nobody: 1 });
exports.binding = async (context, name) => { context.bindings.out = outputs[name]; };
exports.both = async (context) => { context.bindings.out = 'binding'; context.bindings.more = 'more'; return { out: 'return' }; };
exports.data = async (context) => ({ out: show(context.bindingData) });
exports.context = async (context) => ({
  out: show([context.invocationId, context.executionContext, context.bindingDefinitions, context.traceContext, Object.keys(context.bindings)]),
});
exports.done = (context, what) => {
  switch (what) {
    case 'result': return context.done(null, { out: 'result' });
    case 'later': setImmediate(() => { context.bindings.out = 'later'; context.done(); }); return;
    case 'error': return context.done(new RangeError('boom'));
    case 'text': return context.done('no error, but text');
    case 'throws': throw new TypeError('at once');
    case 'twice': context.done(null, { out: 'first' }); return context.done(null, { out: 'second' });
    case 'promise': context.done(null, { out: 'done' }); return Promise.resolve({ out: 'promise' });
  }
};
exports.throws = async (context, what) => {
  switch (what) {
    case 'text': throw 'only text';
    case 'empty': throw '';
    case 'zero': throw 0;
    case 'object': throw { code: 7 };
    case 'loop': { const loop = {}; loop.loop = loop; throw loop; }
    case 'bare': throw Object.create(null);
    case 'oddMessage': throw { message: Object.create(null) };
    case 'oddStack': throw Object.defineProperty(new Error('odd stack'), 'stack', { get() { throw new Error('no stack'); } });
    case 'oddName': throw Object.assign(new Error('odd name'), { name: 7 });
    case 'half': throw new Error('half \ud800 \\ud800 \u{1F600}');
    case 'toString': throw { message: { toString() { throw new Error('no text'); } } };
    case 'proxy': throw new Proxy({}, { get() { throw new Error('no member'); }, has() { throw new Error(); }, getPrototypeOf() { throw new Error(); }, ownKeys() { throw new Error(); } });
    case 'symbol': throw Symbol('only a symbol');
    case 'function': throw function f() {};
    case 'revoked': { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy; }
    case 'code': throw Object.defineProperty(new Error('odd code'), 'code', { get() { throw new Error('no code'); } });
    case 'frozen': throw Object.freeze(new SyntaxError('frozen'));
  }
};
exports.logs = async (context) => {
  context.log('a %s', 'b', { c: 1 });
  context.log('half \ud800');
  context.log.error('error');
  context.log.warn('warn');
  context.log.info('info');
  context.log.verbose('verbose');
};
exports.lengthy = async (context, what) => {
  switch (what) {
    case 'answer': return { out: 'x'.repeat(200000) };
    case 'error': throw new RangeError('y'.repeat(200000));
    case 'log': context.log('z'.repeat(200000)); return { out: 'logged' };
    case 'circular': { const a = {}; a.a = a; return { out: a }; }
    default: return { out: 'lives' };
  }
};
exports.late = async (context) => { setImmediate(() => context.log('too late')); };
const deep = (context, level) => { context.log(`level ${level}`); deep(context, level + 1); };
exports.odd = async (context, what) => { // leaves the process otherwise than it was, and then lives
  switch (what) {
    case 'gone': delete process.stdout; delete process.stderr; console.log = undefined; break;
    case 'closed': process.stdout.destroy(); process.stderr.destroy(); break;
    case 'no flush': process.stdout.write = () => { throw new Error('no write'); }; break;
    case 'deep': deep(context, 0); break;
    case 'exit': process.stderr.destroy(); process.exit(3);
  }
  return { out: 'lives' };
};
