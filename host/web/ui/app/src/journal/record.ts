/** A record of the journal: schemas/journal.json. */
export interface Rec {
  seq: number;
  time: string;
  kind: string;
  generation?: number;
  function?: string;
  trigger?: string;
  source?: string;
  service?: string;
  delivery?: string;
  invocation?: string;
  message_id?: string;
  message_number?: number;
  delivery_count?: number;
  attempt?: number;
  retry_count?: number;
  max_retry_count?: number;
  delay?: string;
  status?: string;
  decision?: string;
  target?: string;
  cause?: string;
  error?: string;
  message?: string;
  level?: string;
  name?: string;
  note?: string;
  stack?: string;
  /** Of received: the identities of a batch's messages. */
  batch?: string[];
  /** Of those messages: of received their numbers, of settled the decisions where they differ. */
  members?: (number | string)[];
  /** Of received: their delivery counts, where they differ. */
  counts?: number[];
  /** Real time, in milliseconds. */
  elapsed_ms?: number;
  fields?: Record<string, string>;
}

/** The milliseconds since 1970 of an RFC 3339 time, with what it says below a millisecond. */
export function instant(text: string): number {
  const ms = Date.parse(text);
  const below = /\.\d{3}(\d+)/.exec(text);
  return below ? Math.floor(ms) + Number(`0.${below[1]}`) : ms;
}

/** The milliseconds of a time span of .NET: "00:00:10.8000000", "1.00:00:00". */
export function timeSpan(text: string): number {
  const m = /^(-?)(?:(\d+)\.)?(\d+):(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  if (!m) return 0;
  const [, sign, days, hours, minutes, seconds] = m;
  const ms = ((Number(days ?? 0) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000;
  return sign ? -ms : ms;
}
