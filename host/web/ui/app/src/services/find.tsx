import { useEffect, useState } from "preact/hooks";
import { link } from "../route";
import { count, Short, Text } from "../ui/text";
import type { Entity } from "./entities";
import { journalName, waits } from "./messages";
import { search, type Hit } from "./search";

const mostOfEntity = 20;

/** What has a text among the messages of all entities, in the order of the list. */
export function Found(props: { text: string; list: Entity[] }) {
  const { hits, error, busy } = useSearch(props.text, props.list);
  return (
    <section class="panel stack" aria-label="Found">
      {error && (
        <p class="note failed" role="alert">
          <Text>{error}</Text>
        </p>
      )}
      <p class="muted" role="status">
        {busy ? "Searching…" : hits.length > 0 ? `In ${count(hits.length, "place")}:` : "Nothing has this text."}
      </p>
      {hits.map((hit) => (
        <div key={`${hit.entity.service}/${hit.entity.name}`}>
          <h2>
            <a href={link("services", `${hit.entity.service}/${hit.entity.name}`, { search: props.text })}>
              <Text>{hit.entity.name}</Text>
            </a>
          </h2>
          <ul class="items">
            {hit.messages.map((m) => (
              <li key={m.id} class="row">
                <a href={link("message", journalName(hit.entity, m))}>
                  <Short>{journalName(hit.entity, m)}</Short>
                </a>
                <span class={`badge ${waits(m) ? "waiting" : "queued"}`}>{m.state}</span>
                <Text class="preview mono" title={m.preview ?? ""}>
                  {m.preview ?? ""}
                </Text>
              </li>
            ))}
          </ul>
          {hit.more && <p class="muted">And more.</p>}
        </div>
      ))}
    </section>
  );
}

/** Asks every entity that holds something, a few at a time, a moment after the last key. */
function useSearch(text: string, list: Entity[]) {
  const [state, set] = useState<{ hits: Hit[]; error: string; busy: boolean }>({ hits: [], error: "", busy: true });
  useEffect(() => {
    const abort = new AbortController();
    set((before) => ({ ...before, busy: true }));
    const timer = setTimeout(() => {
      search(text, list, mostOfEntity, abort.signal)
        .then((hits) => set({ hits, error: "", busy: false }))
        .catch((error: Error) => !abort.signal.aborted && set({ hits: [], error: error.message, busy: false }));
    }, 200);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return state;
}
