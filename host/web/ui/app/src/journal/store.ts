import { signal } from "@preact/signals";
import type { Changes } from "../api/types";
import { Lives } from "./lives";
import { follow } from "./stream";

/** What the host tells. It changes in place; version says when. */
export let told = new Lives();

/** Counts up when there is something new to draw. */
export const version = signal(0);

/** Records that came too late to be had, and the place of the gap. */
export const gaps = signal<{ after: number; count: number }[]>([]);

/** Counts the edits of the app that were loaded, refused or undone. */
export const edits = signal(0);

/** How often the host has started again since the page was opened. */
export const restarts = signal(0);

let latest = 0;
let drawing = false;

/** Redraws once for all that comes before the next picture. */
function changed(): void {
  if (drawing) return;
  drawing = true;
  const draw = () => {
    drawing = false;
    version.value++;
  };
  // A hidden tab gets no pictures, and has to go on all the same.
  if (document.hidden) setTimeout(draw, 1_000);
  else requestAnimationFrame(draw);
}

export function start(): void {
  void follow({
    begun(again: boolean) {
      told = new Lives();
      gaps.value = [];
      latest = 0;
      if (again) restarts.value++;
    },
    changed(changes: Changes, seq: number) {
      told.take(changes);
      if (changes.host?.some((m) => /^(generation_loaded|generation_refused|edit_undone)$/.test(m.kind))) edits.value++;
      latest = seq;
      changed();
    },
    missed(count: number) {
      gaps.value = [...gaps.value.slice(-19), { after: latest, count }];
      changed();
    },
  });
}
