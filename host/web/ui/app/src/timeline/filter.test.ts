import { expect, test } from "vitest";
import type { Life } from "../journal/life";
import { Lives } from "../journal/lives";
import { filterOf, select } from "./filter";

const none = filterOf(new URLSearchParams());

const life = (key: string, more: Partial<Life>): Life =>
  ({ key, message: key, function: "", trigger: "", source: "orders", outcome: "queued", state: "", error: "", ...more }) as Life;

function tell(...lives: Life[]): Lives {
  const told = new Lives();
  told.take({ now: 0, lives });
  return told;
}

const original = life("m1", { function: "Orders", trigger: "queueTrigger", outcome: "dead", copy: "m2" });
const copy = life("m2", { source: "orders-poison", origin: "m1" });

const rows = (t: Lives, text = "", inBody: (name: string) => boolean = () => false) =>
  select(t.lives, { ...none, text }, (m) => t.has(m), (l) => inBody(l.message));

test("a poisoned message is one row, also while its poison queue holds the copy", () => {
  const { lives, counts } = rows(tell(original, copy));
  expect(lives.map((l) => l.message)).toEqual(["m1"]);
  expect(counts).toMatchObject({ dead: 1, queued: 0 });
  expect(rows(tell(original, copy), "m2").lives.map((l) => l.message)).toEqual(["m1"]); // found by the copy's name too
});

test("a copy that a function receives, and one of a message that is not known, have rows", () => {
  const received = life("m2", { function: "Bury", source: "orders-poison", origin: "m1", outcome: "running" });
  expect(rows(tell(original, received)).lives.map((l) => l.message)).toEqual(["m2", "m1"]);
  expect(rows(tell(life("m2", { source: "orders-poison" }))).lives.map((l) => l.message)).toEqual(["m2"]);
});

test("a text is searched for in bodies too", () => {
  const t = tell(life("m1", {}), life("m2", {}));
  expect(rows(t, "needle", (m) => m === "m2").lives.map((l) => l.message)).toEqual(["m2"]);
});
