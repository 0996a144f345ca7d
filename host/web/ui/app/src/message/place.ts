import { get, withQuery } from "../api/client";
import type { Inventory, Messages, ShownMessage } from "../api/types";
import type { Life } from "../journal/life";

/** Where a message is, in the words of the operations on messages. */
export interface Place {
  service: string; // "" where the journal does not tell which one it is
  entity: string;
  id: string;
}

const services: Record<string, string> = {
  queueTrigger: "queue",
  serviceBusTrigger: "servicebus",
  eventGridTrigger: "eventgrid",
  eventHubTrigger: "eventhub",
  blobTrigger: "blob",
  "": "", // no function receives it
};

/** The place of a life's message; undefined for what no message service keeps. */
export function placeOf(life: Life): Place | undefined {
  const service = services[life.trigger];
  if (service === undefined || !life.message) return undefined;
  if (service === "blob") {
    const [container = "", ...name] = life.source.split("/");
    return { service, entity: container, id: name.join("/") };
  }
  // The journal names a partition of a hub as its consumer group sees it.
  if (service === "eventhub") return { service, entity: life.source.split("/")[0] ?? "", id: life.message };
  return { service, entity: life.source, id: life.message };
}

/** The place where a dead message is now: its poison queue, dead-letter queue, or the blob of a dead letter. */
export function graveOf(life: Life): Place | undefined {
  if (life.outcome !== "dead" || !life.grave || !life.message) return undefined;
  const id = life.copy ?? life.message;
  if (life.grave.endsWith("/$DeadLetterQueue")) return { service: "servicebus", entity: life.grave, id };
  if (life.grave.endsWith("-poison")) return { service: "queue", entity: life.grave, id };
  const [container = "", ...blob] = life.grave.split("/");
  return blob.length > 0 ? { service: "blob", entity: container, id: blob.join("/") } : undefined;
}

/**
 * The message that is at a place, and the place by the name that the operations have for it.
 * The journal names messages of Service Bus and events by identities that senders gave;
 * operations, by what the service gave.
 */
export async function held(place: Place, signal?: AbortSignal): Promise<{ at: Place; message: ShownMessage } | undefined> {
  const { entity } = place;
  for (const service of place.service ? [place.service] : await having(entity)) {
    const { messages } = await get<Messages>(withQuery("messages", { service, entity, search: place.id, limit: 1_000 }), signal);
    const message = messages.find((m) => m.id === place.id) ?? messages.find((m) => m.messageId === place.id || m.id.endsWith(`/${place.id}`));
    if (message) return { at: { service, entity, id: message.id }, message };
  }
  return undefined;
}

/** The place of a message by the name that the operations have for it. */
export async function located(place: Place): Promise<Place> {
  if (/^(queue|blob|eventhub)$/.test(place.service)) return place;
  const found = await held(place);
  if (!found) throw new Error(`${place.entity} no longer holds this message.`);
  return found.at;
}

/** The services that have an entity of that name. */
async function having(entity: string): Promise<string[]> {
  const held = await get<Inventory>("inventory?deliveries=1");
  const out: string[] = [];
  if (held.queues.some((q) => q.name === entity)) out.push("queue");
  if (held.servicebus.some((e) => entity === e.path || entity.startsWith(`${e.path}/$`))) out.push("servicebus");
  if (held.eventgrid.some((t) => entity === t.name || entity.startsWith(`${t.name}/`))) out.push("eventgrid");
  return out;
}
