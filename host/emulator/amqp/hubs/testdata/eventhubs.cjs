// The calls of the samples of @azure/event-hubs, with the connection string of an
// emulator: properties, batches by key and by partition, receiving from positions,
// a processor that a higher owner level takes the partition from, and a consumer group
// that nobody made.
const assert = require("node:assert");
const { EventHubProducerClient, EventHubConsumerClient, earliestEventPosition, latestEventPosition } = require("@azure/event-hubs");

const [connection, hub] = process.argv.slice(2);

function receive(consumer, partition, options, n) {
  return new Promise((resolve, reject) => {
    const all = [];
    const subscription = consumer.subscribe(partition, {
      processEvents: async (events) => {
        all.push(...events);
        if (all.length >= n) {
          await subscription.close();
          resolve(all);
        }
      },
      processError: async (err) => {
        await subscription.close();
        reject(err);
      },
    }, options);
  });
}

async function main() {
  const producer = new EventHubProducerClient(connection, hub);
  const consumer = new EventHubConsumerClient("$Default", connection, hub);
  const properties = await producer.getEventHubProperties();
  assert.strictEqual(properties.name, hub);
  assert.deepStrictEqual(properties.partitionIds, ["0", "1"]);
  assert.deepStrictEqual(await consumer.getPartitionIds(), ["0", "1"]);

  const batch = await producer.createBatch({ partitionId: "0" });
  for (let i = 0; i < 5; i++) assert.ok(batch.tryAdd({ body: { i }, properties: { n: i } }));
  await producer.sendBatch(batch);
  await producer.sendBatch([{ body: "text" }], { partitionKey: "alphabet" });

  const partition = await producer.getPartitionProperties("0");
  assert.ok(!partition.isEmpty);
  assert.ok(partition.lastEnqueuedSequenceNumber >= 4);

  const all = await receive(consumer, "0", { startPosition: earliestEventPosition }, 5);
  assert.deepStrictEqual(all.slice(0, 5).map((e) => e.body.i), [0, 1, 2, 3, 4]);
  assert.strictEqual(all[3].properties.n, 3);
  assert.strictEqual(all[3].sequenceNumber, 3);
  assert.ok(all[0].enqueuedTimeUtc instanceof Date);

  const behind = await receive(consumer, "0", { startPosition: { sequenceNumber: 2 } }, 2);
  assert.strictEqual(behind[0].sequenceNumber, 3);
  const from = await receive(consumer, "0", { startPosition: { offset: all[1].offset, isInclusive: true } }, 1);
  assert.strictEqual(from[0].sequenceNumber, 1);
  const since = await receive(consumer, "0", { startPosition: { enqueuedOn: new Date(all[0].enqueuedTimeUtc.getTime() - 1000) } }, 1);
  assert.strictEqual(since[0].sequenceNumber, 0);

  const waiting = receive(consumer, "1", { startPosition: latestEventPosition }, 1);
  const resend = setInterval(() => producer.sendBatch([{ body: "late" }], { partitionId: "1" }).catch(() => {}), 100);
  assert.strictEqual((await waiting)[0].body, "late");
  clearInterval(resend);

  let lost;
  const stolen = new Promise((resolve) => { lost = resolve; });
  const low = consumer.subscribe("0", { processEvents: async () => {}, processError: async (err) => lost(err) }, { ownerLevel: 1, startPosition: earliestEventPosition });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const other = new EventHubConsumerClient("$Default", connection, hub);
  await receive(other, "0", { ownerLevel: 2, startPosition: earliestEventPosition }, 5);
  await other.close();
  assert.strictEqual((await stolen).code, "ReceiverDisconnectedError");
  await low.close();

  await assert.rejects(new EventHubProducerClient(connection, "nowhere", { retryOptions: { maxRetries: 0 } }).createBatch(), { code: "MessagingEntityNotFoundError" });
  const nobodys = new EventHubConsumerClient("nobodys", connection, hub, { retryOptions: { maxRetries: 0 } });
  await assert.rejects(receive(nobodys, "0", { startPosition: earliestEventPosition }, 1), { code: "MessagingEntityNotFoundError" });
  await nobodys.close();
  await producer.close();
  await consumer.close();
  console.log("done");
}

main().then(() => process.exit(0), (err) => {
  console.error(err);
  process.exit(1);
});
