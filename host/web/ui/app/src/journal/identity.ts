import type { Rec } from "./record";

/**
 * What makes a message one message: senders name messages as they like, so that a name is one
 * only within an entity of a service, and there its number tells messages of one name apart.
 * The host does the same (host/explain/identity.go).
 */
export interface Identity {
  service: string;
  /** Without its dead-letter queue; empty for queues of storage, whose names are one everywhere. */
  entity: string;
  id: string;
  /** 0: its service does not count. */
  number: number;
}

const services: Record<string, string> = {
  queuetrigger: "queue",
  blobtrigger: "queue",
  servicebustrigger: "servicebus",
  eventhubtrigger: "eventhubs",
  eventgridtrigger: "eventgrid",
};

/** The identity of the message of a record. */
export function identityOf(r: Rec): Identity {
  const trigger = (r.trigger ?? "").toLowerCase();
  const service = r.service ?? services[trigger] ?? trigger;
  // A dead letter of Event Grid comes out of a blob, which is no entity.
  const source = service === "eventgrid" && r.kind === "forwarded" ? r.target : r.source;
  return { service, entity: entityOf(service, source ?? ""), id: r.message_id ?? "", number: r.message_number ?? 0 };
}

/** The identity that the message of a record had before it got the one that the record names. */
export function before(r: Rec): Identity | undefined {
  const number = r.fields?.["previous_number"];
  if (number === undefined) return undefined;
  const now = identityOf(r);
  return { ...now, entity: entityOf(now.service, r.fields?.["previous_entity"] ?? ""), number: Number(number) };
}

/** The identity as a key. */
export function keyOf(i: Identity): string {
  return `${i.service}\n${i.entity}\n${i.id}\n${i.number}`;
}

/** The identities of the messages of a record of kind received: one, or those of a batch. */
export function membersOf(r: Rec): Identity[] {
  const first = identityOf(r);
  if (!r.batch) return [first];
  const numbers = r.members?.length === r.batch.length ? r.members : undefined;
  return r.batch.map((id, i) => ({ ...first, id, number: Number(numbers?.[i] ?? first.number) }));
}

function entityOf(service: string, source: string): string {
  const name = source.toLowerCase();
  if (service === "queue") return "";
  if (service !== "eventhubs") return name.split("/$", 1)[0] ?? "";
  const parts = name.split("/");
  return `${parts[0]}/${parts.at(-1)}`;
}
