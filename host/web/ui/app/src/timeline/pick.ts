import { word, type Life } from "../journal/life";
import { count, visible } from "../ui/text";
import { span, timeOfDay } from "../ui/time";
import type { Scale } from "./axis";

/** What stands at a place in the row of a life, in words, and the attempt there. */
export interface Picked {
  text: string;
  attempt: string; // "d1.2"
}

export function pick(life: Life, scale: Scale, x: number): Picked {
  const lines = [`${life.function || life.source}  ${life.message || life.deliveries[0]?.id || ""}`];
  let attempt = "";
  const d = life.deliveries.findLast((d) => x >= scale.x(d.start) - 4);
  if (d && (d.end === undefined || x <= scale.x(d.end) + 8)) {
    lines.push(`delivery ${d.count} (${d.id})`);
    const a = d.attempts.findLast((a) => x >= scale.x(a.start) - 4);
    if (a) {
      attempt = `${d.id}.${a.number}`;
      const of = d.limit !== undefined && d.limit >= 0 ? ` of ${d.limit + 1}` : "";
      const took = a.end === undefined ? "running" : `${word(a.status ?? "")} after ${span(a.end - a.start)}`;
      lines.push(`attempt ${a.number}${of} at ${timeOfDay(a.start)}: ${took}`);
      if (a.error) lines.push(a.error.slice(0, 300));
      if (a.delay !== undefined) lines.push(`then a wait of ${span(a.delay)}`);
    }
  } else if (d) {
    const next = life.deliveries[life.deliveries.indexOf(d) + 1];
    lines.push(next ? `${word(d.decision ?? "")}: ${span(next.start - (d.end ?? d.start))} until delivery ${next.count}` : `at the end: ${life.state}`);
  } else {
    const first = life.deliveries[0];
    lines.push(first ? `${span(first.start - life.start)} in ${life.source}` : life.state);
  }
  return { text: visible(lines.join("\n")), attempt };
}

/** A life in a sentence, for those who do not see the picture. */
export function sentence(life: Life): string {
  const parts = [life.function || `no function, ${life.source}`];
  if (life.message) parts.push(`message ${life.message}`);
  parts.push(`${count(life.deliveries.length, "delivery", "deliveries")}, ${count(life.attempts, "attempt")}, ${life.failures} failed`);
  parts.push(life.state);
  if (life.error) parts.push(life.error);
  return visible(parts.join("; "));
}
