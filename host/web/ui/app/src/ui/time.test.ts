import { expect, test } from "vitest";
import { span } from "./time";

test.each([
  [0, "0 ms"], [0.26, "0.3 ms"], [999.7, "1 s"], [1_234, "1.23 s"], [12_345, "12.3 s"], [59_999.4, "1 min"],
  [3_599_999.3, "1 h"], [3_661_000, "1 h 1 min"], [90_000_000, "1 d 1 h"], [-1_500, "-1.5 s"],
])("a span of %f ms is %s", (ms, text) => {
  expect(span(ms)).toBe(text);
});
