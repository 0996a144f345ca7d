'use strict';
// The command that runs the test again which runs here.

const path = require('path');

/** An argument as a shell takes it. */
const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`);

/** A name as a regular expression that means it alone. */
const exact = (name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const relative = (file) => quoted(path.relative(process.cwd(), file) || file);

/** What vitest and jest know of the test: both have one expect for a process, which says it. */
function state() {
  for (const expect of [globalThis[Symbol.for('expect-global')], globalThis.expect]) {
    if (expect && typeof expect.getState === 'function') return expect.getState();
  }
  return {};
}

/** The command with which the test is run again, for the seed before it. name is what the test has called itself. */
function command(name) {
  const { testPath, currentTestName } = state();
  const runner = process.env.VITEST ? 'npx vitest run' : process.env.JEST_WORKER_ID ? 'npx jest' : '';
  if (runner && testPath) {
    const plain = (currentTestName || '').replaceAll(' > ', ' '); // vitest shows suites so, and compares without
    return [runner, relative(testPath), ...(plain ? ['-t', quoted(`^${exact(plain)}$`)] : [])].join(' ');
  }
  const pattern = name ? [`--test-name-pattern=${quoted(`^${exact(name)}$`)}`] : [];
  const file = process.argv[1] ? [relative(process.argv[1])] : [];
  return ['node', ...process.execArgv.filter((arg) => !/^--test|^--inspect/.test(arg)).map(quoted), '--test', ...pattern, ...file].join(' ');
}

/** The name of the test: what it has called itself, or what the runner calls it; empty: nobody knows. */
const testName = (name) => name || state().currentTestName || '';

module.exports = { command, testName };
