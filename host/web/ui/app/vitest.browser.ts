import { defineConfig } from "vitest/config";

// The page in a real browser, on a real host: REDELIVER names the program, CHROMIUM the
// browser. Only a failing test waits for a time-out. With --mode pictures it makes the
// pictures of docs/ui, with --mode bench the figures of docs/performance.md.
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === "pictures" ? ["browser/pictures.ts"] : mode === "bench" ? ["browser/bench.ts"] : ["browser/**/*.test.ts"],
    setupFiles: ["browser/setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 2,
  },
}));
