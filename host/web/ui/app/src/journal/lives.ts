import type { Changes, Course, Mark } from "../api/types";
import { seconds } from "../ui/time";
import type { Delivery, Life, Outcome } from "./life";

const mostLogs = 500; // of one message
const mostMarks = 5_000; // of the host

/** The lives that the host tells, put together from their changes. */
export class Lives {
  /** In the order of their first records. */
  lives: Life[] = [];
  /** What concerns the host as a whole, for the axis of time. */
  hostMarks: Mark[] = [];
  /** The latest time that a record had. */
  now = 0;

  private byKey = new Map<string, Life>();
  private byMessage = new Map<string, Life[]>();
  private texts = new Map<string, string>();

  take(changes: Changes): void {
    this.now = changes.now;
    for (const course of changes.lives ?? []) this.put(course);
    for (const mark of changes.host ?? []) this.hostMarks.push(mark);
    if (this.hostMarks.length > mostMarks) this.hostMarks.splice(0, 1_000);
    if (changes.dropped) this.drop(new Set(changes.dropped));
  }

  /** The lives of a message, of its copies, or of a delivery. */
  find(name: string): Life[] {
    return this.byMessage.get(name) ?? this.lives.filter((l) => l.deliveries.some((d) => d.id === name || d.invocation === name));
  }

  /** Whether a message has a life. */
  has(message: string): boolean {
    return this.byMessage.has(message);
  }

  private put(course: Course): void {
    let life = this.byKey.get(course.key);
    const { deliveries = [], marks = [], logs = [], ...head } = course;
    if (!life) {
      life = { ...head, deliveries: [], marks: [], logs: [], outcome: "queued" };
      this.lives.push(life);
      this.byKey.set(life.key, life);
      if (life.message) this.byMessage.set(life.message, [...(this.byMessage.get(life.message) ?? []), life]);
    }
    for (const name of ["due", "grave", "copy", "origin"] as const) delete life[name];
    Object.assign(life, head);
    life.outcome = head.outcome as Outcome;
    life.error = this.text(life.error);
    if (life.due) life.state += `, due at ${seconds(life.due)}`;
    for (const d of deliveries) this.deliver(life, { ...d, attempts: d.attempts ?? [] });
    life.marks.push(...marks);
    life.logs.push(...logs);
    if (life.logs.length > mostLogs) life.logs.splice(0, life.logs.length - mostLogs);
  }

  private deliver(life: Life, told: Delivery): void {
    for (const a of told.attempts) {
      if (a.error) a.error = this.text(a.error);
      if (a.stack) a.stack = this.text(a.stack);
    }
    const known = life.deliveries.findLast((d) => d.seq === told.seq);
    if (!known) {
      life.deliveries.push(told);
      return;
    }
    const attempts = known.attempts;
    for (const a of told.attempts) {
      const at = attempts.findLastIndex((b) => b.seq === a.seq);
      if (at < 0) attempts.push(a);
      else attempts[at] = a;
    }
    Object.assign(known, { ...told, inputs: told.inputs ?? known.inputs, attempts });
  }

  /** Keeps one copy of a text that many lives have. */
  private text(s: string): string {
    const known = this.texts.get(s);
    if (known !== undefined) return known;
    if (this.texts.size > 2_000) this.texts.clear();
    this.texts.set(s, s);
    return s;
  }

  private drop(keys: Set<string>): void {
    this.lives = this.lives.filter((life) => {
      if (!keys.has(life.key)) return true;
      this.byKey.delete(life.key);
      const others = this.byMessage.get(life.message)?.filter((l) => l !== life) ?? [];
      if (others.length > 0) this.byMessage.set(life.message, others);
      else this.byMessage.delete(life.message);
      return false;
    });
  }
}
