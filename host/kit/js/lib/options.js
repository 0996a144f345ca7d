'use strict';
// What calls are given. A slip that would change nothing is refused: a test would pass with it.

/** Refuses members that a call does not have; the given, or none of them. */
function only(what, names, given = {}) {
  if (given === null || typeof given !== 'object') throw new TypeError(`${what} are an object, and not ${JSON.stringify(given)}`);
  for (const name of Object.keys(given)) if (!names.includes(name)) throw new TypeError(`${what} have no ${JSON.stringify(name)}; they have ${names.join(', ')}`);
  return given;
}

/** A span of time as the program reads it. Bare numbers are refused: seconds, or milliseconds? */
function span(given) {
  if (typeof given === 'string') return given;
  const units = { days: 86400, hours: 3600, minutes: 60, seconds: 1, milliseconds: 0.001 };
  if (given === null || typeof given !== 'object' || Object.keys(given).length === 0 || Object.keys(given).some((unit) => !(unit in units))) {
    throw new TypeError(`a span of time is text such as "30s", or { seconds: 30 }, and not ${JSON.stringify(given)}`);
  }
  return `${Object.entries(given).reduce((sum, [unit, n]) => sum + n * units[unit], 0)}s`;
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
  if (!(n > 0)) throw new TypeError(`the timeout is ${JSON.stringify(given)}, and has to be seconds, such as 30 or "30s"`);
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

module.exports = { only, span, milliseconds, seconds, filled, several };
