'use strict';
// What calls are given. A slip that would change nothing is refused: a test would pass with it.

/** Refuses members that a call does not have; the given, or none of them. */
function only(what, names, given = {}) {
  if (given === null || typeof given !== 'object') throw new TypeError(`${what} are an object, and not ${JSON.stringify(given)}`);
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) throw new TypeError(`${what} have no ${JSON.stringify(name)}; they have ${names.join(', ')}`);
    if (value === null) throw new TypeError(`${what}: ${name} is null: give it a value, or leave it out`);
  }
  return given;
}

/** A name that a call cannot do without. */
function named(what, given) {
  if (typeof given !== 'string' || given === '') throw new TypeError(`${what} has to be a name, and is ${shown(given)}`);
  return given;
}

/** The one name that a call may have, as its arguments: none for all. One that is there and has no value is a slip, and not "all". */
function optional(what, given) {
  if (given.length === 0) return undefined;
  if (given.length > 1) throw new TypeError(`there are ${given.length} names: want one ${what}, or none for all`);
  if (given[0] === undefined || given[0] === null) throw new TypeError(`${what} is ${given[0]}: leave it out for all`);
  return named(what, given[0]);
}

/** A whole number from one that a call takes. */
function whole(what, given, least = 1) {
  if (!Number.isSafeInteger(given) || given < least) throw new TypeError(`${what} has to be a whole number from ${least}, and is ${shown(given)}`);
  return given;
}

function shown(given) {
  return typeof given === 'string' ? JSON.stringify(given) : String(given);
}

/** What is compared, or described: a member without a value would be left out on the way, and compare nothing. JSON has no NaN either. */
function whollyJson(at, given) {
  if (given === undefined || typeof given === 'function' || typeof given === 'symbol') throw new TypeError(`${at} is ${given === undefined ? 'undefined' : `a ${typeof given}`}: give it a value, or leave it out`);
  if (typeof given === 'number' && !Number.isFinite(given)) throw new TypeError(`${at} is ${given}, which JSON does not have`);
  if (typeof given === 'object' && given !== null && typeof given.toJSON !== 'function') {
    for (const [name, value] of Object.entries(given)) whollyJson(Array.isArray(given) ? `${at}[${name}]` : `${at}.${name}`, value);
  }
  return given;
}

/** A span of time as the program reads it. Bare numbers are refused: seconds, or milliseconds? */
function span(given) {
  if (typeof given === 'string') return given;
  const units = { days: 86400, hours: 3600, minutes: 60, seconds: 1, milliseconds: 0.001 };
  if (given === null || typeof given !== 'object' || Object.keys(given).length === 0 || Object.keys(given).some((unit) => !(unit in units))) {
    throw new TypeError(`a span of time is text such as "30s", or { seconds: 30 }, and not ${JSON.stringify(given)}`);
  }
  const total = Object.entries(given).reduce((sum, [unit, n]) => sum + (typeof n === 'number' ? n : NaN) * units[unit], 0);
  if (!(total >= 0) || total === Infinity) throw new TypeError(`a span of time is ${shownSpan(given)}: want numbers from 0`);
  return `${total.toFixed(7).replace(/\.?0+$/, '')}s`;
}

function shownSpan(given) {
  return `{ ${Object.entries(given).map(([unit, n]) => `${unit}: ${shown(n)}`).join(', ')} }`;
}

const sizes = { d: 86400e3, h: 3600e3, m: 60e3, s: 1e3, ms: 1 };

/** The milliseconds of a span that a handler sleeps. Numbers are milliseconds, as for setTimeout. */
function milliseconds(given) {
  if (typeof given === 'number' && given >= 0) return given;
  const text = span(given);
  const clock = /^(?:(\d+)\.)?(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text);
  if (clock) return ((Number(clock[1] || 0) * 24 + Number(clock[2])) * 3600 + Number(clock[3]) * 60 + Number(clock[4])) * 1000;
  if (!/^(?:[\d.]+(?:ms|[dhms]))+$/.test(text)) throw new TypeError(`a span of time is text such as "30s", or { seconds: 30 }, and not ${JSON.stringify(given)}`);
  return [...text.matchAll(/([\d.]+)(ms|[dhms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * sizes[unit], 0);
}

/** A real limit in seconds, which may be text: 30, "30s". */
function seconds(given) {
  const n = Number(typeof given === 'string' ? given.replace(/s$/, '') : given);
  if (!(n > 0) || n === Infinity || typeof given === 'boolean') throw new TypeError(`the timeout is ${JSON.stringify(given)}, and has to be seconds, such as 30 or "30s"`);
  return n;
}

/** What is sent in order, or at once. */
function filled(what, given) {
  const list = [].concat(given);
  if (list.length === 0) throw new TypeError(`there are no ${what}: nothing would be sent`);
  return list;
}

/** What is sent in order: a text or one document is no list. */
function several(what, given) {
  if (!Array.isArray(given)) throw new TypeError(`${what} are a list, and not ${JSON.stringify(given)}`);
  return filled(what, given);
}

module.exports = { only, named, optional, whole, whollyJson, span, milliseconds, seconds, filled, several };
