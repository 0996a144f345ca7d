'use strict';
// The kit's process: found, started once for each test process, ended with it.

const fs = require('fs');
const path = require('path');
const { spawn } = require('child_process');
const { KitError } = require('./errors');

const protocol = 1;
const repair = 'npm install --save-dev @redeliver/testing@latest @redeliver/cli@latest';

/** The program: REDELIVER_BINARY, the package @redeliver/cli, or the PATH. */
function binary() {
  const given = process.env.REDELIVER_BINARY;
  if (given) {
    if (!fs.existsSync(given)) throw new KitError(`REDELIVER_BINARY is ${JSON.stringify(given)}, and there is no such file`, 'no_program');
    return given;
  }
  try {
    return require(require.resolve('@redeliver/cli', { paths: [process.cwd(), __dirname] })).binaryPath();
  } catch {
    // it is not installed
  }
  const ends = process.platform === 'win32' ? ['.exe'] : [''];
  for (const folder of (process.env.PATH || '').split(path.delimiter)) {
    const found = ends.map((end) => path.join(folder, `redeliver${end}`)).find((file) => folder && fs.existsSync(file));
    if (found) return found;
  }
  throw new KitError('the program redeliver is not on this machine', 'no_program', 'install it with "npm install --save-dev @redeliver/cli", or set REDELIVER_BINARY');
}

/** A process "redeliver kit". It ends when this one does, however that ends. */
class Kit {
  static async start() {
    const kit = new Kit();
    kit.said = [];
    kit.lives = true;
    const shared = process.env.REDELIVER_KIT;
    const line = shared || (await kit.spawn());
    let told = {};
    try {
      told = JSON.parse(line);
    } catch {
      // it is another program
    }
    if (told.kit !== protocol) {
      const text = `the kit speaks protocol ${protocol}, and the program another one: ${line.trim() || 'it has ended'}${kit.lastWords()}`;
      kit.close();
      throw new KitError(text, 'wrong_version', `update both: ${repair}`);
    }
    kit.version = told.version;
    kit.address = new URL(told.address);
    kit.token = told.token;
    return kit;
  }

  spawn() {
    const { REDELIVER_KIT, ...env } = process.env;
    this.child = spawn(binary(), ['kit', '--parent', String(process.pid)], { stdio: ['pipe', 'pipe', 'pipe'], env, detached: process.platform !== 'win32' });
    this.child.on('error', (error) => this.said.push(String(error)));
    this.child.stdin.on('error', () => {});
    this.child.stderr.setEncoding('utf8').on('data', (text) => {
      this.said = [...this.said, ...text.trimEnd().split('\n')].slice(-20);
    });
    // Neither the process nor its pipes keep this one alive.
    for (const one of [this.child, this.child.stdin, this.child.stdout, this.child.stderr]) one.unref();
    return new Promise((resolve) => {
      let text = '';
      this.child.stdout.setEncoding('utf8').on('data', (part) => {
        text += part;
        if (text.includes('\n')) resolve(text);
      });
      this.child.on('exit', () => { this.lives = false; });
      this.child.on('close', (code, signal) => {
        this.lives = false;
        this.ended = signal || code;
        resolve(text);
      });
      this.child.ref();
    }).finally(() => this.child.unref());
  }

  /** How the process has ended, and what it has said, for errors. */
  lastWords() {
    const ended = this.ended === undefined ? '' : `\nredeliver kit ended with ${this.ended}`;
    return ended + this.said.map((line) => `\n  ${line}`).join('');
  }

  close() {
    if (this.child) this.child.stdin.end();
    this.lives = false;
  }
}

let current;

/** The kit of this process, started when it is first asked for, or when it has ended. */
async function kit() {
  if (!current || !(await current).lives) current = Kit.start();
  try {
    return await current;
  } catch (error) {
    current = undefined;
    throw error;
  }
}

/** Ends the kit of this process; the next test starts another one. */
async function close() {
  const kit = current;
  current = undefined;
  if (kit) (await kit).close();
}

module.exports = { kit, close, Kit, binary };
