import { resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blameless, launch, open, rows } from "./browser";
import { Host } from "./host";

const sample = resolve(import.meta.dirname, "../../../../../functions/samples/orders");

let host: Host;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  process.env["AzureWebJobs.Heartbeat.Disabled"] = "true"; // its ticks, five minutes apart, would be due between two attempts
  [host, browser] = await Promise.all([Host.start(sample, "--clock", "manual", "--no-watch"), launch()]);
  page = await open(browser, host.base);
});

afterAll(async () => {
  await browser.close();
  await host.stop();
});

// The acceptance of the page: somebody opens it, and then sends the order that fails.
test("the 25 attempts of the failing order appear live, its poison message is one click away, and redrive runs it again", async () => {
  await expect.poll(() => page.getByText("No message has come yet").isVisible()).toBe(true);
  const id = await host.send("orders", '{"id":"7","fail":true}');
  const row = rows(page, new RegExp(`ProcessOrder; message ${id}`));
  await row.waitFor();

  // Each attempt is seen before the next: the clock stands until it is moved to what is due.
  const seen = new Set<number>();
  for (let attempts = 1; attempts <= 25; attempts++) {
    await rows(page, new RegExp(`ProcessOrder; message ${id}; .*, ${attempts} attempts?, ${attempts} failed`)).waitFor();
    seen.add(attempts);
    if (attempts < 25) await host.call("POST", "clock/next");
  }
  expect(seen.size).toBe(25);
  await rows(page, /5 deliveries, 25 attempts, 25 failed; poisoned: orders-poison; .*payment service unavailable/).waitFor();

  await row.click();
  await page.getByRole("heading", { level: 1, name: "ProcessOrder" }).waitFor();
  await expect.poll(() => page.getByRole("region", { name: /^Delivery / }).count()).toBe(5);
  // Equal attempts are folded; the last of each delivery writes another line.
  await expect.poll(() => page.getByText("Attempts 1 to 4 of 5").count()).toBe(5);
  await expect.poll(() => page.getByText("last attempt of this delivery").count()).toBe(5);
  await expect.poll(() => page.locator(".attempts > li").count()).toBe(10);

  // One click from the message to what became of it.
  await page.getByText("Went on as").waitFor();
  const copy = page.locator("dt", { hasText: "Went on as" }).locator("+ dd a");
  const poison = await copy.innerText();
  await copy.click();
  await page.getByRole("heading", { level: 1, name: "orders-poison" }).waitFor();
  await page.getByText(`Copy of`).waitFor();
  await page.locator("pre.body", { hasText: '"fail": true' }).waitFor();

  await page.getByRole("button", { name: "Redrive" }).click();
  await page.getByText(/It is in orders again, as /).waitFor();
  await page.getByRole("link", { name: "Show it" }).click();
  await page.getByRole("heading", { level: 1, name: "ProcessOrder" }).waitFor();
  await page.getByText("Attempt 1 of 5").waitFor();
  expect(poison).not.toBe("");
  blameless(page, host.base);
});
