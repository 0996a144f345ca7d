// The calls of the samples of @azure/eventgrid, how they fail, and a web hook that
// reads what is delivered with the package's own EventGridDeserializer.
//
// Usage: node eventgrid.cjs HTTPS_BASE HTTP_BASE KEY CONTROL
// POST CONTROL/TOPIC/SUBSCRIPTION {"endpoint": URL, ...} subscribes a web hook.
const assert = require("node:assert/strict");
const http = require("node:http");
const {
  EventGridPublisherClient, EventGridDeserializer, AzureKeyCredential, AzureSASCredential, generateSharedAccessSignature, isSystemEvent,
} = require("@azure/eventgrid");

const [base, plain, key, control] = process.argv.slice(2);
const endpoint = (topic, at = base) => `${at}/${topic}/api/events`;
const options = { retryOptions: { maxRetries: 0 } };
const publisher = (topic, schema, credential = new AzureKeyCredential(key)) => new EventGridPublisherClient(endpoint(topic), schema, credential, options);
const consumer = new EventGridDeserializer();

const fails = async (code, status, promise) => {
  const err = await promise.then(() => assert.fail(`want ${code}`), (e) => e);
  assert.equal(err.name, "RestError", err.stack);
  assert.deepEqual([err.statusCode, err.code], [status, code], err.message);
  return err;
};

// A web hook of one schema: it answers the handshake, and gives what it gets to whoever
// waits for it.
class Hook {
  constructor(read) {
    this.arrived = [];
    this.waiting = [];
    this.handshakes = 0;
    this.server = http.createServer((req, res) => {
      const parts = [];
      req.on("data", (part) => parts.push(part));
      req.on("end", () => this.answer(req, Buffer.concat(parts).toString("utf8"), res).catch((err) => {
        console.error(err);
        res.writeHead(500).end();
      }));
    });
    this.read = read;
  }

  async answer(req, text, res) {
    if (req.method === "OPTIONS") {
      this.handshakes++;
      return res.writeHead(200, { "WebHook-Allowed-Origin": req.headers["webhook-request-origin"], "WebHook-Allowed-Rate": "*" }).end();
    }
    const events = await this.read(text);
    if (req.headers["aeg-event-type"] === "SubscriptionValidation") {
      this.handshakes++;
      assert.equal(events.length, 1);
      assert.ok(isSystemEvent("Microsoft.EventGrid.SubscriptionValidationEvent", events[0]), text);
      assert.ok(events[0].data.validationUrl.startsWith("http"), text);
      return res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ validationResponse: events[0].data.validationCode }));
    }
    assert.equal(req.headers["aeg-event-type"], "Notification");
    for (const event of events) {
      const waiting = this.waiting.shift();
      if (waiting) waiting({ event, headers: req.headers });
      else this.arrived.push({ event, headers: req.headers });
    }
    res.writeHead(200).end();
  }

  next() {
    return this.arrived.length > 0 ? Promise.resolve(this.arrived.shift()) : new Promise((resolve) => this.waiting.push(resolve));
  }

  async subscribe(topic, name, more = {}) {
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${this.server.address().port}/hook`;
    const made = await fetch(`${control}/${topic}/${name}`, { method: "POST", body: JSON.stringify({ endpoint: url, ...more }) });
    const state = await made.text();
    assert.equal(state, "Succeeded");
    assert.equal(this.handshakes, 1);
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const at = new Date("2026-07-08T09:10:11.120Z");

async function eventGridSchema() {
  const hook = new Hook((text) => consumer.deserializeEventGridEvents(text));
  await hook.subscribe("orders", "node");
  const orders = publisher("orders", "EventGrid");
  const sent = [
    { id: "js-1", subject: "/orders/1", eventType: "Shop.Ordered", dataVersion: "2.1", eventTime: at, data: { amount: 7, deep: { list: [1, "ä", null] } } },
    { id: "js-2", subject: "/orders/2", eventType: "Shop.Ordered", dataVersion: "1", eventTime: at, data: {} },
  ];
  await orders.send(sent);
  const got = [await hook.next(), await hook.next()].sort((a, b) => a.event.id.localeCompare(b.event.id));
  got.forEach(({ event, headers }, i) => {
    const { topic, metadataVersion, ...rest } = event;
    assert.deepEqual(rest, sent[i]);
    assert.match(topic, /^\/subscriptions\/.*\/providers\/Microsoft\.EventGrid\/topics\/orders$/);
    assert.equal(metadataVersion, "1");
    assert.equal(headers["content-type"], "application/json; charset=utf-8");
    assert.equal(headers["aeg-subscription-name"], "NODE");
    assert.equal(headers["aeg-delivery-count"], "0");
    assert.equal(headers["aeg-data-version"], sent[i].dataVersion);
    assert.equal(headers["aeg-metadata-version"], "1");
  });

  // What is left out is added: by the package, or by the service.
  await orders.send([{ subject: "s", eventType: "t", dataVersion: "1", data: { only: 7 } }]);
  const { event } = await hook.next();
  assert.ok(event.id && event.eventTime instanceof Date && Math.abs(event.eventTime - Date.now()) < 60_000, event);
  assert.deepEqual(event.data, { only: 7 });
  await publisher("orders", "Custom").send([{ id: "js-3", subject: "s", eventType: "t", eventTime: at.toISOString(), data: { a: 1 }, extra: 1 }]);
  const custom = (await hook.next()).event;
  assert.deepEqual([custom.id, custom.dataVersion, custom.data], ["js-3", "", { a: 1 }]);
  hook.close();
}

async function cloudEvents() {
  const hook = new Hook((text) => consumer.deserializeCloudEvents(text));
  await hook.subscribe("cloud", "node", { maxEventsPerBatch: 10 });
  const cloud = publisher("cloud", "CloudEvent");
  const sent = [
    {
      id: "js-object", source: "/shop", type: "Shop.Ordered", time: at, subject: "s", dataschema: "https://shop/schema", datacontenttype: "application/json",
      data: { amount: 7 }, extensionAttributes: { traceparent: "00-1-2-00", custom: "x" },
    },
    { id: "js-text", source: "/shop", type: "Shop.Ordered", time: at, data: { text: "grüße" } },
    { id: "js-bytes", source: "/shop", type: "Shop.Ordered", time: at, datacontenttype: "application/octet-stream", data: new Uint8Array([0, 1, 255]) },
    { id: "js-none", source: "/shop", type: "Shop.Ordered", time: at },
  ];
  await cloud.send(sent);
  const got = [];
  for (const _ of sent) got.push(await hook.next());
  assert.equal(got[0].headers["content-type"], "application/cloudevents-batch+json; charset=utf-8");
  assert.equal(got[0].headers["aeg-event-type"], "Notification");
  got.forEach(({ event }, i) => {
    const want = { specversion: "1.0", datacontenttype: "application/json", ...sent[i] };
    const data = event.data instanceof Uint8Array ? new Uint8Array(event.data) : event.data;
    assert.deepEqual({ ...event, ...(data === undefined ? {} : { data }) }, want);
  });
  hook.close();

  // One at a time, the event stands alone.
  const single = new Hook((text) => { assert.ok(text.startsWith("{"), text); return consumer.deserializeCloudEvents(text); });
  await single.subscribe("cloud", "single");
  await cloud.send([{ id: "js-single", source: "/shop", type: "t" }]);
  const { event, headers } = await single.next();
  assert.equal(event.id, "js-single");
  assert.equal(headers["content-type"], "application/cloudevents+json; charset=utf-8");
  single.close();

  // An Event Grid topic whose subscription delivers CloudEvents.
  const mapped = new Hook((text) => consumer.deserializeCloudEvents(text));
  await mapped.subscribe("other", "mapped", { eventDeliverySchema: "CloudEventSchemaV1_0" });
  await publisher("other", "EventGrid").send([{ id: "js-mapped", subject: "s", eventType: "t", dataVersion: "1", eventTime: at, data: { a: 1 } }]);
  const was = (await mapped.next()).event;
  assert.deepEqual([was.id, was.subject, was.type, was.data], ["js-mapped", "s", "t", { a: 1 }]);
  assert.match(was.source, /topics\/other$/);
  assert.deepEqual(was.time, at);
  mapped.close();
}

async function credentials() {
  const event = { subject: "s", eventType: "t", dataVersion: "1", data: {} };
  const soon = new Date(Date.now() + 3600_000);
  const token = (topic, withKey, until) => generateSharedAccessSignature(endpoint(topic), new AzureKeyCredential(withKey), until);
  const bySAS = (signature) => publisher("orders", "EventGrid", new AzureSASCredential(signature)).send([event]);
  await bySAS(await token("orders", key, soon));
  await publisher("orders", "EventGrid", { getToken: async () => ({ token: "anybody", expiresOnTimestamp: soon.getTime() }) }).send([event]);
  const anyhow = new EventGridPublisherClient(endpoint("orders", plain), "EventGrid", new AzureKeyCredential(key), { ...options, allowInsecureConnection: true });
  await anyhow.send([event]);
  const refused = await new EventGridPublisherClient(endpoint("orders", plain), "EventGrid", new AzureKeyCredential(key), options).send([event]).then(() => null, (e) => e);
  assert.match(refused.message, /allowInsecureConnection/);

  await fails("Unauthorized", 401, publisher("orders", "EventGrid", new AzureKeyCredential("d3Jvbmc=")).send([event]));
  await fails("Unauthorized", 401, bySAS(await token("orders", "d3Jvbmc=", soon)));
  await fails("Unauthorized", 401, bySAS(await token("cloud", key, soon)));
  await fails("Unauthorized", 401, bySAS(await token("orders", key, new Date(Date.now() - 60_000))));
  await fails("Unauthorized", 401, bySAS("no token at all"));
}

async function errors() {
  const event = { id: "js-bad", subject: "s", eventType: "t", dataVersion: "1", eventTime: at.toISOString(), data: {} };
  await fails("ResourceNotFound", 404, publisher("nowhere", "EventGrid").send([{ ...event, eventTime: at }]));
  const custom = publisher("orders", "Custom");
  for (const field of ["id", "subject", "eventType", "eventTime"]) {
    const { [field]: _, ...rest } = event;
    const err = await fails("BadRequest", 400, custom.send([event, rest]));
    assert.match(err.message, new RegExp(`event 1: the field ${field} is missing`));
  }
  await fails("BadRequest", 400, custom.send([{ ...event, topic: "t" }]));
  await fails("BadRequest", 400, custom.send([]));
  await fails("BadRequest", 400, publisher("orders", "CloudEvent").send([{ source: "/s", type: "t" }]));
  await fails("BadRequest", 400, publisher("cloud", "EventGrid").send([{ ...event, eventTime: at }]));
  const large = { ...event, data: "x".repeat(1_050_000) };
  await fails("PayloadTooLarge", 413, custom.send([large]));
  await fails("PayloadTooLarge", 413, custom.send(Array(60).fill({ ...event, data: "x".repeat(60_000) })));
}

async function main() {
  await eventGridSchema();
  await cloudEvents();
  await credentials();
  await errors();
  console.log("ok");
}

main().catch((err) => { console.error(err); process.exit(1); });
