import { beforeAll, expect, test, vi } from "vitest";
import type { Life } from "../journal/life";
import type { Content } from "./content";

vi.stubGlobal("document", { baseURI: "http://localhost:7071/admin/redeliver/ui/" });

let copied: typeof import("./copied");
let sendables: typeof import("./sendable");

beforeAll(async () => {
  copied = await import("./copied");
  sendables = await import("./sendable");
});

function message(service: string, entity: string, text: string, more: Partial<Content> = {}, id = "m1") {
  const bytes = new TextEncoder().encode(text);
  return sendables.sendable({ service, entity, id }, { service, bytes, text, size: bytes.length, binary: false, truncated: false, properties: {}, ...more });
}

test.each([
  ["queue", "orders", `{"id":"7"}`, {}, `redeliver send queue orders '{"id":"7"}' --port 7071`],
  ["queue", "orders-poison", `it's`, { origin: "orders" }, `redeliver send queue orders 'it'\\''s' --port 7071`],
  ["queue", "orders", "-x", {}, `redeliver send queue orders --port 7071 -- -x`],
  ["queue", "orders", "-", {}, `printf %s LQ== | base64 -d | redeliver send queue orders - --port 7071`],
  ["servicebus", "events/Subscriptions/all/$DeadLetterQueue", "x", { properties: { sessionId: "s 1", region: "eu", DeadLetterReason: "r" } }, `redeliver send servicebus events x --session 's 1' --property region=eu --port 7071`],
  ["eventhub", "readings", "x", { properties: { partition: "0", partitionKey: "k" } }, `redeliver send eventhub readings x --key k --port 7071`],
  ["eventgrid", "shop/all", `{"id":"e1","eventType":"t","data":{"a":1}}`, {}, `redeliver send eventgrid shop '{"eventType":"t","data":{"a":1}}' --port 7071`],
  ["cosmos", "shop/items", `{"id":"d1"}`, {}, `redeliver send cosmos shop/items '{"id":"d1"}' --port 7071`],
  ["blob", "files", "x", {}, `printf %s eA== | base64 -d | redeliver upload files/m1 - --port 7071`],
])("as a command: %s %s %s", (service, entity, text, more, line) => {
  expect(copied.asCommand(message(service, entity, text, more), "7071")).toBe(line);
});

test("as curl, with a key where the host wants one, and bytes that are no text", () => {
  const base = "http://localhost:7071/admin/redeliver/";
  expect(copied.asCurl(message("queue", "orders", `{"id":"7"}`), base, false)).toBe(
    `curl -X POST http://localhost:7071/admin/redeliver/queues/orders/messages -H 'Content-Type: application/octet-stream' --data-raw '{"id":"7"}'`,
  );
  expect(copied.asCurl(message("servicebus", "work", "x", { properties: { region: "a&b" } }), base, true)).toBe(
    `curl -X POST 'http://localhost:7071/admin/redeliver/servicebus/messages?path=work&property=region%3Da%26b' -H 'Content-Type: application/octet-stream' -H "x-functions-key: $KEY" --data-raw x`,
  );
  const bytes = { ...message("queue", "orders", "") };
  bytes.content = { ...bytes.content, binary: true, bytes: new Uint8Array([0xff, 0]) };
  expect(copied.asCurl(bytes, base, false)).toMatch(/^printf %s \/wA= \| base64 -d \| curl .* --data-binary @-$/);
  expect(copied.asScenario(bytes, undefined)).toBeUndefined();
});

test("as a scenario: what it sends, and what became of it", () => {
  const life = { function: "ProcessOrder", outcome: "dead", attempts: 25, deliveries: Array.from({ length: 5 }, () => ({ decision: "poisoned" })) } as unknown as Life;
  expect(copied.asScenario(message("queue", "orders-poison", `{"id":"7"}`, { origin: "orders" }), life)).toBe(
    `name: "a message of orders"\napp: .\nwhen:\n  - send: {queue: orders, body: {"id":"7"}}\nthen:\n  functions: {ProcessOrder: {attempts: 25, deliveries: 5, ends: poisoned}}\n`,
  );
  // JSON that is not compact is sent as it was, byte for byte; a life that goes on promises nothing.
  expect(copied.asScenario(message("queue", "orders", `{"id": "7"}`), { ...life, outcome: "waiting" })).toMatch(/body: "\{\\"id\\": \\"7\\"\}"\}\nthen:\n {2}invariants: true\n$/);
});
