import { source as axe } from "axe-core";
import type { AxeResults } from "axe-core";
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from "playwright-core";
import { expect } from "vitest";

const program = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export async function launch(): Promise<Browser> {
  return await chromium.launch({
    executablePath: program,
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--enable-precise-memory-info", "--js-flags=--expose-gc",
    ],
  });
}

/** What a page did that it must not do. */
export interface Watch {
  wrongs: string[];
  urls: string[];
}

const watched = new WeakMap<Page, Watch>();

export interface Opening extends BrowserContextOptions {
  at?: string; // the place in the page: /timeline
  key?: string;
  /** Console errors that the test brings about itself. */
  expected?: RegExp;
}

/** Opens the page of a host in a browser profile of its own. */
export async function open(browser: Browser, base: string, opening: Opening = {}): Promise<Page> {
  const { at = "", key, expected, ...options } = opening;
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, permissions: ["clipboard-read", "clipboard-write"], ...options });
  context.setDefaultTimeout(Number(process.env["PATIENCE"] ?? 30_000));
  const page = await context.newPage();
  const watch: Watch = { wrongs: [], urls: [] };
  watched.set(page, watch);
  page.on("console", (m) => {
    if (/error|warning/.test(m.type()) && !expected?.test(m.text())) watch.wrongs.push(`${m.type()}: ${m.text()} ${m.location().url}`);
  });
  page.on("pageerror", (e) => watch.wrongs.push(String(e.stack)));
  page.on("dialog", (d) => {
    watch.wrongs.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  page.on("request", (r) => watch.urls.push(r.url()));
  page.on("framenavigated", (f) => watch.urls.push(f.url()));
  if (key) await page.addInitScript((k) => sessionStorage.setItem("redeliver-key", k), key);
  await page.goto(`${base}ui/${at ? `#${at}` : ""}`);
  return page;
}

/** Goes to a place within the page. */
export async function visit(page: Page, at: string): Promise<void> {
  await page.evaluate((to) => (location.hash = to), at);
}

/** Demands that the page did nothing that it must not do, and asked for nothing of another server. */
export function blameless(page: Page, base: string): void {
  const watch = watched.get(page)!;
  expect(watch.wrongs.splice(0)).toEqual([]);
  const origin = new URL(base).origin;
  expect(watch.urls.filter((u) => !u.startsWith(`${origin}/`) && !u.startsWith(`blob:${origin}/`) && u !== "about:blank")).toEqual([]);
}

/** Every address that the page has asked for or shown. */
export function addresses(page: Page): string[] {
  return watched.get(page)!.urls;
}

const everyRule = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Runs axe on what is shown, and demands that it finds nothing: all its rules, or one. */
export async function accessible(page: Page, rule?: string): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate(async (runOnly) => {
    const run = (globalThis as unknown as { axe: { run: (o: object) => Promise<AxeResults> } }).axe.run;
    const { violations } = await run({ runOnly });
    return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 4).map((n) => `${n.html} (${n.failureSummary ?? ""})`).join(" | ")}`);
  }, rule ? [rule] : everyRule);
  expect(found, await page.evaluate(() => location.hash)).toEqual([]);
}

/** The rows of the timeline, or those with a name: what readers of the screen hear of a life. */
export function rows(page: Page, name?: RegExp): Locator {
  return page.getByRole("listbox", { name: "Messages and invocations" }).getByRole("option", name ? { name } : {});
}
