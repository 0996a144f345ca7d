// The calls of the quick start of @azure/storage-queue, and how they fail.
// Usage: node queue.cjs CONNECTION_STRING
const assert = require("node:assert/strict");
const {
  QueueServiceClient, QueueClient, StorageSharedKeyCredential, newPipeline,
  generateAccountSASQueryParameters, generateQueueSASQueryParameters,
  AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, QueueSASPermissions, SASProtocol,
} = require("@azure/storage-queue");

const fails = async (code, status, promise) => {
  const err = await promise.then(() => assert.fail(`want ${code}`), (e) => e);
  assert.equal(err.statusCode, status, `${code}: ${err}`);
  assert.equal(err.code ?? err.details?.errorCode, code);
};

async function main() {
  const connection = process.argv[2];
  const service = QueueServiceClient.fromConnectionString(connection);
  const queue = service.getQueueClient("js-orders");

  await fails("QueueNotFound", 404, queue.getProperties());
  await fails("QueueNotFound", 404, queue.sendMessage("nobody home"));
  assert.equal(await queue.exists(), false);
  assert.equal((await queue.createIfNotExists()).succeeded, true);
  assert.equal((await queue.createIfNotExists()).succeeded, false);
  assert.equal(await queue.exists(), true);
  await fails("QueueAlreadyExists", 409, queue.create({ metadata: { other: "1" } }));
  await fails("InvalidResourceName", 400, service.createQueue("Not_A_Name"));

  const text = 'grüße <b>&"\u{1F600} ';
  const sent = await queue.sendMessage(text);
  assert.ok(sent.messageId && sent.popReceipt && sent.insertedOn <= sent.nextVisibleOn);
  assert.equal(sent.expiresOn - sent.insertedOn, 7 * 24 * 3600 * 1000);
  assert.match(sent.requestId, /^[0-9a-f-]{36}$/);
  const peeked = await queue.peekMessages({ numberOfMessages: 5 });
  assert.deepEqual(peeked.peekedMessageItems.map((m) => [m.messageText, m.dequeueCount]), [[text, 0]]);

  const got = (await queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 60 })).receivedMessageItems;
  assert.equal(got.length, 1);
  assert.equal(got[0].messageText, text);
  assert.equal(got[0].dequeueCount, 1);
  const updated = await queue.updateMessage(got[0].messageId, got[0].popReceipt, "second", 0);
  await fails("PopReceiptMismatch", 400, queue.deleteMessage(got[0].messageId, got[0].popReceipt));
  const kept = await queue.updateMessage(got[0].messageId, updated.popReceipt, undefined, 0);
  const again = (await queue.receiveMessages()).receivedMessageItems[0];
  assert.equal(again.messageText, "second");
  assert.equal(again.dequeueCount, 2);
  assert.notEqual(again.popReceipt, kept.popReceipt);
  await queue.deleteMessage(again.messageId, again.popReceipt);
  await fails("MessageNotFound", 404, queue.deleteMessage(again.messageId, again.popReceipt));

  await fails("RequestBodyTooLarge", 413, queue.sendMessage("x".repeat(65537)));
  await fails("OutOfRangeQueryParameterValue", 400, queue.receiveMessages({ numberOfMessages: 33 }));
  await fails("InvalidQueryParameterValue", 400, queue.sendMessage("x", { messageTimeToLive: 5, visibilityTimeout: 6 }));
  const never = await queue.sendMessage("never", { messageTimeToLive: -1 });
  assert.equal(never.expiresOn.getUTCFullYear(), 9999);
  assert.equal((await queue.getProperties()).approximateMessagesCount, 1);
  await queue.clearMessages();
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);

  await queue.setMetadata({ KeyOne: "v1" });
  assert.deepEqual((await queue.getProperties()).metadata, { keyone: "v1" }); // fetch lower-cases names
  const policy = { id: "p1", accessPolicy: { startsOn: new Date(Date.now() - 60000), expiresOn: new Date(Date.now() + 3600000), permissions: "raup" } };
  await queue.setAccessPolicy([policy]);
  const policies = (await queue.getAccessPolicy()).signedIdentifiers;
  assert.deepEqual(policies.map((p) => [p.id, p.accessPolicy.permissions]), [["p1", "raup"]]);

  for (const name of ["js-a", "js-b", "js-c"]) await service.createQueue(name);
  const pages = [];
  for await (const page of service.listQueues({ prefix: "js-", includeMetadata: true }).byPage({ maxPageSize: 2 })) {
    pages.push(page.queueItems.map((q) => q.name));
  }
  assert.deepEqual(pages, [["js-a", "js-b"], ["js-c", "js-orders"]]);

  await service.setProperties({ cors: [{ allowedOrigins: "*", allowedMethods: "GET", allowedHeaders: "*", exposedHeaders: "*", maxAgeInSeconds: 3 }] });
  assert.equal((await service.getProperties()).cors[0].maxAgeInSeconds, 3);

  // Signatures of the account, of the queue and by a stored policy.
  const credential = service.credential;
  assert.ok(credential instanceof StorageSharedKeyCredential);
  const soon = new Date(Date.now() + 3600000);
  const accountSAS = generateAccountSASQueryParameters({
    expiresOn: soon, permissions: AccountSASPermissions.parse("l"), protocol: SASProtocol.HttpsAndHttp,
    resourceTypes: AccountSASResourceTypes.parse("s").toString(), services: AccountSASServices.parse("q").toString(),
  }, credential).toString();
  const lister = new QueueServiceClient(`${service.url.replace(/\/$/, "")}?${accountSAS}`);
  assert.equal((await lister.listQueues().byPage().next()).value.queueItems.length, 4);
  await fails("AuthorizationPermissionMismatch", 403, lister.getProperties());
  const queueSAS = generateQueueSASQueryParameters({ queueName: "js-orders", expiresOn: soon, permissions: QueueSASPermissions.parse("a") }, credential).toString();
  const sender = new QueueClient(`${queue.url}?${queueSAS}`);
  await sender.sendMessage("by signature");
  await fails("AuthorizationPermissionMismatch", 403, sender.peekMessages());
  const past = new Date(Date.now() - 60000);
  const oldSAS = generateQueueSASQueryParameters({ queueName: "js-orders", expiresOn: past, permissions: QueueSASPermissions.parse("raup") }, credential).toString();
  await fails("AuthenticationFailed", 403, new QueueClient(`${queue.url}?${oldSAS}`).peekMessages());
  const policySAS = generateQueueSASQueryParameters({ queueName: "js-orders", identifier: "p1" }, credential).toString();
  assert.equal((await new QueueClient(`${queue.url}?${policySAS}`).peekMessages()).peekedMessageItems.length, 1);
  await fails("NoAuthenticationInformation", 401, new QueueClient(queue.url).getProperties());
  const wrong = new StorageSharedKeyCredential(credential.accountName, Buffer.from("wrong").toString("base64"));
  await fails("AuthenticationFailed", 403, new QueueClient(queue.url, newPipeline(wrong)).getProperties());

  assert.equal((await queue.deleteIfExists()).succeeded, true);
  assert.equal((await queue.deleteIfExists()).succeeded, false);
  console.log("ok");
}

main().catch((err) => { console.error(err); process.exit(1); });
