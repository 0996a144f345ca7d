// The functions of the suite, each with a function.json that names its export.
exports.nothing = async () => {};

exports.echo = async (context, item) => {
  context.bindings.out = item;
};

exports.seen = async (context) => {
  const retry = context.executionContext.retryContext;
  let text = [context.invocationId, context.executionContext.functionName, context.bindingData.id, context.traceContext.traceparent].join(' ');
  if (retry) text += ` retry ${retry.retryCount}/${retry.maxRetryCount}`;
  if (retry && retry.exception) text += ` after ${retry.exception.message}`;
  context.bindings.out = text;
};

exports.fail = async (context, item) => {
  context.bindings.out = 'lost';
  throw new RangeError(item);
};

exports.log = async (context, item) => {
  for (let i = 0; i < Number(item); i++) [context.log.info, context.log.warn, context.log.error][i % 3](`line ${i}`);
};

exports.odd = async (context) => {
  const ring = { big: 1n, f() {} };
  ring.ring = ring;
  context.bindings.out = ring;
  context.bindings.nobodys = 1;
  return Symbol('odd');
};

exports.noise = async (context, item) => {
  for (let i = 0; i < Number(item); i++) {
    process.stdout.write(Buffer.from([0, 255, 123, 10]));
    console.error('noise '.repeat(20));
  }
  console.log('x'.repeat(200 << 10));
};

exports.exit = async (context, item) => process.exit(Number(item));

exports.fatal = () => {
  setTimeout(() => { throw new Error('from a timer'); });
  return new Promise(() => {});
};

exports.wait = () => new Promise(() => {});

exports.hang = async () => {
  for (;;);
};
