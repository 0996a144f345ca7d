// The functions of the newer model, made of the function.json files of the older one.
const fs = require('fs');
const path = require('path');
const { app, output } = require('@azure/functions');
const { called } = require('./handler');

// The newer model takes milliseconds.
function milliseconds(policy) {
  return policy && Object.fromEntries(Object.entries(policy).map(([key, value]) => [key, key.endsWith('Interval') ? 1000 * Number(value.split(':')[2]) : value]));
}

for (const name of fs.readdirSync(path.join(__dirname, 'functions'))) {
  const { bindings, retry } = JSON.parse(fs.readFileSync(path.join(__dirname, 'functions', name, 'function.json')));
  const [{ name: parameter, direction, ...trigger }, ...outputs] = bindings;
  const http = trigger.type === 'httpTrigger';
  app.generic(name, {
    trigger: { ...trigger, name: parameter },
    return: http ? output.generic({ type: 'http' }) : undefined,
    retry: milliseconds(retry),
    handler: async (first, context) => {
      called(name, http ? null : first, http ? null : context.triggerMetadata, context.retryContext);
      return http ? { status: 200, body: 'done' } : undefined;
    },
  });
}
