import { effect, signal } from "@preact/signals";

/** A place in the page: #/message/<name>?attempt=d1.2 */
export interface Route {
  view: string;
  name: string;
  query: URLSearchParams;
}

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...name] = path.split("/");
  return { view: view || "timeline", name: decode(name.join("/")), query: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = signal<Route>(read());

/** The address of the timeline with the filters that it had last. */
export const timeline = signal("#/timeline");

effect(() => {
  if (route.value.view === "timeline") timeline.value = location.hash || "#/timeline";
});

window.addEventListener("hashchange", () => {
  route.value = read();
});

/** The address of a place. */
export function link(view: string, name = "", query: Record<string, string> = {}): string {
  const kept = Object.entries(query).filter(([, v]) => v !== "");
  const text = new URLSearchParams(kept).toString();
  return `#/${view}${name ? `/${encodeURIComponent(name)}` : ""}${text ? `?${text}` : ""}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** Changes the query of the place without a step in the history. */
export function requery(query: Record<string, string>): void {
  const { view, name } = route.value;
  history.replaceState(null, "", link(view, name, query));
  route.value = read();
}
