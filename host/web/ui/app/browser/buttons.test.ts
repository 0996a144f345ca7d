import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everything, start } from "./apps";
import { blameless, launch, open, rows, visit } from "./browser";
import { folder, type Host } from "./host";

const dir = everything();
let host: Host;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  const starting = start(dir);
  browser = await launch();
  host = await starting;
  page = await open(browser, host.base, { expected: /status of 4(00|09) / }); // what the host refuses, the browser reports
});

afterAll(async () => {
  await browser.close();
  await host.stop();
});

afterEach(() => blameless(page, host.base));

const failing = JSON.stringify({ id: "7", fail: true });
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" }).first();

/** Presses a button that asks once more. */
async function sure(name: string): Promise<void> {
  await button(name).click();
  await button("No").click();
  await button(name).click();
  await button("Yes").click();
}

const says = (text: string | RegExp) => page.getByText(text).first().waitFor();

/** Opens a message, and waits for what the page says of it. */
async function message(id: string, state: RegExp): Promise<void> {
  await visit(page, `/message/${encodeURIComponent(id)}`);
  await page.locator("header .badge", { hasText: state }).waitFor();
}

const get = async (queue: string) => (await host.get<{ queues: { name: string; count: number; visible: number }[] }>("queues")).queues.find((q) => q.name === queue);

describe("queue message", () => {
  test("run again, copy the identity, show and copy the body", async () => {
    const id = await host.send("orders", failing);
    await host.call("POST", "clock/advance?by=5s"); // the first delivery has ended
    await message(id, /released/);
    await button("Run again").click();
    await says(/It runs again, as /);
    const anew = /as (\S+)\./.exec(await page.getByText(/It runs again, as /).innerText())![1]!;
    expect(anew).not.toBe(id);
    await button("Copy the identity").click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(id);
    await page.locator("pre.body", { hasText: '"fail": true' }).waitFor();
    await button("Copy the body").click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/"fail": true/);
    await button("Load the body again").click();
    await page.getByRole("link", { name: "Show it" }).click();
    await page.getByText("Attempt 1 of 5").waitFor();
    await host.call("POST", "clock/advance?by=10m"); // both are poisoned
  });

  test("release now ends its wait between two deliveries", async () => {
    const id = await host.send("orders", failing);
    await host.call("POST", "clock/advance?by=5s");
    await message(id, /released/);
    await expect.poll(() => page.getByRole("region", { name: /^Delivery/ }).count()).toBe(1);
    await button("Release now").click();
    await says("Its wait is over");
    await host.call("POST", "clock/advance?by=5s"); // the listener looks
    await page.getByRole("region", { name: "Delivery 2" }).waitFor();
  });

  test("move to poison gives it up, and redrive brings it back", async () => {
    const id = await host.send("orders", failing);
    await host.call("POST", "clock/advance?by=5s");
    await message(id, /released/);
    await sure("Move to poison");
    await says("It is in orders-poison now.");
    await page.getByText("Went on as").waitFor();
    await button("Redrive").click();
    await says(/It is in orders again, as /);
  });
});

test("a Service Bus message: move to poison, redrive, run again", async () => {
  await host.call("POST", "servicebus/messages?path=idle", "waits");
  await visit(page, "/services/servicebus%2Fidle");
  await button(/^Details of/).click();
  await sure("Move to poison");
  await says("It is in idle/$DeadLetterQueue now.");
  await visit(page, "/services/servicebus%2Fidle%2F%24DeadLetterQueue");
  await button(/^Details of/).click();
  await says("ByHand");
  await button("Redrive to idle").click();
  await says("It is in idle again.");
  await host.call("POST", "servicebus/messages?path=work", failing);
  await host.call("POST", "clock/advance?by=1m");
  await visit(page, "/timeline?function=OnWork&outcome=dead");
  await rows(page).first().click();
  await button("Run again").click();
  await says(/It runs again, as /);
  await button("Redrive").click();
  await says(/It is in work again/);
});

test("a message that no function receives: its body, release now, move to poison, redrive", async () => {
  await host.call("POST", "servicebus/messages?path=idle&id=alone&delay=1h", "for nobody");
  await message("alone", /scheduled/);
  await page.locator("pre.body", { hasText: "for nobody" }).waitFor();
  await button("Release now").click();
  await says("Its wait is over");
  await sure("Move to poison");
  await says("It is in idle/$DeadLetterQueue now.");
  await button("Redrive").click();
  await says("It is in idle again.");
});

test("an event: release now, move to poison", async () => {
  await host.call("POST", "eventgrid/events?topic=shop", JSON.stringify({ id: "e1", eventType: "t", subject: "s", data: { fail: true }, eventTime: "2026-01-01T00:00:00Z", dataVersion: "1" }));
  await host.call("POST", "clock/advance?by=5s");
  await message("e1", /next delivery/);
  await button("Release now").click();
  await says("Its wait is over");
  await page.getByRole("region", { name: "Delivery 2" }).waitFor();
  await host.call("POST", "clock/advance?by=5s");
  await page.locator("header .badge", { hasText: /next delivery/ }).waitFor();
  await sure("Move to poison");
  await says("It is given up.");
  const buried = async () => {
    await host.call("POST", "clock/advance?by=6m"); // dead letters are written after five
    await page.locator("header .badge", { hasText: /dead-lettered: dead\/ALL\// }).waitFor();
  };
  await buried();
  // Its dead letter is a blob, and goes back to the subscription, from each of three places.
  await page.locator("pre.body", { hasText: '"deadLetterReason"' }).waitFor();
  await button("Redrive").click();
  await says("It is in shop/all again.");
  await host.call("POST", "clock/advance?by=5s");
  await page.locator("header .badge", { hasText: /next delivery/ }).waitFor();
  await sure("Move to poison");
  await says("It is given up.");
  await buried();
  await visit(page, "/services/blob%2Fdead");
  await page.getByLabel("Search the messages of this entity").fill("e1");
  await button(/^Details of ALL/).click();
  await button("Redrive to shop/all").click();
  await says("It is in shop/all again.");
  await host.call("POST", "clock/advance?by=5s");
  await message("e1", /next delivery/);
  await sure("Move to poison");
  await says("It is given up.");
  await buried();
  await visit(page, "/services/eventgrid%2Fshop");
  await button("Redrive the dead letters of all").click();
  await says("1 dead letter moved back to shop/all.");
});

test("a blob: its poison message goes back to the trigger", async () => {
  await host.call("PUT", "containers/files/blob?name=bad.txt", JSON.stringify({ fail: true }));
  await host.call("POST", "clock/advance?by=10m");
  await visit(page, "/timeline?function=OnFile&outcome=dead");
  await rows(page).first().click({ position: { x: 20, y: 10 } });
  await page.locator("header .badge", { hasText: "webjobs-blobtrigger-poison" }).waitFor();
  await button("Redrive").click();
  await says(/It is in azure-webjobs-blobtrigger-\S+ again/);
});

describe("functions", () => {
  test("invoke with a body", async () => {
    await visit(page, "/functions");
    const card = page.getByRole("region", { name: "Web", exact: true });
    await card.getByText("Invoke", { exact: true }).first().click();
    await card.getByRole("textbox").fill("you");
    await card.getByRole("button", { name: "Invoke" }).click();
    await card.getByText("Succeeded after 1 attempt").waitFor();
    await card.getByText("200 hello you").waitFor();
    const order = page.getByRole("region", { name: "ProcessOrder", exact: true });
    await order.getByText("Invoke", { exact: true }).first().click();
    await order.getByRole("textbox").fill(JSON.stringify({ fail: true, error: "no <b>money</b>" }));
    await order.getByRole("button", { name: "Invoke" }).click();
    await order.getByRole("button", { name: "Running…" }).waitFor();
    await host.call("POST", "clock/advance?by=10s");
    await order.getByText("Failed after 5 attempts").waitFor();
    await order.getByText(/no <b>money<\/b>/).first().waitFor();
  });
});

describe("services", () => {
  for (const [entity, label, fields] of [
    ["queue/orders", "Send", { "The message's text": '{"id":"1"}' }],
    ["servicebus/work", "Send", { "The message's body": '{"id":"1"}' }],
    ["eventgrid/shop", "Publish", { "The event's data, or whole events": '{"id":"1"}' }],
    ["eventhub/readings", "Send", { "The event's body": '{"id":"1"}', "Partition key": "k" }],
    ["cosmos/shop/items", "Write", { 'A document, or an array of them: {"id": "1"}': '{"id":"1"}' }],
    ["blob/files", "Upload", { "The blob's content": "text", "Name of the blob": "up.txt" }],
  ] as const) {
    test(`${label.toLowerCase()} to ${entity}`, async () => {
      if (entity === "blob/files") await host.call("PUT", "containers/files/blob?name=first.txt", "x");
      await visit(page, `/services/${encodeURIComponent(entity)}`);
      await page.getByText(`${label}…`).click();
      for (const [field, value] of Object.entries(fields)) await page.getByLabel(field, { exact: true }).fill(value);
      await button(label).click();
      await says(/^Sent/);
    });
  }

  test("redrive all, purge, show more", async () => {
    await host.call("POST", "clock/advance?by=10m");
    await visit(page, "/services/queue%2Forders-poison");
    await button("Redrive all to orders").click();
    await says(/\d+ moved to orders/);
    for (let i = 0; i < 55; i++) await host.send("later", `number ${i}`);
    await visit(page, "/services/queue%2Flater");
    await page.getByText("55 visible").first().waitFor();
    await expect.poll(() => page.locator(".items > li").count()).toBe(50);
    await button("Show more").click();
    await expect.poll(() => page.locator(".items > li").count()).toBe(55);
    await sure("Purge");
    await says("55 deleted.");
    expect((await get("later"))?.count).toBe(0);
  });

  test("a scheduled message is released and moved to poison from the list", async () => {
    await host.call("POST", "queues/later/messages?visibility=1h", "in an hour");
    await visit(page, "/services/queue%2Flater");
    await page.getByText("for 1 h").waitFor();
    await button(/^Details of/).click();
    await button("Release now").click();
    await says("Its wait is over.");
    await expect.poll(async () => (await get("later"))?.visible).toBe(1);
    await sure("Move to poison");
    await says("It is in later-poison now.");
  });

  test("the state is saved, reset and loaded", async () => {
    await visit(page, "/services/queue%2Flater-poison");
    const before = (await get("later-poison"))?.count;
    expect(before).toBe(1);
    const saving = page.waitForEvent("download");
    await button("Save to a file").click();
    const saved = await (await saving).path();
    await says(/^Saved, [\d,]+ bytes\.$/);
    await sure("Reset");
    await says("The services are empty.");
    expect(await get("later-poison")).toBeUndefined();
    const state = join(folder({}), "saved.state");
    writeFileSync(state, readFileSync(saved));
    await page.getByLabel("File of a state").setInputFiles(state);
    await says(/saved\.state is loaded/);
    expect((await get("later-poison"))?.count).toBe(before);
    writeFileSync(state, "no state");
    await page.getByLabel("File of a state").setInputFiles(state);
    await page.locator(".note.failed").first().waitFor();
    expect((await get("later-poison"))?.count).toBe(before);
  });
});

test("clock: every mode, spans, and what is due next", async () => {
  await visit(page, "/clock");
  const now = async () => Date.parse((await host.get<{ now: string }>("clock")).now);
  let before = await now();
  await button("Advance").click();
  await says(/^It is \d\d:\d\d:\d\d/);
  expect((await now()) - before).toBe(300_000);
  before = await now();
  await button("+1h").click();
  await expect.poll(now).toBe(before + 3_600_000);
  await button("To what is due next").click();
  await says(/the next thing was due/);
  await page.getByLabel("Span to advance by").fill("soon");
  await button("Advance").click();
  await says(/want a duration/);
  for (const mode of ["auto", "real", "debug", "manual"]) {
    await button(mode).click();
    await says(`The clock is ${mode}`);
    expect((await host.get<{ mode: string }>("clock")).mode).toBe(mode);
  }
});

test("app: reload, a refused edit with its reason, and every copy button", async () => {
  await visit(page, "/app");
  const file = join(dir, "host.json");
  const good = readFileSync(file, "utf8");
  writeFileSync(file, good.replace('"fixedDelay"', '"sometimes"'));
  await button("Reload").click();
  await page.getByText("Refused edit").first().waitFor();
  await page.getByText(/sometimes/).first().waitFor();
  writeFileSync(file, good.replace('"maxRetryCount":4', '"maxRetryCount":2'));
  await button("Reload").click();
  await page.getByText(/^Generation [23], Running/).first().waitFor();
  writeFileSync(file, good);
  const { endpoints } = await host.get<{ endpoints: { service: string; address?: string; connectionString?: string }[] }>("app");
  const copied = async (name: string, text: string) => {
    await button(name).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(text);
  };
  for (const e of endpoints) {
    if (e.address) await copied(`Copy the address of ${e.service}`, e.address);
    if (e.connectionString) await copied(`Copy the connection string of ${e.service}`, e.connectionString);
  }
  await copied("Copy the folder", dir);
});

test("colours: the system's, light, dark", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await button(/^Colours: auto/).click();
  await button(/^Colours: light/).click();
  await expect.poll(background).not.toBe(light);
  await button(/^Colours: dark/).click();
  await expect.poll(background).toBe(light);
});
