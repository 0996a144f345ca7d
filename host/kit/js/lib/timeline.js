'use strict';
// What has happened, for people.

/** Failures of the program. */
function failures(list) {
  return list.map((one) => {
    const lines = [`${one.path ? `${one.path}: ` : ''}${one.message || ''}`];
    if (one.want || one.got) lines.push(`  want  ${one.want || ''}`, `  got   ${one.got || ''}`);
    return [...lines, ...indented(one)].join('\n');
  }).join('\n');
}

/** A timeline below what it is about. */
function indented(told) {
  return (told.timeline || []).map((line) => `    ${line}`);
}

const most = 12; // lines at either end of a life

/** What explain says. */
function text(told) {
  const out = [];
  for (const life of told.lives || []) {
    out.push(`message ${life.message || life.number} of ${life.source}${life.function ? `, function ${life.function} (${life.trigger})` : ''}`);
    if (life.policy) out.push(`  retry     ${life.policy}`);
    const entries = life.entries || [];
    const begin = entries.length > 0 ? Date.parse(entries[0].time) : 0;
    let lines = entries.map((entry) => `    ${`+${(Date.parse(entry.time) - begin) / 1000}s`.padEnd(13)} ${entry.attempt ? '  ' : ''}${entry.text || ''}`);
    if (lines.length > 2 * most) lines = [...lines.slice(0, most), `    … ${lines.length - 2 * most} lines`, ...lines.slice(-most)];
    out.push(...lines);
    if (life.next) out.push(`  next      ${life.next}`);
  }
  return out.join('\n') || 'nothing has happened';
}

module.exports = { failures, indented, text };
