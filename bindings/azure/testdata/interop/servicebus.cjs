// What the samples of @azure/service-bus do, and what its users trip over.
// Usage: node servicebus.cjs CONNECTION_STRING
const assert = require("node:assert/strict");
const { ServiceBusClient, delay } = require("@azure/service-bus");
const Long = require("long");

const fails = async (code, promise) => {
  const err = await promise.then(() => assert.fail(`want ${code}`), (e) => e);
  if (err.code !== code) throw new Error(`want ${code}, got ${err.code}`, { cause: err });
};
const bodies = (messages) => messages.map((m) => m.body);
const ascending = (messages) => messages.every((m, i) => i === 0 || messages[i - 1].sequenceNumber.lessThan(m.sequenceNumber));

// sendMessages.js: single messages, arrays, batches that split when they are full.
async function sendAndReceive(client) {
  const sender = client.createSender("js-basic");
  const receiver = client.createReceiver("js-basic");
  await sender.sendMessages({ body: "Albert Einstein" });
  await sender.sendMessages([{ body: "Werner Heisenberg" }, { body: "Marie Curie" }]);
  let batch = await sender.createMessageBatch();
  assert.equal(batch.maxSizeInBytes, 262144);
  for (let i = 0; i < 5; i++) assert.equal(batch.tryAddMessage({ body: `batched ${i}` }), true);
  await sender.sendMessages(batch);
  batch = await sender.createMessageBatch({ maxSizeInBytes: 100 });
  assert.equal(batch.tryAddMessage({ body: "x".repeat(200) }), false);
  await fails("MessageSizeExceeded", sender.sendMessages({ body: Buffer.alloc(262145) }));

  const peeked = await receiver.peekMessages(3);
  assert.deepEqual(bodies(peeked), ["Albert Einstein", "Werner Heisenberg", "Marie Curie"]);
  const got = [];
  while (got.length < 8) got.push(...await receiver.receiveMessages(10, { maxWaitTimeInMs: 5000 }));
  assert.deepEqual(bodies(got).slice(0, 3), bodies(peeked));
  assert.ok(ascending(got));
  for (const m of got) {
    assert.equal(m.deliveryCount, 0); // the raw header: .NET and Go say 1
    assert.match(m.lockToken, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.ok(m.lockedUntilUtc > new Date() && m.enqueuedTimeUtc <= m.lockedUntilUtc);
    await receiver.completeMessage(m);
  }
  assert.deepEqual(await receiver.receiveMessages(1, { maxWaitTimeInMs: 300 }), []);

  // Fewer messages than asked for: the client drains its credit, and the link goes on.
  const drained = client.createReceiver("js-basic", { receiveMode: "receiveAndDelete" });
  for (let i = 0; i < 3; i++) {
    await sender.sendMessages({ body: `drain ${i}` });
    // In this mode the client waits for all ten, and for as long as it may.
    assert.deepEqual(bodies(await drained.receiveMessages(10, { maxWaitTimeInMs: 500 })), [`drain ${i}`]);
    assert.deepEqual(await drained.receiveMessages(10, { maxWaitTimeInMs: 50 }), []);
  }
  await fails("InvalidOperation", drained.completeMessage(got[0])).catch((e) => assert.match(String(e), /receiveAndDelete|InvalidOperation/i));

  // subscribe: the streaming receiver, with automatic completion.
  await sender.sendMessages([{ body: "s1" }, { body: "s2" }, { body: "s3" }]);
  const seen = [];
  await new Promise((resolve, reject) => {
    const subscription = receiver.subscribe({
      processMessage: async (m) => {
        seen.push(m.body);
        if (seen.length === 3) subscription.close().then(resolve, reject);
      },
      processError: async (args) => reject(args.error),
    }, { maxConcurrentCalls: 1 });
  });
  assert.deepEqual(seen, ["s1", "s2", "s3"]);
  await Promise.all([sender, receiver, drained].map((x) => x.close()));
}

// Every field of a message, and every type of a property.
async function fields(client) {
  const sender = client.createSender("js-fields");
  const receiver = client.createReceiver("js-fields");
  const when = new Date(1700000000123);
  await sender.sendMessages({
    body: { nested: [1, "two", null] }, messageId: "id", contentType: "application/json", correlationId: "c", subject: "label",
    to: "to", replyTo: "rt", replyToSessionId: "rs", sessionId: "pk", partitionKey: "pk", timeToLive: 60000,
    applicationProperties: { s: "grüße", n: 5, f: 1.5, b: true, d: when, nil: null },
  });
  const [m] = await receiver.receiveMessages(1);
  assert.deepEqual(m.body, { nested: [1, "two", null] });
  for (const [name, want] of Object.entries({ messageId: "id", contentType: "application/json", correlationId: "c", subject: "label", to: "to", replyTo: "rt", replyToSessionId: "rs", sessionId: "pk", partitionKey: "pk", state: "active" })) {
    assert.equal(m[name], want, name);
  }
  assert.equal(m.expiresAtUtc - m.enqueuedTimeUtc, 60000);
  assert.ok(m.timeToLive >= 60000 && m.timeToLive < 70000); // this client counts from creation to expiry
  assert.deepEqual(m.applicationProperties, { s: "grüße", n: 5, f: 1.5, b: true, d: when.getTime(), nil: null }); // dates become numbers unless asked not to
  await receiver.completeMessage(m);
  for (const bodyType of ["value", "sequence"]) {
    await sender.sendMessages({ body: ["a", 1], bodyType, properties: { messageId: 7 } });
    const [raw] = await receiver.receiveMessages(1);
    assert.equal(raw._rawAmqpMessage.bodyType, bodyType);
    assert.equal(raw.messageId, 7);
    await receiver.completeMessage(raw);
  }
  await Promise.all([sender, receiver].map((x) => x.close()));
}

// Settlements, their counts, and a lock that is lost.
async function settlements(client) {
  const sender = client.createSender("js-settle");
  const receiver = client.createReceiver("js-settle");
  const one = async (r = receiver) => {
    const [m] = await r.receiveMessages(1, { maxWaitTimeInMs: 5000 });
    assert.ok(m, "a message");
    return m;
  };
  await sender.sendMessages({ body: "x", messageId: "m" });
  let m = await one();
  await receiver.abandonMessage(m, { why: "first" });
  m = await one();
  assert.equal(m.deliveryCount, 1);
  assert.equal(m.applicationProperties.why, "first");
  const before = m.lockedUntilUtc;
  await delay(20);
  const until = await receiver.renewMessageLock(m);
  assert.ok(until > before && m.lockedUntilUtc.getTime() === until.getTime());
  await receiver.deferMessage(m, { why: "later" });
  assert.deepEqual(await receiver.receiveMessages(1, { maxWaitTimeInMs: 100 }), []);
  await fails("MessageNotFound", receiver.receiveDeferredMessages(Long.fromNumber(4711)));
  let [d] = await receiver.receiveDeferredMessages(m.sequenceNumber);
  assert.equal(d.state, "deferred");
  assert.equal(d.deliveryCount, 2);
  assert.equal(d.applicationProperties.why, "later");
  await receiver.deadLetterMessage(d, { deadLetterReason: "broken", deadLetterErrorDescription: "beyond repair", extra: "kept" });
  const dead = client.createReceiver("js-settle", { subQueueType: "deadLetter" });
  m = await one(dead);
  assert.deepEqual([m.deadLetterReason, m.deadLetterErrorDescription, m.deliveryCount], ["broken", "beyond repair", 2]);
  assert.equal(m.applicationProperties.extra, "kept");
  await dead.abandonMessage(m);
  m = await one(dead);
  assert.equal(m.deliveryCount, 2);
  await dead.completeMessage(m);

  // Ten deliveries, then the broker's own dead-lettering.
  await sender.sendMessages({ body: "poison" });
  for (let count = 0; count < 10; count++) {
    m = await one();
    assert.equal(m.deliveryCount, count);
    await receiver.abandonMessage(m);
  }
  m = await one(dead);
  assert.deepEqual([m.deliveryCount, m.deadLetterReason], [10, "MaxDeliveryCountExceeded"]);
  await dead.completeMessage(m);

  // Settled from another receiver, by token: through $management.
  await sender.sendMessages([{ body: "a" }, { body: "b" }]);
  const first = client.createReceiver("js-settle");
  const held = await first.receiveMessages(1, { maxWaitTimeInMs: 5000 });
  await first.close();
  await receiver.completeMessage(held[0]);
  m = await one();
  assert.equal(m.body, "b");
  await receiver.completeMessage(m);

  // A lock that ends: the second delivery counts.
  const short = client.createReceiver("js-short", { maxAutoLockRenewalDurationInMs: 0 });
  const shortSender = client.createSender("js-short");
  await shortSender.sendMessages({ body: "late" });
  const late = await one(short);
  const again = await one(short); // once the lock has ended
  assert.equal(again.deliveryCount, 1);
  await fails("MessageLockLost", short.completeMessage(late));
  await fails("MessageLockLost", short.renewMessageLock(late));
  await short.completeMessage(again);
  await Promise.all([sender, receiver, dead, short, shortSender].map((x) => x.close()));
}

// What was dead-lettered cannot be so again: it stays where it is, with its count.
async function deadLetters(client) {
  const sender = client.createSender("js-dead");
  const receiver = client.createReceiver("js-dead");
  const dead = client.createReceiver("js-dead", { subQueueType: "deadLetter" });
  await sender.sendMessages({ body: "x" });
  await receiver.deadLetterMessage((await receiver.receiveMessages(1))[0]);
  const [m] = await dead.receiveMessages(1);
  await assert.rejects(dead.deadLetterMessage(m), /InvalidOperationError/);
  const [again] = await dead.receiveMessages(1); // once the lock has ended: this client takes m for settled
  assert.deepEqual([again.body, again.deliveryCount], ["x", 0]);
  await dead.completeMessage(again);
  await Promise.all([sender, receiver, dead].map((x) => x.close()));
}

// scheduledMessages.js and browseMessages.js.
async function schedules(client) {
  const sender = client.createSender("js-schedule");
  const receiver = client.createReceiver("js-schedule", { receiveMode: "receiveAndDelete" });
  const far = new Date(Date.now() + 3600000);
  const numbers = await sender.scheduleMessages([{ body: "far 1" }, { body: "far 2" }], far);
  assert.equal(numbers.length, 2);
  assert.ok(Long.isLong(numbers[0]));
  const peeked = await receiver.peekMessages(10, { fromSequenceNumber: Long.ZERO });
  assert.deepEqual(peeked.map((m) => [m.body, m.state, m.scheduledEnqueueTimeUtc.getTime()]), [["far 1", "scheduled", far.getTime()], ["far 2", "scheduled", far.getTime()]]);
  assert.deepEqual(await receiver.receiveMessages(1, { maxWaitTimeInMs: 100 }), []);
  await sender.cancelScheduledMessages(numbers);
  await fails("MessageNotFound", sender.cancelScheduledMessages(numbers[0]));
  await sender.scheduleMessages({ body: "soon" }, new Date(Date.now() + 200));
  await sender.sendMessages({ body: "also soon", scheduledEnqueueTimeUtc: new Date(Date.now() + 400) });
  const got = [];
  while (got.length < 2) got.push(...await receiver.receiveMessages(2, { maxWaitTimeInMs: 5000 }));
  assert.deepEqual(bodies(got), ["soon", "also soon"]);
  for (const m of got) assert.ok(m.enqueuedTimeUtc >= m.scheduledEnqueueTimeUtc);
  await Promise.all([sender, receiver].map((x) => x.close()));
}

// session.js, sessionState.js, sessionRoundRobin.js.
async function sessions(client) {
  const sender = client.createSender("js-sessions");
  await sender.sendMessages([{ body: 1, sessionId: "a" }, { body: 2, sessionId: "a" }, { body: 3, sessionId: "b" }]);
  const a = await client.acceptSession("js-sessions", "a");
  assert.equal(a.sessionId, "a");
  assert.ok(a.sessionLockedUntilUtc > new Date() && a.sessionLockedUntilUtc - new Date() < 61000); // ticks, as a long
  await fails("SessionCannotBeLocked", client.acceptSession("js-sessions", "a"));
  await assert.rejects(client.createReceiver("js-sessions").receiveMessages(1), /InvalidOperationError.*entity that requires sessions/);
  assert.equal(await a.getSessionState(), null);
  await a.setSessionState({ step: 1 });
  assert.deepEqual(await a.getSessionState(), { step: 1 });
  await a.setSessionState(Buffer.from([1, 2]));
  const until = await a.renewSessionLock();
  assert.ok(until >= new Date());
  const got = [];
  while (got.length < 2) got.push(...await a.receiveMessages(2, { maxWaitTimeInMs: 5000 }));
  assert.deepEqual(bodies(got), [1, 2]);
  assert.deepEqual(bodies(await a.peekMessages(10)), [1, 2]);
  await a.completeMessage(got[0]);
  await a.close(); // the second message goes back, uncounted
  const b = await client.acceptNextSession("js-sessions");
  const rest = b.sessionId === "b" ? await client.acceptNextSession("js-sessions") : b;
  const other = rest === b ? await client.acceptNextSession("js-sessions") : b;
  assert.deepEqual([rest.sessionId, other.sessionId], ["a", "b"]);
  const [second] = await rest.receiveMessages(1, { maxWaitTimeInMs: 5000 });
  assert.deepEqual([second.body, second.deliveryCount], [2, 0]);
  await rest.deferMessage(second);
  const [deferred] = await rest.receiveDeferredMessages(second.sequenceNumber);
  await rest.deadLetterMessage(deferred);
  const [third] = await other.receiveMessages(1, { maxWaitTimeInMs: 5000 });
  await other.completeMessage(third);
  await rest.setSessionState(null);
  assert.equal(await rest.getSessionState(), null);
  await Promise.all([rest, other].map((x) => x.close()));
  const dead = client.createReceiver("js-sessions", { subQueueType: "deadLetter" }); // no sessions there
  const [d] = await dead.receiveMessages(1, { maxWaitTimeInMs: 5000 });
  assert.deepEqual([d.body, d.sessionId, d.deliveryCount], [2, "a", 1]);
  await dead.completeMessage(d);

  // A streaming receiver on a session. (This client cannot accept the empty name.)
  await sender.sendMessages([{ body: 4, sessionId: "c" }, { body: 5, sessionId: "c" }]);
  const c = await client.acceptSession("js-sessions", "c");
  const seen = [];
  await new Promise((resolve, reject) => {
    c.subscribe({
      processMessage: async (m) => { seen.push(m.body); if (seen.length === 2) setImmediate(resolve); },
      processError: async (args) => reject(args.error),
    });
  });
  assert.deepEqual(seen, [4, 5]);
  await Promise.all([c, dead, sender].map((x) => x.close()));
}

// topicSubscriptionWithRules: rules over AMQP, and who gets what.
async function topics(client) {
  const sender = client.createSender("js-topic");
  const rules = client.createRuleManager("js-topic", "blue");
  const names = async () => { const out = []; for await (const r of rules.listRules()) out.push(r.name); return out.sort(); };
  assert.deepEqual(await names(), ["$Default"]);
  await rules.deleteRule("$Default");
  await rules.createRule("sql", { sqlExpression: "color = 'blue' AND quantity > 10" }, { sqlExpression: "SET size = 'large'" });
  await rules.createRule("correlation", { correlationId: "c1", applicationProperties: { k: "v" } });
  assert.deepEqual(await names(), ["correlation", "sql"]);
  await fails("MessagingEntityAlreadyExists", rules.createRule("sql", { sqlExpression: "1=1" }));
  const filters = [];
  for await (const r of rules.listRules()) filters.push([r.name, r.filter, r.action]);
  filters.sort();
  assert.equal(filters[0][1].correlationId, "c1");
  assert.equal(filters[0][1].applicationProperties.k, "v");
  assert.equal(filters[1][1].sqlExpression, "color = 'blue' AND quantity > 10");
  assert.equal(filters[1][2].sqlExpression, "SET size = 'large'");
  await sender.sendMessages([
    { body: "no", applicationProperties: { color: "red", quantity: 20 } },
    { body: "sql", applicationProperties: { color: "blue", quantity: 20 } },
    { body: "correlation", correlationId: "c1", applicationProperties: { k: "v" } },
  ]);
  const blue = client.createReceiver("js-topic", "blue", { receiveMode: "receiveAndDelete" });
  const got = [];
  while (got.length < 2) got.push(...await blue.receiveMessages(2, { maxWaitTimeInMs: 5000 }));
  assert.deepEqual(bodies(got), ["sql", "correlation"]);
  assert.deepEqual([got[0].applicationProperties.size, got[0].applicationProperties.RuleName], ["large", "sql"]);
  const all = client.createReceiver("js-topic", "all");
  const every = [];
  while (every.length < 3) every.push(...await all.receiveMessages(5, { maxWaitTimeInMs: 5000 }));
  assert.deepEqual(bodies(every), ["no", "sql", "correlation"]);
  for (const m of every) await all.completeMessage(m);
  await fails("MessagingEntityNotFound", client.createReceiver("js-topic", "nobody").receiveMessages(1));
  await Promise.all([sender, blue, all].map((x) => x.close()));
}

async function main() {
  const client = new ServiceBusClient(process.argv[2], { retryOptions: { maxRetries: 0, timeoutInMs: 20000 } });
  await fails("MessagingEntityNotFound", client.createSender("js-nobody").sendMessages({ body: "x" }));
  const flows = await Promise.allSettled([sendAndReceive, fields, settlements, deadLetters, schedules, sessions, topics].map((f) => f(client)));
  const failed = flows.filter((f) => f.status === "rejected").map((f) => f.reason);
  if (failed.length > 0) throw new AggregateError(failed);
  await client.close();
  console.log("ok");
}

main().catch((err) => { console.error(err); process.exit(1); });
