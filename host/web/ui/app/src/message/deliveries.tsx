import { Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Entry, Life as ToldLife } from "../api/types";
import type { Attempt, Delivery, Life, LogLine } from "../journal/life";
import { word } from "../journal/teller";
import { link, route } from "../route";
import { signs, colourOf } from "../timeline/draw";
import { Text } from "../ui/text";
import { span, timeOfDay } from "../ui/time";

/** The attempt that the address means: "d1.2". */
function meant(): string {
  return route.value.query.get("attempt") ?? "";
}

/** The latest of a list that may be long, back to the one that the address means, and a button for those before. */
function useLatest<T>(list: T[], step: number, meant: (item: T) => boolean) {
  const [most, set] = useState(step);
  const last = Math.max(0, list.length - most);
  const wanted = last > 0 ? list.findIndex(meant) : -1;
  const from = wanted >= 0 ? Math.min(last, wanted) : last;
  const more = from > 0 && (
    <div>
      <button onClick={() => set(most + step * 5)}>Show more of the {from.toLocaleString()} before</button>
    </div>
  );
  return { shown: list.slice(from), from, more };
}

/** The deliveries of a message with their attempts, in order. */
export function Deliveries(props: { life: Life; story: ToldLife | undefined }) {
  const { life, story } = props;
  const latest = useLatest(life.deliveries, 50, (d) => meant().startsWith(`${d.id}.`));
  return (
    <>
      {latest.more}
      {latest.shown.map((d, i) => (
        <OneDelivery
          key={d.id}
          life={life}
          delivery={d}
          entries={story?.entries.filter((e) => e.delivery === d.id) ?? []}
          before={life.deliveries[latest.from + i - 1]}
        />
      ))}
    </>
  );
}

function OneDelivery(props: { life: Life; delivery: Delivery; entries: Entry[]; before: Delivery | undefined }) {
  const { life, delivery: d, entries, before } = props;
  const logs = life.logs.filter((l) => l.delivery === d.id);
  const latest = useLatest(d.attempts, 200, (a) => meant() === `${d.id}.${a.number}`);
  return (
    <section class="panel delivery" aria-label={`Delivery ${d.count}`}>
      <div class="row">
        <h2>Delivery {d.count}</h2>
        <span class="muted mono">{d.id}</span>
        <span class="muted">
          at {timeOfDay(d.start)}
          {before?.end !== undefined && `, ${span(d.start - before.end)} after the one before`}
        </span>
        <span class="space" />
        {d.decision !== undefined && <End delivery={d} />}
      </div>
      {latest.more}
      <ol class="attempts">
        {latest.shown.map((a) => (
          <OneAttempt
            key={a.number}
            life={life}
            delivery={d}
            attempt={a}
            entry={entries.find((e) => e.attempt === a.number)}
            logs={logs.filter((l) => l.attempt === a.number)}
          />
        ))}
      </ol>
      <Logs lines={logs.filter((l) => !d.attempts.some((a) => a.number === l.attempt))} />
      {d.remark && (
        <p class="muted">
          <Text>{d.remark}</Text>
        </p>
      )}
      {d.inputs && <Inputs values={d.inputs} />}
    </section>
  );
}

function End(props: { delivery: Delivery }) {
  const { decision = "", target } = props.delivery;
  const bad = /poisoned|dead_lettered|dropped|undecodable/.test(decision);
  const waits = /released|abandoned|lock_lost|not_checkpointed|deferred/.test(decision);
  return (
    <span class={`badge ${bad ? "dead" : waits ? "waiting" : "queued"}`}>
      {word(decision)}
      {target && (
        <>
          {": "}
          <Text>{target}</Text>
        </>
      )}
    </span>
  );
}

function OneAttempt(props: { life: Life; delivery: Delivery; attempt: Attempt; entry: Entry | undefined; logs: LogLine[] }) {
  const { life, delivery: d, attempt: a, entry } = props;
  const item = useRef<HTMLLIElement>(null);
  const name = `${d.id}.${a.number}`;
  const isMeant = meant() === name;
  useEffect(() => {
    if (isMeant) item.current?.scrollIntoView({ block: "center" });
  }, [isMeant]);
  const tone = colourOf(a);
  const of = d.limit !== undefined && d.limit >= 0 ? ` of ${d.limit + 1}` : "";
  return (
    <li ref={item} id={name} class={isMeant ? "meant" : ""}>
      <div class="row">
        <span class={tone} aria-hidden="true">
          {signs[tone]}
        </span>
        <a href={link("message", life.message || d.id, { function: life.function, attempt: name })} title="The address of this attempt">
          Attempt {a.number}
          {of}
        </a>
        <span class={tone}>{a.end === undefined ? "running" : word(a.status ?? "")}</span>
        <span class="muted">
          {timeOfDay(a.start)}
          {a.end !== undefined && `, ${took(a, a.end)}`}
        </span>
        {entry?.then && (
          <span class="then">
            → <Text>{entry.then}</Text>
            {entry.formula && <span class="muted"> = {entry.formula}</span>}
            {entry.decided && <span class="badge layer">{entry.decided}</span>}
          </span>
        )}
        {!entry?.then && a.delay !== undefined && <span class="then">→ retry in {span(a.delay)}</span>}
      </div>
      {a.error && (
        <pre class="error">
          <Text>{a.error}</Text>
        </pre>
      )}
      {a.stack && (
        <details>
          <summary>Stack</summary>
          <pre class="muted">
            <Text>{a.stack}</Text>
          </pre>
        </details>
      )}
      <Logs lines={props.logs} />
    </li>
  );
}

/** How long an attempt took, and in real time where that differs. */
function took(a: Attempt, end: number): string {
  const virtual = span(end - a.start);
  if (a.elapsed === undefined || Math.abs(a.elapsed - (end - a.start)) < 2) return virtual;
  return `${virtual} (${span(a.elapsed)} of real time)`;
}

function Logs(props: { lines: LogLine[] }) {
  if (props.lines.length === 0) return null;
  return (
    <ul class="logs mono" aria-label="What the handler wrote">
      {props.lines.map((l) => (
        <li key={l.seq} class={/error|fatal|critical/.test(l.level) ? "failed" : /warn/.test(l.level) ? "waiting" : ""}>
          <span class="muted">{timeOfDay(l.time)}</span> <span class="level">{l.level}</span> <Text>{l.text}</Text>
        </li>
      ))}
    </ul>
  );
}

function Inputs(props: { values: Record<string, string> }) {
  return (
    <details>
      <summary>What came with it</summary>
      <dl class="facts mono">
        {Object.entries(props.values).map(([k, v]) => (
          <Fragment key={k}>
            <dt>
              <Text>{k}</Text>
            </dt>
            <dd>
              <Text>{v}</Text>
            </dd>
          </Fragment>
        ))}
      </dl>
    </details>
  );
}
