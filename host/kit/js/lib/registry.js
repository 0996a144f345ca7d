'use strict';
// The functions that modules of the test's process have declared. Programming models declare
// them to the module @azure/functions-core, which a worker has, and the kit has too.

const { installCore, hookNames } = require('./worker/core');
const { KitError } = require('./errors');
const { App } = require('./worker/app');

/** Takes declarations as a worker does, of all modules, at any time. */
class Registry extends App {
  constructor() {
    super({ send() {}, end() {} });
    this.modules = new WeakMap(); // of module objects: the functions that their import declared
  }

  /** A module that is imported anew, as test runners do, declares its functions anew. */
  register(metadata, callback) {
    this.functions.delete(metadata.functionId || metadata.name);
    super.register(metadata, callback);
  }

  /** The functions that an import declares, now or when it was made first. */
  async of(load) {
    const before = new Map(this.functions);
    const module = await load();
    const made = new Map([...this.functions].filter(([id, f]) => before.get(id) !== f));
    const key = Object(module) === module ? module : undefined;
    if (made.size > 0) {
      if (key) this.modules.set(key, made);
      return made;
    }
    const known = (key && this.modules.get(key)) || this.functions;
    if (known.size === 0) throw new KitError('the module declares no functions', 'no_functions', 'does it import @azure/functions and call app.serviceBusQueue, app.http or the like?');
    return known;
  }
}

const key = Symbol.for('redeliver.testing.registry'); // one for a process, however often this file is loaded
if (!globalThis[key]) {
  globalThis[key] = new Registry();
  globalThis[key].core = installCore(globalThis[key]);
}

module.exports = { registry: globalThis[key], App, hookNames };
