// What all kits play: ../../../../testdata/kit/conformance.json, by the calls that this kit's own are made of.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { start } from '@redeliver/testing';

const { cases } = JSON.parse(fs.readFileSync(process.env.REDELIVER_CONFORMANCE, 'utf8'));

/** Where an answer has not what is wanted; undefined: nowhere. */
function differs(at, want, got) {
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length) return `${at} is ${JSON.stringify(got)}, and has to have ${want.length} members`;
    return want.map((one, i) => differs(`${at}[${i}]`, one, got[i])).find(Boolean);
  }
  if (want !== null && typeof want === 'object') {
    const have = got !== null && typeof got === 'object' ? got : {};
    return Object.keys(want).map((name) => differs(`${at}.${name}`, want[name], have[name])).find(Boolean);
  }
  if (typeof want === 'string' && want.length > 2 && want.startsWith('/') && want.endsWith('/')) {
    const [, flags, pattern] = /^\/(?:\(\?([a-z]+)\))?(.*)\/$/s.exec(want);
    return new RegExp(pattern, flags).test(typeof got === 'string' ? got : '') ? undefined : `${at} is ${JSON.stringify(got)}, want ${want}`;
  }
  return want === got ? undefined : `${at} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`;
}

for (const { name, options, steps, end } of cases) {
  test(name, async () => {
    const host = await start(options);
    const ask = async (method, path, body) => {
      const { status, body: text } = await host.client.raw(method, `/kit/hosts/${host.id}${path}`, body, { 'content-type': 'application/json' });
      let answer;
      try {
        answer = text.length > 0 ? JSON.parse(text.toString('utf8')) : undefined;
      } catch {
        answer = undefined; // of another form
      }
      return { status, answer, text: text.toString('utf8') };
    };
    for (const [i, step] of steps.entries()) {
      const method = Object.keys(step).find((key) => ['get', 'post', 'put', 'delete'].includes(key));
      const sent = 'text' in step ? step.text : 'send' in step ? JSON.stringify(step.send) : undefined;
      const { status, answer, text } = await ask(method.toUpperCase(), step[method], sent);
      assert.ok(step.status ? status === step.status : status < 300, `step ${i + 1}, ${method} ${step[method]}: ${status} ${text}`);
      assert.equal('answer' in step ? differs(step[method], step.answer, answer) : undefined, undefined, text);
    }
    const { failures } = (await ask('DELETE', '', undefined)).answer || {};
    host.stopped = true;
    host.client.close();
    if (end) assert.equal(differs('end', end, { failures }), undefined);
    else assert.equal(failures, undefined);
  });
}
