// Pages in a real browser against every listener of a host.
// Usage: node browser.cjs JSON, with
//   chromium  program
//   storage   connection string
//   bus, busAdmin  connection strings
//   web, grid http://host:port
//   evil      port of an empty page, whose origins nobody names
//   friend    port of another: http://127.0.0.1 there is named by --cors
const assert = require("node:assert/strict");
const { BlobServiceClient } = require("@azure/storage-blob");
const { QueueServiceClient, generateAccountSASQueryParameters } = require("@azure/storage-queue");
const storageQueue = require("@azure/storage-queue");
const { ServiceBusClient } = require("@azure/service-bus");
const { chromium } = require("playwright-core");
const Long = require("long");

const at = JSON.parse(process.argv[2]);
const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const endpoint = (connection) => /Endpoint=sb:\/\/([^;]+)/.exec(connection)[1].replace(/^([^:]+)$/, "$1:5672");

// look is the state of the host as a program on this machine sees it.
async function look(queues, blobs, bus) {
  const receiver = bus.createReceiver("orders");
  const seen = { queues: [], messages: [], blobs: [], bus: [], admin: {} };
  for await (const q of queues.listQueues()) seen.queues.push(q.name);
  for (const m of (await queues.getQueueClient("inbox").peekMessages({ numberOfMessages: 32 })).peekedMessageItems) seen.messages.push([m.messageText, m.dequeueCount]);
  for await (const b of blobs.getContainerClient("files").listBlobsFlat()) seen.blobs.push([b.name, b.properties.etag]);
  for (const m of await receiver.peekMessages(32, { fromSequenceNumber: Long.ONE })) seen.bus.push([m.body, m.deliveryCount, m.state]);
  seen.cors = [(await queues.getProperties()).cors, (await blobs.getProperties()).cors];
  for (const path of ["inventory", "servicebus", "journal"]) seen.admin[path] = await (await fetch(`${at.web}/admin/redeliver/${path}`)).text();
  await receiver.close();
  return seen;
}

// attack runs in a page: it tries what a page can, and returns what it could read.
async function attack({ gets, posts, sockets }) {
  const read = [];
  const patience = (what) => Promise.race([what, new Promise((_, no) => setTimeout(() => no(new Error("no answer")), 10000))]);
  const element = (name, attribute, url) => patience(new Promise((done) => {
    const e = document.createElement(name);
    e.onload = () => done(true);
    e.onerror = () => done(false);
    e[attribute] = url;
    if (name === "link") e.rel = "stylesheet";
    document.body.append(e);
  })).catch(() => false);
  for (const url of gets) {
    for (const options of [{}, { headers: { "x-ms-version": "2021-12-02" } }, { method: "DELETE" }, { method: "PUT", body: "x" }]) {
      const answer = await patience(fetch(url, options)).then((r) => r.text(), () => null);
      if (answer !== null) read.push([options.method ?? "GET", url, answer]);
    }
    await patience(fetch(url, { mode: "no-cors" })).catch(() => null);
    if (await element("img", "src", url)) read.push(["img", url]);
    if (await element("script", "src", url)) read.push(["script", url]);
    if (await element("link", "href", url)) read.push(["link", url]);
    await element("iframe", "src", url);
  }
  for (const [url, body] of posts) {
    const answer = await patience(fetch(url, { method: "POST", body, headers: { "content-type": "text/plain" } })).then((r) => r.text(), () => null);
    if (answer !== null) read.push(["POST", url, answer]);
    await patience(fetch(url, { method: "POST", body, mode: "no-cors", keepalive: true })).catch(() => null);
    await patience(new Promise((done) => {
      const frame = document.createElement("iframe");
      frame.name = `f${Math.random()}`;
      document.body.append(frame);
      const form = document.createElement("form");
      Object.assign(form, { action: url, method: "post", enctype: "text/plain", target: frame.name });
      const input = document.createElement("input");
      const [name, value] = [body.slice(0, body.indexOf("=")), body.slice(body.indexOf("=") + 1)];
      Object.assign(input, body.includes("=") ? { name, value } : { name: body, value: "" });
      form.append(input);
      document.body.append(form);
      frame.onload = done;
      form.submit();
    })).catch(() => null);
  }
  for (const url of sockets) {
    const opened = await patience(new Promise((done) => {
      const s = new WebSocket(url, "AMQPWSB10");
      s.onopen = () => { s.close(); done(true); };
      s.onerror = () => done(false);
    })).catch(() => false);
    if (opened) read.push(["WebSocket", url]);
  }
  return read;
}

async function main() {
  const queues = QueueServiceClient.fromConnectionString(at.storage);
  const blobs = BlobServiceClient.fromConnectionString(at.storage);
  const bus = new ServiceBusClient(at.bus);
  await queues.getQueueClient("inbox").create();
  await queues.getQueueClient("inbox").sendMessage("kept");
  await blobs.getContainerClient("files").create();
  await blobs.getContainerClient("files").getBlockBlobClient("a.png").uploadData(png, { blobHTTPHeaders: { blobContentType: "image/png" } });
  await bus.createSender("orders").sendMessages({ body: "kept" });

  // Any page can make these: the account's key is in the documentation.
  const expiresOn = new Date(Date.now() + 3600e3);
  const sas = generateAccountSASQueryParameters({
    expiresOn, services: "bq", resourceTypes: "sco", version: "2021-12-02",
    permissions: storageQueue.AccountSASPermissions.parse("rwdlacup"),
  }, queues.credential).toString();
  const messages = `${queues.url}/inbox/messages?${sas}`, blob = `${blobs.url}/files/a.png?${sas}`;
  const service = `${queues.url}/?restype=service&comp=properties&${sas}`;
  const [amqp, admin] = [endpoint(at.bus), endpoint(at.busAdmin)];
  const text = "<QueueMessage><MessageText x=\"1\">evil</MessageText></QueueMessage>";
  const event = JSON.stringify([{ id: "=1", subject: "s", eventType: "good", eventTime: "2030-01-01T00:00:00Z", dataVersion: "1", data: {} }]);
  const named = (host, list) => list.map((x) => typeof x === "string" ? x.replace(/127\.0\.0\.1|localhost/, host) : [x[0].replace(/127\.0\.0\.1|localhost/, host), x[1]]);
  const targets = (host) => ({
    gets: named(host, [messages, blob, service, `http://${amqp}/orders`, `http://${admin}/$Resources/queues`, `http://${admin}/orders`,
      `${at.grid}/shop/api/events`, `${at.web}/admin/host/status`, `${at.web}/admin/redeliver/journal`, `${at.web}/admin/redeliver/queues/inbox/messages`, `${at.web}/admin/redeliver/state`]),
    posts: named(host, [[messages, text], [service, text], [`http://${admin}/evil`, "x=1"], [`http://${amqp}/evil`, "x=1"], [`${at.grid}/shop/api/events`, event],
      [`${at.web}/admin/redeliver/queues/inbox/messages`, "evil"], [`${at.web}/admin/redeliver/queues/evil/messages`, "a=b"], [`${at.web}/admin/redeliver/servicebus/messages?path=orders`, "evil"],
      [`${at.web}/admin/redeliver/stop`, "x=1"], [`${at.web}/admin/functions/OnOrder`, JSON.stringify({ input: "=" })], [`${at.web}/runtime/webhooks/EventGrid?functionName=OnOrder`, event]]),
    sockets: named(host, [`ws://${amqp}/$servicebus/websocket`, `ws://${admin}/$servicebus/websocket`]),
  });

  const browser = await chromium.launch({
    executablePath: at.chromium,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--host-resolver-rules=MAP evil.test 127.0.0.1"],
  });
  try {
    const before = await look(queues, blobs, bus);
    const page = await browser.newPage();
    for (const from of ["127.0.0.1", "localhost"]) {
      for (const to of ["127.0.0.1", "localhost"]) {
        await page.goto(`http://${from}:${at.evil}/`);
        assert.deepEqual(await page.evaluate(attack, targets(to)), [], `a page of http://${from}:${at.evil} read of ${to}`);
        // It may lead the whole tab there: nothing happens then either.
        for (const url of [named(to, [messages])[0], named(to, [`${at.web}/admin/redeliver/journal`])[0]]) {
          await page.goto(`http://${from}:${at.evil}/`);
          const [response] = await Promise.all([page.waitForNavigation(), page.evaluate((u) => { location.href = u; }, url)]);
          assert.equal(response.status(), 403, url);
        }
      }
    }
    // A name of the attacker's that leads here: the page counts as the listener's own.
    for (const url of [messages, blob, `http://${amqp}/orders`, `http://${admin}/orders`, `${at.grid}/shop/api/events`, `${at.web}/admin/redeliver/journal`]) {
      const rebound = named("evil.test", [url])[0];
      assert.equal((await page.goto(rebound)).status(), 403, rebound);
      assert.equal(await page.evaluate((u) => fetch(u, { method: "POST", body: "x" }).then((r) => r.status), rebound), 403, rebound);
    }
    assert.deepEqual(await look(queues, blobs, bus), before);

    // Functions are open to every page, as on the platform; CORS keeps their answers.
    await page.goto(`http://127.0.0.1:${at.evil}/`);
    assert.equal(await page.evaluate((u) => fetch(u).then((r) => r.text(), () => "kept"), `${at.web}/api/Open`), "kept");
    await page.evaluate((u) => fetch(u, { mode: "no-cors" }), `${at.web}/api/Open`);
    assert.match(await (await fetch(`${at.web}/admin/redeliver/journal`)).text(), /"function":"Open"/);

    // The origin that --cors names may use AMQP, and read what functions answer.
    await page.goto(`http://127.0.0.1:${at.friend}/`);
    assert.deepEqual(await page.evaluate(attack, { gets: [], posts: [], sockets: targets("127.0.0.1").sockets }), targets("127.0.0.1").sockets.map((u) => ["WebSocket", u]));
    assert.equal(await page.evaluate((u) => fetch(u).then((r) => r.text()), `${at.web}/api/Open`), "open");

    // An origin with a CORS rule of the services may use these, preflights included, and
    // show a blob; without, it may not.
    const shop = `http://localhost:${at.friend}`;
    const use = async ({ messages, blob }) => ({
      got: await fetch(messages, { headers: { "x-ms-version": "2021-12-02" } }).then((r) => r.text(), () => "kept"),
      image: await new Promise((done) => { const i = new Image(); i.onload = () => done(true); i.onerror = () => done(false); i.src = blob + "&n=" + Math.random(); }),
    });
    await page.goto(shop);
    assert.deepEqual(await page.evaluate(use, { messages, blob }), { got: "kept", image: false });
    const cors = [{ allowedOrigins: shop, allowedMethods: "GET", allowedHeaders: "*", exposedHeaders: "*", maxAgeInSeconds: 1 }];
    await queues.setProperties({ cors });
    await blobs.setProperties({ cors });
    const got = await page.evaluate(use, { messages, blob });
    assert.match(got.got, /<DequeueCount>1<.*<MessageText>kept</);
    assert.equal(got.image, true);
  } finally {
    await browser.close();
    await bus.close();
  }
}

main().then(() => console.log("ok"), (err) => { console.error(err); process.exitCode = 1; });
