import type { Life, Outcome } from "../journal/life";

/** Which lives the timeline shows. Empty means all. */
export interface Filter {
  function: string;
  trigger: string;
  outcome: string;
  text: string;
}

export const outcomes: { name: Outcome; title: string }[] = [
  { name: "queued", title: "Queued" },
  { name: "running", title: "Running" },
  { name: "waiting", title: "Waiting" },
  { name: "succeeded", title: "Succeeded" },
  { name: "failed", title: "Failed" },
  { name: "dead", title: "Dead" },
];

export function filterOf(query: URLSearchParams): Filter {
  const of = (name: string) => query.get(name) ?? "";
  return { function: of("function"), trigger: of("trigger"), outcome: of("outcome"), text: of("text") };
}

/** What the lives are, and those that pass. */
export interface Selection {
  lives: Life[]; // the latest first
  counts: Record<Outcome, number>; // of those that pass all but the outcome
  functions: string[];
  triggers: string[];
}

/**
 * The rows of lives. A message that lies in its poison queue is one with the message that it
 * is a copy of, as long as no function receives it there.
 */
export function select(all: Life[], filter: Filter, known: (message: string) => boolean, inBody: (life: Life) => boolean): Selection {
  const counts: Record<Outcome, number> = { queued: 0, running: 0, waiting: 0, succeeded: 0, failed: 0, dead: 0 };
  const functions = new Set<string>();
  const triggers = new Set<string>();
  const lives: Life[] = [];
  const text = filter.text.trim().toLowerCase();
  for (let i = all.length - 1; i >= 0; i--) {
    const life = all[i]!;
    if (life.function === "" && life.origin !== undefined && known(life.origin)) continue;
    if (life.function) functions.add(life.function);
    if (life.trigger) triggers.add(life.trigger);
    if (filter.function && life.function !== filter.function) continue;
    if (filter.trigger && life.trigger !== filter.trigger) continue;
    if (text && !mentions(life, text) && !inBody(life)) continue;
    counts[life.outcome]++;
    if (!filter.outcome || life.outcome === filter.outcome) lives.push(life);
  }
  return { lives, counts, functions: [...functions].sort(), triggers: [...triggers].sort() };
}

function mentions(life: Life, text: string): boolean {
  const has = (s: string | undefined) => s !== undefined && s.toLowerCase().includes(text);
  return (
    has(life.message) || has(life.error) || has(life.source) || has(life.function) || has(life.copy) || has(life.state) ||
    life.deliveries.some((d) => has(d.id) || has(d.invocation) || d.attempts.some((a) => has(a.error)))
  );
}
