import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "playwright-core";
import { test } from "vitest";
import { everything, fill, start } from "./apps";
import { launch, open, rows, visit } from "./browser";

const to = process.env["PICTURES"] ?? resolve(import.meta.dirname, "../../../../../docs/ui");

test("pictures", async () => {
  mkdirSync(to, { recursive: true });
  const [host, browser] = await Promise.all([start(everything()), launch()]);
  const shoot = async (page: Page, name: string) => {
    await page.mouse.move(0, 0);
    await page.waitForTimeout(700); // answers that are asked for again and again
    await page.screenshot({ path: `${to}/${name}.png` });
  };
  if (process.env["PICTURES"]) {
    for (const [name, viewport, colorScheme] of [["empty", { width: 1280, height: 720 }, "dark"]] as const) {
      const page = await open(browser, host.base, { viewport, colorScheme });
      for (const view of ["timeline", "functions", "services", "clock", "app"]) {
        await visit(page, `/${view}`);
        await shoot(page, `${view}-${name}`);
      }
      await page.context().close();
    }
  }
  await fill(host);
  for (const [name, viewport, colorScheme] of [
    ["", { width: 1280, height: 720 }, "light"], ["-dark", { width: 1280, height: 720 }, "dark"], ["-narrow", { width: 400, height: 720 }, "light"],
  ] as const) {
    const page = await open(browser, host.base, { viewport, colorScheme });
    await visit(page, "/timeline");
    await rows(page).first().waitFor();
    await page.getByRole("button", { name: "Squeeze" }).click();
    await shoot(page, `timeline${name}`);
    await visit(page, "/timeline?as=table");
    await shoot(page, `table${name}`);
    await visit(page, "/timeline?function=ProcessOrder&outcome=dead");
    await rows(page).first().click();
    await shoot(page, `message${name}`);
    for (const view of ["functions", "services", "clock", "app"]) {
      await visit(page, view === "services" ? "/services/servicebus%2Fwork%2F%24DeadLetterQueue" : `/${view}`);
      await shoot(page, `${view}${name}`);
    }
    await page.context().close();
  }
  await browser.close();
  await host.stop();
});
