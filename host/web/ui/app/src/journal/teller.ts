import type { Attempt, Delivery, Life, Mark } from "./life";
import { concerned, subscribed } from "./place";
import { instant, timeSpan, type Rec } from "./record";

/** Something that concerns the host as a whole, for the axis of time. */
export interface HostMark {
  seq: number;
  time: number;
  kind: string;
  text: string;
  /** How far the clock was moved from here, in milliseconds. */
  jump?: number;
}

const longestText = 8_192;
const mostLogs = 500; // of one message
const mostTold = 100; // entities of one message

/** Tells the lives of messages from the records of the journal, in their order. */
export class Teller {
  /** In the order of their first records. */
  lives: Life[] = [];
  hostMarks: HostMark[] = [];
  records = 0;
  /** The latest time that a record had. */
  now = 0;

  private byKey = new Map<string, Life>();
  private byMessage = new Map<string, Life[]>();
  private origins = new Map<string, string>(); // of copies that no record has named yet
  private batches = new Map<string, { lives: Life[]; failed: boolean }>(); // in work, by delivery, without the first message of each
  private texts = new Map<string, string>();

  constructor(private readonly most: number) {}

  add(r: Rec): void {
    const time = instant(r.time);
    this.now = Math.max(this.now, time);
    this.records++;
    if (r.function && (r.delivery || r.message_id)) {
      this.handle(this.lifeOf(r, time), r, time);
      this.batch(r, time);
    }
    else if (r.message_id) this.service(r, time);
    else this.host(r, time);
    if (this.records > this.most) this.forget();
  }

  /** The lives of a message, of its copies, or of a delivery. */
  find(name: string): Life[] {
    const list = this.byMessage.get(name);
    if (list) return list;
    return this.lives.filter((l) => l.deliveries.some((d) => d.id === name || d.invocation === name));
  }

  /** Whether a message has a life. */
  has(message: string): boolean {
    return this.byMessage.has(message);
  }

  private lifeOf(r: Rec, time: number): Life {
    const message = r.message_id ?? "";
    const key = `${r.function} ${message || r.delivery}`;
    const known = this.byKey.get(key);
    if (known) return known;
    const lives = this.byMessage.get(message) ?? [];
    // An event's function knows the subscription only, Event Grid the topic too.
    const source = r.trigger === "eventGridTrigger" && r.source ? subscribed(lives, r.source) : r.source;
    const waiting = lives.find((l) => l.function === "");
    if (waiting) {
      // What the service told of the message before a function had it is its beginning.
      this.byKey.delete(waiting.key);
      Object.assign(waiting, { key, function: r.function, trigger: r.trigger ?? "", source: source ?? waiting.source });
      this.byKey.set(key, waiting);
      return waiting;
    }
    return this.begin(key, r, time, source);
  }

  private begin(key: string, r: Rec, time: number, source = r.source ?? ""): Life {
    const life: Life = {
      key, message: r.message_id ?? "", function: r.function ?? "", trigger: r.trigger ?? "", source, told: [],
      seq: r.seq, latest: r.seq, start: time, end: time,
      deliveries: [], marks: [], logs: [], attempts: 0, failures: 0, records: 0, error: "", outcome: "queued", state: "queued",
    };
    this.lives.push(life);
    this.byKey.set(key, life);
    if (life.message) {
      const list = this.byMessage.get(life.message);
      if (list) list.push(life);
      else this.byMessage.set(life.message, [life]);
      const origin = this.origins.get(life.message);
      if (origin) life.origin = origin;
      this.origins.delete(life.message);
    }
    return life;
  }

  /** A service did something to a message by itself: every function's life of it there has that. */
  private service(r: Rec, time: number): void {
    let lives = concerned(this.byMessage.get(r.message_id ?? "") ?? [], r);
    if (lives.length === 0) lives = [this.begin(` ${r.message_id}`, r, time)];
    for (const life of lives) {
      if (r.source && life.told.length < mostTold && !life.told.includes(r.source)) life.told.push(r.source);
      this.mark(life, r, time);
    }
  }

  /** Tells the other messages of a batch, which the records of its delivery do not name, how it goes. */
  private batch(r: Rec, time: number): void {
    const name = r.delivery ?? "";
    if (r.kind === "received" && r.batch) {
      const lives = r.batch.flatMap((id) => {
        if (id === "" || id === r.message_id) return [];
        return this.byKey.get(`${r.function} ${id}`) ?? this.byMessage.get(id)?.find((l) => l.function === "") ?? [];
      });
      this.batches.set(name, { lives, failed: false });
      for (const life of lives) {
        this.touch(life, r, time);
        life.marks.push({ seq: r.seq, time, kind: r.kind, text: cut(`${r.function} receives it in a batch, as ${name}`) });
        say(life, "running", `in the batch ${name}`);
      }
    }
    const batch = this.batches.get(name);
    if (!batch) return;
    if (r.kind === "attempt_ended") {
      batch.failed = r.status !== "succeeded";
      if (r.error) for (const life of batch.lives) life.error = this.text(r.error);
    } else if (r.kind === "settled") {
      this.batches.delete(name);
      for (const life of batch.lives) {
        this.touch(life, r, time);
        life.marks.push({ seq: r.seq, time, kind: r.kind, text: cut(`the batch is ${word(r.decision ?? "")}`) });
        conclude(life, r, batch.failed);
      }
    }
  }

  private handle(life: Life, r: Rec, time: number): void {
    const delivery = r.delivery ? this.deliveryOf(life, r, time) : undefined;
    if (!delivery) {
      this.mark(life, r, time);
      return;
    }
    this.touch(life, r, time);
    switch (r.kind) {
      case "received":
        if (r.fields) delivery.inputs = r.fields;
        say(life, "running", "received");
        break;
      case "attempt_started":
        this.attempt(life, delivery, r, time);
        say(life, "running", "running");
        break;
      case "attempt_ended":
        this.ended(life, this.attempt(life, delivery, r, time), r, time);
        break;
      case "retry_scheduled": {
        const before = delivery.attempts.at(-1);
        const delay = timeSpan(r.delay ?? "");
        if (before) before.delay = delay;
        life.end = Math.max(life.end, time + delay);
        say(life, "waiting", "retry");
        break;
      }
      case "retries_exhausted":
      case "retry_cancelled":
        delivery.cause = r.kind === "retry_cancelled" ? "cancelled" : (r.cause ?? "exhausted");
        break;
      case "settled":
        this.settled(life, delivery, r, time);
        break;
      case "handler_log":
        if (life.logs.length >= mostLogs) life.logs.shift();
        life.logs.push({
          seq: r.seq, time, delivery: delivery.id, attempt: r.attempt ?? 0, level: r.level ?? "",
          text: cut(withFields(r.message ?? "", r.fields)),
        });
        break;
      default:
        life.marks.push(markOf(r, time));
    }
  }

  private deliveryOf(life: Life, r: Rec, time: number): Delivery {
    const known = life.deliveries.findLast((d) => d.id === r.delivery);
    if (known) {
      if (r.invocation) known.invocation ??= r.invocation;
      return known;
    }
    const d: Delivery = {
      id: r.delivery ?? "", count: r.delivery_count ?? life.deliveries.length + 1, seq: r.seq, start: time, attempts: [],
    };
    if (r.max_retry_count !== undefined) d.limit = r.max_retry_count;
    if (r.invocation) d.invocation = r.invocation;
    life.deliveries.push(d);
    return d;
  }

  private attempt(life: Life, d: Delivery, r: Rec, time: number): Attempt {
    const known = d.attempts.findLast((a) => a.number === r.attempt);
    if (known) return known;
    const a: Attempt = { number: r.attempt ?? d.attempts.length + 1, seq: r.seq, start: time };
    d.attempts.push(a);
    life.attempts++;
    return a;
  }

  private ended(life: Life, a: Attempt, r: Rec, time: number): void {
    a.end = time;
    a.status = r.status ?? "";
    if (r.error) {
      a.error = this.text(r.error.replace(/^function "[^"]*": /, ""));
      life.error = a.error;
    }
    if (r.elapsed_ms !== undefined) a.elapsed = r.elapsed_ms;
    if (r.stack) a.stack = this.text(r.stack);
    if (a.status !== "succeeded") life.failures++;
  }

  private settled(life: Life, d: Delivery, r: Rec, time: number): void {
    d.end = time;
    d.decision = r.decision ?? "";
    if (r.target) d.target = r.target;
    if (r.message) d.remark = cut(r.message);
    this.copied(life, r);
    conclude(life, r, d.attempts.length > 0 && d.attempts.at(-1)?.status !== "succeeded");
  }

  /** The message has gone on under another identity, which the record names. */
  private copied(life: Life, r: Rec): void {
    const copy = r.fields?.["new_message_id"];
    if (!copy) return;
    life.copy = copy;
    const list = this.byMessage.get(copy);
    if (list) for (const l of list) l.origin = life.message;
    else this.origins.set(copy, life.message);
  }

  private mark(life: Life, r: Rec, time: number): void {
    this.touch(life, r, time);
    const mark = markOf(r, time);
    life.marks.push(mark);
    this.copied(life, r);
    if (mark.delay) life.end = Math.max(life.end, time + mark.delay);
    if (r.error && !life.error) life.error = this.text(r.error);
    switch (r.kind) {
      case "enqueued":
        if (life.outcome !== "running") say(life, "queued", `${r.status === "scheduled" ? "scheduled" : "in"} ${r.source ?? ""}`);
        break;
      case "dead_lettered": case "event_dropped": case "expired":
        bury(life, r);
        break;
      case "forwarded":
        if (r.cause === "by hand") {
          if (r.target) life.grave = r.target;
          say(life, "dead", `given up by hand: ${r.target ?? ""}`);
        } else say(life, r.cause === "redrive" ? "queued" : "waiting", `in ${r.target ?? ""}`);
        break;
      case "lock_expired":
        say(life, "waiting", "lock expired");
        break;
      case "event_attempted":
        if (r.delay) say(life, "waiting", "next delivery");
        else if (life.function === "") say(life, "succeeded", r.status ?? "");
        break;
      case "settled":
        say(life, "succeeded", word(r.decision ?? ""));
        break;
    }
  }

  private touch(life: Life, r: Rec, time: number): void {
    life.records++;
    life.latest = r.seq;
    life.end = Math.max(life.start, time); // a clock can be set back
  }

  private host(r: Rec, time: number): void {
    const text = hostText(r);
    if (!text) return;
    const mark: HostMark = { seq: r.seq, time, kind: r.kind, text };
    if (r.kind === "clock_moved" && r.delay) mark.jump = timeSpan(r.delay);
    this.hostMarks.push(mark);
    if (this.hostMarks.length > 5_000) this.hostMarks.splice(0, 1_000);
  }

  /** Keeps one copy of a text that many records have. */
  private text(s: string): string {
    const short = cut(s);
    const known = this.texts.get(short);
    if (known !== undefined) return known;
    if (this.texts.size > 2_000) this.texts.clear();
    this.texts.set(short, short);
    return short;
  }

  /** Lets the oldest lives go, those that are over first, until a tenth of the room is free. */
  private forget(): void {
    const room = this.most * 0.9;
    for (const over of [true, false]) {
      const kept: Life[] = [];
      for (const life of this.lives) {
        if (this.records <= room || (over && isOpen(life))) kept.push(life);
        else this.drop(life);
      }
      this.lives = kept;
      if (this.records <= room) break;
    }
    this.records = this.lives.reduce((n, l) => n + l.records, 0);
  }

  private drop(life: Life): void {
    this.records -= life.records;
    this.byKey.delete(life.key);
    const list = this.byMessage.get(life.message)?.filter((l) => l !== life);
    if (list && list.length > 0) this.byMessage.set(life.message, list);
    else this.byMessage.delete(life.message);
    if (life.copy) this.origins.delete(life.copy);
  }
}

function isOpen(life: Life): boolean {
  return life.outcome === "running" || life.outcome === "waiting" || life.outcome === "queued";
}

function say(life: Life, outcome: Life["outcome"], state: string): void {
  life.outcome = outcome;
  life.state = state;
}

/** Says how a life stands after a settlement. */
function conclude(life: Life, r: Rec, failed: boolean): void {
  const decision = r.decision ?? "";
  switch (decision) {
    case "poisoned": case "dead_lettered": case "dropped": case "undecodable":
      bury(life, r);
      break;
    case "released": case "abandoned": case "lock_lost": case "not_checkpointed": case "deferred":
      // The service may have given it up at this settlement, and said so before.
      if (life.outcome !== "dead") say(life, "waiting", word(decision));
      break;
    default:
      say(life, failed ? "failed" : "succeeded", word(decision));
  }
}

function bury(life: Life, r: Rec): void {
  const how = word(r.decision ?? r.kind);
  if (r.target) life.grave = r.target;
  say(life, "dead", r.target ? `${how}: ${r.target}` : how);
}

function markOf(r: Rec, time: number): Mark {
  const mark: Mark = { seq: r.seq, time, kind: r.kind, text: cut(markText(r)) };
  if (r.delay) mark.delay = timeSpan(r.delay);
  return mark;
}

function markText(r: Rec): string {
  const because = r.cause ? ` (${r.cause})` : "";
  switch (r.kind) {
    case "enqueued":
      return r.status ? `${r.status} in ${r.source}` : `enqueued in ${r.source}`;
    case "forwarded":
    case "dead_lettered":
      return `${word(r.kind)} to ${r.target}${because}${r.error ? `: ${r.error}` : ""}`;
    case "event_attempted":
      return `Event Grid has the answer ${r.status ?? ""} ${r.fields?.["http_status"] ?? ""}`.trimEnd();
    default:
      return [word(r.kind) + because, r.status, r.message, r.error].filter(Boolean).join(": ");
  }
}

function hostText(r: Rec): string {
  const about = r.function ? `${r.function}: ` : "";
  switch (r.kind) {
    case "clock_moved":
      return r.cause === "advance" ? `clock moved by ${r.delay ?? ""}` : `clock: ${[r.cause, r.name].filter(Boolean).join(" ")}`;
    case "host_started":
      return "the host started";
    case "host_stopped":
      return "the host stopped";
    case "generation_loaded":
      return `generation ${r.generation ?? ""} loaded`;
    case "generation_refused":
      return `an edit was refused: ${r.error ?? ""}`;
    case "edit_undone": case "function_error": case "process_exited": case "service_unreachable": case "service_back":
    case "listener_lock_lost": case "fault_injected": case "circuit_opened": case "circuit_half_opened": case "circuit_closed":
      return about + [word(r.kind), r.name, r.error].filter(Boolean).join(": ");
    default:
      return ""; // of a partition or a session
  }
}

/** A kind or a decision in words. */
export function word(name: string): string {
  return name.replace("dead_lettered", "dead-lettered").replaceAll("_", " ");
}

function withFields(text: string, fields?: Record<string, string>): string {
  if (!fields) return text;
  return [text, ...Object.entries(fields).map(([k, v]) => `${k}=${v}`)].join("  ");
}

function cut(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
