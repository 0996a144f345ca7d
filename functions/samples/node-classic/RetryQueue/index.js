// Fails until the last retry, and says what the platform tells of the attempts before.
module.exports = async function (context, message) {
  const { retryCount, maxRetryCount, exception } = context.executionContext.retryContext;
  context.log(`message ${message}: retry ${retryCount} of ${maxRetryCount}${exception ? `, after: ${exception.message}` : ''}`);
  if (retryCount < maxRetryCount) throw new Error(`attempt ${retryCount + 1} fails`);
  context.log(`${context.executionContext.functionName} has used all of its ${maxRetryCount} retries`);
};
