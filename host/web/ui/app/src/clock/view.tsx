import { useState } from "preact/hooks";
import { usePolled } from "../api/polled";
import { send, withQuery } from "../api/client";
import type { ClockStatus, DueItem, Dues } from "../api/types";
import { Said, useActions } from "../ui/action";
import { Short, Text } from "../ui/text";
import { Wide } from "../ui/wide";
import { at, date, span, timeOfDay, when } from "../ui/time";
import { link } from "../route";
import { clock, now, take } from "./now";

const modes: [string, string][] = [
  ["real", "goes on with the wall"],
  ["auto", "skips every wait when nothing is left to do"],
  ["manual", "stands still until it is moved"],
  ["debug", "real, but stands still while a handler runs"],
];

/** The host's time, how to move it, and what it will bring. */
export function ClockView() {
  const due = usePolled<Dues>("due", 1_000);
  const actions = useActions(due.again);
  const [by, setBy] = useState("5m");
  const move = (method: string, path: string, said: (c: ClockStatus) => string) =>
    actions.run(async () => {
      const status = await send<ClockStatus>(method, path);
      take(status);
      return said(status);
    });
  const c = clock.value;
  return (
    <div class="view">
      <div class="stack">
        <h1>Clock</h1>
        <Said of={actions} />
        <section class="panel stack">
          {c && <Times status={c} />}
          {c?.virtual === false && <p class="note">This host runs on real time. Its clock cannot be moved.</p>}
          {c?.virtual && (
            <>
              <div class="row">
                <span class="row" role="group" aria-label="Mode">
                  {modes.map(([mode, title]) => (
                    <button
                      key={mode}
                      aria-pressed={c.mode === mode}
                      title={title}
                      disabled={actions.busy}
                      onClick={() => move("PUT", withQuery("clock", { mode }), () => `The clock is ${mode}: it ${title}.`)}
                    >
                      {mode}
                    </button>
                  ))}
                </span>
                <span class="muted">{modes.find(([m]) => m === c.mode)?.[1]}</span>
              </div>
              <form
                class="row"
                onSubmit={(e) => {
                  e.preventDefault();
                  move("POST", withQuery("clock/advance", { by }), (s) => `It is ${timeOfDay(Date.parse(s.now))}.`);
                }}
              >
                <label>
                  Advance by <input value={by} size={8} onInput={(e) => setBy(e.currentTarget.value)} aria-label="Span to advance by" />
                </label>
                <button class="first" type="submit" disabled={actions.busy}>
                  Advance
                </button>
                {["1s", "1m", "1h", "24h"].map((s) => (
                  <button key={s} type="button" disabled={actions.busy} onClick={() => move("POST", withQuery("clock/advance", { by: s }), (t) => `It is ${timeOfDay(Date.parse(t.now))}.`)}>
                    +{s}
                  </button>
                ))}
                <button type="button" disabled={actions.busy} onClick={() => move("POST", "clock/next", (s) => `It is ${timeOfDay(Date.parse(s.now))}: the next thing was due.`)}>
                  To what is due next
                </button>
              </form>
            </>
          )}
        </section>
        <section class="panel">
          <h2>What is due</h2>
          {due.value && due.value.items.length > 0 ? (
            <Due items={due.value.items} more={due.value.more ?? 0} />
          ) : (
            <p class="muted">{due.error && !due.value ? due.error : "Nothing waits for a time."}</p>
          )}
        </section>
      </div>
    </div>
  );
}

function Times(props: { status: ClockStatus }) {
  const { status } = props;
  const host = now();
  const wall = Date.parse(status.wall);
  const ahead = Date.parse(status.now) - wall;
  return (
    <dl class="facts times">
      <dt>Host</dt>
      <dd>
        <time class="big">{timeOfDay(host)}</time> {date(host)}
      </dd>
      <dt>Wall</dt>
      <dd>
        {timeOfDay(wall)} {date(wall)}
        {Math.abs(ahead) >= 1_000 && <span class="muted"> · the host is {span(Math.abs(ahead))} {ahead > 0 ? "ahead" : "behind"}</span>}
      </dd>
    </dl>
  );
}

function Due(props: { items: DueItem[]; more: number }) {
  const host = now();
  return (
    <>
      <Wide label="What is due">
        <thead>
          <tr>
            <th>At</th>
            <th class="number">In</th>
            <th>What</th>
            <th class="spare">Function</th>
            <th>Message</th>
          </tr>
        </thead>
        <tbody>
          {props.items.map((item, i) => {
            const time = at(item.at) ?? host;
            return (
              <tr key={i}>
                <td class="mono">{when(time, host)}</td>
                <td class="number">{time <= host ? "now" : span(time - host)}</td>
                <td>
                  <Text>{item.text}</Text>
                </td>
                <td class="spare">{item.function && <Text>{item.function}</Text>}</td>
                <td>
                  {(item.messageId ?? item.delivery) ? (
                    <a href={link("message", item.messageId ?? item.delivery ?? "", { function: item.function ?? "" })}>
                      <Short>{item.messageId ?? item.delivery ?? ""}</Short>
                    </a>
                  ) : (
                    item.entity && <Text>{item.entity}</Text>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </Wide>
      {props.more > 0 && <p class="muted">And {props.more.toLocaleString()} more, due later.</p>}
    </>
  );
}
