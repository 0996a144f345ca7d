require('@azure/functions-core').registerFunction({ name: 'hidden', bindings: {} }, () => {});
