module.exports = async function (context, timer) {
  context.log(`still here, past due: ${timer.isPastDue}`);
};
