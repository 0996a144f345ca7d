'use strict';
// The files that package.json's "main" names. It may be a pattern.

const fs = require('fs');
const path = require('path');
const { glob, isFile } = require('./globs');

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
  let files = isFile(whole) ? [whole] : glob(directory, main);
  // Without its end a file is found here only, so that such an app runs while it is written.
  if (files.length === 0) files = ['.js', '.cjs', '.mjs'].map((end) => whole + end).filter(isFile).slice(0, 1);
  return files.length > 0 ? { files } : { files, missing: main, built: Boolean(scripts && scripts.build) };
}

module.exports = { entryPoints };
