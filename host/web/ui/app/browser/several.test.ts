import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, blameless, launch, open, rows, visit } from "./browser";
import { misfits } from "./fits";
import { folder, Host } from "./host";

const settings = JSON.stringify({ IsEncrypted: false, Values: { AzureWebJobsStorage: "UseDevelopmentStorage=true", FUNCTIONS_WORKER_RUNTIME: "node" } });
const queue = (name: string) => JSON.stringify({ bindings: [{ type: "queueTrigger", direction: "in", name: "item", queueName: name }] });

let host: Host;
let browser: Browser;

// Two apps in one run: one takes orders and sends a bill for each, the other one fails. Both
// have a function Audit.
beforeAll(async () => {
  const root = folder({
    "orders/host.json": JSON.stringify({ version: "2.0" }),
    "orders/local.settings.json": settings,
    "orders/PlaceOrder/function.json": JSON.stringify({
      bindings: [
        { type: "httpTrigger", direction: "in", name: "req", methods: ["post"], authLevel: "anonymous" },
        { type: "http", direction: "out", name: "res" },
        { type: "queue", direction: "out", name: "bill", queueName: "bills" },
      ],
    }),
    "orders/PlaceOrder/index.js": "module.exports = async (context, req) => { context.bindings.bill = req.rawBody; context.res = { status: 202 }; };",
    "orders/Audit/function.json": queue("audit-orders"),
    "orders/Audit/index.js": "module.exports = async () => {};",
    "billing/host.json": JSON.stringify({ version: "2.0", extensions: { queues: { maxDequeueCount: 2 } } }),
    "billing/local.settings.json": settings,
    "billing/Bill/function.json": queue("bills"),
    "billing/Bill/index.js": 'module.exports = async (context) => { context.log("a line"); throw new Error("ledger is closed"); };',
    "billing/Audit/function.json": queue("audit-bills"),
    "billing/Audit/index.js": "module.exports = async () => {};",
  });
  const starting = Host.start([`${root}/orders`, `${root}/billing`], "--worker", "shim", "--clock", "manual");
  browser = await launch();
  host = await starting;
  const placed = await fetch(new URL("/api/PlaceOrder", host.base), { method: "POST", body: JSON.stringify({ id: "7" }) });
  expect(placed.status).toBe(202);
  await host.send("audit-orders", "1");
  await host.send("audit-bills", "2");
  await host.record((r) => r["kind"] === "settled" && r["function"] === "orders/PlaceOrder");
  await host.call("POST", "clock/advance?by=10m");
  await host.record((r) => r["kind"] === "settled" && r["decision"] === "poisoned");
});

afterAll(async () => {
  await browser.close();
  await host.stop();
});

/** The names of the functions whose rows the timeline shows. */
async function shown(page: Page): Promise<string[]> {
  const names = await rows(page).locator(".function").allInnerTexts();
  return [...new Set(names)].sort();
}

describe.each([400, 860, 1440])("two apps at %i pixels", (width) => {
  const at = async (place: string) => await open(browser, host.base, { viewport: { width, height: 900 }, at: place });
  const close = async (page: Page) => {
    await expect.poll(() => misfits(page)).toEqual([]);
    blameless(page, host.base);
    await page.context().close();
  };

  test("the timeline has the messages of both, each under its app", async () => {
    const page = await at("/timeline");
    await expect.poll(() => shown(page)).toEqual(["billing/Audit", "billing/Bill", "orders/Audit", "orders/PlaceOrder"]);
    await close(page);
  });

  test("the filter tells functions of one name apart", async () => {
    const page = await at("/timeline");
    await rows(page).first().waitFor();
    const filter = page.getByRole("combobox", { name: "Function" });
    if (!(await filter.isVisible())) await page.getByRole("button", { name: /filters/i }).click();
    expect(await filter.locator("option").allInnerTexts()).toEqual(["All functions", "billing/Audit", "billing/Bill", "orders/Audit", "orders/PlaceOrder"]);
    for (const name of ["billing/Audit", "orders/Audit", "billing/Bill"]) {
      await filter.selectOption(name);
      await expect.poll(() => shown(page)).toEqual([name]);
    }
    await close(page);
  });

  test("a message of one app's function is told to its end", async () => {
    const page = await at("/timeline?function=billing%2FBill");
    await rows(page).first().click({ position: { x: 20, y: 10 } });
    await page.getByRole("heading", { level: 1, name: "billing/Bill" }).waitFor();
    await expect.poll(() => page.getByRole("region", { name: /^Delivery / }).count()).toBe(2);
    await page.getByText("ledger is closed").first().waitFor();
    await page.getByText("Went on as").waitFor();
    await close(page);
  });

  test("the functions are those of both apps, and each is called by its own name", async () => {
    const page = await at("/functions");
    for (const name of ["orders/PlaceOrder", "orders/Audit", "billing/Bill", "billing/Audit"]) await page.getByRole("region", { name, exact: true }).waitFor();
    await close(page);
  });

  test("the view of the app has both", async () => {
    const page = await at("/app");
    for (const name of ["orders", "billing"]) {
      await page.getByText(`Folder of ${name}`, { exact: true }).waitFor();
      await page.getByText(`functions of ${name}`, { exact: true }).waitFor();
    }
    await expect.poll(() => page.getByText("Running", { exact: true }).count()).toBe(2);
    await page.getByRole("heading", { name: "Generations of orders", exact: true }).waitFor();
    await close(page);
  });

  test("the services are one set", async () => {
    const page = await at("/services/queue%2Fbills-poison");
    await page.getByText("Redrive all to bills").first().waitFor();
    await visit(page, "/services/queue%2Faudit-orders");
    await page.getByText("audit-orders").first().waitFor();
    await close(page);
  });
});

test("each view of two apps is accessible", async () => {
  const page = await open(browser, host.base, { viewport: { width: 1440, height: 900 }, at: "/timeline" });
  await rows(page).first().waitFor();
  for (const view of ["/timeline", "/functions", "/app"]) {
    await visit(page, view);
    await page.locator("main").waitFor();
    await accessible(page);
  }
  blameless(page, host.base);
  await page.context().close();
});
