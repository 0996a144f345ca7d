import { signal } from "@preact/signals";
import { call } from "../api/client";
import type { Changes } from "../api/types";
import { EventReader, type ServerEvent } from "./events";

/** Where the lives go. */
export interface Sink {
  /** All lives are told anew; again: by a host that has started again. */
  begun(again: boolean): void;
  /** What has changed, up to a record. */
  changed(changes: Changes, seq: number): void;
  /** Records that the host no longer has. */
  missed(count: number): void;
}

export type Connection = "connecting" | "live" | "lost";

/** How the stream stands, for the bar at the top. */
export const connection = signal<Connection>("connecting");

// The host says every 15 seconds that it is alive.
const silence = 40_000;
const longestWait = 5_000;

/** Follows the lives until the page is closed. */
export async function follow(sink: Sink): Promise<never> {
  const reader = new Follower(sink);
  let wait = 250;
  for (;;) {
    const begun = performance.now();
    try {
      await reader.once();
    } catch {
      // the host has ended, or the way to it: it is asked again
    }
    connection.value = "lost";
    if (performance.now() - begun > longestWait) wait = 250;
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, longestWait);
  }
}

class Follower {
  private run = "";

  constructor(private readonly sink: Sink) {}

  /** Reads one response until it ends. What is known stays until it tells something. */
  async once(): Promise<void> {
    const abort = new AbortController();
    const response = await call("lives", { headers: { Accept: "text/event-stream" }, signal: abort.signal });
    if (!response.ok || !response.body) throw new Error(String(response.status));
    connection.value = "live";
    await this.read(response.body, abort, response.headers.get("X-Redeliver-Run") ?? "");
  }

  private async read(body: ReadableStream<Uint8Array>, abort: AbortController, run: string): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const events = new EventReader();
    let first = true;
    for (;;) {
      const quiet = setTimeout(() => abort.abort(), silence);
      try {
        const { done, value } = await reader.read();
        if (done) return;
        for (const event of events.push(decoder.decode(value, { stream: true }))) {
          if (first) this.sink.begun(this.run !== "" && run !== this.run);
          this.run = run;
          this.take(event);
          if (first) await picture(); // the first rows are seen before the rest is read
          first = false;
        }
      } finally {
        clearTimeout(quiet);
      }
    }
  }

  private take(event: ServerEvent): void {
    if (event.event === "lives") this.sink.changed(JSON.parse(event.data) as Changes, Number(event.id));
    else if (event.event === "missed") this.sink.missed((JSON.parse(event.data) as { missed: number }).missed);
  }
}

/** Waits until what has changed was drawn; a hidden tab draws nothing. */
function picture(): Promise<void> {
  return new Promise((resolve) => {
    if (document.hidden) resolve();
    else requestAnimationFrame(() => setTimeout(resolve));
  });
}
