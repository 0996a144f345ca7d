import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everything, everywhere, start } from "./apps";
import { blameless, launch, open, rows, visit } from "./browser";
import { folder, Host } from "./host";
import { Journal, recordsOf } from "./stream";

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

test("a host that ends and starts again: the page says so, and shows the new run", async () => {
  const dir = everything();
  let host = await start(dir);
  const page = await open(browser, host.base, { expected: /ERR_CONNECTION_REFUSED|ERR_SOCKET_NOT_CONNECTED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/ });
  const before = await host.send("orders", JSON.stringify({ id: "1" }));
  await rows(page, new RegExp(before)).waitFor();
  const { port } = host;
  await host.stop("SIGKILL");
  await page.getByRole("alert").getByText("The host does not answer").waitFor();
  await page.getByText("host not reached").waitFor();
  await rows(page, new RegExp(before)).waitFor(); // what is known stays
  host = await Host.start(dir, ...everywhere(dir), "--clock", "manual", "--port", port, "--seed", "2");
  await page.getByText("The host has started again").waitFor();
  await expect.poll(() => rows(page, new RegExp(before)).count()).toBe(0);
  const after = await host.send("orders", JSON.stringify({ id: "2" }));
  await rows(page, new RegExp(after)).waitFor();
  await page.getByRole("button", { name: "Dismiss" }).click();
  await expect.poll(() => page.getByText("The host has started again").count()).toBe(0);
  await visit(page, `/message/${before}`);
  await page.getByText("The page has no record of it").waitFor();
  blameless(page, host.base);
  await page.context().close();
  await host.stop();
});

test("a journal that has lost records: the gap is shown, and a connection that ends goes on where it was", async () => {
  const host = await services();
  const journal = await Journal.before(host.base, 20);
  const page = await open(browser, journal.base, { expected: /ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/ });
  await rows(page).first().waitFor();
  journal.miss(1_234);
  await page.getByText(/^1,234 records after record \d+ are no longer in the host's journal/).waitFor();
  await journal.send(journal.messages(1));
  await expect.poll(() => rows(page).first().getAttribute("aria-setsize")).toBe("21");
  blameless(page, journal.base);
  await page.context().close();
  journal.close();
  await host.stop();
});

test("100,000 records in two browsers: only what is seen is drawn, and memory has an end", async () => {
  const host = await services();
  const journal = await Journal.before(host.base);
  const pages = await Promise.all([open(browser, journal.base), open(browser, journal.base, { at: "/timeline?as=table" })]);
  await Promise.all(pages.map((p) => p.getByText("live", { exact: true }).waitFor()));
  const lives = journal.messages(17_000);
  expect(recordsOf(lives)).toBeGreaterThan(100_000);
  await journal.send(lives);
  const [lanes, table] = pages as [(typeof pages)[0], (typeof pages)[0]];
  const list = lanes.getByRole("listbox", { name: "Messages and invocations" });
  await expect.poll(() => rows(lanes).first().getAttribute("aria-setsize")).toBe("17000");
  await table.locator('table[aria-rowcount="17001"]').waitFor();
  await expect.poll(() => rows(lanes).count()).toBeLessThan(60);
  await expect.poll(() => table.getByRole("row").count()).toBeLessThan(80);
  await list.focus();
  await lanes.keyboard.press("End");
  await expect.poll(() => lanes.locator('[aria-selected="true"]').getAttribute("aria-posinset")).toBe("17000");
  await lanes.getByRole("searchbox").fill("order 0");
  await expect.poll(() => rows(lanes).count()).toBe(1);
  // Twice as many again: the oldest are let go, and the heap does not grow with them.
  const heap = async () => {
    const session = await lanes.context().newCDPSession(lanes);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
    return usedSize;
  };
  const told = () => lanes.getByRole("button", { name: /^All/ }).innerText();
  await lanes.getByRole("searchbox").fill("");
  for (let i = 0; i < 2; i++) await journal.send(journal.messages(17_000));
  await expect.poll(() => rows(lanes).first().getAttribute("aria-setsize")).not.toBe("17000");
  const last = await sendMarked(journal, "full");
  await rows(lanes, new RegExp(last)).waitFor();
  const full = await heap();
  const kept = await told();
  for (let i = 0; i < 2; i++) await journal.send(journal.messages(17_000));
  await rows(lanes, new RegExp(await sendMarked(journal, "later"))).waitFor();
  expect(await heap()).toBeLessThan(full * 1.25);
  expect(kept).toMatch(/\d/);
  for (const p of pages) {
    blameless(p, journal.base);
    await p.context().close();
  }
  journal.close();
  await host.stop();
});

/** A host without functions, for what a page asks beside the journal. */
function services(): Promise<Host> {
  return Host.start(folder({ "host.json": '{"version": "2.0"}' }), "--services-only", "--servicebus-port", "0", "--servicebus-admin-port", "0", "--eventgrid-port", "0");
}

/** Sends a message with a name of its own, to see that the page has come so far. */
async function sendMarked(journal: Journal, name: string): Promise<string> {
  await journal.send(journal.messages(1).map((life) => ({ ...life, message: `marked-${name}` })));
  return `marked-${name}`;
}
