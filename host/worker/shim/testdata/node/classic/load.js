exports.a = 1;
exports.run = function (context) { context.done(null, { out: `run ${this === exports}` }); };
exports.index = (context) => context.done(null, { out: 'index' });
exports.self = function (context) { context.done(null, { out: `self ${this.a}` }); };
