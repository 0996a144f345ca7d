import { computed, signal } from "@preact/signals";
import type { Life } from "../journal/life";
import { even, squeezed, type Axis } from "./axis";

/** What moves the window: the rows on screen, the host's time, or the reader. */
export type Hold = "fit" | "follow" | "free";

export const hold = signal<Hold>("fit");
export const squeeze = signal(false);

interface Range {
  from: number;
  to: number;
}

const axis = signal<Axis>(even);
const range = signal<Range>({ from: 0, to: 1 });

/** The axis of time and the part of it that is seen. */
export const seen = computed(() => ({ axis: axis.value, ...range.value }));

const margin = 0.03;

/** Moves the window with what is on screen, unless the reader holds it. */
export function settle(rows: Life[], now: number): void {
  if (hold.peek() === "free" || rows.length === 0) return;
  const ax = squeeze.peek() ? squeezed(rows) : even;
  let first = Infinity;
  let last = -Infinity;
  for (const life of rows) {
    first = Math.min(first, life.start);
    last = Math.max(last, life.outcome === "running" ? Math.max(life.end, now) : life.end);
  }
  let from = ax.place(first);
  let to = ax.place(last);
  if (hold.peek() === "follow") {
    const { from: f, to: t } = range.peek();
    const size = t - f;
    to = ax.place(Math.max(now, last));
    from = to - size * (1 - margin);
  }
  const room = Math.max(to - from, 5) * margin;
  axis.value = ax;
  set(hold.peek() === "follow" ? { from, to: to + room } : { from: from - room, to: to + room * 4 });
}

function set(next: Range): void {
  const { from, to } = range.peek();
  if (from !== next.from || to !== next.to) range.value = next;
}

/** Makes the window wider (above 1) or narrower around a part of its width. */
export function zoom(by: number, around = 0.5): void {
  const { from, to } = range.peek();
  const size = Math.min(Math.max((to - from) * by, 0.2), 1e12);
  const middle = from + (to - from) * around;
  if (hold.peek() === "fit") hold.value = "free";
  set({ from: middle - size * around, to: middle + size * (1 - around) });
}

/** Moves the window by a part of its width. */
export function pan(by: number): void {
  const { from, to } = range.peek();
  const step = (to - from) * by;
  hold.value = "free";
  set({ from: from + step, to: to + step });
}

/** Shows a life as a whole. */
export function show(life: Life): void {
  const ax = axis.peek();
  const from = ax.place(life.start);
  const to = ax.place(life.end);
  const room = Math.max(to - from, 5) * margin;
  hold.value = "free";
  set({ from: from - room, to: to + room });
}
