'use strict';
// HTTP with the kit.

const http = require('http');
const { KitError, KitTimeout, Failure } = require('./errors');
const real = require('./real');
const { failures } = require('./timeline');

/** The calls of one host. */
class Client {
  constructor(kit, seconds, running) {
    this.kit = kit;
    this.seconds = seconds;
    this.running = running; // says which handlers run
    this.alive = 0; // when one of them was called or has answered
    this.calls = new Set(); // that have no answer yet, for people
    this.agent = new http.Agent({ keepAlive: true });
  }

  /** Makes a call: { status, headers, body }. One beside the test is none that it has to await. */
  raw(method, path, body, headers = {}, beside = false) {
    const { kit } = this;
    const call = Object(`${method} ${path.replace(/^\/kit\/hosts\/\w+\//, '')}`);
    if (!beside) this.calls.add(call);
    return new Promise((resolve, reject) => {
      const request = http.request({ hostname: kit.address.hostname, port: kit.address.port, method, path, agent: this.agent, headers: { ...headers, authorization: `Bearer ${kit.token}` } });
      let timer;
      const end = (settle, value) => {
        real.clearTimeout(timer);
        settle(value);
      };
      const look = () => {
        const left = this.alive + this.seconds * 1000 - real.now();
        if (left <= 0 && !real.debugged()) {
          end(reject, new KitTimeout(`${this.running() || `${method} ${path}`} has run for ${this.seconds} s`));
          request.destroy();
          return;
        }
        timer = real.setTimeout(look, Math.max(left, 50));
      };
      this.alive = real.now();
      look();
      request.on('error', (error) => {
        if (error.code === 'ECONNREFUSED') kit.lives = false; // before its end is told
        end(reject, new KitError(`the kit does not answer: ${error.message}${kit.lastWords()}`, 'kit_ended'));
      });
      request.on('response', (response) => {
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('error', (error) => end(reject, new KitError(`the kit does not answer: ${error.message}`, 'kit_ended')));
        response.on('end', () => end(resolve, { status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }));
      });
      request.end(body);
    }).finally(() => this.calls.delete(call));
  }

  /** Makes a call with JSON. */
  async ask(method, path, body, beside = false) {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    return checked(await this.raw(method, path, sent, sent === undefined ? {} : { 'content-type': 'application/json' }, beside));
  }

  close() {
    this.agent.destroy();
  }
}

/** What an answer says; a refusal is thrown. */
function checked({ status, body }) {
  let told;
  try {
    told = body.length > 0 ? JSON.parse(body.toString('utf8')) : undefined;
  } catch {
    told = { error: body.toString('utf8').trim() };
  }
  if (status < 400) return told;
  const { error = `status ${status}`, code, hint, failures: list } = told || {};
  if (code === 'step_failed') throw new Failure(failures(list || [{ message: error }]));
  throw new KitError(error, code, hint);
}

/** Throws what the kit refuses; what a function answers has another form. */
function refused(answer) {
  if ('redeliver-refusal' in answer.headers) checked(answer);
}

/** A path with a query, without what is undefined. */
function target(path, query) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

module.exports = { Client, checked, refused, target };
