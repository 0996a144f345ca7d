// The flows of the samples of @azure/service-bus. Prints ok.
const assert = require("node:assert");
const { ServiceBusClient } = require("@azure/service-bus");

async function main(connectionString) {
  const client = new ServiceBusClient(connectionString, { retryOptions: { maxRetries: 0 } });
  const refused = async (code, f) => assert.rejects(f, (e) => e.code === code || assert.fail(`${e.code}, want ${code}: ${e.message}`));

  // Send one, a batch, a list; schedule and cancel.
  const sender = client.createSender("q");
  await sender.sendMessages({ body: "hello", messageId: "1", subject: "s", applicationProperties: { a: 1 }, timeToLive: 300000 });
  const batch = await sender.createMessageBatch();
  for (let i = 0; i < 3; i++) assert(batch.tryAddMessage({ body: "b" + i }));
  await sender.sendMessages(batch);
  await sender.sendMessages([{ body: { j: 1 } }, { body: Buffer.from("bytes") }]);
  const numbers = await sender.scheduleMessages({ body: "later" }, new Date(Date.now() + 3600e3));
  await sender.cancelScheduledMessages(numbers);

  // Peek, receive, renew, and settle in every way.
  const receiver = client.createReceiver("q");
  assert.equal((await receiver.peekMessages(10)).length, 6);
  const got = [];
  while (got.length < 6) got.push(...(await receiver.receiveMessages(6 - got.length, { maxWaitTimeInMs: 5000 })));
  assert.deepEqual([got[0].body, got[0].messageId, got[0].subject, got[0].applicationProperties], ["hello", "1", "s", { a: 1 }]);
  assert(got[0].timeToLive >= 300000 && got[0].timeToLive < 310000); // from its own creation to our expiry
  assert.deepEqual([got[0].deliveryCount, got[4].body], [0, { j: 1 }]); // the raw header, which counts from 0
  assert((await receiver.renewMessageLock(got[0])) >= got[0].enqueuedTimeUtc);
  await receiver.completeMessage(got[0]);
  await receiver.abandonMessage(got[1], { k: "v" });
  await receiver.deferMessage(got[2]);
  await receiver.deadLetterMessage(got[3], { deadLetterReason: "why", deadLetterErrorDescription: "because", x: 1 });
  await receiver.completeMessage(got[4]);
  await receiver.completeMessage(got[5]);
  const [deferred] = await receiver.receiveDeferredMessages(got[2].sequenceNumber);
  assert.deepEqual([deferred.deliveryCount, deferred.state], [1, "deferred"]);
  await receiver.completeMessage(deferred);
  const [again] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 5000 });
  assert.deepEqual([again.deliveryCount, again.applicationProperties], [1, { k: "v" }]);
  await receiver.completeMessage(again);
  assert.equal((await receiver.receiveMessages(1, { maxWaitTimeInMs: 200 })).length, 0);
  const dead = client.createReceiver("q", { subQueueType: "deadLetter" });
  const [letter] = await dead.receiveMessages(1, { maxWaitTimeInMs: 5000 });
  assert.deepEqual([letter.deadLetterReason, letter.deadLetterErrorDescription, letter.applicationProperties.x], ["why", "because", 1]);
  await dead.completeMessage(letter);

  // Sessions.
  const sessions = client.createSender("sessions");
  for (let i = 0; i < 3; i++) await sessions.sendMessages({ body: "x" + i, sessionId: "s1" });
  let session = await client.acceptNextSession("sessions");
  assert.equal(session.sessionId, "s1");
  assert(session.sessionLockedUntilUtc > new Date(0));
  await session.setSessionState({ step: 1 });
  assert.deepEqual(await session.getSessionState(), { step: 1 });
  await session.renewSessionLock();
  for (let n = 0; n < 3; ) {
    for (const m of await session.receiveMessages(3, { maxWaitTimeInMs: 5000 })) {
      assert.equal(m.body, "x" + n++);
      await session.completeMessage(m);
    }
  }
  await refused("SessionCannotBeLocked", () => client.acceptSession("sessions", "s1"));
  await session.close();
  session = await client.acceptSession("sessions", "s1");
  await session.close();

  // A topic, its rules, receive and delete, and the processor.
  const rules = client.createRuleManager("topic", "sub");
  await rules.createRule("sql", { sqlExpression: "a = 1" }, { sqlExpression: "SET b = 2" });
  await rules.createRule("correlation", { subject: "x", applicationProperties: { k: 1 } });
  const names = [];
  for await (const r of rules.listRules()) names.push(r.name);
  assert.deepEqual(names.sort(), ["$Default", "correlation", "sql"]);
  await rules.deleteRule("sql");
  await client.createSender("topic").sendMessages({ body: "news" });
  const all = client.createReceiver("topic", "sub", { receiveMode: "receiveAndDelete" });
  assert.equal((await all.receiveMessages(1, { maxWaitTimeInMs: 5000 }))[0].body, "news");
  await sender.sendMessages({ body: "processed" });
  const body = await new Promise((resolve, reject) => {
    receiver.subscribe({ processMessage: async (m) => resolve(m.body), processError: async (e) => reject(e.error) });
  });
  assert.equal(body, "processed");
  await refused("MessagingEntityNotFound", () => client.createSender("missing").sendMessages({ body: 1 }));
  await client.close();
  console.log("ok");
}

main(process.argv[2]).catch((e) => { console.error(e); process.exit(1); });
