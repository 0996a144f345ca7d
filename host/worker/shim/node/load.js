'use strict';
// Loading of user code.

const fs = require('fs');
const path = require('path');
const vm = require('vm');
const { pathToFileURL } = require('url');
const { createRequire } = require('module');

/** Loads a script, whichever kind of module it is. */
async function loadFile(file) {
  if (!saidToBeModule(file)) {
    try {
      return createRequire(file)(file);
    } catch (error) {
      // A script whose own requires fail like this must not run a second time.
      if ((error.code !== 'ERR_REQUIRE_ESM' && error.code !== 'ERR_REQUIRE_ASYNC_MODULE') || isCommonJS(file)) throw error;
    }
  }
  return import(pathToFileURL(file).href);
}

/** Whether the name of a script, or the package.json that it belongs to, says that it is an ES module. */
function saidToBeModule(file) {
  if (/\.[cm][jt]s$/.test(file)) return /\.m[jt]s$/.test(file);
  for (let folder = path.dirname(file); path.basename(folder) !== 'node_modules'; folder = path.dirname(folder)) {
    let text;
    try {
      text = fs.readFileSync(path.join(folder, 'package.json'), 'utf8');
    } catch {
      if (folder === path.dirname(folder)) return false;
      continue;
    }
    try {
      return JSON.parse(text.replace(/^\uFEFF/, '')).type === 'module';
    } catch {
      return false; // Node.js says what is wrong with it
    }
  }
  return false;
}

/** Whether a script has the form of a CommonJS module. */
function isCommonJS(file) {
  try {
    vm.compileFunction(fs.readFileSync(file, 'utf8').replace(/^\uFEFF?#!.*/, ''), ['exports', 'require', 'module', '__filename', '__dirname']);
    return true;
  } catch {
    return false;
  }
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
