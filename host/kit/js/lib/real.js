'use strict';
// The timers as they are before a test replaces them by fake ones.

const { setTimeout, clearTimeout } = globalThis;

/** Whether a debugger holds this process, so that no real limit counts. */
function debugged() {
  return Boolean(require('inspector').url());
}

module.exports = { setTimeout, clearTimeout, now: performance.now.bind(performance), debugged };
