import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { blameless, launch, open, rows, visit } from "./browser";
import { misfits } from "./fits";
import { folder, Host, program } from "./host";

// A message: its body first, its attempts folded, and the ways to send it once more.

const run = promisify(execFile);

const handler = `
module.exports = async function (context, m) {
  if (m.say) context.log("try " + context.executionContext.retryContext?.retryCount);
  throw new Error("no stock");
};`;

let dir: string;
let host: Host;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  dir = folder({
    "host.json": JSON.stringify({ version: "2.0", retry: { strategy: "fixedDelay", maxRetryCount: 4, delayInterval: "00:00:01" } }),
    "local.settings.json": '{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME": "node"}}',
    "Ship/function.json": JSON.stringify({ bindings: [{ type: "queueTrigger", direction: "in", name: "m", queueName: "parcels" }] }), "Ship/index.js": handler,
  });
  [host, browser] = await Promise.all([Host.start(dir, "--worker", "shim", "--clock", "manual", "--no-watch"), launch()]);
  page = await open(browser, host.base);
});

afterAll(async () => {
  await browser.close();
  await host.stop();
});

afterEach(() => blameless(page, host.base));

/** Sends a message that ends in the poison queue, and opens it. */
async function poisoned(body: string): Promise<string> {
  const id = await host.send("parcels", body);
  await host.call("POST", "clock/advance?by=10m");
  await visit(page, `/message/${id}`);
  await page.locator("header .badge", { hasText: "poisoned: parcels-poison" }).waitFor();
  await page.locator("pre.body", { hasText: (JSON.parse(body) as { id: string }).id }).waitFor(); // read, and so known from now on
  return id;
}

/** Presses a copy button, and returns what is copied. */
async function copied(name: string): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.getByRole("button", { name: `Copy ${name}` }).first().click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).not.toBe("");
  return await page.evaluate(() => navigator.clipboard.readText());
}

test("the body comes first, and equal attempts are one row", async () => {
  const id = await poisoned('{"id":"7"}');
  const body = page.locator("pre.body");
  await body.getByText('"id": "7"').waitFor();
  const top = (await body.boundingBox())!.y;
  expect(top).toBeLessThan((await page.getByRole("region", { name: "Delivery 1" }).boundingBox())!.y);
  expect(top).toBeLessThan((await page.locator(".strip").boundingBox())!.y);
  await expect.poll(() => page.getByText("Attempts 1 to 5 of 5").count()).toBe(5);
  await expect.poll(() => page.locator("pre.error").count()).toBe(5);
  await visit(page, "/timeline");
  await rows(page, new RegExp(id)).waitFor();
  await expect.poll(() => rows(page, /parcels-poison$/).count()).toBe(0); // its copy is the same row
});

test("attempts that differ show what differs", async () => {
  await poisoned('{"id":"8","say":true}');
  const first = page.getByRole("region", { name: "Delivery 1" });
  await first.getByText("The same error as attempt 1; other lines:").first().waitFor();
  await first.getByText("try 3").waitFor();
  await first.getByText("try 4").waitFor();
  await expect.poll(() => first.locator("pre.error").count()).toBe(1);
});

test("the search finds bodies, held and done", async () => {
  const id = await poisoned('{"id":"needle-9"}');
  await visit(page, "/timeline?text=NEEDLE-9");
  await rows(page, new RegExp(id)).waitFor();
  await expect.poll(() => rows(page).count()).toBe(1);
  await host.call("DELETE", "queues/parcels-poison/messages");
  await visit(page, "/timeline?text=needle");
  await rows(page, new RegExp(id)).waitFor(); // the page has read it before
});

describe("sent once more", () => {
  test("as a command and as curl", async () => {
    const id = await poisoned('{"id":"it\'s 10"}');
    await page.locator("pre.body").waitFor();
    const command = await copied("as redeliver send");
    expect(command).toMatch(/^redeliver send queue parcels /);
    const curl = await copied("as curl");
    const shell = async (line: string) => (await run("sh", ["-c", line.replace(/^redeliver/, `'${program}'`)])).stdout;
    expect(await shell(command)).toMatch(/parcels/);
    expect(await shell(curl)).toMatch(/"id"/);
    const { messages } = await host.get<{ messages: { id: string; preview: string }[] }>("messages?service=queue&entity=parcels");
    expect(messages.map((m) => m.preview)).toEqual(['{"id":"it\'s 10"}', '{"id":"it\'s 10"}']);
    expect(messages.map((m) => m.id)).not.toContain(id);
    await host.call("POST", "clock/advance?by=10m");
  });

  test("as a scenario, which holds", async () => {
    await poisoned('{"id":"11"}');
    await page.locator("pre.body").waitFor();
    const text = await copied("as scenario");
    expect(text).toContain("functions: {Ship: {attempts: 25, deliveries: 5, ends: poisoned}}");
    writeFileSync(join(dir, "copied.scenario.yaml"), text);
    const { stdout } = await run(program, ["test", dir]);
    expect(stdout).toMatch(/1 passed|ok/);
  });

  test("edited", async () => {
    const id = await poisoned('{"id":"12"}');
    await page.getByRole("button", { name: "Edit and send again" }).click();
    const text = page.locator("form textarea");
    await expect.poll(() => text.inputValue()).toBe('{"id":"12"}');
    await text.fill('{"id":"13"}');
    for (const width of [400, 860]) {
      await page.setViewportSize({ width, height: 800 });
      await expect.poll(() => misfits(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText(/Sent to parcels as /).waitFor();
    await page.getByRole("link", { name: "Show it" }).click();
    await page.locator("pre.body", { hasText: '"13"' }).waitFor();
    expect(page.url()).not.toContain(id);
  });
});
