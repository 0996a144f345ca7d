import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everything, fill, start } from "./apps";
import { accessible, blameless, launch, open, rows, visit } from "./browser";
import type { Host } from "./host";

let host: Host;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  const starting = start(everything());
  browser = await launch();
  host = await starting;
  await fill(host);
  page = await open(browser, host.base);
});

afterAll(async () => {
  await browser.close();
  await host.stop();
});

afterEach(() => blameless(page, host.base));

const row = (name: RegExp) => rows(page, name).first();

describe("timeline", () => {
  test("filters by function, trigger, outcome and text are a part of the address", async () => {
    await visit(page, "/timeline");
    await row(/ProcessOrder; .*25 attempts/).waitFor();
    await page.getByLabel("Function", { exact: true }).selectOption("OnWork");
    await row(/OnWork; .*3 deliveries, 15 attempts, 15 failed; dead-lettered: work\/\$DeadLetterQueue/).waitFor();
    await expect.poll(() => rows(page, /ProcessOrder;/).count()).toBe(0);
    expect(page.url()).toMatch(/#\/timeline\?function=OnWork$/);
    await page.getByLabel("Function", { exact: true }).selectOption("");
    await page.getByLabel("Trigger", { exact: true }).selectOption("queueTrigger");
    await page.getByRole("button", { name: /Dead/ }).click();
    await row(/ProcessOrder;.*poisoned/).waitFor();
    await expect.poll(() => rows(page, /succeeded|OnWork/).count()).toBe(0);
    expect(page.url()).toMatch(/trigger=queueTrigger&outcome=dead/);
    await page.getByRole("button", { name: /^All/ }).click();
    await page.getByLabel("Trigger", { exact: true }).selectOption("");
    await page.keyboard.press("Escape");
    await page.locator("body").press("/");
    await page.keyboard.type("payment SERVICE");
    await row(/payment service unavailable/).waitFor();
    await expect.poll(() => rows(page, /one\.txt/).count()).toBe(0);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("no such text");
    await page.getByText("No message passes these filters.").waitFor();
    await visit(page, "/timeline?function=OnWork&outcome=dead");
    await row(/OnWork/).waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  test("the window of time is zoomed, moved, fitted and follows the host", async () => {
    await visit(page, "/timeline");
    const list = page.getByRole("listbox");
    const axis = page.locator(".axis canvas");
    const picture = async () => (await axis.screenshot()).toString("base64");
    const fit = page.getByRole("button", { name: "Fit" });
    await fit.click();
    await expect.poll(() => fit.getAttribute("aria-pressed")).toBe("true");
    const whole = await picture();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(() => fit.getAttribute("aria-pressed")).toBe("false");
    await expect.poll(picture).not.toBe(whole);
    const near = await picture();
    await list.focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(picture).not.toBe(near);
    await page.keyboard.press("-");
    await page.keyboard.press("f");
    await expect.poll(picture).toBe(whole);
    const box = (await list.boundingBox())!;
    await page.mouse.move(box.x + 800, box.y + 300);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + 300, { steps: 3 });
    await page.mouse.up();
    await expect.poll(picture).not.toBe(whole);
    expect(page.url()).toMatch(/timeline$/); // a drag opens nothing
    await fit.click();
    await page.mouse.move(box.x + 800, box.y + 300);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await expect.poll(picture).not.toBe(whole);
    await page.getByRole("button", { name: "Follow" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Follow" }).getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("button", { name: "Zoom out" }).click();
    await page.getByRole("button", { name: "Squeeze" }).click();
    await expect.poll(picture).not.toBe(whole);
    await page.getByRole("button", { name: "Squeeze" }).click();
  });

  test("the keyboard goes through the rows and opens one, and comes back to it", async () => {
    await visit(page, "/timeline");
    const list = page.getByRole("listbox");
    await list.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    const active = page.locator('[role="option"][aria-selected="true"]');
    await expect.poll(() => active.getAttribute("aria-posinset")).toBe("2");
    await expect.poll(() => list.getAttribute("aria-activedescendant")).toBe(await active.getAttribute("id"));
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/#\/message\//);
    await page.goBack();
    await list.waitFor();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => active.getAttribute("aria-posinset")).toBe("3");
  });

  test("the rows as a table", async () => {
    await visit(page, "/timeline");
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByRole("row", { name: /dead-lettered.*OnWork.*3 15 .*payment service unavailable/ }).waitFor();
    expect(page.url()).toMatch(/as=table/);
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByRole("listbox").waitFor();
  });
});

test("message: deliveries, attempts, delays with their formula, the layer that decided, log lines, and what comes next", async () => {
  await visit(page, "/timeline?function=ProcessOrder&outcome=dead");
  await row(/ProcessOrder/).click();
  await page.getByRole("heading", { name: "ProcessOrder" }).waitFor();
  const first = page.getByRole("region", { name: "Delivery 1" });
  await first.getByText("Attempts 1 to 5 of 5").waitFor();
  await page.locator("pre.body", { hasText: '"fail": true' }).waitFor();
  await first.getByText("→ retry in 1s").first().waitFor();
  await first.getByText("= delayInterval").first().waitFor();
  await expect.poll(() => first.locator("pre.error").count()).toBe(1);
  await first.getByText("Each of the 5").click();
  await first.getByText("line 0").first().waitFor();
  await first.getByText("Stack").first().click();
  await first.getByText(/index\.js:\d+/).first().waitFor();
  await first.getByText("What came with it").click();
  await first.getByText("InsertedOn").first().waitFor();
  await page.getByRole("region", { name: "Delivery 5" }).getByText("poisoned: orders-poison").waitFor();
  // An attempt has an address of its own.
  await first.getByRole("link", { name: /Attempt 3 of 5/ }).click();
  await expect.poll(() => page.url()).toMatch(/attempt=[^&]*\.3$/);
  await expect.poll(() => page.locator("li.meant").innerText()).toMatch(/Attempt 3/);
  const again = await open(browser, host.base, { at: page.url().split("#")[1]! });
  await again.locator("li.meant", { hasText: "Attempt 3" }).waitFor();
  blameless(again, host.base);
  await again.context().close();
});

test("message: one that waits says what comes next and when", async () => {
  await visit(page, "/timeline?function=ProcessOrder&outcome=waiting");
  await row(/ProcessOrder/).click();
  await page.locator("dt", { hasText: "Next" }).locator("+ dd", { hasText: /at \d\d:\d\d:\d\d/ }).waitFor();
  await page.locator("dt", { hasText: "Policy" }).locator("+ dd", { hasText: /fixedDelay/ }).waitFor();
});

test("functions: trigger, policy and where it comes from, product, what was seen, breaker", async () => {
  await visit(page, "/functions");
  const card = page.getByRole("region", { name: "ProcessOrder" });
  await card.getByText("fixedDelay, 4 retries, 1 s apart").waitFor();
  await card.getByText(/from the app \(host\.json/).waitFor();
  await card.getByText(/5 × 5 =/).waitFor();
  await card.getByText(/\d+ failed/).waitFor();
  await card.getByText(/1 dead/).waitFor();
  await card.getByRole("link", { name: "message" }).waitFor();
  await page.getByRole("region", { name: "Guarded" }).locator("dt", { hasText: "Breaker" }).waitFor();
  for (const name of ["OnWork", "OnEvent", "OnReading", "OnChange", "OnFile", "Tick", "Web"]) await page.getByRole("region", { name, exact: true }).waitFor();
  await card.getByRole("link", { name: "Timeline" }).click();
  await expect.poll(() => page.url()).toMatch(/#\/timeline\?function=ProcessOrder$/);
});

test("services: every service with its counts, hidden and scheduled messages, checkpoints, leases, next attempts", async () => {
  await visit(page, "/services");
  const list = page.getByRole("navigation", { name: "Entities of the services" });
  for (const title of ["Queues", "Service Bus", "Event Grid", "Event Hubs", "Cosmos DB", "Blob containers"]) await list.getByRole("heading", { name: title }).waitFor();
  await list.getByRole("link", { name: /^orders \d/ }).click();
  await page.getByText("scheduled", { exact: true }).first().waitFor();
  await page.getByText("hidden", { exact: true }).first().waitFor();
  await list.getByRole("link", { name: /^work\/\$DeadLetterQueue/ }).click();
  await page.getByRole("button", { name: /^Details of/ }).first().click();
  await page.getByText(/MaxDeliveryCountExceeded/).first().waitFor();
  await page.getByRole("button", { name: /^Redrive to work/ }).waitFor();
  await list.getByRole("link", { name: /^shop \d+ pending/ }).click();
  await page.getByRole("heading", { name: "Event subscriptions" }).waitFor();
  await page.getByRole("heading", { name: "Events under way" }).waitFor();
  await page.getByRole("cell", { name: /in \d+/ }).first().waitFor();
  await list.getByRole("link", { name: /^readings/ }).click();
  await page.getByRole("heading", { name: "Partitions and checkpoints" }).waitFor();
  await page.getByRole("cell", { name: "$Default" }).first().waitFor();
  await list.getByRole("link", { name: /^shop\/items/ }).click();
  await page.getByRole("heading", { name: "Leases" }).waitFor();
  await page.getByRole("cell", { name: "OnChange" }).first().waitFor();
  await list.getByRole("link", { name: /^files/ }).click();
  await page.getByText("one.txt").waitFor();
});

test("services: one search over the messages of all entities", async () => {
  await visit(page, "/services");
  await page.getByRole("navigation", { name: "Entities of the services" }).waitFor();
  await page.locator("body").press("/");
  await page.keyboard.type("nobody receives");
  const found = page.getByRole("region", { name: "Found" });
  await found.getByText("later", { exact: true }).waitFor();
  await found.getByText("nobody receives this").waitFor();
  await page.getByLabel("Search the messages of all services").fill('"9"');
  await found.getByText("scheduled").waitFor();
  await page.getByLabel("Search the messages of all services").fill("no such message");
  await page.getByText("Nothing has this text.").waitFor();
});

test("clock: host and wall, mode, and what is due", async () => {
  await visit(page, "/clock");
  await page.getByText("stands still until it is moved").first().waitFor();
  await page.getByText(/the host is .* ahead/).waitFor();
  await page.getByRole("cell", { name: "ProcessOrder" }).first().waitFor();
  await page.getByRole("cell", { name: "Tick" }).first().waitFor();
  await page.getByRole("cell", { name: /Event Grid sends event/ }).first().waitFor();
});

test("app: generations, settings masked, endpoints, findings of check", async () => {
  await visit(page, "/app");
  await page.getByText("very-secret-token").waitFor({ state: "detached" });
  await page.getByRole("cell", { name: "ApiToken" }).waitFor();
  expect(await page.locator("main").innerText()).not.toMatch(/very-secret-token|Eby8vdM02x/);
  await page.getByText("Generation 1", { exact: true }).waitFor();
  await page.getByText("runs now").waitFor();
  await page.getByText(/does not officially support retries/).first().waitFor();
  await page.locator("dt", { hasText: /^blobs$/ }).locator("+ dd").waitFor();
});

describe("axe finds nothing", () => {
  for (const [colorScheme, width, rule] of [["light", 1280, undefined], ["light", 400, undefined], ["dark", 1280, "color-contrast"]] as const) {
    test(`${colorScheme}, ${width} wide`, async () => {
      const viewport = { width, height: 720 };
      const other = await open(browser, host.base, { colorScheme, viewport, at: "/timeline?function=ProcessOrder&outcome=dead" });
      await rows(other).first().waitFor();
      await accessible(other, rule);
      await rows(other).first().click();
      await other.getByText("= delayInterval").first().waitFor();
      await other.locator("pre.body").waitFor();
      await accessible(other, rule);
      for (const [at, ready] of [
        ["/timeline?as=table", "Last error"], ["/functions", "fixedDelay, 4 retries"], ["/services/queue%2Forders-poison", "Redrive all to orders"],
        ["/services/eventgrid%2Fshop", "Events under way"], ["/services/eventhub%2Freadings", "Checkpoint"], ["/services/cosmos%2Fshop%2Fitems", "Read to"],
        ["/clock", "What is due"], ["/app", "Generations"],
      ] as const) {
        await visit(other, at);
        await other.getByText(ready).first().waitFor();
        await accessible(other, rule);
      }
      blameless(other, host.base);
      await other.context().close();
    });
  }
});
