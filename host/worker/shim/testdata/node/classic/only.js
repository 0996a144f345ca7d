exports.only = (context) => context.done(null, { out: "only" });
