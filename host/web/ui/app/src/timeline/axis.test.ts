import { expect, test } from "vitest";
import type { Life } from "../journal/life";
import { even, Scale, squeezed, ticks } from "./axis";

const life = (...times: number[]): Life =>
  ({ start: times[0], end: times.at(-1), marks: times.map((time) => ({ time })), deliveries: [] }) as unknown as Life;

test("a squeezed axis keeps the order, and goes back to the times", () => {
  const axis = squeezed([life(0, 1, 3_600_000), life(3_600_002, 3_600_003)]);
  const times = [-500, 0, 0.5, 1, 2_000_000, 3_600_000, 3_600_001, 3_600_003, 3_700_000];
  const places = times.map((t) => axis.place(t));
  expect([...places].sort((a, b) => a - b)).toEqual(places);
  times.forEach((t, i) => expect(axis.time(places[i]!)).toBeCloseTo(t, 3));
  expect(axis.place(1) - axis.place(0)).toBeGreaterThan((axis.place(3_600_000) - axis.place(1)) / 200);
});

test("an even scale has round times, some distance apart", () => {
  const scale = new Scale(even, 60_000, 120_000, 600);
  const { times, step } = ticks(scale, 100);
  expect(step).toBe(10_000);
  expect(times).toEqual([60_000, 70_000, 80_000, 90_000, 100_000, 110_000, 120_000]);
  expect(scale.time(scale.x(99_000))).toBeCloseTo(99_000);
});
