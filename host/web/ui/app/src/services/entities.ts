import type { Inventory } from "../api/types";

/** One thing that holds messages, in the list at the left. */
export interface Entity {
  service: string;
  name: string;
  counts: [label: string, count: number][]; // the first is always shown
  dead: boolean; // it holds what was given up
}

/** The services with views of their own. Any other one is shown by its name. */
export const titles: Record<string, string> = {
  queue: "Queues",
  servicebus: "Service Bus",
  eventgrid: "Event Grid",
  eventhub: "Event Hubs",
  cosmos: "Cosmos DB",
  blob: "Blob containers",
};

export function entities(inventory: Inventory): Entity[] {
  const out: Entity[] = [];
  for (const q of own(inventory.queues)) {
    out.push({ service: "queue", name: q.name, dead: q.name.endsWith("-poison"), counts: [["visible", q.visible], ["hidden", q.invisible]] });
  }
  for (const e of inventory.servicebus) {
    out.push({
      service: "servicebus", name: e.path, dead: false,
      counts: e.kind === "topic" ? [["scheduled", e.scheduled]] : [["active", e.active], ["locked", e.locked], ["scheduled", e.scheduled], ["deferred", e.deferred]],
    });
    if (e.kind === "topic") continue;
    out.push({ service: "servicebus", name: `${e.path}/$DeadLetterQueue`, dead: true, counts: [["dead", e.deadLetter]] });
    if (e.transferDeadLetter > 0) {
      out.push({ service: "servicebus", name: `${e.path}/$Transfer/$DeadLetterQueue`, dead: true, counts: [["dead", e.transferDeadLetter]] });
    }
  }
  for (const t of inventory.eventgrid) {
    out.push({
      service: "eventgrid", name: t.name, dead: false,
      counts: [["pending", sum(t.subscriptions, (s) => s.pending)], ["dead-lettered", sum(t.subscriptions, (s) => s.deadLetters ?? 0)]],
    });
  }
  for (const h of inventory.eventhubs) {
    out.push({
      service: "eventhub", name: h.name, dead: false,
      counts: [["events", sum(h.partitions, (p) => p.events)], ["behind", sum(h.partitions, (p) => sum(p.checkpoints, (c) => c.behind))]],
    });
  }
  for (const c of inventory.cosmos) out.push({ service: "cosmos", name: c.path, dead: false, counts: [["documents", c.documents]] });
  for (const c of own(inventory.containers)) out.push({ service: "blob", name: c.name, dead: false, counts: [["blobs", c.blobs]] });
  for (const [service, list] of Object.entries(inventory.more ?? {})) {
    for (const item of list as Record<string, unknown>[]) {
      const counts = Object.entries(item).filter((entry): entry is [string, number] => typeof entry[1] === "number");
      out.push({ service, name: String(item.name), dead: false, counts });
    }
  }
  return out;
}

/** "1 blob", "2 blobs", "3 visible". */
export function amount(n: number, label: string): string {
  return `${n.toLocaleString()} ${n === 1 ? label.replace(/^(blob|document|event)s$/, "$1") : label}`;
}

/** A list with what the runtime keeps for itself at its end. */
function own<T extends { name: string }>(list: T[]): T[] {
  const internal = (item: T) => item.name.startsWith("azure-webjobs-");
  return [...list.filter((i) => !internal(i)), ...list.filter(internal)];
}

function sum<T>(list: T[], of: (item: T) => number): number {
  return list.reduce((n, item) => n + of(item), 0);
}
