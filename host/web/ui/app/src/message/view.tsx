import { useEffect, useState } from "preact/hooks";
import { get, withQuery } from "../api/client";
import type { Life as ToldLife, Told } from "../api/types";
import { meant, nameOf, which, type Life } from "../journal/life";
import { told, version } from "../journal/store";
import { connection } from "../journal/stream";
import { link, route, timeline } from "../route";
import { signs } from "../timeline/draw";
import { Copy } from "../ui/action";
import { count, Text } from "../ui/text";
import { at, span, when } from "../ui/time";
import { now } from "../clock/now";
import { Buttons } from "./buttons";
import { Body } from "./body";
import { Deliveries } from "./deliveries";
import { Strip } from "./strip";
import { Marks } from "./marks";

/** Everything that is known of one message. */
export function MessageView(props: { name: string }) {
  void version.value;
  const lives = told.find(props.name);
  const found = meant(lives, route.value.query) ?? lives[0];
  const life = found && { ...found }; // told in place: what shows it has to see that it is new
  const explained = useExplained(life ? nameOf(life) : props.name, life?.latest ?? 0);
  const story = life && explained?.lives.find((l) => tells(l, life));
  return (
    <div class="view">
      <div class="stack">
        <p>
          <a href={timeline.value}>← Timeline</a>
        </p>
        {life ? <Known life={life} story={story} others={lives.filter((l) => l !== found)} /> : <Unknown name={props.name} />}
      </div>
    </div>
  );
}

/** Whether what the host tells is of this life. */
function tells(story: ToldLife, life: Life): boolean {
  const same = (story.message ?? "") === life.message && (story.service ?? "") === life.service && (story.number ?? 0) === life.number;
  if (life.function === "") return same && !story.function && (story.source ?? "").toLowerCase() === life.source.toLowerCase();
  return same && (story.function ?? "").toLowerCase() === life.function.toLowerCase();
}

function Unknown(props: { name: string }) {
  return (
    <div class="panel stack">
      <h1>
        Message <Text class="mono">{props.name}</Text>
      </h1>
      <p class="muted">
        {connection.value === "live"
          ? "The page has no record of it: the host has started again since then, or its journal no longer reaches back so far."
          : "The page waits for the host."}
      </p>
    </div>
  );
}

function Known(props: { life: Life; story: ToldLife | undefined; others: Life[] }) {
  const { life, story } = props;
  const host = now();
  return (
    <>
      <header class="panel stack">
        <div class="row">
          <h1>
            <Text>{life.function || life.source}</Text>
          </h1>
          <span class={`badge ${life.outcome}`}>
            {signs[life.outcome]} <Text>{life.state}</Text>
          </span>
          <span class="space" />
          <Buttons life={life} />
        </div>
        <div class="bodyandfacts">
          <Body life={life} />
          <dl class="facts">
            <dt>{life.message ? "Message" : "Delivery"}</dt>
            <dd>
              <Text class="mono">{nameOf(life)}</Text> <Copy text={nameOf(life)} what="the identity" />
            </dd>
            {life.trigger && <dt>Trigger</dt>}
            {life.trigger && (
              <dd>
                <Text>{life.trigger}</Text> <Text class="muted">{life.source}</Text>
              </dd>
            )}
            <dt>Began</dt>
            <dd>
              {when(life.start, host)} <span class="muted">lasted {span(life.end - life.start)}</span>
            </dd>
            <dt>So far</dt>
            <dd>
              {count(life.deliveries.length, "delivery", "deliveries")}, {count(life.attempts, "attempt")}, {life.failures} failed
            </dd>
            <Relatives life={life} others={props.others} />
            <Story of={story} host={host} rows={life.function !== ""} />
          </dl>
        </div>
      </header>
      {life.deliveries.length > 0 && <Strip life={life} />}
      <Deliveries life={life} story={story} />
      <Marks life={life} />
    </>
  );
}

/** What the host tells of its policy and what comes next. Its rows are there before, so that nothing moves when it comes. */
function Story(props: { of: ToldLife | undefined; host: number; rows: boolean }) {
  const { of: story, host, rows } = props;
  const next = at(story?.nextAt);
  return (
    <>
      {(story?.policy ?? rows) && <dt>Policy</dt>}
      {(story?.policy ?? rows) && (
        <dd>
          <Text>{story ? (story.policy ?? "not known") : "…"}</Text>
        </dd>
      )}
      {(story?.expected ?? rows) && <dt>If it always fails</dt>}
      {(story?.expected ?? rows) && (
        <dd>
          <Text>{story ? (story.expected ?? "not known") : "…"}</Text>
        </dd>
      )}
      <dt>Next</dt>
      <dd>
        <Text>{story ? story.next : "…"}</Text>
        {next !== undefined && (
          <span class="muted">
            {" "}
            at {when(next, host)}
            {next > host && `, in ${span(next - host)}`}
          </span>
        )}
      </dd>
    </>
  );
}

function Relatives(props: { life: Life; others: Life[] }) {
  const { life, others } = props;
  return (
    <>
      {life.copy && <dt>Went on as</dt>}
      {life.copy && (
        <dd>
          <a class="mono" href={link("message", life.copy)}>
            <Text>{life.copy}</Text>
          </a>
        </dd>
      )}
      {life.origin && <dt>Copy of</dt>}
      {life.origin && (
        <dd>
          <a class="mono" href={link("message", life.origin)}>
            <Text>{life.origin}</Text>
          </a>
        </dd>
      )}
      <Others title="Also received by" lives={others.filter((l) => l.of === life.of)} />
      <Others title="Others of this name" lives={others.filter((l) => l.of !== life.of)} />
    </>
  );
}

function Others(props: { title: string; lives: Life[] }) {
  const list = props.lives.slice(0, 20);
  if (list.length === 0) return null;
  return (
    <>
      <dt>{props.title}</dt>
      <dd class="row">
        {list.map((l) => (
          <a key={l.key} href={link("message", nameOf(l), which(l))}>
            <Text>{l.function || l.source}</Text> {l.function && l.number > 0 && <Text class="muted">{`${l.source} ${l.number}`}</Text>}
          </a>
        ))}
      </dd>
    </>
  );
}

/** What the host tells of a message; asked anew when it has a new record, once a second at most. */
function useExplained(name: string, latest: number): Told | undefined {
  const [state, set] = useState<{ name: string; told: Told }>();
  useEffect(() => {
    if (latest === 0) return; // nothing is known of it, here and at the host
    const abort = new AbortController();
    const timer = setTimeout(
      () => {
        get<Told>(withQuery("explain", { message: name }), abort.signal)
          .then((told) => set({ name, told }))
          .catch(() => undefined); // without it the records still say what happened
      },
      state?.name === name ? 1_000 : 0,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [name, latest]);
  return state?.name === name ? state.told : undefined;
}
