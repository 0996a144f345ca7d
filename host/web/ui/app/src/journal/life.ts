import type { Message } from "./messages";

/** One run of the handler within a delivery. Times are milliseconds since 1970. */
export interface Attempt {
  number: number;
  seq: number;
  start: number;
  end?: number;
  status?: string; // succeeded, failed, timed_out
  error?: string;
  stack?: string;
  /** Real time that it took, in milliseconds; a virtual clock may stand still meanwhile. */
  elapsed?: number;
  /** The wait that the policy put after this attempt. */
  delay?: number;
}

/** One delivery of a message by its service. */
export interface Delivery {
  id: string;
  count: number;
  seq: number;
  start: number;
  end?: number;
  invocation?: string;
  decision?: string;
  target?: string;
  cause?: string; // why retries ended
  remark?: string; // what the listener said at the end
  limit?: number; // maxRetryCount
  inputs?: Record<string, string>;
  /** The message's place in the batch, from 0, and how many messages are in it. */
  member: number;
  batch: number;
  /** The status of the answer over HTTP. */
  answer?: string;
  attempts: Attempt[];
}

/** What a service or the host did to the message by itself. */
export interface Mark {
  seq: number;
  time: number;
  kind: string;
  text: string;
  /** The wait that follows, where it is known. */
  delay?: number;
}

/** A line that the handler wrote. */
export interface LogLine {
  seq: number;
  time: number;
  delivery: string;
  attempt: number;
  level: string;
  text: string;
}

export type Outcome = "queued" | "running" | "waiting" | "succeeded" | "failed" | "dead";

/** What has happened to one message for one function; a request and a tick count as messages. */
export interface Life {
  key: string;
  message: string;
  function: string;
  trigger: string;
  source: string;
  service: string;
  number: number; // at its entity: tells messages of one name apart; 0: its service does not count
  /** The queue or entity where it is, as its service names it; empty when it is gone. */
  place: string;
  /** It is gone for good: what is still in work of it changes nothing. */
  gone: boolean;
  seq: number; // of its first record
  latest: number; // of its last
  start: number;
  end: number; // of its last record, or of the wait that is known to follow
  deliveries: Delivery[];
  marks: Mark[];
  logs: LogLine[];
  attempts: number;
  failures: number;
  /** Of those, what a function counts: of a batch, with its first message. */
  own: { deliveries: number; attempts: number; failures: number };
  records: number;
  error: string; // the last one
  outcome: Outcome;
  /** Where it ended, or what it waits for, in a word. */
  state: string;
  /** The queue, entity or container that it went to when it was given up. */
  grave?: string;
  /** The identity that a copy of the message has at its poison queue. */
  copy?: string;
  /** The identity of the message that this one is a copy of. */
  origin?: string;
  /** What its lives have in common; a request and a tick have nothing. */
  of?: Message;
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
