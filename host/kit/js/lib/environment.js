'use strict';
// What a host gives its handlers in their environment, which is that of the test's process.

const { KitError } = require('./errors');

const given = new Map(); // by name: what was there before, and what the hosts that run have given

/** Whether a host is meant by a name, whatever this process has under it: a setting of the test, or a place that only this host has. */
const own = (name, { settings = {}, ports }) => name in settings || (ports && name.startsWith('AzureWebJobs'));

/**
 * Gives "name=value" to the handlers of a host, and returns how that ends. A setting of another
 * host that runs is none of theirs: two values at once are refused.
 */
function give(entries, options) {
  const taken = [];
  const end = () => { for (const [name, value] of taken.splice(0)) takeBack(name, value); };
  for (const [name, value] of entries.map((entry) => entry.split(/=(.*)/s))) {
    const held = given.get(name) || { before: process.env[name], values: [] };
    if (held.values.length === 0 && held.before !== undefined && !own(name, options)) continue;
    const other = held.values.find((one) => one !== value);
    if (other !== undefined && name in (options.settings || {})) {
      end();
      throw new KitError(
        `setting ${name} is ${JSON.stringify(value)}, and another host of this process that runs has given ${JSON.stringify(other)}`, 'two_settings',
        'handlers of both read one environment: stop the other host before',
      );
    }
    held.values.push(value);
    given.set(name, held);
    process.env[name] = value;
    taken.push([name, value]);
  }
  return end;
}

function takeBack(name, value) {
  const held = given.get(name);
  held.values.splice(held.values.indexOf(value), 1);
  if (held.values.length > 0) {
    process.env[name] = held.values.at(-1);
    return;
  }
  given.delete(name);
  if (held.before === undefined) delete process.env[name];
  else process.env[name] = held.before;
}

module.exports = { give };
