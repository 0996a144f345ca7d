'use strict';
// What went wrong, as the host is told of it.

const path = require('path');
const { inspect } = require('util');

/** The failure that an error stands for, whatever was thrown. */
function failure(error) {
  const known = error !== null && typeof error === 'object';
  const message = text(() => (known && error.message === undefined ? JSON.stringify(error) : String(known ? error.message : error)), () => inspect(error));
  return {
    status: 'Failure',
    result: message,
    exception: {
      message, source: '', stackTrace: text(() => (known && error.stack) || ''),
      type: text(() => (known && error.constructor ? error.name || error.constructor.name : typeof error)),
    },
  };
}

/** The failure of an attempt whose answer cannot travel: of a failure the beginning of its texts, else why. */
function untold(answer, error) {
  const { result } = answer;
  if (!result || !result.exception) return failure(new RangeError(`The answer cannot be given to the host: ${textOf(error)}`));
  const exception = {};
  for (const [name, value] of Object.entries(result.exception)) exception[name] = value.slice(0, mostText);
  return { status: 'Failure', result: exception.message, exception };
}

const mostText = 1 << 15;

/** The text of what was thrown, with its stack if it has one. */
function textOf(error) {
  return text(() => (error && error.stack ? error.stack : String(error)), () => inspect(error));
}

/** The first text that can be made: user code may have thrown what has none. */
function text(...ways) {
  for (const way of ways) {
    try {
      return String(way());
    } catch {} // the next
  }
  return '';
}

/**
 * The failure of the app's code while it is loaded. The stack has the lines of the app and of its
 * packages only; a package that is not installed gets a next step.
 */
function loadFailure(error, directory) {
  const told = failure(error);
  const { exception } = told;
  exception.stackTrace = places(exception.stackTrace, exception.message);
  if (['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(text(() => error.code))) {
    const [first] = exception.message.split('\n'); // the list of those who require it says less than the stack
    exception.message = told.result = first + text(() => advice(first, requirer(error), directory));
  }
  return told;
}

/** A stack without the message, and without the calls of Node.js and of this worker. */
function places(stack, message) {
  const at = stack.indexOf(message);
  const before = at < 0 ? '' : stack.slice(0, at); // of a syntax error: the line, and the name of the error
  const lines = (at < 0 ? stack : stack.slice(at + message.length)).split('\n');
  return [...before.split('\n').slice(0, -1), ...lines]
    .filter((line) => line.trim() !== '' && !line.includes('(node:') && !line.includes('at node:') && !line.includes(__dirname))
    .join('\n');
}

/** The file that asked for a module that is not there, '' if that is unknown. */
function requirer(error) {
  const [by] = error.requireStack || [];
  return by || (/ imported from (.+)$/m.exec(error.message) || [])[1] || '';
}

const ofPackage = (file) => file.split(/[\\/]/).includes('node_modules');

/** What to do about a package that is not there, or that lacks something. */
function advice(message, by, directory) {
  const [, name] = /'([^']+)'/.exec(message) || [];
  if (name && (ofPackage(name) || ofPackage(by))) {
    return `: a package of the app is installed in part: remove node_modules in ${directory} and run "npm install"`;
  }
  if (!name || name.startsWith('.') || path.isAbsolute(name)) return '';
  const parts = name.split('/').slice(0, name.startsWith('@') ? 2 : 1);
  return `: run "npm install" in ${directory}, or "npm install ${parts.join('/')}" if package.json does not list it`;
}

module.exports = { failure, loadFailure, untold, textOf };
