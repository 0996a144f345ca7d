'use strict';
// What goes wrong: in the app that is tested, or in how the kit was called.

const { AssertionError } = require('assert');

/** What was expected has not happened. The text says what has, with the timeline. */
class Failure extends AssertionError {
  constructor(message, { want, got } = {}) {
    super({ message, expected: want, actual: got });
    this.name = 'Failure';
    this.generatedMessage = false;
  }
}

/** The kit refused a call: code is a word for programs. */
class KitError extends Error {
  constructor(text, code = '', hint = '') {
    super(hint ? `${text}\n${hint}` : text);
    this.name = 'KitError';
    this.code = code;
    this.hint = hint;
  }
}

/** A call, or a handler, took longer than the real limit of the host. */
class KitTimeout extends KitError {
  constructor(text) {
    super(text, 'timeout');
    this.name = 'KitTimeout';
  }
}

module.exports = { Failure, KitError, KitTimeout };
