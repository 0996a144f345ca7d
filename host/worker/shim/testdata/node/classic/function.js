module.exports = (context) => context.done(null, { out: "function" });
