'use strict';
// The journals of tests, kept where REDELIVER_KEEP says, for "redeliver explain --journal".

const fs = require('fs/promises');
const path = require('path');
const { testName } = require('./again');

/** Writes the journal of a host whose test has a name. What cannot be written fails no test. */
async function keep(host) {
  const folder = process.env.REDELIVER_KEEP;
  const name = folder && testName(host.options.name).replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '');
  if (!name) return;
  try {
    const { status, body } = await host.client.raw('GET', `/kit/hosts/${host.id}/admin/redeliver/journal`);
    if (status >= 400) return;
    await fs.mkdir(folder, { recursive: true });
    await fs.writeFile(path.join(folder, `${name}.jsonl`), body);
  } catch {
    // the test's own failure counts
  }
}

module.exports = { keep };
