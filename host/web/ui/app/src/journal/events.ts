/** One server-sent event. */
export interface ServerEvent {
  event: string;
  id: string;
  data: string;
}

/** Reads server-sent events from the parts of a response as they come. */
export class EventReader {
  private rest = "";
  private event = "";
  private id = "";
  private data: string[] = [];

  push(part: string): ServerEvent[] {
    const out: ServerEvent[] = [];
    const lines = (this.rest + part).split("\n");
    this.rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (this.data.length > 0) out.push({ event: this.event || "message", id: this.id, data: this.data.join("\n") });
        this.event = "";
        this.data = [];
      } else {
        this.field(line);
      }
    }
    return out;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.event = value;
    else if (name === "id") this.id = value;
    else if (name === "data") this.data.push(value);
  }
}
