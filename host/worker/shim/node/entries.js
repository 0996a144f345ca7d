'use strict';
// The files that package.json's "main" names. It may be a pattern.

const fs = require('fs');
const path = require('path');

/**
 * Returns the files to run at the start, and in missing what "main" says when there is no
 * such file: built says that a script of the app makes it.
 */
function entryPoints(directory) {
  const file = path.join(directory, 'package.json');
  let main;
  let scripts;
  try {
    ({ main, scripts } = JSON.parse(fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, '')));
  } catch (error) {
    if (error.code === 'ENOENT') return { files: [] };
    throw new Error(`package.json cannot be read: ${error.message}`);
  }
  if (typeof main !== 'string' || main === '') return { files: [] };
  const whole = path.join(directory, main);
  if (isFile(whole)) return { files: [whole] };
  const files = /[*?[{]/.test(main) ? matches(directory, main) : ['.js', '.cjs', '.mjs', '/index.js'].map((end) => whole + end).filter(isFile).slice(0, 1);
  return files.length > 0 ? { files } : { files, missing: main, built: Boolean(scripts && scripts.build) };
}

function isFile(name) {
  try {
    return fs.statSync(name).isFile();
  } catch {
    return false;
  }
}

/**
 * The files below a folder whose names match a pattern, in order of their names. Folders of
 * packages, and names that begin with a dot, match only where the pattern names them.
 */
function matches(directory, pattern) {
  const left = (name) => (name === 'node_modules' || name.startsWith('.')) && !pattern.includes(name);
  const alternatives = braces(pattern.replace(/^\.\//, '')).map(expression);
  const found = [];
  const walk = (folder) => {
    for (const entry of fs.readdirSync(path.join(directory, folder), { withFileTypes: true })) {
      const name = folder ? `${folder}/${entry.name}` : entry.name;
      if (entry.isDirectory()) {
        if (!left(entry.name)) walk(name);
      } else if (alternatives.some((one) => one.test(name))) {
        found.push(path.join(directory, name));
      }
    }
  };
  walk('');
  return found.sort();
}

/** Writes a pattern with {a,b} as several without. */
function braces(pattern) {
  const inner = /\{([^{}]*)\}/.exec(pattern);
  if (!inner) return [pattern];
  return inner[1].split(',').flatMap((part) => braces(pattern.slice(0, inner.index) + part + pattern.slice(inner.index + inner[0].length)));
}

/** The regular expression of a pattern: **, * and ? and [...] as in a shell. */
function expression(pattern) {
  let out = '';
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    const first = i === 0 || pattern[i - 1] === '/' ? '(?!\\.)' : ''; // no dot at the beginning
    if (c === '*' && pattern[i + 1] === '*') {
      out += '(?:(?!\\.)[^/]+/)*' + (pattern[i + 2] === '/' ? '' : first + '[^/]*');
      i += pattern[i + 2] === '/' ? 2 : 1;
    } else if (c === '*') {
      out += first + '[^/]*';
    } else if (c === '?') {
      out += first + '[^/]';
    } else if (c === '[' && pattern.indexOf(']', i + 1) > 0) {
      const end = pattern.indexOf(']', i + 1);
      out += '[' + pattern.slice(i + 1, end).replace(/^!/, '^').replace(/\\/g, '\\\\') + ']';
      i = end;
    } else {
      out += c.replace(/[.+^$()|\\{}]/g, '\\$&');
    }
  }
  return new RegExp(`^${out}$`);
}

module.exports = { entryPoints };
