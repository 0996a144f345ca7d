import { expect, test } from "vitest";
import type { FunctionReport } from "../api/types";
import { exampleOf, sendLine } from "./firstmessage";

const fn = (trigger: string, source: string, more: Partial<FunctionReport> = {}) => ({ name: "Do it", trigger, source, ...more }) as FunctionReport;

test.each([
  ["its queue before all else", [fn("timerTrigger", "0 * * * * *"), fn("httpTrigger", "/api/a"), fn("queueTrigger", "invoices")], `redeliver send queue invoices '{"id":"7"}'`],
  ["one that runs", [fn("queueTrigger", "off", { disabled: "by a setting" }), fn("queueTrigger", "bad", { inError: true }), fn("queueTrigger", "on")], `redeliver send queue on '{"id":"7"}'`],
  ["the topic of a subscription", [fn("serviceBusTrigger", "events/Subscriptions/all")], `redeliver send servicebus events '{"id":"7"}'`],
  ["a hub", [fn("eventHubTrigger", "readings")], `redeliver send eventhub readings '{"id":"7"}'`],
  ["a container of documents", [fn("cosmosDBTrigger", "shop/items")], `redeliver send cosmos shop/items '{"id":"7"}'`],
  ["a blob", [fn("blobTrigger", "files/{name}.txt")], "echo hello | redeliver upload files/example.txt -"],
  ["a route", [fn("httpTrigger", "/api/orders/{id}")], "curl http://localhost:7071/api/orders/1"],
  ["a tick", [fn("timerTrigger", "0 * * * * *")], `redeliver invoke 'Do it' '{"id":"7"}'`],
  ["nothing", [], ""],
])("%s", (_, functions, line) => {
  expect(exampleOf(functions, "7071")).toBe(line);
});

test("a line for an entity", () => {
  expect(sendLine("servicebus", "work/$DeadLetterQueue")).toBe(`redeliver send servicebus work '{"id":"7"}'`);
  expect(sendLine("blob", "files")).toBe("");
});
