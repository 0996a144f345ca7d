import { usePolled } from "../api/polled";
import type { App, FunctionReport, Inventory, PolicyReport, Status } from "../api/types";
import { now } from "../clock/now";
import { nameOf, which } from "../journal/life";
import { told, version } from "../journal/store";
import { link } from "../route";
import { count, Text } from "../ui/text";
import { at, span, timeSpan } from "../ui/time";
import { Invoke } from "./invoke";
import { tally, type Tally } from "./tally";

type Breaker = NonNullable<App["functions"][number]["breaker"]>;

/** The functions of the app: what they are triggered by, how they are tried again, how they do. */
export function FunctionsView() {
  void version.value;
  const status = usePolled<Status>("status", 3_000);
  const inventory = usePolled<Inventory>("inventory?deliveries=1", 3_000);
  const app = usePolled<App>("app", 3_000);
  const tallies = tally(told.lives, now());
  const functions = status.value?.report?.functions ?? [];
  return (
    <div class="view">
      <div class="stack">
        <h1>Functions</h1>
        {status.error && !status.value && <p class="note failed">{status.error}</p>}
        {status.value && functions.length === 0 && <p class="muted">No app runs, or it has no function.</p>}
        <div class="cards">
          {functions.map((f) => (
            <Card
              key={f.name}
              report={f}
              state={inventory.value?.functions.find((i) => i.name === f.name)}
              breaker={app.value?.functions.find((i) => i.name === f.name)?.breaker}
              tally={tallies.get(f.name)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function Card(props: { report: FunctionReport; state: { state: string; detail?: string } | undefined; breaker: Breaker | undefined; tally: Tally | undefined }) {
  const { report: f, state, tally: t } = props;
  const bad = state?.state === "error" || f.inError;
  return (
    <section class="panel card" aria-label={f.name}>
      <div class="row">
        <h2>
          <Text>{f.name}</Text>
        </h2>
        <span class={`badge ${bad ? "failed" : state?.state === "enabled" ? "succeeded" : "queued"}`}>{state?.state ?? (f.inError ? "error" : "enabled")}</span>
        {t && t.running > 0 && <span class="badge running">{t.running} running</span>}
        <span class="space" />
        <a href={link("timeline", "", { function: f.name })}>Timeline</a>
      </div>
      {(state?.detail ?? f.disabled ?? f.notServed) && (
        <p class="note failed">
          <Text>{state?.detail ?? f.disabled ?? f.notServed ?? ""}</Text>
        </p>
      )}
      <dl class="facts">
        <dt>Trigger</dt>
        <dd>
          <Text>{f.trigger ?? "none"}</Text> <Text class="muted">{f.source ?? ""}</Text>
        </dd>
        <dt>Policy</dt>
        <dd>
          <PolicyText policy={f.retry} />
        </dd>
        <dt>If it always fails</dt>
        <dd>
          <Product report={f} />
        </dd>
        {props.breaker?.state && <dt>Breaker</dt>}
        {props.breaker?.state && (
          <dd>
            <BreakerText breaker={props.breaker} />
          </dd>
        )}
        <dt>Seen here</dt>
        <dd>
          {t ? (
            <>
              {count(t.attempts, "attempt")} in {count(t.deliveries, "delivery", "deliveries")}
              {t.failures > 0 && <span class="failed">, {t.failures} failed</span>}
              {t.dead > 0 && <span class="dead">, {t.dead} dead</span>}
              {t.rate > 0 && <span class="muted">, {+t.rate.toFixed(1)} attempts a minute</span>}
            </>
          ) : (
            <span class="muted">nothing yet</span>
          )}
        </dd>
        {t?.errorLife && <dt>Last error</dt>}
        {t?.errorLife && (
          <dd>
            <Text>{t.error.slice(0, 300)}</Text> <a href={link("message", nameOf(t.errorLife), which(t.errorLife))}>message</a>
          </dd>
        )}
      </dl>
      <Invoke name={f.name} />
    </section>
  );
}

function PolicyText(props: { policy: PolicyReport | null }) {
  const p = props.policy;
  if (!p) return <span class="muted">none: one attempt in a delivery</span>;
  const retries = p.maxRetryCount < 0 ? "retries for ever" : `${p.maxRetryCount} ${p.maxRetryCount === 1 ? "retry" : "retries"}`;
  const between = p.delayInterval
    ? `${span(timeSpan(p.delayInterval))} apart`
    : `${span(timeSpan(p.minimumInterval ?? ""))} to ${span(timeSpan(p.maximumInterval ?? ""))} apart`;
  const from = p.source === "app" ? "the app" : p.source === "function" ? "the function" : (p.source ?? "");
  return (
    <>
      {p.strategy}, {retries}, {between}
      <span class="muted">
        {" "}
        from {from}
        {p.file && ` (${p.file}${p.line ? `:${p.line}` : ""})`}
      </span>
    </>
  );
}

function Product(props: { report: FunctionReport }) {
  const f = props.report;
  const n = (value: number, unbounded?: boolean) => (unbounded ? "∞" : value);
  return (
    <>
      {n(f.attemptsPerDelivery, f.attemptsUnbounded)} × {n(f.deliveries, f.deliveriesUnbounded)} ={" "}
      <strong>{n(f.totalAttempts, f.totalUnbounded)}</strong> attempts
      {f.end && (
        <span class="muted">
          , then <Text>{f.end}</Text>
        </span>
      )}
    </>
  );
}

function BreakerText(props: { breaker: Breaker }) {
  const { state = "", until } = props.breaker;
  const end = at(until);
  return (
    <span class={state === "closed" ? "succeeded" : "failed"}>
      {state.replaceAll("_", " ")}
      {end !== undefined && end > now() && ` for ${span(end - now())}`}
    </span>
  );
}
