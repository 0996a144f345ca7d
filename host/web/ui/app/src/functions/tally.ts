import type { Life } from "../journal/life";

/** What the page has seen of a function. */
export interface Tally {
  deliveries: number; // those of a batch count once
  attempts: number;
  failures: number;
  dead: number;
  running: number;
  rate: number; // attempts a minute of the host's time, over the last five
  error: string;
  errorLife: Life | undefined;
}

const recent = 5 * 60_000;

export function tally(lives: Life[], now: number): Map<string, Tally> {
  const out = new Map<string, Tally>();
  for (const life of lives) {
    if (!life.function) continue;
    let t = out.get(life.function);
    if (!t) {
      t = { deliveries: 0, attempts: 0, failures: 0, dead: 0, running: 0, rate: 0, error: "", errorLife: undefined };
      out.set(life.function, t);
    }
    t.deliveries += life.own.deliveries;
    t.attempts += life.own.attempts;
    t.failures += life.own.failures;
    if (life.outcome === "dead") t.dead++;
    if (life.outcome === "running") t.running++;
    if (life.error && (!t.errorLife || life.latest > t.errorLife.latest)) {
      t.error = life.error;
      t.errorLife = life;
    }
    if (life.end < now - recent) continue;
    for (const d of life.deliveries) if (d.member === 0) for (const a of d.attempts) if (a.start > now - recent) t.rate += 1 / 5;
  }
  return out;
}
