import type { Attempt, Delivery, Life, Mark } from "./life";
import { keyOf, identityOf, membersOf, type Identity } from "./identity";
import { concerned, equal, Messages, type Message } from "./messages";
import { seconds } from "../ui/time";
import { instant, timeSpan, type Rec } from "./record";

/** A delivery in work: the lives of its messages, and their delivery counts where they differ. */
interface Work {
  lives: (Life | undefined)[];
  counts?: number[];
}

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

/** Tells the lives of messages from the records of the journal, in their order. */
export class Teller {
  /** In the order of their first records. */
  lives: Life[] = [];
  hostMarks: HostMark[] = [];
  records = 0;
  /** The latest time that a record had. */
  now = 0;

  private messages = new Messages();
  private ticks = new Map<string, Life>(); // what has no message, by function and delivery
  private byMessage = new Map<string, Life[]>();
  private origins = new Map<string, string>(); // of copies that no record has named yet
  private work = new Map<string, Work>(); // by delivery
  private texts = new Map<string, string>();

  constructor(private readonly most: number) {}

  add(r: Rec): void {
    const time = instant(r.time);
    this.now = Math.max(this.now, time);
    this.records++;
    if (r.function && r.delivery) this.delivery(r, time);
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

  /** Tells all messages of a delivery what happened in it. */
  private delivery(r: Rec, time: number): void {
    const name = r.delivery ?? "";
    const known = this.work.get(name);
    const work = known && r.kind !== "received" ? known : this.takes(r, time);
    const batch = work.lives.length;
    this.records += batch - 1;
    if (r.kind === "received") this.work.set(name, work);
    else if (r.kind === "settled") this.work.delete(name);
    const decisions = r.kind === "settled" && r.members?.length === batch ? r.members : undefined;
    work.lives.forEach((life, member) => {
      const count = work.counts?.[member];
      const decision = decisions?.[member];
      const own = batch === 1 ? r : { ...r, ...(count ? { delivery_count: count } : {}), ...(decision ? { decision: String(decision) } : {}) };
      if (life) this.handle(life, own, time, member, batch);
    });
  }

  /** The lives that a delivery is about; a member of a batch without a name has none. */
  private takes(r: Rec, time: number): Work {
    if (!r.message_id && !r.batch) {
      const key = `${r.function} ${r.delivery}`;
      let life = this.ticks.get(key);
      if (!life) this.ticks.set(key, (life = this.begin(key, r, time)));
      return { lives: [life] };
    }
    const members = r.kind === "received" ? membersOf(r) : [identityOf(r)];
    const lives = members.map((id) => (id.id === "" ? undefined : this.lifeOf(id, r, time)));
    return r.counts?.length === members.length ? { lives, counts: r.counts } : { lives };
  }

  /** The life that a message has for the function of a record. */
  private lifeOf(id: Identity, r: Rec, time: number, m = this.messages.get(id)): Life {
    const known = m.lives.find((l) => equal(l.function, r.function));
    if (known) {
      known.trigger ||= r.trigger ?? "";
      return known;
    }
    const key = `${r.function} ${keyOf(id)}`;
    const life = m.waiting ?? this.begin(key, r, time, id, m);
    if (m.waiting) {
      // What the service told of the message before a function had it is its beginning.
      Object.assign(life, { key, function: r.function, trigger: r.trigger ?? "", source: r.source ?? life.source });
      m.waiting = undefined;
    }
    m.lives.push(life);
    return life;
  }

  private begin(key: string, r: Rec, time: number, id?: Identity, of?: Message): Life {
    const life: Life = {
      key, message: id?.id ?? "", function: r.function ?? "", trigger: r.trigger ?? "", source: r.source ?? "",
      service: id?.service ?? "", number: id?.number ?? 0, place: "", gone: false,
      seq: r.seq, latest: r.seq, start: time, end: time,
      deliveries: [], marks: [], logs: [], attempts: 0, failures: 0, own: { deliveries: 0, attempts: 0, failures: 0 },
      records: 0, error: "", outcome: "queued", state: "queued",
    };
    if (of) life.of = of;
    this.lives.push(life);
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
    const id = identityOf(r);
    const waits = (m: Message) => this.begin(` ${keyOf(id)}`, { ...r, function: "" }, time, id, m);
    const m = this.messages.arrived(r, waits);
    if (m.waiting) m.waiting.of = m;
    if (r.function) this.lifeOf(id, r, time, m);
    else if (m.lives.length === 0) m.waiting ??= waits(m);
    for (const life of concerned(m, r)) {
      life.number = id.number || life.number;
      this.mark(life, r, time);
    }
    if (r.kind === "dead_lettered" && id.service === "eventgrid" && r.target) this.messages.buried(m, r.target);
  }

  private handle(life: Life, r: Rec, time: number, member: number, batch: number): void {
    const delivery = this.deliveryOf(life, r, time, member, batch);
    this.touch(life, r, time);
    switch (r.kind) {
      case "received":
        if (r.fields) delivery.inputs = r.fields;
        life.place = r.source ?? "";
        life.gone = false;
        say(life, "running", "received");
        break;
      case "attempt_started":
        this.attempt(life, delivery, r, time);
        if (!life.gone) say(life, "running", "running");
        break;
      case "attempt_ended":
        this.ended(life, delivery, this.attempt(life, delivery, r, time), r, time);
        break;
      case "retry_scheduled": {
        const before = delivery.attempts.at(-1);
        const delay = timeSpan(r.delay ?? "");
        if (before) before.delay = delay;
        life.end = Math.max(life.end, time + delay);
        if (!life.gone) say(life, "waiting", "retry");
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

  private deliveryOf(life: Life, r: Rec, time: number, member: number, batch: number): Delivery {
    const known = life.deliveries.findLast((d) => d.id === r.delivery);
    if (known) {
      if (r.invocation) known.invocation ??= r.invocation;
      return known;
    }
    const d: Delivery = {
      id: r.delivery ?? "", count: r.delivery_count ?? life.deliveries.length + 1, seq: r.seq, start: time, attempts: [], member, batch,
    };
    if (member === 0) life.own.deliveries++;
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
    if (d.member === 0) life.own.attempts++;
    return a;
  }

  private ended(life: Life, d: Delivery, a: Attempt, r: Rec, time: number): void {
    a.end = time;
    a.status = r.status ?? "";
    if (r.error) {
      a.error = this.text(r.error.replace(/^function "[^"]*": /, ""));
      life.error = a.error;
    }
    if (r.elapsed_ms !== undefined) a.elapsed = r.elapsed_ms;
    if (r.stack) a.stack = this.text(r.stack);
    if (a.status === "succeeded") return;
    life.failures++;
    if (d.member === 0) life.own.failures++;
  }

  private settled(life: Life, d: Delivery, r: Rec, time: number): void {
    d.end = time;
    d.decision = r.decision ?? "";
    if (r.target) d.target = r.target;
    if (r.message) d.remark = cut(r.message);
    const answer = r.fields?.["http_status"];
    if (answer) d.answer = answer;
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
        if (r.status === "duplicate") {
          if (life.marks.length === 1) say(life, "dead", "a duplicate");
          break;
        }
        life.place = r.source ?? "";
        life.gone = false;
        if (life.outcome !== "running") say(life, "queued", queued(r, time));
        break;
      case "dead_lettered": case "event_dropped": case "expired":
        bury(life, r);
        break;
      case "forwarded":
        if (r.cause === "by hand") {
          if (r.target) life.grave = r.target;
          say(life, "dead", `given up by hand: ${r.target ?? ""}`);
          life.gone = true;
        } else {
          life.gone = false;
          life.place = r.target ?? "";
          say(life, r.cause === "redrive" ? "queued" : "waiting", `in ${r.target ?? ""}`);
        }
        break;
      case "lock_expired":
        if (!life.gone) say(life, "waiting", "lock expired");
        break;
      case "event_attempted":
        if (r.delay) say(life, "waiting", "next delivery");
        else if (life.function === "") say(life, "succeeded", r.status ?? "");
        break;
      case "settled":
        conclude(life, r, false);
        break;
    }
  }

  private touch(life: Life, r: Rec, time: number): void {
    life.records++;
    life.latest = r.seq;
    life.end = Math.max(life.start, time); // a clock can be set back
  }

  private host(r: Rec, time: number): void {
    if (r.kind === "purged") this.purged(r, time);
    if (r.kind === "state_loaded") this.replaced(r, time);
    const text = hostText(r);
    if (!text) return;
    const mark: HostMark = { seq: r.seq, time, kind: r.kind, text };
    if (r.kind === "clock_moved" && r.delay) mark.jump = timeSpan(r.delay);
    this.hostMarks.push(mark);
    if (this.hostMarks.length > 5_000) this.hostMarks.splice(0, 1_000);
  }

  /** Every message of a place was removed by hand. */
  private purged(r: Rec, time: number): void {
    for (const life of this.lives) if (life.service === r.service && life.place !== "" && equal(life.place, r.source)) this.removed(life, r, time, "purged");
  }

  /** Another state has taken the place of the services'. */
  private replaced(r: Rec, time: number): void {
    for (const life of this.lives) if (life.message !== "" && life.place !== "") this.removed(life, r, time, "gone with its state");
    this.messages.clear();
  }

  private removed(life: Life, r: Rec, time: number, state: string): void {
    this.touch(life, r, time);
    life.marks.push(markOf(r, time));
    delete life.grave;
    life.gone = true;
    life.place = "";
    say(life, "dead", state);
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
    this.ticks.delete(life.key);
    this.messages.drop(life);
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
  if (life.gone) return; // its service, or another delivery, was faster
  // What the handler has settled itself may be in work again.
  const runs = life.deliveries.some((d) => d.end === undefined);
  switch (decision) {
    case "poisoned": case "dead_lettered": case "dropped": case "undecodable":
      bury(life, r);
      break;
    case "released": case "abandoned": case "lock_lost": case "not_checkpointed": case "deferred":
      if (runs) say(life, "running", "running");
      else say(life, "waiting", word(decision));
      break;
    default: {
      const answer = r.fields?.["http_status"];
      if (/^(deleted|completed|checkpointed|recorded)$/.test(decision) && !r.error) {
        life.gone = true;
        life.place = "";
      }
      say(life, failed ? "failed" : "succeeded", answer ? `${word(decision)} ${answer}` : word(decision));
    }
  }
}

function bury(life: Life, r: Rec): void {
  const how = word(r.decision ?? r.kind);
  if (r.target) life.grave = r.target;
  life.gone = true;
  life.place = r.kind === "dead_lettered" ? (r.target ?? "") : "";
  say(life, "dead", r.target ? `${how}: ${r.target}` : how);
}

/** Where a message is, and from when on it can be received. */
function queued(r: Rec, time: number): string {
  const delay = timeSpan(r.delay ?? "");
  const due = delay > 0 ? `, due at ${seconds(time + delay)}` : "";
  return `${r.status === "scheduled" ? "scheduled" : "in"} ${r.source ?? ""}${due}`;
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
