import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everything, fill, start } from "./apps";
import { blameless, launch, open, rows } from "./browser";
import { misfits } from "./fits";
import type { Host } from "./host";

let host: Host;
let browser: Browser;

beforeAll(async () => {
  const starting = start(everything());
  browser = await launch();
  host = await starting;
  await fill(host);
});

afterAll(async () => {
  await browser.close();
  await host.stop();
});

/** Opens what is closed. */
async function unfold(page: Page): Promise<void> {
  for (const details of await page.locator("details").all()) await details.evaluate((d) => ((d as HTMLDetailsElement).open = true));
}

// A view, and a text that is there when it is shown as a whole.
const views = [
  ["/timeline", "Dead"], ["/timeline?as=table", "Last error"], ["/timeline?text=nothing", "No message passes these filters."], ["/functions", "fixedDelay, 4 retries"],
  ["/services/queue%2Forders", "hidden"], ["/services/queue%2Forders-poison", "Redrive all to orders"],
  ["/services/servicebus%2Fwork%2F%24DeadLetterQueue", "Redrive all to work"], ["/services/servicebus%2Fidle", "Send…"],
  ["/services/eventgrid%2Fshop", "Events under way"], ["/services/eventhub%2Freadings", "Checkpoint"],
  ["/services/cosmos%2Fshop%2Fitems", "Read to"], ["/services/blob%2Ffiles", "one.txt"],
  ["/clock", "half-opens"], ["/app", "Generations"], ["/message/nobody", "has no record of it"],
] as const;

describe.each([400, 860, 1440])("at %i pixels", (width) => {
  test.each(views)("%s", async (at, ready) => {
    const page = await open(browser, host.base, { viewport: { width, height: 900 }, at });
    await page.getByText(ready).first().waitFor();
    await expect.poll(() => misfits(page)).toEqual([]);
    blameless(page, host.base);
    await page.context().close();
  });

  test("a message, with all that it hides", async () => {
    const page = await open(browser, host.base, { viewport: { width, height: 900 }, at: "/timeline?function=ProcessOrder&outcome=dead" });
    await rows(page).first().click({ position: { x: 20, y: 10 } });
    await page.locator("pre.body").waitFor();
    await page.getByText("= delayInterval").first().waitFor();
    await page.getByRole("button", { name: "Edit and send again" }).click();
    await unfold(page);
    await expect.poll(() => misfits(page)).toEqual([]);
    blameless(page, host.base);
    await page.context().close();
  });

  test.each(["/functions", "/services/queue%2Forders", "/services/servicebus%2Fwork%2F%24DeadLetterQueue", "/services/eventgrid%2Fshop"])("%s, with all that it hides", async (at) => {
    const page = await open(browser, host.base, { viewport: { width, height: 900 }, at });
    await page.locator("section").first().waitFor();
    if (at.startsWith("/services")) {
      await page.getByRole("button", { name: /^Details of/ }).first().click();
      await page.locator("pre.body").waitFor();
    }
    await unfold(page);
    await expect.poll(() => misfits(page)).toEqual([]);
    blameless(page, host.base);
    await page.context().close();
  });
});
