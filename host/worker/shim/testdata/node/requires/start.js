const core = require('@azure/functions-core');
core.registerFunction({ name: 'once', bindings: {} }, () => {});
require('./later.mjs');
