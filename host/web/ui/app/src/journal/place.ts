import type { Life } from "./life";
import type { Rec } from "./record";

/**
 * Those of a message's lives that a record of a service is about. Senders name messages as
 * they like, and a topic gives each of its subscriptions a copy with one name: the entity
 * tells them apart. The host does the same (host/explain/place.go).
 */
export function concerned(lives: Life[], r: Rec): Life[] {
  const same = lives.filter((l) => equal(l.source, r.source) || (r.kind === "forwarded" && equal(l.source, r.target)));
  if (same.length > 0) return same;
  const loose = lives.filter((l) => l.function !== "" && related(l.source, r));
  return loose.length > 0 ? loose : lives.filter((l) => l.function === "");
}

function equal(a: string, b: string | undefined): boolean {
  return a.toLowerCase() === b?.toLowerCase();
}

/** Whether a function that receives from a source may get what a record is about. */
function related(source: string, r: Rec): boolean {
  const at = entity(source);
  const of = entity(r.source ?? "");
  if (at === "" || of === "" || at === of || (r.kind === "forwarded" && at === entity(r.target ?? ""))) return true;
  const hub = /^(.*?)\/partitions\/./.exec(of)?.[1];
  if (hub !== undefined) return at.startsWith(`${hub}/`); // a consumer group's
  return of.endsWith(`/${at}`) || at.startsWith(`${of}/`); // a subscription that stands without its topic; a topic's
}

/** A queue, topic or subscription without its dead-letter queue. */
function entity(source: string): string {
  return source.toLowerCase().split("/$", 1)[0] ?? "";
}

/** The name with its topic of the subscription that an event's function names alone. */
export function subscribed(lives: Life[], source: string): string {
  const end = `/${source.toLowerCase()}`;
  return lives.flatMap((l) => l.told).find((s) => s.toLowerCase().endsWith(end)) ?? source;
}
