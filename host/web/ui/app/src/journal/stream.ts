import { signal } from "@preact/signals";
import { call } from "../api/client";
import { EventReader, type ServerEvent } from "./events";
import type { Rec } from "./record";

/** Where the records go. */
export interface Sink {
  records(batch: Rec[]): void;
  /** Records that the host no longer has. */
  missed(count: number): void;
  /** The host has started again: what it told before is no longer true. */
  restarted(): void;
}

export type Connection = "connecting" | "live" | "lost";

/** How the stream stands, for the bar at the top. */
export const connection = signal<Connection>("connecting");

// The host says every 15 seconds that it is alive.
const silence = 40_000;
const longestWait = 5_000;

/** Follows the journal until the page is closed. */
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
  private last = 0;
  private run = "";

  constructor(private readonly sink: Sink) {}

  /** Reads one response until it ends. */
  async once(): Promise<void> {
    const abort = new AbortController();
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.last > 0) headers["Last-Event-ID"] = String(this.last);
    const response = await call(`journal?since=1&follow=true`, { headers, signal: abort.signal });
    if (!response.ok || !response.body) throw new Error(String(response.status));
    const run = response.headers.get("X-Redeliver-Run") ?? "";
    if (this.run !== "" && run !== this.run) {
      this.sink.restarted();
      this.run = run;
      if (this.last > 0) {
        this.last = 0;
        abort.abort();
        return await this.once();
      }
    }
    this.run = run;
    connection.value = "live";
    await this.read(response.body, abort);
  }

  private async read(body: ReadableStream<Uint8Array>, abort: AbortController): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const events = new EventReader();
    for (;;) {
      const quiet = setTimeout(() => abort.abort(), silence);
      try {
        const { done, value } = await reader.read();
        if (done) return;
        for (const event of events.push(decoder.decode(value, { stream: true }))) {
          const first = this.last === 0;
          this.take(event);
          if (first && this.last > 0) await picture(); // the first rows are seen before the rest is read
        }
      } finally {
        clearTimeout(quiet);
      }
    }
  }

  private take(event: ServerEvent): void {
    if (event.event === "records") {
      const batch = JSON.parse(event.data) as Rec[];
      const latest = batch.at(-1);
      if (latest) this.last = latest.seq;
      this.sink.records(batch);
    } else if (event.event === "missed") {
      this.sink.missed((JSON.parse(event.data) as { missed: number }).missed);
    }
  }
}

/** Waits until what has changed was drawn; a hidden tab draws nothing. */
function picture(): Promise<void> {
  return new Promise((resolve) => {
    if (document.hidden) resolve();
    else requestAnimationFrame(() => setTimeout(resolve));
  });
}
