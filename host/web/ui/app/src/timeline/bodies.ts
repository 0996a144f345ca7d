import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Inventory } from "../api/types";
import { nameOf, type Life } from "../journal/life";
import { knownContent } from "../message/content";
import { entities } from "../services/entities";
import { search, type Hit } from "../services/search";

const every = 3_000;
const mostOfEntity = 1_000;

/** Whether the body of a life's message has the text that is searched for, as far as a service holds it or the page has read it. */
export type InBody = (life: Life) => boolean;

const nowhere: InBody = () => false;

/** Asks the services for a text that is searched for: the journal has no bodies. */
export function useBodies(text: string): InBody {
  const [found, set] = useState<{ text: string; names: Set<string> }>({ text: "", names: new Set() });
  const wanted = text.trim().toLowerCase();
  useEffect(() => {
    if (wanted.length < 2) return;
    const abort = new AbortController();
    let timer = 0;
    const ask = async () => {
      try {
        const list = entities(await get<Inventory>("inventory?deliveries=1", abort.signal));
        set({ text: wanted, names: namesOf(await search(wanted, list, mostOfEntity, abort.signal)) });
      } catch {
        // the stream says that the host is away
      }
      if (!abort.signal.aborted) timer = window.setTimeout(() => void ask(), every);
    };
    timer = window.setTimeout(() => void ask(), 200);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [wanted]);
  if (wanted.length < 2) return nowhere;
  const names = found.text === wanted ? found.names : new Set<string>();
  return (life) => namesAt(life).some((n) => names.has(n)) || (knownContent(nameOf(life))?.text.toLowerCase().includes(wanted) ?? false);
}

/** Entity and identity of what was found, by all names that it has. */
export function namesOf(hits: Hit[]): Set<string> {
  const names = new Set<string>();
  for (const { entity, messages } of hits) {
    for (const m of messages) for (const id of [m.id, m.messageId, m.id.split("/").at(-1)]) if (id) names.add(`${entity.name} ${id}`.toLowerCase());
  }
  return names;
}

/** The same names for the places where a life's message was and is. */
export function namesAt(life: Life): string[] {
  const places = [life.source, life.place, life.grave ?? ""].flatMap((name) => [name, name.split("/")[0] ?? ""]);
  const ids = [life.message, life.copy].filter((id) => id !== undefined && id !== "");
  return places.flatMap((p) => (p === "" ? [] : ids.map((id) => `${p} ${id}`.toLowerCase())));
}
