'use strict';
// Loading of user code.

const path = require('path');
const { pathToFileURL } = require('url');
const { createRequire } = require('module');

/** Loads a script, whichever kind of module it is. */
async function loadFile(file) {
  if (path.extname(file) !== '.mjs') {
    try {
      return createRequire(file)(file);
    } catch (error) {
      if (error.code !== 'ERR_REQUIRE_ESM' && error.code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error;
    }
  }
  return import(pathToFileURL(file).href);
}

/**
 * Finds the function in what a script exports: the export itself, the one that entryPoint
 * names, the only one, or run or index (spec workers 10.1).
 */
function exported(found, entryPoint, name) {
  if (typeof found === 'function') return { callback: found, thisArg: undefined };
  let callback;
  if (found !== null && typeof found === 'object') {
    const keys = Object.keys(found).filter((key) => key !== '__esModule'); // of require, for an ES module
    if (entryPoint) callback = found[entryPoint];
    else if (keys.length === 1) callback = found[keys[0]];
    else callback = found.run || found.index;
  }
  if (!callback) {
    throw new Error(entryPoint
      ? `Unable to determine function entry point: ${entryPoint}. If multiple functions are exported, you must indicate the entry point, either by naming it 'run' or 'index', or by naming it explicitly via the 'entryPoint' metadata property.`
      : `Unable to determine function entry point of ${name}. If multiple functions are exported, you must indicate the entry point, either by naming it 'run' or 'index', or by naming it explicitly via the 'entryPoint' metadata property.`);
  }
  if (typeof callback !== 'function') {
    throw new Error(`The resolved entry point of ${name} is not a function and cannot be invoked by the functions runtime. Make sure the function has been correctly exported.`);
  }
  return { callback, thisArg: found };
}

module.exports = { loadFile, exported };
