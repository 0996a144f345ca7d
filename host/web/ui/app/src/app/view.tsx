import { Fragment } from "preact";
import { send } from "../api/client";
import { usePolled } from "../api/polled";
import type { App, Finding, Generation, Reloaded, Standing, Status } from "../api/types";
import { now } from "../clock/now";
import { Copy, Said, useActions } from "../ui/action";
import { Wide } from "../ui/wide";
import { Text } from "../ui/text";
import { at, when } from "../ui/time";

/** The app: what was loaded, with which settings, reached where, and what check says of it. */
export function AppView() {
  const app = usePolled<App>("app", 3_000);
  const status = usePolled<Status>("status", 3_000);
  const actions = useActions(() => {
    app.again();
    status.again();
  });
  const s = status.value;
  const a = app.value;
  const reload = () =>
    actions.run(async () => {
      const { generation, state } = await send<Reloaded>("POST", "reload");
      return `Generation ${generation}, ${state}.`;
    });
  return (
    <div class="view">
      <div class="stack">
        <h1>App</h1>
        {app.error && !a && (
          <p class="note failed">
            <Text>{app.error}</Text>
          </p>
        )}
        <div class="pair">
          <div class="stack">
            <section class="panel stack">
              {s && (
                <dl class="facts">
                  {standing(s).map((one) => (
                    <Fragment key={one.folder}>
                      <dt>{one.name ? `Folder of ${one.name}` : "Folder"}</dt>
                      <dd>
                        <Text class="mono">{one.folder}</Text> <Copy text={one.folder} what="the folder" />
                      </dd>
                      <dt>State</dt>
                      <dd>
                        <span class={`badge ${isGood(s, one) ? "succeeded" : "failed"}`}>{one.state}</span> generation {one.generation}
                      </dd>
                    </Fragment>
                  ))}
                  <dt>Host</dt>
                  <dd>
                    redeliver {s.version}, process {s.pid}
                  </dd>
                </dl>
              )}
              {s?.errors?.map((e) => (
                <p key={e} class="note failed">
                  <Text>{e}</Text>
                </p>
              ))}
              <div class="row">
                <button disabled={actions.busy} onClick={reload} title="Loads the app's files again">
                  Reload{of(s)}
                </button>
                <Said of={actions} />
              </div>
            </section>
            {a && <Endpoints list={a.endpoints} />}
            {a && <Settings of={of(s)} list={a.settings} />}
          </div>
          <div class="stack">
            {a && <Generations of={of(s)} list={a.generations} />}
            {a && <Findings list={a.findings} />}
          </div>
        </div>
      </div>
    </div>
  );
}

type Stands = Omit<Standing, "name"> & { name?: string };

/** How each app of the run stands; one that runs alone has no name. */
function standing(s: Status): Stands[] {
  return s.apps ?? [{ folder: s.app, state: s.state, generation: s.generation }];
}

function isGood(s: Status, one: Stands): boolean {
  return s.apps ? one.state === "Running" : s.ready;
}

/** Of several apps, the one whose page this is: its files, settings and generations. */
function of(s: Status | undefined): string {
  const own = s?.apps?.find((a) => a.folder === s.app);
  return own ? ` of ${own.name}` : "";
}

const tones: Record<string, string> = { error: "failed", warning: "waiting", lint: "queued" };

function Findings(props: { list: Finding[] }) {
  return (
    <section class="panel stack">
      <h2>What check finds</h2>
      {props.list.length === 0 && <p class="muted">Nothing.</p>}
      <ul class="stack">
        {grouped(props.list).map(({ finding: f, functions }, i) => (
          <li key={i} class={`note ${tones[f.severity] ?? ""}`}>
            <span class={tones[f.severity] ?? "muted"}>
              {f.severity} {f.rule}
            </span>{" "}
            {functions.length > 0 && <Text>{functions.join(", ")}</Text>} <Text class="mono">{placeOf(f)}</Text>
            <div>
              <Text>{f.message}</Text>
              {f.fix && (
                <>
                  {" "}
                  <Text class="muted">{f.fix}</Text>
                </>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Findings that say the same of several functions, as one. */
function grouped(list: Finding[]): { finding: Finding; functions: string[] }[] {
  const groups = new Map<string, { finding: Finding; functions: string[] }>();
  for (const f of list) {
    const key = JSON.stringify([f.severity, f.rule, f.file, f.line, f.path, f.message, f.fix]);
    const group = groups.get(key) ?? { finding: f, functions: [] };
    groups.set(key, group);
    if (f.function) group.functions.push(f.function);
  }
  return [...groups.values()];
}

function placeOf(f: Finding): string {
  const file = f.file && f.line ? `${f.file}:${f.line}` : f.file;
  return [file, f.path].filter(Boolean).join(" ");
}

function Endpoints(props: { list: App["endpoints"] }) {
  return (
    <section class="panel">
      <h2>Endpoints</h2>
      <dl class="facts addresses">
        {props.list.map((e) => (
          <Fragment key={`${e.service} ${e.address ?? ""}`}>
            <dt>{e.service}</dt>
            <dd>
              {e.address && <Address text={e.address} shown={e.address} what={`the address of ${e.service}`} />}
              {e.connectionString && <Address text={e.connectionString} shown={masked(e.connectionString)} what={`the connection string of ${e.service}`} />}
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

function Address(props: { text: string; shown: string; what: string }) {
  return (
    <div class="address">
      <Text class="mono" title={props.shown}>
        {props.shown}
      </Text>{" "}
      <Copy text={props.text} what={props.what} />
    </div>
  );
}

/** A connection string without its key, which is no secret to those who copy it. */
function masked(text: string): string {
  return text.replace(/(AccountKey|SharedAccessKey)=[^;]*/gi, "$1=…");
}

function Settings(props: { of: string; list: App["settings"] }) {
  return (
    <section class="panel">
      <h2>Settings{props.of}</h2>
      {props.list.length === 0 && <p class="muted">The app has none.</p>}
      {props.list.length > 0 && (
        <Wide label="Settings">
          <thead>
            <tr>
              <th>Name</th>
              <th>Value, masked</th>
              <th>From</th>
            </tr>
          </thead>
          <tbody>
            {props.list.map((s) => (
              <tr key={s.name}>
                <td>
                  <Text class="mono">{s.name}</Text>
                </td>
                <td>
                  <Text class="mono">{s.value}</Text>
                </td>
                <td class="muted">
                  <Text>{s.source}</Text>
                </td>
              </tr>
            ))}
          </tbody>
        </Wide>
      )}
    </section>
  );
}

function Generations(props: { of: string; list: Generation[] }) {
  const host = now();
  return (
    <section class="panel stack">
      <h2>Generations{props.of}</h2>
      <ol class="stack">
        {props.list.toReversed().map((g, i) => (
          <li key={i} class={`note ${g.refused ? "failed" : g.current ? "succeeded" : ""}`}>
            <div class="row">
              <strong>{g.refused ? "Refused edit" : `Generation ${g.number ?? ""}`}</strong>
              <span class="muted">{when(at(g.at) ?? 0, host)}</span>
              {g.undone && <span class="badge queued">undone</span>}
              {g.current && <span class="badge succeeded">runs now</span>}
            </div>
            {g.reason && (
              <pre>
                <Text>{[g.file, g.reason].filter(Boolean).join(": ")}</Text>
              </pre>
            )}
            {g.hint && (
              <p class="muted">
                <Text>{g.hint}</Text>
              </p>
            )}
            {g.changes && g.changes.length > 0 && (
              <ul>
                {g.changes.map((c) => (
                  <li key={c}>
                    <Text>{c}</Text>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
