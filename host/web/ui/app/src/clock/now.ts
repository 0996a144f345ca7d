import { signal } from "@preact/signals";
import { get } from "../api/client";
import type { ClockStatus } from "../api/types";
import { told, version } from "../journal/store";

/** The last answer about the clock. */
export const clock = signal<ClockStatus | undefined>(undefined);

let asked = 0;

/** The host's time, as far as the page knows it: a real clock goes on between two answers. */
export function now(): number {
  const c = clock.value;
  if (!c) return told.now || Date.now();
  const base = Date.parse(c.now);
  const running = !c.virtual || c.mode === "real" || c.mode === "auto" || c.mode === "debug";
  const on = running ? Math.min(performance.now() - asked, 5_000) : 0;
  return Math.max(base + on, told.now);
}

export async function askClock(): Promise<void> {
  take(await get<ClockStatus>("clock"));
}

/** Takes an answer about the clock. */
export function take(status: ClockStatus): void {
  asked = performance.now();
  clock.value = status;
}

/** Asks for the time while the tab is seen, and soon after something has happened. */
export function watchClock(): void {
  let seen = -1;
  let last = 0;
  const ask = () => {
    const changed = version.peek() !== seen;
    if (document.hidden || (!changed && performance.now() - last < 2_000)) return;
    seen = version.peek();
    last = performance.now();
    askClock().catch(() => undefined); // the stream says that the host is away
  };
  ask();
  setInterval(ask, 1_000);
}
