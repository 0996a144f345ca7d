import { createServer, request, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Changes, Course } from "../src/api/types";

/** As many records as a host tells the lives of. */
const most = 200_000;

/** Stands before a host and tells lives of its own; all else goes to the host. */
export class Journal {
  readonly base: string;
  private readonly open = new Set<ServerResponse>();
  private seq = 0;
  private clock: number;

  private constructor(
    private readonly server: Server,
    begin: number,
  ) {
    this.base = `http://localhost:${(server.address() as AddressInfo).port}/admin/redeliver/`;
    this.clock = begin;
  }

  /** Its first lives are those of a host that has had so many messages. */
  static async before(host: string, kept = 0): Promise<Journal> {
    let journal: Journal | undefined;
    const begin = Date.now();
    const server = createServer((req, res) => {
      if (/\/lives$/.test(req.url ?? "")) {
        journal!.tell(res);
        return;
      }
      const to = new URL(host);
      const onward = request({ host: to.hostname, port: to.port, path: req.url, method: req.method, headers: { ...req.headers, host: to.host, origin: to.origin } }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      });
      onward.on("error", () => res.destroy());
      req.pipe(onward);
    });
    server.listen(0, "localhost");
    await once(server, "listening");
    journal = new Journal(server, begin);
    journal.kept = journal.messages(kept);
    return journal;
  }

  private kept: Course[] = [];
  private told: Course[] = [];
  private records = 0;

  private tell(res: ServerResponse): void {
    res.writeHead(200, { "Content-Type": "text/event-stream", "X-Redeliver-Run": "run" });
    res.flushHeaders();
    this.open.add(res);
    res.on("close", () => this.open.delete(res));
    for (const batch of batches(this.kept)) res.write(this.event(batch));
  }

  /** The lives of so many messages: one in ten fails five times and is poisoned. */
  messages(count: number): Course[] {
    const out: Course[] = [];
    for (let i = 0; i < count; i++) {
      const n = this.seq;
      const start = this.clock;
      const seq = () => ++this.seq;
      const first = seq();
      this.clock += 5;
      const fails = i % 10 === 0;
      const d = { id: `d${n}`, count: 1, seq: seq(), start: this.clock, limit: 4, member: 0, batch: 1, inputs: [["InsertedOn", new Date(this.clock).toISOString()]] };
      const error = `payment service unavailable, order ${n}`;
      const attempts = Array.from({ length: fails ? 5 : 1 }, (_, a) => {
        const began = { number: a + 1, seq: seq(), start: this.clock };
        this.clock += 7;
        const ended = { ...began, end: this.clock, status: fails ? "failed" : "succeeded", ...(fails ? { error } : {}), ...(fails && a < 4 ? { delay: 1_000 } : {}) };
        this.seq += fails && a < 4 ? 2 : 1;
        if (fails) this.clock += 1_000;
        return ended;
      });
      const latest = seq();
      const end = fails ? { decision: "poisoned", target: "orders-poison" } : { decision: "deleted" };
      const counted = { attempts: attempts.length, failures: fails ? 5 : 0 };
      out.push({
        key: `${n}`, message: `m${n}`, function: i % 3 ? "ProcessOrder" : "SendInvoice", trigger: "queueTrigger", source: "orders", service: "queue", number: 0, of: n + 1,
        place: "", gone: true, seq: first, latest, start, end: this.clock, ...counted, own: { deliveries: 1, ...counted }, records: latest - first + 1,
        error: fails ? error : "", outcome: fails ? "dead" : "succeeded", state: fails ? "poisoned: orders-poison" : "deleted", ...(fails ? { grave: "orders-poison" } : {}),
        marks: [{ seq: first, time: start, kind: "enqueued", text: "enqueued in orders" }], deliveries: [{ ...d, ...end, end: this.clock, attempts }],
      });
    }
    return out;
  }

  /** Tells lives to every page, and waits until the pages have taken them. */
  async send(lives: Course[]): Promise<void> {
    for (const batch of batches(lives)) {
      const text = this.event(batch);
      await Promise.all([...this.open].map((res) => res.write(text) || once(res, "drain")));
    }
  }

  /** The event of some lives; the oldest are dropped as a host does. */
  private event(lives: Course[]): string {
    this.told.push(...lives);
    this.records += recordsOf(lives);
    const dropped: string[] = [];
    if (this.records > most) {
      while (this.records > most * 0.9) {
        const life = this.told.shift()!;
        this.records -= life.records;
        dropped.push(life.key);
      }
    }
    const changes: Changes = { now: this.clock, lives, dropped };
    return `event: lives\ndata: ${JSON.stringify(changes)}\nid: ${lives.at(-1)!.latest}\n\n`;
  }

  /** Says that records were lost. */
  miss(count: number): void {
    this.seq += count;
    for (const res of this.open) res.write(`event: missed\ndata: {"missed":${count}}\n\n`);
  }

  /** Ends the connections of every page. */
  cut(): void {
    for (const res of this.open) res.destroy();
  }

  close(): void {
    this.cut();
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** How many records told lives. */
export function recordsOf(lives: Course[]): number {
  return lives.reduce((n, life) => n + life.records, 0);
}

function* batches(lives: Course[]): Generator<Course[]> {
  for (let i = 0; i < lives.length; i += 200) yield lives.slice(i, i + 200);
}
