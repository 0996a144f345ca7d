import { useEffect, useState } from "preact/hooks";
import { RefusedEdit } from "./app/refused";
import { AppView } from "./app/view";
import { ClockView } from "./clock/view";
import { clock, now } from "./clock/now";
import { FunctionsView } from "./functions/view";
import { restarts, version } from "./journal/store";
import { connection } from "./journal/stream";
import { KeyDialog } from "./keydialog";
import { MessageView } from "./message/view";
import { link, route } from "./route";
import { ServicesView } from "./services/view";
import { Shortcuts } from "./shortcuts";
import { TimelineView } from "./timeline/view";
import { Boundary } from "./ui/boundary";
import { ThemeButton } from "./ui/theme";
import { timeOfDay } from "./ui/time";

const views = [
  ["timeline", "Timeline"],
  ["functions", "Functions"],
  ["services", "Services"],
  ["clock", "Clock"],
  ["app", "App"],
] as const;

export function Shell() {
  const at = route.value.view;
  useEffect(() => {
    const title = views.find(([v]) => v === at)?.[1] ?? "Message";
    document.title = `${title} · Redeliver`;
  }, [at]);
  return (
    <div class="shell">
      <header class="top">
        <a class="brand" href={link("timeline")}>
          <img src="./icon.svg" alt="" />
          Redeliver
        </a>
        <nav aria-label="Views">
          {views.map(([view, name]) => (
            <a key={view} href={link(view)} aria-current={at === view || (view === "timeline" && at === "message") ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <span class="space" />
        <Now />
        <Link />
        <Shortcuts />
        <ThemeButton />
      </header>
      <Restarted />
      <RefusedEdit />
      <main>
        <Boundary key={at}>
          <View name={at} />
        </Boundary>
      </main>
      <KeyDialog />
    </div>
  );
}

function View(props: { name: string }) {
  switch (props.name) {
    case "message":
      return <MessageView name={route.value.name} />;
    case "functions":
      return <FunctionsView />;
    case "services":
      return <ServicesView />;
    case "app":
      return <AppView />;
    case "clock":
      return <ClockView />;
    default:
      return <TimelineView />;
  }
}

/** The host's time. */
function Now() {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 250);
    return () => clearInterval(timer);
  }, []);
  void version.value;
  const c = clock.value;
  if (!c) return null;
  const mode = c.virtual ? (c.mode ?? "virtual") : "real";
  return (
    <a class="now" href={link("clock")} title="The host's time, and how its clock goes">
      <time>{timeOfDay(now()).slice(0, -4)}</time>
      <span class="badge">{mode}</span>
    </a>
  );
}

function Link() {
  const state = connection.value;
  const [text, tone] =
    state === "live" ? ["live", "succeeded"] : state === "connecting" ? ["connecting", "waiting"] : ["host not reached", "failed"];
  return (
    <span class={`link ${tone}`} role="status">
      <span class="dot" />
      {text}
    </span>
  );
}

function Restarted() {
  const [seen, see] = useState(0);
  if (connection.value === "lost") {
    return (
      <div class="banner lost" role="alert">
        The host does not answer. What is shown is what it told before; the page asks again every few seconds.
      </div>
    );
  }
  if (restarts.value === seen) return null;
  return (
    <div class="banner" role="status">
      The host has started again. Only what happened since then is shown.
      <button class="plain" onClick={() => see(restarts.value)}>
        Dismiss
      </button>
    </div>
  );
}
