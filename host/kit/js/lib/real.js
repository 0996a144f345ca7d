'use strict';
// The timers as they are before a test replaces them by fake ones.

const { setTimeout, clearTimeout, setImmediate } = globalThis;

/** Whether a debugger holds this process, so that no real limit counts. */
function debugged() {
  return Boolean(require('inspector').url());
}

module.exports = { setTimeout, clearTimeout, setImmediate, now: performance.now.bind(performance), debugged };
