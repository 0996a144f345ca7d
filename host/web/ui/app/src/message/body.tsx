import { useState } from "preact/hooks";
import { demand, withQuery } from "../api/client";
import type { Life } from "../journal/life";
import { Copy } from "../ui/action";
import { Text } from "../ui/text";
import { graveOf, located, placeOf, type Place } from "./place";

interface Loaded {
  text: string;
  binary: boolean;
  truncated: boolean;
  size: number;
}

/** The message's body, when it is asked for. */
export function Body(props: { life: Life }) {
  const place = graveOf(props.life) ?? placeOf(props.life);
  return place ? <BodyAt key={`${place.entity} ${place.id}`} place={place} /> : null;
}

export function BodyAt(props: { place: Place }) {
  const [body, set] = useState<Loaded>();
  const [error, fail] = useState("");
  const load = async () => {
    fail("");
    try {
      const response = await demand(withQuery("messages/body", { ...(await located(props.place)) }));
      set(read(new Uint8Array(await response.arrayBuffer()), response.headers.has("X-Redeliver-Truncated")));
    } catch (e) {
      fail((e as Error).message);
    }
  };
  return (
    <section class="panel stack">
      <div class="row">
        <h2>Body</h2>
        <button onClick={() => void load()}>{body ? "Load again" : "Show the body"}</button>
        {body && <Copy text={body.text} what="the body" />}
        {body && (
          <span class="muted">
            {body.size.toLocaleString()} bytes{body.binary ? ", not text: shown in hexadecimal" : ""}
            {body.truncated ? ", only its beginning" : ""}
          </span>
        )}
      </div>
      {error && (
        <p class="note failed" role="alert">
          <Text>{error}</Text>
        </p>
      )}
      {body && (
        <pre class="body" tabIndex={0}>
          <Text>{body.text}</Text>
        </pre>
      )}
    </section>
  );
}

const mostHex = 4_096;

function read(bytes: Uint8Array, truncated: boolean): Loaded {
  const loaded = { truncated, size: bytes.length };
  try {
    const text = new TextDecoder("utf-8", { fatal: !truncated }).decode(bytes);
    if (!text.includes("\0")) return { ...loaded, text: pretty(text), binary: false };
  } catch {
    // no text
  }
  return { ...loaded, text: hex(bytes.subarray(0, mostHex)), binary: true, truncated: truncated || bytes.length > mostHex };
}

function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function hex(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let i = 0; i < bytes.length; i += 16) {
    const row = [...bytes.subarray(i, i + 16)];
    const codes = row.map((b) => b.toString(16).padStart(2, "0")).join(" ");
    const signs = row.map((b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : ".")).join("");
    lines.push(`${i.toString(16).padStart(6, "0")}  ${codes.padEnd(47)}  ${signs}`);
  }
  return lines.join("\n");
}
