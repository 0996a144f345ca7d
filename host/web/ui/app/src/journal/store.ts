import { signal } from "@preact/signals";
import type { Rec } from "./record";
import { follow } from "./stream";
import { Teller } from "./teller";

/** A browser that is left open overnight keeps this many records, in about 100 MB. */
const most = 200_000;

/** What the records tell. It changes in place; version says when. */
export let told = new Teller(most);

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
    records(batch: Rec[]) {
      for (const r of batch) told.add(r);
      if (batch.some((r) => /^(generation_loaded|generation_refused|edit_undone)$/.test(r.kind))) edits.value++;
      latest = batch.at(-1)?.seq ?? latest;
      changed();
    },
    missed(count: number) {
      gaps.value = [...gaps.value.slice(-19), { after: latest, count }];
      changed();
    },
    restarted() {
      told = new Teller(most);
      gaps.value = [];
      latest = 0;
      restarts.value++;
      changed();
    },
  });
}
