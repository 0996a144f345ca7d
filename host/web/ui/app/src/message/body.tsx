import { useState } from "preact/hooks";
import { demand, withQuery } from "../api/client";
import type { Life } from "../journal/life";
import { Copy } from "../ui/action";
import { readable, type Readable } from "../ui/bytes";
import { Text } from "../ui/text";
import { graveOf, located, placeOf, type Place } from "./place";

/** The message's body, when it is asked for. */
export function Body(props: { life: Life }) {
  const place = graveOf(props.life) ?? placeOf(props.life);
  return place ? <BodyAt key={`${place.entity} ${place.id}`} place={place} /> : null;
}

export function BodyAt(props: { place: Place }) {
  const [body, set] = useState<Readable>();
  const [error, fail] = useState("");
  const load = async () => {
    fail("");
    try {
      const response = await demand(withQuery("messages/body", { ...(await located(props.place)) }));
      set(readable(new Uint8Array(await response.arrayBuffer()), response.headers.has("X-Redeliver-Truncated")));
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
