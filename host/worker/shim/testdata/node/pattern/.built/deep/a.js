require('@azure/functions-core').registerFunction({ name: 'deep', bindings: {} }, () => {});
