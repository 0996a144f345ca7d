// A function of the older model.
const { called } = require('../handler');

module.exports = async function (context, first) {
  const http = context.bindingDefinitions.some((b) => b.type === 'httpTrigger');
  called(context.executionContext.functionName, http ? null : first, http ? null : context.bindingData, context.executionContext.retryContext);
  return http ? { status: 200, body: 'done' } : undefined;
};
