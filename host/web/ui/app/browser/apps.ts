import { folder, Host } from "./host";

const bus = "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=s;UseDevelopmentEmulator=true";

/** A handler that does what its message says. */
const obey = `
module.exports = async function (context, message) {
  const m = Array.isArray(message) ? message[0] : message;
  let order = typeof m === "object" && m !== null && !Buffer.isBuffer(m) ? (m.data ?? m) : {};
  if (Buffer.isBuffer(m) && m[0] === 0x7b) order = JSON.parse(m.toString());
  for (let i = 0; i < (order.log ?? 0); i++) context.log(order.say ?? "line " + i);
  if (order.hang) await new Promise((resolve) => setTimeout(resolve, order.hang));
  if (order.fail) throw new Error(order.error ?? "payment service unavailable");
};`;

function fn(trigger: object, more: object = {}): string {
  return JSON.stringify({ bindings: [{ direction: "in", name: "message", ...trigger }], ...more });
}

/** An app with a function for each kind of trigger, all of which do what their message says. */
export function everything(more: Record<string, string> = {}): string {
  const functions: Record<string, string> = {
    ProcessOrder: fn({ type: "queueTrigger", queueName: "orders" }),
    OnWork: fn({ type: "serviceBusTrigger", queueName: "work", connection: "Bus" }),
    OnEvent: fn({ type: "eventGridTrigger" }),
    OnReading: fn({ type: "eventHubTrigger", eventHubName: "readings", connection: "Bus", cardinality: "many" }),
    OnChange: fn({ type: "cosmosDBTrigger", databaseName: "shop", containerName: "items", connection: "Cosmos", leaseContainerName: "leases", createLeaseContainerIfNotExists: true }),
    OnFile: fn({ type: "blobTrigger", path: "files/{name}", connection: "AzureWebJobsStorage" }),
    Tick: fn({ type: "timerTrigger", schedule: "0 0 * * * *" }),
    Guarded: fn({ type: "queueTrigger", queueName: "guarded" }, { redeliver: { circuitBreaker: { failures: 1, pause: "00:05:00" } } }),
  };
  const files: Record<string, string> = {
    "host.json": JSON.stringify({
      version: "2.0",
      retry: { strategy: "fixedDelay", maxRetryCount: 4, delayInterval: "00:00:01" },
      extensions: { queues: { visibilityTimeout: "00:00:30" } },
      redeliver: {
        eventGrid: { topics: [{ name: "shop", subscriptions: [{ name: "all", function: "OnEvent", deadLetterContainer: "dead" }] }] },
        eventHubs: { hubs: [{ name: "readings", partitionCount: 2 }] },
      },
    }),
    "local.settings.json": JSON.stringify({
      IsEncrypted: false,
      Values: {
        AzureWebJobsStorage: "UseDevelopmentStorage=true", FUNCTIONS_WORKER_RUNTIME: "node", Bus: bus, ApiToken: "very-secret-token",
        Cosmos: "AccountEndpoint=https://localhost:8081/;AccountKey=C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
      },
    }),
    "Config.json": JSON.stringify({
      UserConfig: { Namespaces: [{ Name: "sbemulatorns", Queues: [{ Name: "work", Properties: { MaxDeliveryCount: 3 } }, { Name: "idle", Properties: {} }] }] },
    }),
    "Web/function.json": JSON.stringify({
      bindings: [
        { type: "httpTrigger", direction: "in", name: "req", methods: ["get", "post"], authLevel: "anonymous" },
        { type: "http", direction: "out", name: "res" },
      ],
    }),
    "Web/index.js": `module.exports = async (context, req) => { context.res = { body: "hello " + (req.rawBody ?? "") }; };`,
  };
  for (const [name, text] of Object.entries(functions)) {
    files[`${name}/function.json`] = text;
    files[`${name}/index.js`] = obey;
  }
  return folder({ ...files, ...more });
}

/** The flags that the app above needs. */
export const everywhere = (dir: string) => [
  "--worker", "shim", "--servicebus-port", "0", "--servicebus-admin-port", "0", "--eventgrid-port", "0", "--servicebus-config", `${dir}/Config.json`,
];

/** Starts the app above, with a container for dead letters of events. */
export async function start(dir: string, ...flags: string[]): Promise<Host> {
  const host = await Host.start(dir, ...everywhere(dir), "--clock", "manual", ...flags);
  await host.call("PUT", "containers/dead/blob?name=readme.txt", "dead letters of events");
  await host.call("PUT", "cosmos/container?container=shop/items");
  await host.call("POST", "clock/advance?by=2m"); // what waited for these begins
  return host;
}

const fail = JSON.stringify({ id: "7", fail: true, log: 2 });

/** Gives every service something that fails, succeeds, waits and lies dead. */
export async function fill(host: Host): Promise<void> {
  await host.send("orders", fail);
  await host.send("orders", JSON.stringify({ id: "8", log: 1 }));
  await host.send("guarded", fail);
  await host.send("later", "nobody receives this");
  await host.call("POST", "queues/orders/messages?visibility=2h", JSON.stringify({ id: "9" }));
  await host.call("POST", "servicebus/messages?path=work", fail);
  await host.call("POST", "servicebus/messages?path=idle", '{"id": "waits"}');
  await host.call("POST", "eventgrid/events?topic=shop", fail);
  await host.call("POST", "eventhubs/events?hub=readings&key=a", JSON.stringify({ id: "r1" }));
  await host.call("POST", "eventhubs/events?hub=readings&key=b", fail);
  await host.call("POST", "cosmos/documents?container=shop/items", JSON.stringify([{ id: "d1" }, { id: "d2", fail: true }]));
  await host.call("PUT", "containers/files/blob?name=one.txt", "the first file");
  await host.call("POST", "clock/advance?by=5m");
  await host.send("orders", fail); // still waits at the end
}
