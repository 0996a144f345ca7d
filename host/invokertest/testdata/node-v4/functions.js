// The functions of the suite, declared in code.
const { app, output, trigger } = require('@azure/functions');

const out = output.generic({ type: 'queue', name: 'out', queueName: 'done', connection: 'AzureWebJobsStorage' });

function on(name, type, handler) {
  const options = type === 'queueTrigger' ? { type, name: 'item', queueName: name.toLowerCase(), connection: 'AzureWebJobsStorage' } : { type, name: 'item' };
  app.generic(name, { trigger: trigger.generic(options), extraOutputs: [out], handler });
}

on('Nothing', 'queueTrigger', async () => {});

on('Echo', 'manualTrigger', async (item, context) => context.extraOutputs.set(out, item));

on('Seen', 'queueTrigger', async (item, context) => {
  const retry = context.retryContext;
  let text = [context.invocationId, context.functionName, context.triggerMetadata.id, context.traceContext.traceParent].join(' ');
  if (retry) text += ` retry ${retry.retryCount}/${retry.maxRetryCount}`;
  if (retry && retry.exception) text += ` after ${retry.exception.message}`;
  context.extraOutputs.set(out, text);
});

on('Fail', 'queueTrigger', async (item, context) => {
  context.extraOutputs.set(out, 'lost');
  throw new RangeError(item);
});

on('Log', 'queueTrigger', async (item, context) => {
  for (let i = 0; i < Number(item); i++) context[['info', 'warn', 'error'][i % 3]](`line ${i}`);
});

on('Odd', 'queueTrigger', async (item, context) => {
  const ring = { big: 1n, f() {} };
  ring.ring = ring;
  context.extraOutputs.set(out, ring);
  context.extraOutputs.set('nobodys', 1);
  return Symbol('odd');
});

on('Noise', 'queueTrigger', async (item) => {
  for (let i = 0; i < Number(item); i++) {
    process.stdout.write(Buffer.from([0, 255, 123, 10]));
    process.stderr.write('noise '.repeat(20) + '\n');
  }
  process.stdout.write('x'.repeat(200 << 10) + '\n');
});

on('Exit', 'queueTrigger', async (item) => process.exit(Number(item)));

on('Fatal', 'queueTrigger', () => {
  setTimeout(() => { throw new Error('from a timer'); });
  return new Promise(() => {});
});

on('Wait', 'queueTrigger', () => new Promise(() => {}));

on('Hang', 'queueTrigger', async () => {
  for (;;);
});
