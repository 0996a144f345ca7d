import { expect, test } from "vitest";
import { instant, timeSpan, type Rec } from "./record";
import { Teller } from "./teller";

const begin = Date.UTC(2026, 0, 1);

/** Records of a function on a queue, a second apart. */
class Journal {
  readonly teller: Teller;
  private seq = 0;

  constructor(most = 1_000_000) {
    this.teller = new Teller(most);
  }

  add(kind: string, r: Partial<Rec> = {}): void {
    this.seq++;
    this.teller.add({ seq: this.seq, time: new Date(begin + this.seq * 1_000).toISOString(), kind, ...r });
  }

  /** A delivery of a message with as many failing attempts. */
  delivery(message: string, count: number, attempts: number, decision: string, more: Partial<Rec> = {}): void {
    const of = { function: "Orders", trigger: "queueTrigger", source: "orders", message_id: message, delivery: `${message}.${count}`, delivery_count: count };
    this.add("received", of);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      this.add("attempt_started", { ...of, attempt });
      this.add("attempt_ended", { ...of, attempt, status: "failed", error: "no" });
      if (attempt < attempts) this.add("retry_scheduled", { ...of, attempt: attempt + 1, delay: "00:00:10" });
    }
    this.add("settled", { ...of, decision, ...more });
  }
}

test("a message that fails has one life, from its queue to its poison queue", () => {
  const j = new Journal();
  j.add("enqueued", { source: "orders", message_id: "m1" });
  expect(j.teller.find("m1")[0]?.outcome).toBe("queued");
  j.delivery("m1", 1, 2, "released");
  expect(j.teller.find("m1")[0]?.outcome).toBe("waiting");
  j.delivery("m1", 2, 2, "poisoned", { target: "orders-poison", fields: { new_message_id: "m2" } });
  j.add("enqueued", { source: "orders-poison", message_id: "m2" });

  expect(j.teller.lives).toHaveLength(2);
  const [life] = j.teller.find("m1");
  expect(life).toMatchObject({ function: "Orders", outcome: "dead", state: "poisoned: orders-poison", attempts: 4, failures: 4, copy: "m2", error: "no" });
  expect(life?.deliveries.map((d) => d.attempts.map((a) => a.delay))).toEqual([[10_000, undefined], [10_000, undefined]]);
  expect(life?.marks.map((m) => m.text)).toEqual(["enqueued in orders"]);
  expect(j.teller.find("m2")[0]).toMatchObject({ function: "", origin: "m1" });
});

test("each function that receives a message has a life of it", () => {
  const j = new Journal();
  j.add("enqueued", { source: "events", message_id: "m1" });
  for (const name of ["A", "B"]) j.add("received", { function: name, message_id: "m1", delivery: `d${name}` });
  expect(j.teller.find("m1").map((l) => l.function)).toEqual(["A", "B"]);
  expect(j.teller.find("dB").map((l) => l.function)).toEqual(["B"]);
});

test.each([
  ["subscriptions", "serviceBusTrigger", "orders/Subscriptions/ship", "orders/Subscriptions/bill", "orders/subscriptions/bill"],
  ["queues", "serviceBusTrigger", "parcels", "bills", "bills"],
  ["dead letters", "serviceBusTrigger", "bills/$DeadLetterQueue", "bills", "bills"],
  ["events", "eventGridTrigger", "SHIP", "BILL", "shop/bill"],
])("a message of two entities has a life in each: %s", (_, trigger, ship, bill, entity) => {
  const j = new Journal();
  const of = (name: string, source: string) => ({ function: name, trigger, source, message_id: "m1", delivery: name });
  if (trigger === "eventGridTrigger") j.add("enqueued", { source: "shop/ship", message_id: "m1" });
  j.add("enqueued", { source: entity, message_id: "m1" });
  // The second may be the first to be received.
  j.add("received", of("Bill", bill));
  j.add("received", of("Ship", ship));
  j.add("settled", { ...of("Ship", ship), decision: "completed" });
  j.add("dead_lettered", { source: entity, target: `${entity}/$DeadLetterQueue`, message_id: "m1" });
  j.add("enqueued", { source: "other", message_id: "m1" });
  const lives = Object.fromEntries(j.teller.lives.map((l) => [l.function, l.state]));
  expect(lives).toEqual({ Bill: `dead-lettered: ${entity}/$DeadLetterQueue`, Ship: "completed", "": "in other" });
  if (trigger === "eventGridTrigger") expect(j.teller.lives.map((l) => l.source)).toEqual(["shop/bill", "shop/ship", "other"]);
});

test.each([
  ["completed", "succeeded", { outcome: "succeeded", state: "completed" }],
  ["completed", "failed", { outcome: "failed", state: "completed", error: "no" }],
  ["abandoned", "failed", { outcome: "waiting", state: "abandoned", error: "no" }],
  ["", "", { outcome: "running", state: "in the batch d1" }],
])("the messages of a batch end with it: %s, %s", (decision, status, end) => {
  const j = new Journal();
  for (const id of ["m1", "m2", "m3"]) j.add("enqueued", { source: "orders", message_id: id });
  const of = { function: "Orders", trigger: "serviceBusTrigger", source: "orders", message_id: "m1", delivery: "d1" };
  j.add("received", { ...of, batch: ["m1", "m2", ""] });
  if (decision) {
    j.add("attempt_started", { ...of, attempt: 1 });
    j.add("attempt_ended", { ...of, attempt: 1, status, ...(status === "failed" ? { error: "no" } : {}) });
    j.add("settled", { ...of, decision });
  }
  expect(j.teller.find("m2")[0]).toMatchObject(end);
  expect(j.teller.find("m3")[0]?.outcome).toBe("queued");
  expect(j.teller.lives.map((l) => l.attempts)).toEqual([decision ? 1 : 0, 0, 0]); // an attempt is counted once
});

test("a settlement after success and one after failure differ", () => {
  const j = new Journal();
  const of = { function: "Tick", delivery: "d1" };
  j.add("received", of);
  j.add("attempt_started", { ...of, attempt: 1 });
  expect(j.teller.lives[0]?.outcome).toBe("running");
  j.add("attempt_ended", { ...of, attempt: 1, status: "succeeded" });
  j.add("settled", { ...of, decision: "recorded" });
  expect(j.teller.lives[0]).toMatchObject({ outcome: "succeeded", failures: 0 });
  j.delivery("m1", 1, 1, "recorded");
  expect(j.teller.lives[1]?.outcome).toBe("failed");
});

test("an event waits after a failed delivery, under the name of its topic, and ends when it is dropped", () => {
  const j = new Journal();
  const of = { function: "OnOrder", trigger: "eventGridTrigger", source: "INDEX", message_id: "e1", delivery: "d1" };
  j.add("enqueued", { source: "shop/index", message_id: "e1" });
  j.add("received", of);
  j.add("settled", { ...of, decision: "responded" });
  j.add("event_attempted", { function: "OnOrder", source: "shop/index", message_id: "e1", delay: "00:00:10", status: "Busy" });
  expect(j.teller.lives).toHaveLength(1);
  expect(j.teller.lives[0]).toMatchObject({ source: "shop/index", outcome: "waiting" });
  j.add("event_dropped", { source: "shop/index", message_id: "e1", cause: "TimeToLiveExceeded" });
  expect(j.teller.lives[0]?.outcome).toBe("dead");
});

test("a dead letter stays dead when its last delivery is abandoned, and lives when it is redriven", () => {
  const j = new Journal();
  const of = { function: "Orders", trigger: "serviceBusTrigger", source: "orders", message_id: "m1", delivery: "d1" };
  j.add("received", of);
  j.add("dead_lettered", { source: "orders", target: "orders/$DeadLetterQueue", message_id: "m1" });
  j.add("settled", { ...of, decision: "abandoned" });
  expect(j.teller.lives[0]).toMatchObject({ outcome: "dead", grave: "orders/$DeadLetterQueue", state: "dead-lettered: orders/$DeadLetterQueue" });
  j.add("forwarded", { source: "orders/$DeadLetterQueue", target: "orders", message_id: "m1", cause: "redrive" });
  expect(j.teller.lives[0]).toMatchObject({ outcome: "queued", state: "in orders" });
});

test("a message that is given up by hand is dead, and what still runs of it changes nothing", () => {
  const j = new Journal();
  const of = { function: "Orders", trigger: "queueTrigger", source: "orders", message_id: "m1", delivery: "d1" };
  j.add("received", of);
  j.add("forwarded", { source: "orders", target: "orders-poison", message_id: "m1", cause: "by hand", fields: { new_message_id: "m2" } });
  j.add("settled", { ...of, decision: "lock_lost" });
  expect(j.teller.lives[0]).toMatchObject({ outcome: "dead", grave: "orders-poison", copy: "m2", state: "given up by hand: orders-poison" });
});

test("the oldest lives that are over go first, and memory has an end", () => {
  const j = new Journal(1_000);
  j.add("received", { function: "Orders", message_id: "open", delivery: "d0" });
  for (let i = 0; i < 2_000; i++) j.delivery(`m${i}`, 1, 1, "deleted");
  expect(j.teller.records).toBeLessThanOrEqual(1_000);
  expect(j.teller.find("open")).toHaveLength(1);
  expect(j.teller.find("m0")).toHaveLength(0);
  expect(j.teller.find("m1999")).toHaveLength(1);
});

test("a clock that is set back ends no life before it begins", () => {
  const teller = new Teller(100);
  const of = { function: "Orders", message_id: "m1", delivery: "d1" };
  teller.add({ ...of, seq: 1, kind: "received", time: "2026-01-01T10:00:00Z" });
  teller.add({ ...of, seq: 2, kind: "settled", decision: "deleted", time: "2026-01-01T09:00:00Z" });
  const [life] = teller.lives;
  expect(life?.end).toBe(life?.start);
});

test("times and spans are read to the tenth of a microsecond", () => {
  expect(instant("2026-01-01T00:00:00.1234567Z")).toBeCloseTo(begin + 123.4567, 3);
  expect(timeSpan("1.02:03:04.5000000")).toBe(((26 * 60 + 3) * 60 + 4.5) * 1_000);
  expect(timeSpan("nothing")).toBe(0);
});
