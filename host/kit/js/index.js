'use strict';
// Tests function apps with the real rules of delivery, in virtual time: see index.d.ts.

require('./lib/registry'); // the module @azure/functions-core is there from here on
const { Host } = require('./lib/host');
const { Failure, KitError, KitTimeout } = require('./lib/errors');
const { binary } = require('./lib/process');
const { tell } = require('./lib/tell');
const { whole } = require('./lib/options');

/** Starts a host. */
const start = (options = {}) => Host.start(options);

/** That many seeds. */
const seeds = (count, first = 1) => Array.from({ length: whole('the number of seeds', count) }, (_, i) => whole('the first seed', first, 0) + i);

const redeliver = { start, seeds };

module.exports = { start, seeds, redeliver, Failure, KitError, KitTimeout, Host, internal: { binary, tell } };
