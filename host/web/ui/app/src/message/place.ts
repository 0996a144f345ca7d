import { get, withQuery } from "../api/client";
import type { Messages } from "../api/types";
import type { Life } from "../journal/life";

/** Where a message is, in the words of the operations on messages. */
export interface Place {
  service: string;
  entity: string;
  id: string;
}

const services: Record<string, string> = {
  queueTrigger: "queue",
  serviceBusTrigger: "servicebus",
  eventGridTrigger: "eventgrid",
  eventHubTrigger: "eventhub",
  blobTrigger: "blob",
};

/** The place of a life's message; undefined for what no message service keeps. */
export function placeOf(life: Life): Place | undefined {
  const service = services[life.trigger] ?? (life.trigger === "" ? "queue" : undefined);
  if (!service || !life.message) return undefined;
  if (service === "blob") {
    const [container = "", ...name] = life.source.split("/");
    return { service, entity: container, id: name.join("/") };
  }
  return { service, entity: life.source, id: life.message };
}

/** The place where a dead message is now: its poison queue or dead-letter queue. */
export function graveOf(life: Life): Place | undefined {
  const place = placeOf(life);
  if (life.outcome !== "dead" || !life.grave || !place || !/^(queue|servicebus)$/.test(place.service)) return undefined;
  return { service: place.service, entity: life.grave, id: life.copy ?? life.message };
}

/**
 * The place by the name that the operations have for it. The journal names messages of
 * Service Bus and events by identities that senders gave; operations, by what the service gave.
 */
export async function located(place: Place): Promise<Place> {
  if (place.service !== "servicebus" && place.service !== "eventgrid") return place;
  const { service, entity } = place;
  const { messages } = await get<Messages>(withQuery("messages", { service, entity, search: place.id, limit: 1_000 }));
  const found = messages.find((m) => m.messageId === place.id || m.id === place.id || m.id.endsWith(`/${place.id}`));
  if (!found) throw new Error(`${entity} no longer holds this message.`);
  return { service, entity, id: found.id };
}
