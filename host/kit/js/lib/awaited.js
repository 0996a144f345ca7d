'use strict';
// Calls that nobody awaits: they may fail, or not be done, and the test would not learn it. The
// end of the host tells of them.

/** A promise that knows whether anybody has asked for its end. */
class Call extends Promise {
  static get [Symbol.species]() {
    return Promise;
  }

  then(...what) {
    if (this.asked) this.asked();
    return super.then(...what);
  }
}

/** Has calls of these methods noted in the set of their host until somebody awaits them. */
function noted(kind, names, hostOf = (self) => self) {
  for (const name of names) {
    const method = kind.prototype[name];
    kind.prototype[name] = function call(...given) {
      const { owed } = hostOf(this);
      const one = { name };
      owed.add(one);
      const made = new Call((resolve) => { resolve(method.apply(this, given)); });
      made.asked = () => owed.delete(one);
      return made;
    };
  }
}

module.exports = { noted };
