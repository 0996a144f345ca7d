'use strict';
// A message as it travels: a line of JSON.

/** A message as a line. An error says why it cannot travel; most limits it, in bytes. */
function line(message, most) {
  const out = Buffer.from(wholeCharacters(JSON.stringify(message)) + '\n');
  if (out.length > most) throw new RangeError(`The message has ${out.length} bytes, and the host takes ${most}.`);
  return out;
}

/** JSON without the escapes of halves of characters: a message cannot hold them. */
function wholeCharacters(json) {
  if (!/\\ud[89a-f]/.test(json)) return json;
  return json.replace(/\\(?:ud[89a-f]..|.)/g, (escape) => (escape.length > 2 ? '\\ufffd' : escape));
}

module.exports = { line };
