import { expect, test } from "vitest";
import type { Rec } from "../journal/record";
import { Teller } from "../journal/teller";
import { filterOf, select } from "./filter";

const none = filterOf(new URLSearchParams());

function tell(...records: Partial<Rec>[]): Teller {
  const teller = new Teller(1_000);
  records.forEach((r, i) => teller.add({ seq: i + 1, time: "2026-01-01T00:00:00Z", kind: "enqueued", ...(r.function ? { trigger: "queueTrigger" } : { service: "queue" }), ...r }));
  return teller;
}

const poisoned: Partial<Rec>[] = [
  { source: "orders", message_id: "m1" },
  { kind: "received", function: "Orders", trigger: "queueTrigger", source: "orders", message_id: "m1", delivery: "d1" },
  { kind: "settled", function: "Orders", source: "orders", message_id: "m1", delivery: "d1", decision: "poisoned", target: "orders-poison", fields: { new_message_id: "m2" } },
  { source: "orders-poison", message_id: "m2" },
];

const rows = (t: Teller, text = "", inBody: (name: string) => boolean = () => false) =>
  select(t.lives, { ...none, text }, (m) => t.has(m), (l) => inBody(l.message));

test("a poisoned message is one row, also while its poison queue holds the copy", () => {
  const { lives, counts } = rows(tell(...poisoned));
  expect(lives.map((l) => l.message)).toEqual(["m1"]);
  expect(counts).toMatchObject({ dead: 1, queued: 0 });
  expect(rows(tell(...poisoned), "m2").lives.map((l) => l.message)).toEqual(["m1"]); // found by the copy's name too
});

test("a copy that a function receives, and one of a message that is not known, have rows", () => {
  const received: Partial<Rec> = { kind: "received", function: "Bury", source: "orders-poison", message_id: "m2", delivery: "d2" };
  expect(rows(tell(...poisoned, received)).lives.map((l) => l.message)).toEqual(["m2", "m1"]);
  expect(rows(tell(poisoned[3]!)).lives.map((l) => l.message)).toEqual(["m2"]);
});

test("a text is searched for in bodies too", () => {
  const t = tell({ source: "orders", message_id: "m1" }, { source: "orders", message_id: "m2" });
  expect(rows(t, "needle", (m) => m === "m2").lives.map((l) => l.message)).toEqual(["m2"]);
});
