import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { send, withQuery } from "../api/client";
import type { Messages as Answer, MessageMoved, Redriven, ShownMessage } from "../api/types";
import { usePolled } from "../api/polled";
import { Line } from "../app/example";
import { sendLine } from "../app/firstmessage";
import { now } from "../clock/now";
import { BodyAt } from "../message/body";
import { link, route } from "../route";
import { Said, Sure, useActions, type Actions } from "../ui/action";
import { Short, Text } from "../ui/text";
import { at, span, when } from "../ui/time";
import type { Entity } from "./entities";

const step = 50;

/** The messages of an entity: those that wait for their time too. */
export function Messages(props: { entity: Entity; changed: () => void }) {
  const { entity } = props;
  const [search, setSearch] = useState(route.value.query.get("search") ?? "");
  const [limit, setLimit] = useState(step);
  const [open, setOpen] = useState("");
  const path = withQuery("messages", { service: entity.service, entity: entity.name, search, limit });
  const answer = usePolled<Answer>(path, 2_000);
  const actions = useActions(() => {
    answer.again();
    props.changed();
  });
  const items = answer.value?.messages ?? [];
  return (
    <section class="panel stack">
      <div class="row">
        <h2>{entity.service === "cosmos" ? "Documents" : entity.service === "blob" ? "Blobs" : "Messages"}</h2>
        <input
          type="search"
          placeholder="Search identities, bodies and properties"
          aria-label="Search the messages of this entity"
          size={38}
          value={search}
          onInput={(e) => setSearch(e.currentTarget.value)}
        />
      </div>
      <Said of={actions} />
      {answer.error && (
        <p class="note failed">
          <Text>{answer.error}</Text>
        </p>
      )}
      {items.length > 0 ? (
        <ul class="items">
          {items.map((m) => (
            <OneItem key={m.id} entity={entity} item={m} open={open === m.id} toggle={() => setOpen(open === m.id ? "" : m.id)} actions={actions} />
          ))}
        </ul>
      ) : (
        answer.value && <Nothing entity={entity} searched={search !== ""} />
      )}
      {answer.value?.more && (
        <div class="row">
          <button onClick={() => setLimit(limit + step)}>Show more</button>
        </div>
      )}
    </section>
  );
}

function Nothing(props: { entity: Entity; searched: boolean }) {
  const { entity, searched } = props;
  const line = entity.dead || searched ? "" : sendLine(entity.service, entity.name);
  return (
    <>
      <p class="muted">
        {searched ? "Nothing has this text." : entity.dead ? "Nothing was given up here." : "Nothing is here."}
        {line && " This sends something:"}
      </p>
      {line && <Line text={line} />}
    </>
  );
}

function OneItem(props: { entity: Entity; item: ShownMessage; open: boolean; toggle: () => void; actions: Actions }) {
  const { entity, item: m } = props;
  const host = now();
  const visible = at(m.visibleAt);
  const expires = at(m.expires);
  return (
    <li>
      <div class="row">
        <button class="plain" aria-expanded={props.open} aria-label={`Details of ${m.id}`} onClick={props.toggle}>
          {props.open ? "▾" : "▸"}
        </button>
        {(entity.service === "blob" && !m.messageId) || entity.service === "cosmos" ? (
          <Text class="mono">{m.id}</Text>
        ) : (
          <a href={link("message", journalName(entity, m))}>
            <Short>{journalName(entity, m)}</Short>
          </a>
        )}
        <span class={`badge ${waits(m) ? "waiting" : "queued"}`}>{m.state}</span>
        {visible !== undefined && visible > host && <span class="muted">for {span(visible - host)}</span>}
        {m.deliveryCount !== undefined && m.deliveryCount > 0 && <span class="muted">{m.deliveryCount}× delivered</span>}
        <Text class="preview mono" title={m.preview ?? ""}>
          {m.preview ?? ""}
        </Text>
      </div>
      {props.open && (
        <div class="stack opened">
          <dl class="facts">
            <dt>Identity</dt>
            <dd>
              <Text class="mono">{m.messageId ?? m.id}</Text>
            </dd>
            {m.enqueued && <dt>Since</dt>}
            {m.enqueued && <dd>{when(at(m.enqueued) ?? 0, host)}</dd>}
            {expires !== undefined && <dt>Expires</dt>}
            {expires !== undefined && <dd>{when(expires, host)}</dd>}
            {m.origin && <dt>Came from</dt>}
            {m.origin && (
              <dd>
                <Text>{m.origin}</Text>
              </dd>
            )}
            {m.reason && <dt>Because</dt>}
            {m.reason && (
              <dd>
                <Text>{m.reason}</Text>
              </dd>
            )}
            <dt>Size</dt>
            <dd>{m.size.toLocaleString()} bytes{m.binary ? ", not text" : ""}</dd>
            {m.properties &&
              Object.entries(m.properties).map(([k, v]) => (
                <Fragment key={k}>
                  <dt>
                    <Text>{k}</Text>
                  </dt>
                  <dd>
                    <Text class="mono">{v}</Text>
                  </dd>
                </Fragment>
              ))}
          </dl>
          <ItemActions entity={entity} item={m} actions={props.actions} />
          <BodyAt place={{ service: entity.service, entity: entity.name, id: m.id }} name={journalName(entity, m)} />
        </div>
      )}
    </li>
  );
}

/** Whether a message waits for a time or for who has it. */
export function waits(m: ShownMessage): boolean {
  return /hidden|locked|scheduled|deferred|waiting/.test(m.state);
}

/** The name that the journal has for a message. */
export function journalName(entity: Entity, m: ShownMessage): string {
  return m.messageId ?? (entity.service === "eventgrid" ? m.id.slice(m.id.lastIndexOf("/") + 1) : m.id);
}

function ItemActions(props: { entity: Entity; item: ShownMessage; actions: Actions }) {
  const { entity, item: m, actions } = props;
  const place = { service: entity.service, entity: entity.name, id: m.id };
  const redrive = entity.dead || (entity.service === "blob" && m.origin !== undefined);
  return (
    <div class="row">
      {redrive && (
        <button
          class="first"
          disabled={actions.busy}
          onClick={() =>
            actions.run(async () => {
              const moved = await send<Redriven>("POST", "messages/redrive", place);
              return `It is in ${moved.to} again.`;
            })
          }
        >
          Redrive{m.origin && " to "}
          {m.origin && <Text>{m.origin}</Text>}
        </button>
      )}
      {waits(m) && (
        <button disabled={actions.busy} onClick={() => actions.run(async () => (await send("POST", "messages/release", place), "Its wait is over."))}>
          Release now
        </button>
      )}
      {!entity.dead && /^(queue|servicebus|eventgrid)$/.test(entity.service) && (
        <Sure disabled={actions.busy} question="Give this message up?" onSure={() => actions.run(async () => `It is in ${(await send<MessageMoved>("POST", "messages/poison", place)).target ?? "no entity"} now.`)}>
          Move to poison
        </Sure>
      )}
    </div>
  );
}
