require('@azure/functions-core').registerFunction({ name: 'src', bindings: {} }, () => {});
