import type { FunctionReport } from "../api/types";
import { quoted } from "../ui/shell";

const order = ["queueTrigger", "serviceBusTrigger", "eventHubTrigger", "cosmosDBTrigger", "blobTrigger", "httpTrigger", "eventGridTrigger", "timerTrigger"];

/** The line for the function that is reached with the least effort; empty where there is none. */
export function exampleOf(functions: FunctionReport[], port: string): string {
  const able = functions.filter((f) => !f.disabled && !f.inError && order.includes(f.trigger ?? ""));
  const f = able.toSorted((a, b) => order.indexOf(a.trigger!) - order.indexOf(b.trigger!))[0];
  if (!f) return "";
  const source = f.source ?? "";
  switch (f.trigger) {
    case "queueTrigger":
      return sendLine("queue", source);
    case "serviceBusTrigger":
      return sendLine("servicebus", source);
    case "eventHubTrigger":
      return sendLine("eventhub", source);
    case "cosmosDBTrigger":
      return sendLine("cosmos", source);
    case "blobTrigger":
      return `echo hello | redeliver upload ${quoted(source.replace(/\{[^}]*\}/g, "example"))} -`;
    case "httpTrigger":
      return `curl ${quoted(`http://localhost:${port}${source.replace(/^[A-Z, ]+ /, "").replace(/\{\*?(\w+)[^}]*\}/g, "1")}`)}`;
    default:
      return `redeliver invoke ${quoted(f.name)} '{"id":"7"}'`;
  }
}

/** The line that sends something to an entity of a service that takes messages; empty for others. */
export function sendLine(service: string, entity: string): string {
  const to = entity.replace(/\/Subscriptions\/.*$/i, "").replace(/\/\$.*$/, "");
  const body = service === "eventgrid" ? `'{"eventType":"example","data":{"id":"7"}}'` : `'{"id":"7"}'`;
  return /^(queue|servicebus|eventgrid|eventhub|cosmos)$/.test(service) ? `redeliver send ${service} ${quoted(to)} ${body}` : "";
}
