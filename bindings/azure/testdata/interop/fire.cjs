// Puts messages and uploads blobs for the functions of app, and looks at what
// became poison.
// Usage: node fire.cjs CONNECTION_STRING put|poison
const assert = require("node:assert/strict");
const { QueueServiceClient } = require("@azure/storage-queue");
const { BlobServiceClient } = require("@azure/storage-blob");

const base64 = (text) => Buffer.from(text).toString("base64");

async function put(queues, blobs) {
  const orders = queues.getQueueClient("orders");
  await orders.createIfNotExists();
  for (const text of ["good from node", "bad from node"]) await orders.sendMessage(base64(text));
  await orders.sendMessage("no base64: plain text");
  const uploads = blobs.getContainerClient("uploads");
  await uploads.createIfNotExists();
  for (const text of ["good from node", "bad from node"]) {
    await uploads.getBlockBlobClient(`${text}.txt`).uploadData(Buffer.from(text));
  }
}

async function poison(queues) {
  const messages = async (name) => (await queues.getQueueClient(name).peekMessages({ numberOfMessages: 32 })).peekedMessageItems;
  const orders = await messages("orders-poison");
  assert.deepEqual(orders.map((m) => m.messageText).sort(), [base64("bad from node"), "no base64: plain text"].sort());
  assert.deepEqual(orders.map((m) => m.dequeueCount), [0, 0]);
  assert.deepEqual(await messages("orders"), []);
  const [blob, ...more] = await messages("webjobs-blobtrigger-poison");
  assert.equal(more.length, 0);
  const said = JSON.parse(Buffer.from(blob.messageText, "base64").toString());
  assert.equal(said.ContainerName, "uploads");
  assert.equal(said.BlobName, "bad from node.txt");
  assert.equal(said.BlobType, "BlockBlob");
  assert.match(said.FunctionId, /Import$/);
  assert.match(said.ETag, /^"?0x[0-9A-F]+"?$/);
}

async function main() {
  const [connection, step] = process.argv.slice(2);
  const queues = QueueServiceClient.fromConnectionString(connection);
  await { put, poison }[step](queues, BlobServiceClient.fromConnectionString(connection));
  console.log("ok");
}

main().catch((err) => { console.error(err); process.exit(1); });
