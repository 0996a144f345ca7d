'use strict';
// What a failure of a test itself, such as a plain assertion, is told beside.

const told = Symbol('told');

/** Adds the timeline of a host to an error of its test, once. */
async function tell(error, host) {
  if (error.name === 'Failure' || error[told]) return; // it has the timeline already
  error[told] = true;
  try {
    const text = `\nredeliver timeline\n${await host.explain()}\n${host.again()}`;
    error.message += text;
    if (error.stack) error.stack += text;
  } catch {
    // the host has ended
  }
}

module.exports = { tell };
