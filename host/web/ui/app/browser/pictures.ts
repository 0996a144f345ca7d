import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { test } from "vitest";
import { everything, fill, start } from "./apps";
import { launch, open, rows, visit } from "./browser";
import type { Host } from "./host";

// The pictures of docs/ui. With PICTURES naming another folder, all of them: empty, dark
// and at other widths, to look at.
const all = process.env["PICTURES"];
const to = all ?? resolve(import.meta.dirname, "../../../../../docs/ui");

const wide = { width: 1280, height: 720 };
const kinds = {
  "": { viewport: wide, colorScheme: "light" },
  "-dark": { viewport: wide, colorScheme: "dark" },
  "-middle": { viewport: { width: 860, height: 900 }, colorScheme: "light" },
  "-wide": { viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  "-middle-dark": { viewport: { width: 860, height: 900 }, colorScheme: "dark" },
  "-wide-dark": { viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  "-narrow-dark": { viewport: { width: 400, height: 720 }, colorScheme: "dark" },
  "-narrow": { viewport: { width: 400, height: 720 }, colorScheme: "light" },
} as const;

async function shoot(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(700); // for answers that are asked for again and again
  await page.screenshot({ path: `${to}/${name}.png` });
}

async function empty(browser: Browser, host: Host): Promise<void> {
  const page = await open(browser, host.base, kinds[""]);
  for (const view of ["timeline", "functions", "services", "clock", "app"]) {
    await visit(page, `/${view}`);
    await shoot(page, `${view}-empty`);
  }
  await page.context().close();
}

async function full(browser: Browser, host: Host, kind: keyof typeof kinds): Promise<void> {
  const page = await open(browser, host.base, kinds[kind]);
  await rows(page).first().waitFor();
  await page.getByRole("button", { name: "Squeeze" }).click();
  await shoot(page, `timeline${kind}`);
  if (all || kind === "") {
    await visit(page, "/timeline?function=ProcessOrder&outcome=dead");
    await rows(page).first().click({ position: { x: 20, y: 10 } });
    await shoot(page, `message${kind}`);
    for (const view of ["functions", "clock", "app", "services/servicebus%2Fwork%2F%24DeadLetterQueue"]) {
      await visit(page, `/${view}`);
      if (view.startsWith("services")) await page.getByRole("button", { name: /^Details of/ }).first().click();
      await shoot(page, `${view.split("/")[0]}${kind}`);
    }
  }
  if (all) {
    await visit(page, "/timeline?as=table");
    await shoot(page, `table${kind}`);
  }
  await page.context().close();
}

test("pictures", async () => {
  mkdirSync(to, { recursive: true });
  const [host, browser] = await Promise.all([start(everything()), launch()]);
  if (all) await empty(browser, host);
  await fill(host);
  const wanted = Object.keys(kinds) as (keyof typeof kinds)[];
  for (const kind of wanted.filter((k) => all || /^(-dark|-narrow|)$/.test(k))) await full(browser, host, kind);
  await browser.close();
  await host.stop();
});
