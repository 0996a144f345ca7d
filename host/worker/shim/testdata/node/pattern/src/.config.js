require('@azure/functions-core').registerFunction({ name: 'config', bindings: {} }, () => {});
