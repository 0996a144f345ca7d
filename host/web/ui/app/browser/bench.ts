import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { loadavg } from "node:os";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { launch, open, rows } from "./browser";
import { folder, Host } from "./host";
import { Journal, recordsOf } from "./stream";

// The figures of docs/performance.md. Each is measured beside something that takes turns
// with it in the same run.

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

const rounds = Number(process.env["ROUNDS"] ?? 15);

function middle(list: number[]): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
}

function say(what: string): void {
  console.log(`${what} (load ${loadavg()[0]!.toFixed(1)})`);
}

/** The milliseconds from the start of loading until a picture that has an element, and those of the processor that the page's thread took. */
async function loaded(url: string, selector: string): Promise<{ ms: number; busy: number }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  await page.addInitScript((wanted) => {
    const look = () => {
      if (document.querySelector(wanted)) requestAnimationFrame(() => ((globalThis as { shown?: number }).shown ??= performance.now()));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, selector);
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(url);
  const shown = await page.waitForFunction(() => (globalThis as { shown?: number }).shown);
  const ms = (await shown.jsonValue())!;
  const { metrics } = await session.send("Performance.getMetrics");
  await context.close();
  return { ms, busy: metrics.find((m) => m.name === "TaskDuration")!.value * 1_000 };
}

test("from opening to the first row, with 10,000 records, beside a page with nothing on it", async () => {
  const app = folder({
    "host.json": '{"version": "2.0"}', "local.settings.json": '{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME": "node"}}',
    "Sink/function.json": '{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "sink"}]}', "Sink/index.js": "module.exports = async () => {};",
  });
  const host = await Host.start(app, "--worker", "shim", "--clock", "auto");
  for (let i = 0; i < 2_000; i += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => host.send("sink", `message ${i + n}`)));
  const { journal } = await host.get<{ journal: number }>("status");
  const bare = createServer((_, res) => res.setHeader("Content-Type", "text/html").end("<!doctype html><title>bare</title><p id=row>row</p>"));
  bare.listen(0, "localhost");
  await once(bare, "listening");
  const page: Awaited<ReturnType<typeof loaded>>[] = [];
  const nothing: typeof page = [];
  for (let i = 0; i < rounds; i++) {
    nothing.push(await loaded(`http://localhost:${(bare.address() as AddressInfo).port}/`, "#row"));
    page.push(await loaded(`${host.base}ui/`, ".lane"));
  }
  for (const [of, what] of [["ms", "time"], ["busy", "processor time of the page's thread"]] as const) {
    const [mine, bare] = [page.map((p) => p[of]), nothing.map((p) => p[of])];
    say(`opening to the first row, ${journal} records, ${what}: ${middle(mine).toFixed(0)} ms (${Math.min(...mine).toFixed(0)} to ${Math.max(...mine).toFixed(0)}), a bare page ${middle(bare).toFixed(0)} ms (${Math.min(...bare).toFixed(0)} to ${Math.max(...bare).toFixed(0)}), ${middle(mine.map((m, i) => m / bare[i]!)).toFixed(1)} times`);
  }
  const sizes = await Promise.all(["", ...[...(await (await fetch(`${host.base}ui/`)).text()).matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((m) => m[1]!)].map(async (name) => new Uint8Array(await (await fetch(`${host.base}ui/${name}`)).arrayBuffer())));
  say(`files: ${sizes.length}, ${sizes.reduce((n, b) => n + b.length, 0)} bytes, ${sizes.reduce((n, b) => n + gzipSync(b).length, 0)} compressed`);
  bare.close();
  await host.stop();
});

/** Moves, zooms and scrolls for so many pictures; the milliseconds of script and drawing in each. */
async function pictures(page: Page, count: number): Promise<number[]> {
  return await page.evaluate(async (many) => {
    const list = document.querySelector('[role="listbox"]')!;
    const out: number[] = [];
    const box = list.getBoundingClientRect();
    for (let i = 0; i < many; i++) {
      await new Promise(requestAnimationFrame);
      const begun = performance.now();
      if (i % 2) list.scrollTop += i % 40 < 20 ? 300 : -300;
      else list.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 4 ? 40 : -40, ctrlKey: i % 8 < 4, shiftKey: i % 8 >= 4, clientX: box.left + 800, clientY: box.top + 200, bubbles: true, cancelable: true }));
      // What the change asks for is drawn before the next picture, and a message comes after it.
      await new Promise<void>((resolve) => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve();
        channel.port2.postMessage(0);
      }));
      out.push(performance.now() - begun);
    }
    return out;
  }, count);
}

test("a picture of the timeline with 100,000 records, beside one with 1,000", async () => {
  const host = await Host.start(folder({ "host.json": '{"version": "2.0"}' }), "--services-only", "--servicebus-port", "0", "--servicebus-admin-port", "0", "--eventgrid-port", "0");
  const [few, many] = [await Journal.before(host.base, 162), await Journal.before(host.base, 16_300)];
  const [small, large] = [await open(browser, few.base), await open(browser, many.base)];
  await rows(small).first().waitFor();
  await large.locator('.lane[aria-setsize="16300"]').first().waitFor();
  const taken: [number[], number[]] = [[], []];
  for (let i = 0; i < 4; i++) {
    taken[0].push(...(await small.bringToFront(), await pictures(small, 60)));
    taken[1].push(...(await large.bringToFront(), await pictures(large, 60)));
  }
  const high = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length * 0.95)]!;
  say(`a picture, in ms: 1,000 records ${middle(taken[0]).toFixed(1)} (95 of 100: ${high(taken[0]).toFixed(1)}), 100,000 records ${middle(taken[1]).toFixed(1)} (95 of 100: ${high(taken[1]).toFixed(1)}), ${(middle(taken[1]) / middle(taken[0])).toFixed(2)} times`);
  few.close();
  many.close();
  await host.stop();
});

test("memory over a long stream, in two browsers", async () => {
  const host = await Host.start(folder({ "host.json": '{"version": "2.0"}' }), "--services-only", "--servicebus-port", "0", "--servicebus-admin-port", "0", "--eventgrid-port", "0");
  const journal = await Journal.before(host.base);
  const pages = [await open(browser, journal.base), await open(browser, journal.base)];
  for (const p of pages) await p.getByText("live", { exact: true }).waitFor();
  let sent = 0;
  const heaps: string[] = [];
  for (let part = 0; part < 8; part++) {
    for (let i = 0; i < 5; i++) {
      const lives = journal.messages(10_000);
      sent += recordsOf(lives);
      await journal.send(lives);
    }
    const used = await Promise.all(
      pages.map(async (p) => {
        const session = await p.context().newCDPSession(p);
        await session.send("HeapProfiler.collectGarbage");
        return ((await session.send("Runtime.getHeapUsage")) as { usedSize: number }).usedSize;
      }),
    );
    heaps.push(`${Math.round(sent / 1_000)}k records: ${used.map((b) => `${(b / (1 << 20)).toFixed(0)} MB`).join(" and ")}`);
  }
  say(`heap of two pages after ${heaps.join(", ")}`);
  journal.close();
  await host.stop();
});

/** The processor time that a process and its threads have used, in milliseconds. */
function used(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

test("1,000 messages a second with the page open, beside none", async () => {
  const app = folder({
    "host.json": '{"version": "2.0"}', "local.settings.json": '{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME": "node"}}',
    "Flow/function.json": '{"bindings": [{"type": "timerTrigger", "direction": "in", "name": "t", "schedule": "* * * * * *"}, {"type": "queue", "direction": "out", "name": "out", "queueName": "flow"}]}',
    "Flow/index.js": 'module.exports = async (context) => { context.bindings.out = Array.from({ length: 1000 }, (_, i) => "message " + i); };',
    "Sink/function.json": '{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "flow"}]}', "Sink/index.js": "module.exports = async () => {};",
  });
  const host = await Host.start(app, "--worker", "shim");
  const { pid } = await host.get<{ pid: number }>("status");
  const window = Number(process.env["WINDOW"] ?? 8_000);
  const measure = async () => {
    const count = async () => (await host.get<{ journal: number }>("status")).journal;
    const [records, time, begun] = [await count(), used(pid), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, window));
    const took = performance.now() - begun;
    return { rate: ((await count()) - records) / took, cost: (used(pid) - time) / took };
  };
  await measure();
  const shut: Awaited<ReturnType<typeof measure>>[] = [];
  const seen: typeof shut = [];
  for (let i = 0; i < 4; i++) {
    shut.push(await measure());
    const page = await open(browser, host.base);
    await rows(page).first().waitFor();
    seen.push(await measure());
    await page.context().close();
  }
  const ratios = (of: "rate" | "cost") => seen.map((s, i) => s[of] / shut[i]![of]);
  say(`records a second with the page ${seen.map((s) => (s.rate * 1_000).toFixed(0)).join(", ")}; without ${shut.map((s) => (s.rate * 1_000).toFixed(0)).join(", ")}; the middle of the quotients ${(middle(ratios("rate")) * 100).toFixed(0)} %`);
  say(`processor time of the host: ${(middle(seen.map((s) => s.cost)) * 100).toFixed(1)} % of a core with the page, ${(middle(shut.map((s) => s.cost)) * 100).toFixed(1)} % without; the middle of the quotients ${(middle(ratios("cost")) * 100).toFixed(0)} %`);
  await host.stop();
});
