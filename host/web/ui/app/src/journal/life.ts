import type { Course, Delivery as ToldDelivery, Line, Mark, Try } from "../api/types";

/** One run of the handler within a delivery. Times are milliseconds since 1970. */
export type Attempt = Try;

/** A line that the handler wrote. */
export type LogLine = Line;

/** One delivery of a message by its service. */
export interface Delivery extends ToldDelivery {
  attempts: Attempt[];
}

export type Outcome = "queued" | "running" | "waiting" | "succeeded" | "failed" | "dead";

/** What has happened to one message for one function; a request and a tick count as messages. */
export interface Life extends Course {
  deliveries: Delivery[];
  marks: Mark[];
  logs: LogLine[];
  outcome: Outcome;
}

export function lastDelivery(life: Life): Delivery | undefined {
  return life.deliveries.at(-1);
}

/** The name of a life in an address: the message's, else its delivery's. */
export function nameOf(life: Life): string {
  return life.message || life.deliveries[0]?.id || life.key;
}

/** What tells a life from others of the same name, for an address. */
export function which(life: Life): Record<string, string> {
  return { function: life.function, source: life.function ? "" : life.source, number: life.number > 0 ? String(life.number) : "" };
}

/** The life that an address means. */
export function meant(lives: Life[], query: URLSearchParams): Life | undefined {
  const wants = ["function", "source", "number"].filter((name) => query.get(name));
  return lives.find((l) => wants.every((name) => which(l)[name] === query.get(name))) ?? lives.find((l) => l.function === (query.get("function") ?? ""));
}

/** A kind or a decision in words. */
export function word(name: string): string {
  return name.replace("dead_lettered", "dead-lettered").replaceAll("_", " ");
}
