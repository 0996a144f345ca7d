require('@azure/functions-core').registerFunction({ name: 'built', bindings: {} }, () => {});
