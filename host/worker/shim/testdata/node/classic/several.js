exports.a = exports.b = (context) => context.done();
