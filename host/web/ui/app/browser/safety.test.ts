import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everything, start } from "./apps";
import { addresses, blameless, launch, open, rows, visit } from "./browser";
import type { Host } from "./host";

// What somebody who sends messages or writes a handler may try.
const markup = `<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script><a href="javascript:globalThis.hacked=1">x</a>`;
const turned = "abc\u202Edef\u2066\u200Bghi";
const control = "bell\u0007 null\u0000 escape\u001b[31m del\u007f";
const hostile = `${markup} ${turned} ${control}`;

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

/** Demands that nothing of what was sent has become a part of the page. */
async function unharmed(page: Page): Promise<void> {
  expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.locator('img[src="x"], main script, a[href^="javascript"], [onerror]').count()).toBe(0);
  const text = await page.locator("body").innerText();
  // eslint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f\u200b\u202a-\u202e\u2066-\u2069]/);
}

describe("hostile bodies and names", () => {
  const dir = everything();
  let host: Host;
  let page: Page;

  beforeAll(async () => {
    host = await start(dir);
    const q = encodeURIComponent;
    await host.send("orders", JSON.stringify({ fail: true, error: hostile, log: 1, say: hostile }));
    await host.call("POST", `servicebus/messages?path=work&id=${q(markup)}&subject=${q(hostile)}&property=${q(`${turned}=${hostile}`)}`, hostile);
    await host.call("POST", `servicebus/messages?path=idle&id=${q(`${turned}/<b>`)}`, new Uint8Array([0xff, 0, 0x3c, 0x62, 0x3e]));
    await host.call("POST", "eventgrid/events?topic=shop", JSON.stringify({ id: hostile, eventType: markup, subject: hostile, data: { fail: true, error: hostile }, eventTime: "2026-01-01T00:00:00Z", dataVersion: "1" }));
    await host.call("POST", `eventhubs/events?hub=readings&key=${q(`${turned}<img src=x onerror="globalThis.hacked=1">`)}`, JSON.stringify({ fail: true, error: hostile }));
    await host.call("POST", "cosmos/documents?container=shop/items", JSON.stringify({ id: `${markup.replaceAll("/", "|")}${turned}`, fail: true, error: hostile }));
    await host.call("PUT", `containers/files/blob?name=${q(`${markup}${turned}.txt`)}`, hostile);
    await host.call("PUT", "containers/dead/blob?name=large.txt", "y".repeat(1_500_000));
    await host.call("POST", "clock/advance?by=5m");
    page = await open(browser, host.base);
  });

  afterAll(() => host.stop());

  test("are text in every view", async () => {
    await rows(page).first().waitFor();
    await unharmed(page);
    const lives = await rows(page).count();
    expect(lives).toBeGreaterThan(6);
    for (let i = 0; i < lives; i++) {
      const row = rows(page).nth(i);
      await row.hover({ position: { x: 600, y: 10 } });
      await row.click({ position: { x: 20, y: 10 } });
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await page.locator("dt", { hasText: "Next" }).locator("+ dd", { hasText: /[a-z]/ }).waitFor(); // what the host tells has come
      for (const closed of await page.locator("details").all()) await closed.evaluate((d) => ((d as HTMLDetailsElement).open = true));
      const body = page.getByRole("region", { name: "Body" });
      if ((await body.count()) > 0) await body.locator("pre.body, p").first().waitFor();
      await unharmed(page);
      await page.goBack();
      await rows(page).first().waitFor();
    }
    await visit(page, "/timeline?as=table");
    await page.getByRole("table").waitFor();
    await unharmed(page);
    for (const view of ["functions", "clock", "app"]) {
      await visit(page, `/${view}`);
      await page.locator("section").first().waitFor();
      await unharmed(page);
    }
    await visit(page, "/services");
    const list = page.getByRole("navigation", { name: "Entities of the services" });
    await list.getByRole("link").first().waitFor();
    for (const entity of await list.getByRole("link").all()) {
      await entity.click();
      await page.getByText(/^Nothing (is|was given up) here\./).or(page.locator(".items > li").first()).waitFor();
      for (const details of await page.getByRole("button", { name: /^Details of/ }).all()) {
        await details.click();
        await page.locator("pre.body").waitFor();
        await unharmed(page);
      }
      await unharmed(page);
    }
    await page.getByLabel("Search the messages of all services").fill("onerror");
    await page.getByRole("region", { name: "Found" }).getByRole("listitem").first().waitFor();
    await unharmed(page);
  });

  test("show what they are: marks of direction and controls by name, bytes in hexadecimal", async () => {
    await visit(page, "/timeline?function=ProcessOrder");
    await rows(page).first().click();
    await page.getByText("⟨U+202E⟩").first().waitFor();
    await page.getByText("␇").first().waitFor();
    await visit(page, "/services/servicebus%2Fidle");
    await page.getByRole("button", { name: /^Details of/ }).first().click();
    await page.locator("pre.body", { hasText: "ff 00 3c 62 3e" }).waitFor();
    await visit(page, "/services/blob%2Fdead");
    await page.getByRole("button", { name: "Details of large.txt" }).click();
    await page.getByText("1,048,576 bytes, only its beginning").waitFor();
  });

  test("do not stand in an address, and the page asks no other server", () => {
    for (const url of addresses(page)) expect(decodeURIComponent(url)).not.toMatch(/payment|yyyyyy|secret|AccountKey/i);
    blameless(page, host.base);
  });

  test("could not run: the policy refuses inline scripts, and requests to others", async () => {
    const other = await open(browser, host.base, { expected: /Content Security Policy/ });
    const refused = await other.evaluate(async () => {
      const seen: string[] = [];
      document.addEventListener("securitypolicyviolation", (e) => seen.push(e.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "globalThis.hacked = 1";
      document.body.append(script);
      await fetch("http://127.0.0.1:9/").catch(() => undefined);
      document.body.insertAdjacentHTML("beforeend", '<img src=x onerror="globalThis.hacked=1"><iframe src="about:blank"></iframe>');
      await new Promise((resolve) => setTimeout(resolve, 0));
      return { seen, hacked: (globalThis as { hacked?: number }).hacked };
    });
    expect(refused.hacked).toBeUndefined();
    expect(refused.seen).toEqual(expect.arrayContaining(["script-src-elem", "connect-src"]));
    await other.context().close();
  });
});

test("--enableAuth: the key is asked for once, kept for the tab, and in no address", async () => {
  const dir = everything();
  const guarded = await start(dir, "--enableAuth");
  const page = await open(browser, guarded.base, { expected: /status of 401 / });
  const dialog = page.getByRole("dialog", { name: "This host wants a key" });
  await dialog.waitFor();
  await dialog.getByLabel("Master key").fill("wrong");
  await page.keyboard.press("Enter");
  await dialog.getByText("The host refused that key.").waitFor();
  await dialog.getByLabel("Master key").fill(guarded.key);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "hidden" });
  await page.getByText("live", { exact: true }).waitFor();
  await guarded.send("orders", JSON.stringify({ id: "1" }));
  await rows(page, /ProcessOrder; .*deleted/).waitFor();
  for (const [view, ready] of [["functions", "fixedDelay"], ["services", "orders"], ["clock", "What is due"], ["app", "Generations"]] as const) {
    await visit(page, `/${view}`);
    await page.getByText(ready).first().waitFor();
  }
  expect(await page.locator("body").innerText()).not.toContain(guarded.key);
  await page.reload();
  await page.getByText("live", { exact: true }).waitFor();
  await expect.poll(() => dialog.isVisible()).toBe(false);
  for (const url of addresses(page)) expect(url).not.toContain(guarded.key);
  expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, document.cookie]))).not.toContain(guarded.key);
  blameless(page, guarded.base);
  await page.context().close();
  await guarded.stop();
});

test("a page of another origin cannot frame it, and a file of it holds no secret", async () => {
  const dir = everything();
  const host = await start(dir);
  const answer = await fetch(`${host.base}ui/`);
  expect(answer.headers.get("Content-Security-Policy")).toMatch(/frame-ancestors 'none'/);
  expect((await fetch(`${host.base}ui/`, { headers: { Origin: "https://example.com" } })).status).toBe(403);
  expect(readFileSync(join(dir, "local.settings.json"), "utf8")).toContain("very-secret-token");
  expect(await (await fetch(`${host.base}app`)).text()).not.toContain("very-secret-token");
  await host.stop();
});
