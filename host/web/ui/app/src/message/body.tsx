import { useEffect, useState } from "preact/hooks";
import { nameOf, type Life } from "../journal/life";
import { Copy } from "../ui/action";
import { Text } from "../ui/text";
import { knownContent, read, type Content } from "./content";
import { graveOf, placeOf, type Place } from "./place";
import { Resend } from "./resend";
import { sendable } from "./sendable";

/** The message's body, with the ways to send it once more. */
export function Body(props: { life: Life }) {
  const { life } = props;
  const place = graveOf(life) ?? placeOf(life);
  if (!place) return null;
  return <BodyAt key={`${place.entity} ${place.id}`} place={place} name={nameOf(life)} life={life} />;
}

/** The body of what is at a place. The name is the message's own, under which it stays known. */
export function BodyAt(props: { place: Place; name: string; life?: Life }) {
  const { place, name, life } = props;
  const [content, set] = useState<Content | undefined>(knownContent(name));
  const [gone, go] = useState(false);
  const [error, fail] = useState("");
  const [turn, again] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    read(place, name, abort.signal)
      .then((found) => {
        fail("");
        go(!found);
        if (found) set(found);
      })
      .catch((e: Error) => !abort.signal.aborted && fail(e.message));
    return () => abort.abort();
  }, [turn, life?.outcome]);
  return (
    <section class="stack content" aria-label="Body">
      <div class="row">
        <h2>Body</h2>
        {content && (
          <span class="muted">
            {content.size.toLocaleString()} bytes{content.binary ? ", not text: shown in hexadecimal" : ""}
            {content.truncated ? ", only its beginning" : ""}
            {gone ? "; the service no longer holds it" : ""}
          </span>
        )}
        <span class="space" />
        {content && <Copy text={content.text} what="the body" />}
        <button class="plain" onClick={() => again(turn + 1)} title="Reads the body again" aria-label="Load the body again">
          ⟳
        </button>
      </div>
      {error && (
        <p class="note failed">
          <Text>{error}</Text>
        </p>
      )}
      {content && (
        <pre class="body" tabIndex={0}>
          <Text>{content.text}</Text>
        </pre>
      )}
      {!content && gone && <p class="muted">{place.entity} no longer holds this message: its body went with it.</p>}
      {content && !content.truncated && !(content.service === "blob" && content.origin) && <Resend message={sendable(place, content)} life={life} />}
    </section>
  );
}
