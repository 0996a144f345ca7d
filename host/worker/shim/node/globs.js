'use strict';
// Patterns for files as globby takes them, with which the platform reads "main": braces,
// wildcards, classes and the alternatives of shells, +(a|b) and !(a|b); a folder stands for
// all that is in it. The table in testdata/globs.json says what globby finds.

const fs = require('fs');
const path = require('path');

/**
 * The files below a folder whose names match a pattern, in order of their names. Folders of
 * packages match only where the pattern names them: on the platform "**" finds those too. A
 * pattern that begins with "!" takes away, and there is nothing that it could be taken from.
 */
function glob(directory, pattern) {
  const found = new Set();
  if (pattern.startsWith('!')) return [];
  for (const one of isFolder(path.join(directory, pattern)) ? [`${pattern}/**`] : braces(pattern)) walk(directory, segments(one), 0, found);
  return [...found].sort();
}

/** Takes up the files below a folder that match the segments from a number on. */
function walk(folder, parts, at, found) {
  const part = parts[at];
  const last = at === parts.length - 1;
  if (part === '**') {
    if (last) return walk(folder, [...parts, '*'], at, found);
    walk(folder, parts, at + 1, found);
    for (const entry of entries(folder)) {
      if (isPlain(entry) && entry !== 'node_modules' && isFolder(path.join(folder, entry))) walk(path.join(folder, entry), parts, at, found);
    }
    return;
  }
  const fixed = literal(part);
  const matching = fixed === undefined ? matcher(part, last) : undefined;
  for (const entry of fixed === undefined ? entries(folder) : [fixed]) {
    if (matching && (entry === 'node_modules' || !matching.test(entry))) continue;
    const name = path.join(folder, entry);
    if (!last) {
      if (isFolder(name)) walk(name, parts, at + 1, found);
    } else if (isFile(name)) {
      found.add(name);
    }
  }
}

const isPlain = (name) => !name.startsWith('.');

function entries(folder) {
  try {
    return fs.readdirSync(folder);
  } catch {
    return []; // none that can be read
  }
}

function stat(name) {
  try {
    return fs.statSync(name); // of what a link leads to
  } catch {
    return undefined;
  }
}

const isFile = (name) => Boolean(stat(name) && stat(name).isFile());
const isFolder = (name) => Boolean(stat(name) && stat(name).isDirectory());

/** The parts of a pattern between slashes; slashes in parentheses and classes do not count. */
function segments(pattern) {
  const parts = [''];
  let depth = 0;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === '(') depth++;
    else if (c === ')') depth--;
    if (c === '/' && depth <= 0) parts.push('');
    else parts[parts.length - 1] += c === '\\' ? c + (pattern[++i] || '') : c;
  }
  return parts.filter((part, i) => part !== '' || i === parts.length - 1);
}

/** The name that a part without wildcards stands for; undefined for one with. */
function literal(part) {
  if (/(^|[^\\])([*?[(]|[!+@]\()/.test(part)) return undefined;
  return part.replace(/\\(.)/g, '$1');
}

function matcher(part, last) {
  try {
    return new RegExp(`^(?:${expression(part, last)})$`);
  } catch {
    return { test: (name) => name === part }; // a class such as [z-a]
  }
}

const star = '[^/]*?';

/** The regular expression of a part. Last: nothing follows it. Start: a name begins here, and no wildcard takes a dot. */
function expression(part, last, start = true) {
  let out = '';
  for (let i = 0; i < part.length; i++) {
    const c = part[i];
    const guard = start && i === 0 ? '(?!\\.)' : '';
    const group = /^[!?+*@]?\(/.test(part.slice(i)) ? groupAt(part, part.indexOf('(', i)) : undefined;
    const classes = c === '[' ? classAt(part.slice(i)) : undefined;
    if (group) {
      out += alternatives(c, group, part.slice(group.end + 1), last, start && i === 0);
      i = group.end;
    } else if (c === '*') {
      while (part[i + 1] === '*') i++;
      out += guard + star;
    } else if (c === '?') {
      out += guard + '[^/]';
    } else if (classes) {
      out += classes.text;
      i += classes.length - 1;
    } else {
      if (c === '\\' && i + 1 < part.length) i++;
      out += part[i].replace(/[.*+?^$()|[\]\\{}]/, '\\$&');
    }
  }
  return out;
}

/** The alternatives in parentheses, undefined when they do not end. */
function groupAt(part, open) {
  const inner = [''];
  for (let i = open + 1, depth = 0; i < part.length; i++) {
    const c = part[i];
    if (c === ')' && depth === 0) return { inner, end: i };
    if (c === '(') depth++;
    if (c === ')') depth--;
    if (c === '|' && depth === 0) inner.push('');
    else inner[inner.length - 1] += c === '\\' ? c + (part[++i] || '') : c;
  }
  return undefined;
}

/**
 * Alternatives as a regular expression. What must not be there is compared with the rest of
 * the name where that is an extension, else with its beginning, as globby does.
 */
function alternatives(kind, { inner }, rest, last, start) {
  const any = inner.map((one) => expression(one, last && rest === '', start && kind !== '!')).join('|');
  switch (kind) {
    case '!':
      if (inner.join('').includes('*') && /^\.[^\\/.]+$/.test(rest)) return `(?:(?!(?:${any})${expression(rest, last, false)})${star})`;
      return last && rest === '' ? `(?:(?!(?:${any})$)${star})` : `(?:(?!(?:${any}))${star})`;
    case '?': case '+': case '*':
      return `(?:${any})${kind}`;
  }
  return `(?:${any})`;
}

const posix = {
  alnum: 'a-zA-Z0-9', alpha: 'a-zA-Z', blank: ' \\t', cntrl: '\\x00-\\x1F\\x7F', digit: '0-9', graph: '\\x21-\\x7E', lower: 'a-z',
  print: '\\x20-\\x7E', punct: '\\-!"#$%&\'()\\*+,./:;<=>?@[\\]^_`{|}~', space: ' \\t\\r\\n\\v\\f', upper: 'A-Z', word: 'A-Za-z0-9_', xdigit: 'A-Fa-f0-9',
};

/** The class of characters at the beginning of a text, undefined when there is none. */
function classAt(text) {
  const found = /^\[([!^]?)(\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]/.exec(text);
  if (!found || found[2] === '') return undefined;
  const inner = found[2].replace(/\[:([a-z]+):\]/g, (all, name) => posix[name] || all).replace(/^\]|\[/g, '\\$&');
  return { text: `[${found[1] ? '^' : ''}${inner}]`, length: found[0].length };
}

/** Writes a pattern with {a,b} and {1..3} as several without. */
function braces(pattern) {
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++;
    else if (pattern[i] === '{') {
      const group = braceAt(pattern, i);
      if (group) return group.parts.flatMap((part) => braces(pattern.slice(0, i) + part + pattern.slice(group.end + 1)));
      pattern = `${pattern.slice(0, i)}\\${pattern.slice(i)}`; // it stands for itself
      i++;
    }
  }
  return [pattern];
}

function braceAt(pattern, open) {
  const parts = [''];
  for (let i = open + 1, depth = 0; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === '}' && depth === 0) {
      const list = parts.length > 1 ? parts : range(parts[0]);
      return list && { parts: list, end: i };
    }
    if (c === '{') depth++;
    if (c === '}') depth--;
    if (c === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += c === '\\' ? c + (pattern[++i] || '') : c;
  }
  return undefined;
}

/** The texts of a range, 1..10..2 or a..e; undefined for another text. */
function range(text) {
  const found = /^(-?\d+|[a-zA-Z])\.\.(-?\d+|[a-zA-Z])(?:\.\.(-?\d+))?$/.exec(text);
  if (!found) return undefined;
  const [, from, to, step] = found;
  const numbers = /\d/.test(from);
  if (numbers !== /\d/.test(to)) return undefined;
  const code = (one) => (numbers ? Number(one) : one.charCodeAt(0));
  const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  const [first, end, by] = [code(from), code(to), Math.abs(Number(step)) || 1];
  const out = [];
  for (let n = first; first <= end ? n <= end : n >= end; n += first <= end ? by : -by) {
    out.push(numbers ? (n < 0 ? '-' : '') + String(Math.abs(n)).padStart(n < 0 ? width - 1 : width, '0') : String.fromCharCode(n));
    if (out.length > 1000) return undefined;
  }
  return out;
}

module.exports = { glob, isFile };
