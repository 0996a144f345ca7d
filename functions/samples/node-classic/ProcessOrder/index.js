// Handles one order. An error is tried again by the policy, and after the last attempt by
// the queue.
module.exports = async function (context, order) {
  const retry = context.executionContext.retryContext; // null without a policy
  if (retry && retry.retryCount === retry.maxRetryCount) context.log.warn('last attempt of this delivery');
  if (order.fail || (retry && retry.retryCount < (order.flaky || 0))) throw new Error('payment service unavailable');
  context.log(`order ${order.id} processed`);
  context.bindings.invoices = { order: order.id };
};
