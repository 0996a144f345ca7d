// What the samples of ServiceBusAdministrationClient do.
// Usage: node servicebus_admin.cjs CONNECTION_STRING, to a port that speaks TLS.
const assert = require("node:assert/strict");
const { ServiceBusAdministrationClient } = require("@azure/service-bus");

const fails = async (code, status, promise) => {
  const err = await promise.then(() => assert.fail(`want ${code}`), (e) => e);
  if (err.code !== code || err.statusCode !== status) throw new Error(`want ${code} ${status}, got ${err.code} ${err.statusCode}`, { cause: err });
};
const all = async (list) => { const out = []; for await (const x of list) out.push(x); return out; };

async function main() {
  const admin = new ServiceBusAdministrationClient(process.argv[2], { retryOptions: { maxRetries: 0 } });
  assert.ok((await admin.getNamespaceProperties()).name);

  await fails("MessageEntityNotFoundError", 200, admin.getQueue("q")); // the service answers with an empty feed
  assert.equal(await admin.queueExists("q"), false);
  const queue = await admin.createQueue("q", {
    lockDuration: "PT30S", maxDeliveryCount: 3, requiresSession: true, defaultMessageTimeToLive: "PT1H",
    deadLetteringOnMessageExpiration: true, userMetadata: "<mine> & yours",
  });
  assert.equal(queue.lockDuration, "PT30S");
  assert.equal(queue.userMetadata, "<mine> & yours");
  assert.equal(await admin.queueExists("q"), true);
  await fails("MessageEntityAlreadyExistsError", 409, admin.createQueue("q"));
  const got = await admin.getQueue("Q");
  assert.deepEqual([got.name, got.maxDeliveryCount, got.requiresSession, got.defaultMessageTimeToLive, got.deadLetteringOnMessageExpiration, got.status], ["q", 3, true, "PT1H", true, "Active"]);
  got.maxDeliveryCount = 5;
  got.status = "SendDisabled";
  const updated = await admin.updateQueue(got);
  assert.deepEqual([updated.maxDeliveryCount, updated.status], [5, "SendDisabled"]);
  const counts = await admin.getQueueRuntimeProperties("q");
  assert.deepEqual([counts.totalMessageCount, counts.activeMessageCount, counts.deadLetterMessageCount, counts.scheduledMessageCount, counts.transferMessageCount, counts.transferDeadLetterMessageCount], [0, 0, 0, 0, 0, 0]);
  assert.ok(counts.createdAt <= counts.modifiedAt);
  const forward = await admin.createQueue("from", { forwardTo: "target-of-nothing" }).then(() => assert.fail(), (e) => e);
  assert.ok(forward.statusCode >= 400);
  await admin.createQueue("plain");
  await admin.createQueue("from", { forwardTo: "plain" });
  assert.match((await admin.getQueue("from")).forwardTo, /\/plain$/);
  assert.deepEqual((await all(admin.listQueues())).map((q) => q.name).sort(), ["from", "plain", "q"]);
  const pages = [];
  for await (const page of admin.listQueuesRuntimeProperties().byPage({ maxPageSize: 2 })) pages.push(page.length);
  assert.deepEqual(pages, [2, 1]);

  const topic = await admin.createTopic("t", { requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: "PT1M" });
  assert.equal(topic.requiresDuplicateDetection, true);
  await admin.createSubscription("t", "s", { maxDeliveryCount: 7, defaultRuleOptions: { name: "mine", filter: { sqlExpression: "color = 'blue'" } } });
  const sub = await admin.getSubscription("t", "s");
  assert.deepEqual([sub.topicName, sub.subscriptionName, sub.maxDeliveryCount], ["t", "s", 7]);
  sub.lockDuration = "PT2M";
  assert.equal((await admin.updateSubscription(sub)).lockDuration, "PT2M");
  assert.equal((await admin.getTopicRuntimeProperties("t")).subscriptionCount, 1);
  assert.equal((await admin.getSubscriptionRuntimeProperties("t", "s")).totalMessageCount, 0);
  await admin.createRule("t", "s", "corr", { correlationId: "c", applicationProperties: { k: "v", n: 5, b: true, d: new Date(1000) } });
  await admin.createRule("t", "s", "act", { sqlExpression: "n > @n", sqlParameters: { "@n": 3 } }, { sqlExpression: "SET n = 4" });
  const rule = await admin.getRule("t", "s", "corr");
  assert.deepEqual(rule.filter.applicationProperties, { k: "v", n: 5, b: true, d: new Date(1000) });
  assert.deepEqual((await all(admin.listRules("t", "s"))).map((r) => r.name).sort(), ["act", "corr", "mine"]);
  rule.filter = { sqlExpression: "1=0" };
  await admin.updateRule("t", "s", rule);
  assert.equal((await admin.getRule("t", "s", "corr")).filter.sqlExpression, "1=0");
  const act = await admin.getRule("t", "s", "act");
  assert.deepEqual([act.action.sqlExpression, act.filter.sqlParameters], ["SET n = 4", { "@n": 3 }]);
  await fails("ServiceError", 400, admin.createRule("t", "s", "bad", { sqlExpression: "1 = = 1" }));
  assert.equal(await admin.ruleExists("t", "s", "bad"), false);
  assert.equal(await admin.subscriptionExists("t", "other"), false);
  await admin.deleteRule("t", "s", "act");
  await admin.deleteSubscription("t", "s");
  assert.deepEqual(await all(admin.listSubscriptions("t")), []);
  await admin.deleteTopic("t");
  await fails("MessageEntityNotFoundError", 404, admin.deleteTopic("t"));
  for (const name of ["from", "plain", "q"]) await admin.deleteQueue(name);
  assert.deepEqual(await all(admin.listTopics()), []);
  console.log("ok");
}

main().catch((err) => { console.error(err); process.exit(1); });
