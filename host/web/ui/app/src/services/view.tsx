import { useState } from "preact/hooks";
import { Example } from "../app/example";
import { usePolled } from "../api/polled";
import type { Inventory } from "../api/types";
import { link, route } from "../route";
import { useSlash } from "../ui/slash";
import { Text } from "../ui/text";
import { Details } from "./details";
import { amount, entities, titles, type Entity } from "./entities";
import { Found } from "./find";
import { StatePanel } from "./state";

/** What the host's services hold, and what can be done with it. */
export function ServicesView() {
  const inventory = usePolled<Inventory>("inventory?deliveries=256", 1_500);
  const list = inventory.value ? entities(inventory.value) : [];
  const [text, find] = useState("");
  const search = useSlash();
  const wanted = route.value.name;
  const chosen = list.find((e) => `${e.service}/${e.name}` === wanted) ?? list[0];
  return (
    <div class="view">
      <div class="stack">
        <div class="row">
          <h1>Services</h1>
          <span class="space" />
          <input
            ref={search}
            type="search"
            placeholder="Search all messages  ( / )"
            aria-label="Search the messages of all services"
            size={34}
            value={text}
            onInput={(e) => find(e.currentTarget.value)}
          />
        </div>
        {inventory.error && !inventory.value && <p class="note failed">{inventory.error}</p>}
        {inventory.value && list.length === 0 && (
          <div class="panel stack">
            <p class="muted">No service of this host holds anything yet.</p>
            <Example />
          </div>
        )}
        <div class="halves">
          <nav class="panel entities" aria-label="Entities of the services">
            {[...new Set([...Object.keys(titles), ...list.map((e) => e.service)])].map((service) => (
              <Group key={service} title={titles[service] ?? service} list={list.filter((e) => e.service === service)} chosen={chosen} onChoose={() => find("")} />
            ))}
          </nav>
          <div class="stack">
            {text.trim() && inventory.value && <Found text={text.trim()} list={list} />}
            {!text.trim() && chosen && inventory.value && (
              <Details key={`${chosen.service}/${chosen.name}`} entity={chosen} inventory={inventory.value} changed={inventory.again} />
            )}
            <StatePanel changed={inventory.again} />
          </div>
        </div>
      </div>
    </div>
  );
}

function Group(props: { title: string; list: Entity[]; chosen: Entity | undefined; onChoose: () => void }) {
  if (props.list.length === 0) return null;
  return (
    <>
      <h2>{props.title}</h2>
      <ul>
        {props.list.map((e) => (
          <li key={e.name}>
            <a href={link("services", `${e.service}/${e.name}`)} onClick={props.onChoose} aria-current={e === props.chosen ? "true" : undefined}>
              <Text class="name">{e.name}</Text>
              <Counts entity={e} />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Counts(props: { entity: Entity }) {
  const { counts, dead } = props.entity;
  return (
    <span class="counts">
      {counts.map(([label, count], i) =>
        i === 0 || count > 0 ? (
          <span key={label} class={dead && count > 0 ? "dead" : "muted"}>
            {amount(count, label)}
          </span>
        ) : null,
      )}
    </span>
  );
}
