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
  eventHubTrigger: "eventhubs",
  cosmosDBTrigger: "cosmos",
  blobTrigger: "blob",
};

/** The place of a life's message; undefined for what no message service keeps. */
export function placeOf(life: Life): Place | undefined {
  const service = services[life.trigger] ?? (life.trigger === "" ? "queue" : undefined);
  if (!service || !life.message) return undefined;
  return { service, entity: life.source, id: life.message };
}

/** The place where a dead message is now: its poison queue or dead-letter queue. */
export function graveOf(life: Life): Place | undefined {
  const place = placeOf(life);
  if (life.outcome !== "dead" || !life.grave || !place) return undefined;
  return { service: place.service, entity: life.grave, id: life.copy ?? life.message };
}
