// A function of a random app, in the older model: it answers what plans.json says.
const fs = require('fs');
const path = require('path');
const { called } = require('../handler');

const plans = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'plans.json')));

module.exports = async function (context, first, ...others) {
  const name = context.executionContext.functionName;
  const http = context.bindingDefinitions.some((b) => b.type === 'httpTrigger');
  const given = http ? [first.method, first.url, first.query, first.params, first.body, first.rawBody] : first;
  called(name, [given, ...others], context.bindingData, context.executionContext.retryContext);
  const { Outputs, ReturnValue } = plans[name];
  for (const [output, value] of Object.entries(Outputs)) {
    if (output === 'res') context.res = value;
    else context.bindings[output] = value;
  }
  return ReturnValue;
};
