import { expect, test } from "vitest";
import { tally } from "../functions/tally";
import { meant, which } from "./life";
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
    const service = r.function ? {} : { service: "queue" };
    this.teller.add({ seq: this.seq, time: new Date(begin + this.seq * 1_000).toISOString(), kind, ...service, ...r });
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
  for (const name of ["A", "B"]) j.add("received", { function: name, trigger: "queueTrigger", message_id: "m1", delivery: `d${name}` });
  expect(j.teller.find("m1").map((l) => l.function)).toEqual(["A", "B"]);
  expect(j.teller.find("dB").map((l) => l.function)).toEqual(["B"]);
});

const bus = { service: "servicebus", trigger: "serviceBusTrigger", entity: "bills", source: "bills", number: 7 };
const index = { service: "eventgrid", trigger: "eventGridTrigger", number: 7 };
test.each([
  ["subscriptions", { ...bus, entity: "orders/subscriptions/ship", source: "orders/Subscriptions/Ship" }, { ...bus, entity: "orders/subscriptions/bill", source: "orders/Subscriptions/Bill" }],
  ["event subscriptions of one name", { ...index, entity: "shop/index", source: "shop/index" }, { ...index, entity: "mall/index", source: "mall/index", number: 8 }],
  ["entities", { ...bus, entity: "parcels", source: "parcels" }, bus],
  ["a queue of storage, and one", { ...bus, service: "queue", trigger: "queueTrigger", number: 0 }, bus],
  ["messages of one entity", { ...bus, number: 6 }, bus],
  ["partitions of a hub", { service: "eventhubs", trigger: "eventHubTrigger", entity: "h/Partitions/0", source: "h/$Default/0", number: 7 }, { service: "eventhubs", trigger: "eventHubTrigger", entity: "h/Partitions/1", source: "h/$Default/1", number: 7 }],
])("messages of one name have their own lives: %s", (_, ship, bill) => {
  const j = new Journal();
  const of = (m: typeof bus, name: string) => ({ function: name, trigger: m.trigger, source: m.source, message_id: "m1", message_number: m.number, delivery: name });
  const at = (m: typeof bus) => ({ service: m.service, source: m.entity, message_id: "m1", message_number: m.number });
  j.add("enqueued", at(ship));
  j.add("enqueued", at(bill));
  j.add("received", of(bill, "Bill"));
  j.add("received", of(ship, "Ship"));
  j.add("settled", { ...of(ship, "Ship"), decision: "abandoned" });
  j.add("settled", { ...of(bill, "Bill"), decision: "completed" });
  j.add("expired", at(ship));
  expect(j.teller.lives.map((l) => `${l.function} ${l.outcome} ${l.state} ${l.number}`)).toEqual([
    `Ship dead expired ${ship.number}`, `Bill succeeded completed ${bill.number}`,
  ]);
  const found = j.teller.find("m1");
  expect(found.map((l) => meant(found, new URLSearchParams(which(l))))).toEqual(found);
});

test.each([
  [{}, "succeeded", { outcome: "succeeded", state: "completed", attempts: 1, failures: 0 }],
  [{}, "failed", { outcome: "failed", state: "completed", error: "no", attempts: 1, failures: 1 }],
  [{ members: ["completed", "abandoned", "completed"] }, "failed", { outcome: "waiting", state: "abandoned", attempts: 1, failures: 1 }],
  [undefined, "", { outcome: "running", state: "running", attempts: 1 }],
])("each message of a batch has its deliveries, attempts and end: %s, %s", (settled, status, end) => {
  const j = new Journal();
  const sb = { service: "servicebus", source: "orders" };
  ["m1", "m2", "m3"].forEach((id, i) => j.add("enqueued", { ...sb, message_id: id, message_number: i + 1 }));
  const of = { function: "Orders", trigger: "serviceBusTrigger", source: "orders", message_id: "m1", message_number: 1, delivery: "d1", delivery_count: 3 };
  j.add("received", { ...of, batch: ["m1", "m2", ""], members: [1, 2, 3], counts: [3, 2, 1] });
  j.add("attempt_started", { ...of, attempt: 1 });
  if (settled) {
    j.add("attempt_ended", { ...of, attempt: 1, status, ...(status === "failed" ? { error: "no" } : {}) });
    j.add("settled", { ...of, decision: "completed", ...settled });
  }
  expect(j.teller.find("m2")[0]).toMatchObject({ ...end, deliveries: [{ id: "d1", count: 2, batch: 3, member: 1 }] });
  expect(j.teller.find("m3")[0]?.outcome).toBe("queued");
  expect(j.teller.find("d1").map((l) => l.message)).toEqual(["m1", "m2"]);
  expect(tally(j.teller.lives, j.teller.now).get("Orders")).toMatchObject({ deliveries: 1, attempts: 1 }); // of a function they are counted once
});

test("a message that gets another number is the same one, and begins a life where it is forwarded to", () => {
  const j = new Journal();
  const sb = { service: "servicebus", message_id: "m1" };
  const of = (source: string, delivery: string, number: number) => ({ function: source, trigger: "serviceBusTrigger", source, message_id: "m1", message_number: number, delivery });
  const was = (entity: string, number: string) => ({ fields: { previous_entity: entity, previous_number: number } });
  j.add("enqueued", { ...sb, source: "orders", message_number: 1, status: "scheduled", delay: "01:00:00" });
  expect(j.teller.lives[0]?.state).toMatch(/^scheduled orders, due at \d/);
  j.add("enqueued", { ...sb, source: "orders", message_number: 2, ...was("orders", "1") });
  j.add("received", of("orders", "d1", 2));
  j.add("dead_lettered", { ...sb, source: "orders", message_number: 2, target: "orders/$DeadLetterQueue" });
  j.add("settled", { ...of("orders", "d1", 2), decision: "dead_lettered" });
  j.add("forwarded", { ...sb, source: "orders/$DeadLetterQueue", message_number: 2, target: "orders", cause: "redrive" });
  j.add("enqueued", { ...sb, source: "orders", message_number: 3, ...was("orders/$DeadLetterQueue", "2") });
  j.add("received", of("orders", "d2", 3));
  j.add("settled", { ...of("orders", "d2", 3), decision: "completed" });
  expect(j.teller.lives.map((l) => `${l.function} ${l.deliveries.length} ${l.state} ${l.number}`)).toEqual(["orders 2 completed 3"]);

  j.add("forwarded", { ...sb, source: "first", message_number: 1, target: "news" });
  for (const [i, name] of ["a", "b"].entries()) j.add("enqueued", { ...sb, source: `news/subscriptions/${name}`, message_number: i + 1, ...was("first", "1") });
  expect(j.teller.lives.slice(1).map((l) => `${l.source} ${l.state} ${l.marks.length}`)).toEqual([
    "news/subscriptions/a in news/subscriptions/a 2", "news/subscriptions/b in news/subscriptions/b 2",
  ]);
});

test("a duplicate, a redriven event and an answer over HTTP", () => {
  const j = new Journal();
  const sb = { service: "servicebus", source: "orders", message_id: "m1" };
  j.add("enqueued", { ...sb, message_number: 1 });
  j.add("enqueued", { ...sb, status: "duplicate" });
  expect(j.teller.lives.map((l) => l.state)).toEqual(["in orders"]);
  const event = { service: "eventgrid", source: "shop/index", message_id: "e1" };
  j.add("enqueued", { ...event, message_number: 1 });
  j.add("dead_lettered", { ...event, message_number: 1, target: "dead/INDEX/1.json" });
  j.add("forwarded", { ...event, message_number: 2, source: "dead/INDEX/1.json", target: "shop/index", cause: "redrive" });
  const of = { function: "OnOrder", trigger: "eventGridTrigger", source: "shop/index", message_id: "e1", message_number: 2, delivery: "d1" };
  j.add("received", of);
  j.add("settled", { ...of, decision: "responded", fields: { http_status: "500" } });
  expect(j.teller.find("e1").map((l) => l.state)).toEqual(["responded 500"]);
  expect(j.teller.find("e1")[0]?.deliveries[0]?.answer).toBe("500");
});

test("what is purged, and what goes with its state, does not wait for ever", () => {
  const j = new Journal();
  j.add("enqueued", { source: "orders", message_id: "m1" });
  j.add("enqueued", { service: "servicebus", source: "orders", message_id: "m2", message_number: 1 });
  j.delivery("m3", 1, 1, "deleted");
  j.add("purged", { source: "orders" });
  expect(j.teller.lives.map((l) => l.state)).toEqual(["purged", "in orders", "deleted"]);
  j.add("state_loaded");
  expect(j.teller.lives.map((l) => l.state)).toEqual(["purged", "gone with its state", "deleted"]);
  j.add("enqueued", { service: "servicebus", source: "orders", message_id: "m2", message_number: 1 });
  expect(j.teller.find("m2").map((l) => l.state)).toEqual(["gone with its state", "in orders"]);
});

test("what a handler settles itself runs again before its attempt ends, and is gone when it is", () => {
  const j = new Journal();
  const of = (n: number) => ({ function: "Orders", trigger: "serviceBusTrigger", source: "orders", message_id: "m1", message_number: 1, delivery: `d${n}`, delivery_count: n });
  for (const n of [1, 2]) {
    j.add("received", of(n));
    j.add("attempt_started", { ...of(n), attempt: 1 });
  }
  j.add("attempt_ended", { ...of(1), attempt: 1, status: "succeeded" });
  j.add("settled", { ...of(1), decision: "abandoned" });
  expect(j.teller.lives[0]?.state).toBe("running");
  j.add("dead_lettered", { service: "servicebus", source: "orders", message_id: "m1", message_number: 1, target: "orders/$DeadLetterQueue" });
  j.add("settled", { ...of(2), decision: "abandoned" });
  expect(j.teller.lives[0]).toMatchObject({ outcome: "dead", state: "dead-lettered: orders/$DeadLetterQueue" });
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

test("an event waits after a failed delivery, and ends when it is dropped", () => {
  const j = new Journal();
  const grid = { service: "eventgrid", source: "shop/index", message_id: "e1", message_number: 1 };
  const of = { function: "OnOrder", trigger: "eventGridTrigger", source: "shop/index", message_id: "e1", message_number: 1, delivery: "d1" };
  j.add("enqueued", grid);
  j.add("received", of);
  j.add("settled", { ...of, decision: "responded" });
  j.add("event_attempted", { ...grid, function: "onorder", delay: "00:00:10", status: "Busy" });
  expect(j.teller.lives).toHaveLength(1);
  expect(j.teller.lives[0]).toMatchObject({ source: "shop/index", outcome: "waiting" });
  j.add("event_dropped", { ...grid, cause: "TimeToLiveExceeded" });
  expect(j.teller.lives[0]?.outcome).toBe("dead");
});

test("a dead letter stays dead when its last delivery is abandoned, and lives when it is redriven", () => {
  const j = new Journal();
  const sb = { service: "servicebus", message_id: "m1", message_number: 1 };
  const of = { function: "Orders", trigger: "serviceBusTrigger", source: "orders", message_id: "m1", message_number: 1, delivery: "d1" };
  j.add("received", of);
  j.add("dead_lettered", { ...sb, source: "orders", target: "orders/$DeadLetterQueue" });
  j.add("settled", { ...of, decision: "abandoned" });
  expect(j.teller.lives[0]).toMatchObject({ outcome: "dead", grave: "orders/$DeadLetterQueue", state: "dead-lettered: orders/$DeadLetterQueue" });
  j.add("forwarded", { ...sb, source: "orders/$DeadLetterQueue", target: "orders", cause: "redrive" });
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
