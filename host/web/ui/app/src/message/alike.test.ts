import { expect, test } from "vitest";
import type { Attempt, LogLine } from "../journal/life";
import { folded } from "./alike";

const attempt = (number: number, more: Partial<Attempt> = {}): Attempt => ({ number, seq: number, start: number, end: number + 1, status: "failed", error: "no", ...more });
const line = (text: string): LogLine => ({ seq: 1, time: 1, delivery: "d1", attempt: 1, level: "information", text });

/** The rows in words: "1-3 4~1 5". */
function rows(attempts: Attempt[], logs: Record<number, string[]> = {}): string {
  return folded(attempts, (a) => (logs[a.number] ?? []).map(line))
    .map((r) => `${r.attempt.number}${r.same.length > 0 ? `-${r.same.at(-1)!.number}` : ""}${r.as ? `~${r.as.number}` : ""}`)
    .join(" ");
}

test.each([
  ["equal ones are one row", [attempt(1), attempt(2), attempt(3)], {}, "1-3"],
  ["another error is a row", [attempt(1), attempt(2, { error: "never" }), attempt(3, { error: "never" })], {}, "1 2-3"],
  ["the end is a row", [attempt(1), attempt(2), attempt(3, { status: "succeeded", error: "" })], {}, "1-2 3"],
  ["one that runs is a row", [attempt(1), { number: 2, seq: 2, start: 2 }], {}, "1 2"],
  ["other lines are shown as what differs", [attempt(1), attempt(2), attempt(3)], { 1: ["a"], 2: ["a", "b"], 3: ["a", "b"] }, "1 2-3~1"],
  ["another stack differs", [attempt(1, { stack: "x" }), attempt(2, { stack: "y" })], {}, "1 2~1"],
  ["successes that write other lines are rows of their own", [attempt(1, { status: "succeeded", error: "" }), attempt(2, { status: "succeeded", error: "" })], { 1: ["a"] }, "1 2"],
] as const)("%s", (_, attempts, logs, want) => {
  expect(rows([...attempts], logs as unknown as Record<number, string[]>)).toBe(want);
});

test("what differs: lines that came and lines that went", () => {
  const logs: Record<number, LogLine[]> = { 1: [line("a"), line("b")], 2: [line("a"), line("c")] };
  const row = folded([attempt(1), attempt(2)], (a) => logs[a.number]!)[1]!;
  expect([...row.fresh].map((l) => l.text)).toEqual(["c"]);
  expect(row.as).toEqual({ number: 1, gone: ["information b"], sameStack: true });
});
