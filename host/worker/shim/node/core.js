'use strict';
// The module @azure/functions-core, which exists only inside a worker: programming models
// are written against it (spec workers 10.1).

const Module = require('module');

const name = '@azure/functions-core';
const hookNames = ['preInvocation', 'postInvocation', 'appStart', 'appTerminate', 'log'];

/** What can be taken back. */
class Disposable {
  constructor(dispose) {
    this.undo = dispose;
  }

  static from(...all) {
    return new Disposable(() => all.forEach((one) => one && typeof one.dispose === 'function' && one.dispose()));
  }

  dispose() {
    const undo = this.undo;
    this.undo = undefined;
    if (typeof undo === 'function') undo();
  }
}

/** Makes the module known to require, and so to what imports it. */
function installCore(app) {
  const core = {
    version: '1.0.0',
    get hostVersion() {
      return app.hostVersion;
    },
    registerFunction(metadata, callback) {
      app.register(metadata, callback);
      return new Disposable(() => app.unregister(metadata.functionId || metadata.name));
    },
    setProgrammingModel(model) {
      app.model = model;
    },
    getProgrammingModel() {
      return app.model;
    },
    registerHook(hook, callback) {
      const list = app.hooks.get(hook);
      if (!list) throw new RangeError(`Unrecognized hook "${hook}"`);
      list.push(callback);
      return new Disposable(() => {
        const at = list.indexOf(callback);
        if (at >= 0) list.splice(at, 1);
      });
    },
    log(level, category, message) {
      app.log(level, category, message);
    },
    Disposable,
  };
  const load = Module._load;
  Module._load = function (request, ...rest) {
    return request === name ? core : load.call(this, request, ...rest);
  };
  return core;
}

module.exports = { installCore, hookNames };
