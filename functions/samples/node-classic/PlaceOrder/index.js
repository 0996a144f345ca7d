// Answers POST /api/orders and puts the order on the queue.
module.exports = async function (context, req) {
  const order = req.body;
  if (!order || !order.id) {
    context.res = { status: 400, body: 'want {"id":"..."}\n' }; // an answer, not a failure
    return;
  }
  context.bindings.orders = order;
  context.res = { status: 202, body: `order ${order.id} accepted\n` };
};
