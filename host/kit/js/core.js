'use strict';
// The module @azure/functions-core, for loaders that have to be told.

module.exports = require('./lib/registry').registry.core;
