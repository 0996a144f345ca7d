import { Fragment, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Entry, Life as ToldLife } from "../api/types";
import { which, word, type Attempt, type Delivery, type Life, type LogLine } from "../journal/life";
import { link, route } from "../route";
import { signs, colourOf } from "../timeline/draw";
import { Text } from "../ui/text";
import { span, timeOfDay } from "../ui/time";
import { folded, type Row } from "./alike";

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
          {d.batch > 1 && `, in a batch of ${d.batch}`}
          {before?.end !== undefined && `, ${span(d.start - before.end)} after the one before`}
        </span>
        <span class="space" />
        {d.decision !== undefined && <End delivery={d} />}
      </div>
      {latest.more}
      <ol class="attempts">
        {folded(latest.shown, (a) => logs.filter((l) => l.attempt === a.number)).map((row) => (
          <OneRow key={row.attempt.number} life={life} delivery={d} row={row} entries={entries} />
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
  const { decision = "", target, answer } = props.delivery;
  const bad = /poisoned|dead_lettered|dropped|undecodable/.test(decision);
  const waits = /released|abandoned|lock_lost|not_checkpointed|deferred/.test(decision);
  return (
    <span class={`badge ${bad ? "dead" : waits ? "waiting" : "queued"}`}>
      {word(decision)}
      {answer && ` ${answer}`}
      {target && (
        <>
          {": "}
          <Text>{target}</Text>
        </>
      )}
    </span>
  );
}

function OneRow(props: { life: Life; delivery: Delivery; row: Row; entries: Entry[] }) {
  const { life, delivery: d, row, entries } = props;
  const { attempt: a, same, as } = row;
  const tone = colourOf(a);
  const all = [a, ...same];
  const last = all.at(-1)!;
  const of = d.limit !== undefined && d.limit >= 0 ? ` of ${d.limit + 1}` : "";
  const entryOf = (of: Attempt) => entries.find((e) => e.attempt === of.number);
  const single = same.length === 0;
  const holdsMeant = same.some((s) => meant() === `${d.id}.${s.number}`);
  return (
    <Place name={`${d.id}.${a.number}`}>
      <div class="row">
        <span class={tone} aria-hidden="true">
          {signs[tone]}
        </span>
        <Address life={life} delivery={d} attempt={a}>
          {single ? `Attempt ${a.number}${of}` : `Attempts ${a.number} to ${last.number}${of}`}
        </Address>
        <span class={tone}>
          {a.end === undefined ? "running" : word(a.status ?? "")}
          {!single && " alike"}
        </span>
        <span class="muted">
          {timeOfDay(a.start)}
          {!single && ` to ${timeOfDay(last.end ?? last.start)}`}
          {single && a.end !== undefined && `, ${took(a, a.end)}`}
        </span>
        <Thens list={all} entryOf={entryOf} />
      </div>
      {as && (
        <p class="muted">
          The same error as attempt {as.number}
          {row.fresh.size > 0 || as.gone.length > 0 ? "; other lines:" : "."}
        </p>
      )}
      {a.error && !as && (
        <pre class="error">
          <Text>{a.error}</Text>
        </pre>
      )}
      {a.stack && !as?.sameStack && (
        <details>
          <summary>{as ? "Another stack" : "Stack"}</summary>
          <pre class="muted">
            <Text>{a.stack}</Text>
          </pre>
        </details>
      )}
      {as ? <Differing row={row} /> : <Logs lines={row.logs} />}
      {!single && (
        <details open={holdsMeant}>
          <summary>Each of the {all.length}</summary>
          <ol>
            {all.map((s) => (
              <Place key={s.number} name={s === a ? "" : `${d.id}.${s.number}`}>
                <div class="row">
                  <Address life={life} delivery={d} attempt={s}>
                    Attempt {s.number}
                    {of}
                  </Address>
                  <span class="muted">
                    {timeOfDay(s.start)}, {took(s, s.end ?? s.start)}
                  </span>
                  <Then attempt={s} entry={entryOf(s)} />
                </div>
              </Place>
            ))}
          </ol>
        </details>
      )}
    </Place>
  );
}

/** A place that the address may mean, which is then brought into sight. */
function Place(props: { name: string; children: ComponentChildren }) {
  const item = useRef<HTMLLIElement>(null);
  const isMeant = props.name !== "" && meant() === props.name;
  useEffect(() => {
    if (isMeant) item.current?.scrollIntoView({ block: "center" });
  }, [isMeant]);
  return (
    <li ref={item} id={props.name || undefined} class={isMeant ? "meant" : ""}>
      {props.children}
    </li>
  );
}

function Address(props: { life: Life; delivery: Delivery; attempt: Attempt; children: ComponentChildren }) {
  const { life, delivery: d, attempt: a } = props;
  return (
    <a href={link("message", life.message || d.id, { ...which(life), attempt: `${d.id}.${a.number}` })} title="The address of this attempt">
      {props.children}
    </a>
  );
}

/** What came after attempts that went alike: once where it was the same each time, else first and last. */
function Thens(props: { list: Attempt[]; entryOf: (a: Attempt) => Entry | undefined }) {
  const { list, entryOf } = props;
  const what = (a: Attempt) => entryOf(a)?.then ?? (a.delay === undefined ? "" : String(a.delay));
  const distinct = list.filter((a, i) => what(a) !== "" && list.findIndex((b) => what(b) === what(a)) === i);
  const few = distinct.length <= 3 ? distinct : [distinct[0]!, distinct.at(-1)!];
  return (
    <>
      {few.map((a, i) => (
        <Fragment key={a.number}>
          {i > 0 && few.length < distinct.length && <span class="muted">…</span>}
          <Then attempt={a} entry={entryOf(a)} />
        </Fragment>
      ))}
    </>
  );
}

function Then(props: { attempt: Attempt; entry: Entry | undefined }) {
  const { attempt: a, entry } = props;
  if (entry?.then) {
    return (
      <span class="then">
        → <Text>{entry.then}</Text>
        {entry.formula && <span class="muted"> = {entry.formula}</span>}
        {entry.decided && <span class="badge layer">{entry.decided}</span>}
      </span>
    );
  }
  return a.delay === undefined ? null : <span class="then">→ retry in {span(a.delay)}</span>;
}

/** The lines that an attempt wrote and an earlier one did not, and the other way round. */
function Differing(props: { row: Row }) {
  const { row } = props;
  const gone = row.as?.gone ?? [];
  if (row.fresh.size === 0 && gone.length === 0) return null;
  return (
    <ul class="logs mono" aria-label="What the handler wrote otherwise">
      {gone.map((l) => (
        <li key={l} class="muted">
          − <Text>{l}</Text>
        </li>
      ))}
      {[...row.fresh].map((l) => (
        <li key={l.seq}>
          + <span class="level">{l.level}</span> <Text>{l.text}</Text>
        </li>
      ))}
    </ul>
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

function Inputs(props: { values: string[][] }) {
  return (
    <details>
      <summary>What came with it</summary>
      <dl class="facts mono">
        {props.values.map(([k = "", v = ""]) => (
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
