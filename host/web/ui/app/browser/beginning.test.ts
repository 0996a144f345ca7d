import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blameless, launch, open, visit } from "./browser";
import { misfits } from "./fits";
import { folder, Host } from "./host";

// An app that has done nothing yet, and edits that it cannot take.

const trigger = (queue: string) => JSON.stringify({ bindings: [{ type: "queueTrigger", direction: "in", name: "m", queueName: queue }] });
const right = trigger("parcels");

let dir: string;
let host: Host;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  dir = folder({
    "host.json": '{"version": "2.0"}', "local.settings.json": '{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME": "node"}}',
    "Ship/function.json": right, "Ship/index.js": "module.exports = async () => {};",
  });
  [host, browser] = await Promise.all([Host.start(dir, "--worker", "shim", "--clock", "manual", "--no-watch"), launch()]);
  page = await open(browser, host.base);
});

afterAll(async () => {
  await browser.close();
  await host.stop();
});

/** Writes the function's file, and has the host load it. */
async function edit(text: string): Promise<void> {
  writeFileSync(join(dir, "Ship/function.json"), text);
  await fetch(`${host.base}reload`, { method: "POST" }); // a refusal is what the page tells
}

test("empty views name the app's own queue", async () => {
  const line = `redeliver send queue parcels '{"id":"7"}'`;
  await page.getByText(line).waitFor();
  await page.getByRole("button", { name: "Copy the command" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(line);
  await host.send("parcels", "{}");
  await host.call("POST", "clock/advance?by=1m"); // it is done
  await visit(page, "/services/queue%2Fparcels");
  await page.getByText("Nothing is here. This sends something:").waitFor();
  await page.getByText(line).waitFor();
  await page.setViewportSize({ width: 400, height: 720 });
  await expect.poll(() => misfits(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 720 });
  blameless(page, host.base);
});

test("the key ? lists the keys, but not in a text", async () => {
  await visit(page, "/timeline");
  const list = page.getByRole("dialog", { name: "Keys" });
  await page.locator("body").press("/");
  await page.keyboard.type("a?");
  await expect.poll(() => page.url()).toMatch(/text=a%3F$/);
  expect(await list.isVisible()).toBe(false);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await list.getByText("Open the message of the row").waitFor();
  await page.setViewportSize({ width: 400, height: 720 });
  await expect.poll(() => misfits(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.keyboard.press("?");
  await expect.poll(() => list.isVisible()).toBe(false);
  await page.getByRole("button", { name: "The keys of this page" }).click();
  await list.getByRole("button", { name: "Close" }).click();
  await expect.poll(() => list.isVisible()).toBe(false);
  blameless(page, host.base);
});

test("a refused edit is a banner with its first line on every view, until it is over", async () => {
  const banner = page.getByRole("alert").filter({ hasText: "The edit is refused, generation 1 runs on" });
  await edit('{"bindings": [');
  for (const at of ["/timeline", "/functions", "/services", "/clock", "/app", "/message/nobody"]) {
    await visit(page, at);
    await banner.getByText(/^Ship\/function\.json:1:\d+: found the end/).waitFor();
  }
  await page.setViewportSize({ width: 400, height: 720 });
  await expect.poll(() => misfits(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 720 });
  await banner.getByRole("link", { name: "All of it" }).click();
  await page.getByText("Refused edit").waitFor();
  // Who comes later is told too.
  const later = await open(browser, host.base, { at: "/clock" });
  await later.getByRole("alert").getByText(/^Ship\/function\.json:1:\d+: found the end/).waitFor();
  await later.context().close();
  await edit(right); // as before
  await banner.waitFor({ state: "detached" });
  await edit('{"bindings": [{"type": "queueTrigger", "direction": "out"}]}');
  await banner.getByText(/^Ship\/function\.json:1:\d+: bindings: no trigger binding/).waitFor();
  await banner.getByText("and 2 more", { exact: true }).waitFor();
  await edit(trigger("letters"));
  await banner.waitFor({ state: "detached" });
  await page.getByText("Generation 2", { exact: true }).waitFor();
  blameless(page, host.base);
});
