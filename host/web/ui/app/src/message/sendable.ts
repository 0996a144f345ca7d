import { withQuery } from "../api/client";
import type { Life } from "../journal/life";
import type { Content } from "./content";
import type { Place } from "./place";

/** A message as it can be sent once more: where to, and with which properties. */
export interface Sendable {
  service: string;
  entity: string;
  id: string; // of a blob, its name
  content: Content;
}

/** What a message would be if it were sent again: one that was given up goes to where it came from. */
export function sendable(place: Place, content: Content): Sendable {
  const { service } = content;
  const to = content.origin ?? place.entity;
  if (service === "servicebus") return { service, entity: to.replace(/(\/Subscriptions\/[^/]*)?(\/\$.*)?$/i, ""), id: "", content };
  if (service === "eventgrid") return { service, entity: to.split("/")[0] ?? "", id: "", content };
  return { service, entity: to, id: service === "blob" || service === "cosmos" ? place.id : "", content };
}

const ofService = new Set(["DeadLetterReason", "DeadLetterErrorDescription", "Diagnostic-Id"]);
const headers = ["subject", "contentType", "correlationId", "to", "replyTo", "sessionId"];

/** The properties of the message itself, apart from those that its sender made up. */
export function split(properties: Record<string, string>): { own: Record<string, string>; made: Record<string, string> } {
  const own: Record<string, string> = {};
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries(properties)) {
    if (headers.includes(name)) own[name] = value;
    else if (!ofService.has(name) && name !== "partition" && name !== "partitionKey") made[name] = value;
  }
  return { own, made };
}

/** The request of the control API that sends it. */
export function requestOf(m: Sendable): { method: string; path: string } {
  const { own, made } = split(m.content.properties);
  const property = Object.entries(made).map(([k, v]) => `${k}=${v}`);
  switch (m.service) {
    case "servicebus":
      return {
        method: "POST",
        path: repeated(withQuery("servicebus/messages", {
          path: m.entity, session: own["sessionId"], subject: own["subject"], contentType: own["contentType"], correlation: own["correlationId"], to: own["to"], replyTo: own["replyTo"],
        }), property),
      };
    case "eventhub":
      return { method: "POST", path: repeated(withQuery("eventhubs/events", { hub: m.entity, key: m.content.properties["partitionKey"] }), property) };
    case "eventgrid":
      return { method: "POST", path: withQuery("eventgrid/events", { topic: m.entity }) };
    case "cosmos":
      return { method: "POST", path: withQuery("cosmos/documents", { container: m.entity }) };
    case "blob":
      return { method: "PUT", path: withQuery(`containers/${encodeURIComponent(m.entity)}/blob`, { name: m.id }) };
    default:
      return { method: "POST", path: `queues/${encodeURIComponent(m.entity)}/messages` };
  }
}

function repeated(path: string, property: string[]): string {
  return property.length > 0 ? `${path}&${property.map((p) => `property=${encodeURIComponent(p)}`).join("&")}` : path;
}

/** The text to send: of an event without its identity, so that the next one is another. */
export function textOf(m: Sendable): string {
  const text = new TextDecoder().decode(m.content.bytes);
  if (m.service !== "eventgrid") return text;
  try {
    const { id, topic, eventTime, source, time, ...rest } = JSON.parse(text) as Record<string, unknown>;
    void [id, topic, eventTime, time];
    return JSON.stringify(source === undefined ? rest : { ...rest, source });
  } catch {
    return text;
  }
}

/** How a life ended, as a scenario expects it; undefined for one that goes on. */
export function endOf(life: Life | undefined): { attempts: number; deliveries: number; ends: string } | undefined {
  const last = life?.deliveries.at(-1)?.decision;
  if (!life || !last || !/^(succeeded|failed|dead)$/.test(life.outcome)) return undefined;
  const dead = life.outcome === "dead" && /abandoned|lock_lost/.test(last); // the service gave it up at that settlement
  return { attempts: life.attempts, deliveries: life.deliveries.length, ends: dead ? "dead_lettered" : last };
}
