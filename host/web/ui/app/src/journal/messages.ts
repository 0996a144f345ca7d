import { before, identityOf, keyOf, type Identity } from "./identity";
import type { Life, Mark } from "./life";
import type { Rec } from "./record";

/** What the lives of one message have in common. */
export interface Message {
  /** Its life until a function has it. */
  waiting?: Life | undefined;
  /** One for each function. */
  lives: Life[];
  /** What was told of it when it went to several other entities. */
  history?: Mark[];
  keys: string[];
}

/** The messages of the journal, by identity: host/explain/sorter.go does the same. */
export class Messages {
  private of = new Map<string, Message>();
  private newest = new Map<string, Message>(); // without a number
  private graves = new Map<string, Message>(); // by the blob of a dead letter

  get(id: Identity): Message {
    const key = keyOf(id);
    const known = this.of.get(key);
    if (known) return known;
    const m: Message = { lives: [], keys: [] };
    this.add(key, m, id);
    return m;
  }

  /**
   * The message of a record of a service. It may be one that had another identity before: then
   * its lives go on, and where it came from another entity, one goes on there.
   */
  arrived(r: Rec, begin: (from: Message) => Life): Message {
    const id = identityOf(r);
    const key = keyOf(id);
    const known = this.of.get(key) ?? this.again(r, id);
    if (known) return known;
    const was = before(r);
    const old = was && this.of.get(keyOf(was));
    if (!old) return this.get(id);
    if (was.entity === id.entity) return this.add(key, old, id);
    const m = this.get(id);
    if (old.waiting && old.lives.length === 0) {
      old.history = [...old.waiting.marks];
      m.waiting = old.waiting;
      m.waiting.source = r.source ?? m.waiting.source;
      old.waiting = undefined;
    } else if (old.history) {
      m.waiting = begin(old);
      m.waiting.marks = [...old.history];
      m.waiting.start = old.history[0]?.time ?? m.waiting.start;
    }
    return m;
  }

  /** Notes where a dead letter is. */
  buried(m: Message, at: string): void {
    this.graves.set(at, m);
    m.keys.push(at);
  }

  /** Another state has taken the place of the services': numbers begin anew. */
  clear(): void {
    for (const map of [this.of, this.newest, this.graves]) map.clear();
  }

  /** Lets a life go, and its message with the last one. */
  drop(life: Life): void {
    const m = life.of;
    if (!m) return;
    m.lives = m.lives.filter((l) => l !== life);
    if (m.waiting === life) m.waiting = undefined;
    if (m.lives.length > 0 || m.waiting) return;
    for (const map of [this.of, this.newest, this.graves]) for (const key of m.keys) if (map.get(key) === m) map.delete(key);
  }

  /** A duplicate belongs to the message that it repeats, and a redriven event to the one that was given up. */
  private again(r: Rec, id: Identity): Message | undefined {
    if (r.kind === "enqueued" && r.status === "duplicate") return this.newest.get(keyOf({ ...id, number: 0 }));
    const m = r.kind === "forwarded" && id.service === "eventgrid" ? this.graves.get(r.source ?? "") : undefined;
    return m && this.add(keyOf(id), m, id);
  }

  private add(key: string, m: Message, id: Identity): Message {
    const unnumbered = keyOf({ ...id, number: 0 });
    this.of.set(key, m);
    this.newest.set(unnumbered, m);
    m.keys.push(key, unnumbered);
    return m;
  }
}

/**
 * Those of a message's lives that a record of a service is about: a function of dead letters
 * has them from another queue than the function that failed.
 */
export function concerned(m: Message, r: Rec): Life[] {
  const same = m.lives.filter((l) => equal(l.source, r.source) || (r.kind === "forwarded" && equal(l.source, r.target)));
  if (same.length > 0) return same;
  return m.lives.length > 0 ? m.lives : m.waiting ? [m.waiting] : [];
}

export function equal(a: string, b: string | undefined): boolean {
  return a.toLowerCase() === b?.toLowerCase();
}
