// The older form: context.done ends the invocation.
module.exports = function (context, invoice) {
  context.log(`invoice of order ${invoice.order} sent`);
  context.done();
};
