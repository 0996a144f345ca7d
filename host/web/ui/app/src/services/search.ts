import { get, withQuery } from "../api/client";
import type { Messages, ShownMessage } from "../api/types";
import type { Entity } from "./entities";

const atOnce = 4;

export interface Hit {
  entity: Entity;
  messages: ShownMessage[];
  more: boolean;
}

/** What has a text among the messages of entities, in their order: at most so many of each. */
export async function search(text: string, list: Entity[], most: number, signal: AbortSignal): Promise<Hit[]> {
  const asked = list.filter((e) => e.counts.some(([, n]) => n > 0));
  const hits = new Map<Entity, Hit>();
  let next = 0;
  const work = async () => {
    while (next < asked.length) {
      const entity = asked[next++]!;
      const path = withQuery("messages", { service: entity.service, entity: entity.name, search: text, limit: most });
      const { messages, more } = await get<Messages>(path, signal);
      if (messages.length > 0) hits.set(entity, { entity, messages, more: more === true });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return asked.flatMap((e) => hits.get(e) ?? []);
}
