const core = require('@azure/functions-core');
core.registerFunction({ name: 'twice', bindings: {} }, () => {});
core.registerFunction({ name: 'twice', bindings: {} }, () => {});
