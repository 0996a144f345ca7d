import { createServer, request, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A record as the journal has it. */
export type Rec = Record<string, unknown> & { seq: number };

/** Stands before a host and tells a journal of its own; all else goes to the host. */
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

  /** Its first records are those of a journal that was open for so many messages. */
  static async before(host: string, kept = 0): Promise<Journal> {
    let journal: Journal | undefined;
    const begin = Date.now();
    const server = createServer((req, res) => {
      if (/\/journal\?/.test(req.url ?? "")) {
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

  private kept: Rec[] = [];

  private tell(res: ServerResponse): void {
    res.writeHead(200, { "Content-Type": "text/event-stream", "X-Redeliver-Run": "run" });
    res.flushHeaders();
    this.open.add(res);
    res.on("close", () => this.open.delete(res));
    for (const batch of batches(this.kept)) res.write(event(batch));
  }

  /** The records of so many messages: one in ten fails five times and is poisoned. */
  messages(count: number): Rec[] {
    const out: Rec[] = [];
    const add = (kind: string, more: object) => out.push({ seq: ++this.seq, time: new Date(this.clock).toISOString(), kind, ...more });
    for (let i = 0; i < count; i++) {
      const n = this.seq;
      const of = { function: i % 3 ? "ProcessOrder" : "SendInvoice", trigger: "queueTrigger", source: "orders", message_id: `m${n}`, delivery: `d${n}` };
      add("enqueued", { service: "queue", source: "orders", message_id: `m${n}`, status: "" });
      this.clock += 5;
      add("received", { ...of, delivery_count: 1, max_retry_count: 4, fields: { InsertedOn: new Date(this.clock).toISOString() } });
      const fails = i % 10 === 0;
      for (let a = 1; a <= (fails ? 5 : 1); a++) {
        add("attempt_started", { ...of, attempt: a });
        this.clock += 7;
        add("attempt_ended", { ...of, attempt: a, status: fails ? "failed" : "succeeded", ...(fails ? { error: `payment service unavailable, order ${n}` } : {}) });
        if (fails && a < 5) add("retry_scheduled", { ...of, attempt: a, delay: "00:00:01" });
        if (fails) this.clock += 1_000;
      }
      add("settled", fails ? { ...of, decision: "poisoned", target: "orders-poison" } : { ...of, decision: "deleted" });
    }
    return out;
  }

  /** Sends records to every page, and waits until the pages have taken them. */
  async send(records: Rec[]): Promise<void> {
    for (const batch of batches(records)) {
      const text = event(batch);
      await Promise.all([...this.open].map((res) => res.write(text) || once(res, "drain")));
    }
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

function* batches(records: Rec[]): Generator<Rec[]> {
  for (let i = 0; i < records.length; i += 1_000) yield records.slice(i, i + 1_000);
}

function event(batch: Rec[]): string {
  return `event: records\ndata: ${JSON.stringify(batch)}\nid: ${batch.at(-1)!.seq}\n\n`;
}
