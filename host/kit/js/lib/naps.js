'use strict';
// Handlers that sleep by the clock of their host. The host knows one time for each of them: the
// earliest for which it waits.

const { AsyncLocalStorage } = require('async_hooks');
const real = require('./real');

/** The call of a handler that runs here: its Naps. */
const calls = new AsyncLocalStorage();

/** Lets what was woken run, before time may move on. */
const turn = () => new Promise((resolve) => { real.setImmediate(() => real.setImmediate(resolve)); });

/** The sleeps of one call of a handler. */
class Naps {
  constructor(wait) {
    this.wait = wait; // asks the host: of milliseconds, how it ended
    this.slept = 0; // milliseconds, by the host's clock
    this.waits = new Set();
    this.busy = false;
    this.asked = Infinity; // what the host has been asked for
  }

  sleep(ms, signal) {
    const promise = new Promise((resolve, reject) => {
      const one = { due: this.slept + ms, resolve, reject };
      if (signal && signal.aborted) {
        reject(signal.reason);
        return;
      }
      this.waits.add(one);
      if (signal) {
        signal.addEventListener('abort', () => {
          if (!this.waits.delete(one)) return;
          reject(signal.reason);
          this.hurry(Infinity);
        }, { once: true });
      }
      this.hurry(one.due);
      this.serve();
    });
    promise.catch(() => {}); // of a handler that has returned meanwhile
    return promise;
  }

  /** Has the host learn of a sleep that is to end before what it was asked for, or of one less. */
  hurry(due) {
    if (this.asked !== Infinity && (due < this.asked || due === Infinity)) this.wait(0).catch(() => {});
  }

  async serve() {
    if (this.busy) return;
    this.busy = true;
    try {
      for (await turn(); this.waits.size > 0; await turn()) {
        const due = Math.min(...[...this.waits].map((one) => one.due));
        this.asked = due;
        const { stopped } = await this.wait(due - this.slept);
        this.asked = Infinity;
        if (stopped === 'cancelled') throw new DOMException('the invocation has to end', 'AbortError');
        if (stopped !== 'met') continue;
        this.slept = due;
        for (const one of [...this.waits]) {
          if (one.due > due) continue;
          this.waits.delete(one);
          one.resolve();
        }
      }
    } catch (error) {
      for (const one of this.waits) one.reject(error);
      this.waits.clear();
    } finally {
      this.asked = Infinity;
      this.busy = false;
    }
  }
}

module.exports = { Naps, calls };
