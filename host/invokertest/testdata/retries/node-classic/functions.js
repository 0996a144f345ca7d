// Fails until the last retry, and says what it knows of the attempts before.
exports.working = async (context) => {
  const { retryCount, maxRetryCount, exception } = context.executionContext.retryContext;
  const before = /attempt \d+ fails/.exec(exception ? exception.message : '');
  const text = `attempt ${retryCount + 1} fails; retry ${retryCount} of ${maxRetryCount}; before: ${before ? before[0] : 'nothing'}`;
  if (retryCount < maxRetryCount) throw new Error(text);
};

// What is wrong with it is wrong in each attempt.
exports.literal = async (context) => {
  context.log.nothing(`retry ${context.executionContext.retryContext.retryCount}`);
};
