import { expect, test } from "vitest";
import type { Course, Delivery } from "../api/types";
import { tally } from "../functions/tally";
import { timeSpan } from "../ui/time";
import { meant, which } from "./life";
import { Lives } from "./lives";

const course = (more: Partial<Course> = {}): Course => ({
  key: "1", message: "m1", function: "Orders", trigger: "queueTrigger", source: "orders", service: "queue", number: 0, of: 1, place: "orders", gone: false,
  seq: 1, latest: 1, start: 1, end: 1, attempts: 0, failures: 0, own: { deliveries: 0, attempts: 0, failures: 0 }, records: 1, error: "", outcome: "queued", state: "in orders", ...more,
});
const delivery = (more: Partial<Delivery> = {}): Delivery => ({ id: "d1", count: 1, seq: 2, start: 2, member: 0, batch: 1, ...more });

test("a life is put together from what is new of it", () => {
  const told = new Lives();
  told.take({ now: 1, lives: [course({ due: 5_000, marks: [{ seq: 1, time: 1, kind: "enqueued", text: "enqueued in orders" }] })] });
  expect(told.lives[0]?.state).toMatch(/^in orders, due at \d/);
  told.take({ now: 2, lives: [course({ state: "running", outcome: "running", latest: 3, deliveries: [delivery({ inputs: [["a", "b"]], attempts: [{ number: 1, seq: 3, start: 3 }] })] })] });
  told.take({ now: 4, lives: [course({ state: "retry", outcome: "waiting", deliveries: [delivery({ attempts: [{ number: 1, seq: 3, start: 3, end: 4, status: "failed", delay: 0 }] })] })] });
  told.take({ now: 6, lives: [course({ state: "deleted", outcome: "succeeded", own: { deliveries: 1, attempts: 2, failures: 1 }, deliveries: [delivery({ end: 6, decision: "deleted", attempts: [{ number: 2, seq: 5, start: 5, end: 6, status: "succeeded" }] })], logs: [{ seq: 5, time: 5, delivery: "d1", attempt: 2, level: "", text: "ok" }] })] });
  expect(told.lives).toHaveLength(1);
  const [life] = told.find("m1");
  expect(life).toMatchObject({ outcome: "succeeded", state: "deleted", marks: [{ seq: 1 }], logs: [{ text: "ok" }], deliveries: [{ decision: "deleted", inputs: [["a", "b"]] }] });
  expect(life).not.toHaveProperty("due");
  expect(life?.deliveries[0]?.attempts.map((a) => [a.number, a.status, a.delay])).toEqual([[1, "failed", 0], [2, "succeeded", undefined]]);
  expect(told.find("d1")).toEqual([life]);
  expect(tally(told.lives, told.now).get("Orders")).toMatchObject({ deliveries: 1, attempts: 2, failures: 1 });
});

test("lives that are dropped are gone, others of their name stay", () => {
  const told = new Lives();
  told.take({ now: 1, lives: [course(), course({ key: "2", function: "Other", number: 2 }), course({ key: "3", message: "m3" })], host: [{ seq: 1, time: 1, kind: "host_started", text: "the host started" }] });
  const found = told.find("m1");
  expect(found.map((l) => meant(found, new URLSearchParams(which(l))))).toEqual(found);
  told.take({ now: 2, dropped: ["1", "3"] });
  expect(told.lives.map((l) => l.key)).toEqual(["2"]);
  expect(told.find("m1").map((l) => l.key)).toEqual(["2"]);
  expect([told.has("m1"), told.has("m3"), told.hostMarks.length]).toEqual([true, false, 1]);
});

test("a time span of .NET", () => {
  expect(timeSpan("1.02:03:04.5000000")).toBe(((26 * 60 + 3) * 60 + 4.5) * 1_000);
  expect(timeSpan("nothing")).toBe(0);
});
