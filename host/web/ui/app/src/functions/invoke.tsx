import { useState } from "preact/hooks";
import { sendRaw } from "../api/client";
import type { InvokeResult } from "../api/types";
import { readable } from "../ui/bytes";
import { count, Text } from "../ui/text";

/** Calls a function by hand, with a body for its trigger. */
export function Invoke(props: { name: string }) {
  const [body, set] = useState("");
  const [result, show] = useState<InvokeResult>();
  const [error, fail] = useState("");
  const [busy, wait] = useState(false);
  const invoke = async (event: Event) => {
    event.preventDefault();
    wait(true);
    fail("");
    show(undefined);
    try {
      show(await sendRaw<InvokeResult>("POST", `functions/${encodeURIComponent(props.name)}/invoke`, body));
    } catch (e) {
      fail((e as Error).message);
    }
    wait(false);
  };
  return (
    <details>
      <summary>Invoke</summary>
      <form class="stack" onSubmit={(e) => void invoke(e)}>
        <label class="field">
          Body, as its trigger would get it
          <textarea spellcheck={false} value={body} onInput={(e) => set(e.currentTarget.value)} />
        </label>
        <div class="row">
          <button class="first" type="submit" disabled={busy}>
            {busy ? "Running…" : "Invoke"}
          </button>
        </div>
        <div role="status" aria-live="polite">
          {error && (
            <p class="note failed">
              <Text>{error}</Text>
            </p>
          )}
          {result && <Result of={result} />}
        </div>
      </form>
    </details>
  );
}

function Result(props: { of: InvokeResult }) {
  const { of: r } = props;
  return (
    <div class={`note ${r.succeeded ? "succeeded" : "failed"}`}>
      {r.succeeded ? "Succeeded" : "Failed"} after {count(r.attempts, "attempt")}
      {r.error && (
        <pre>
          <Text>{r.error}</Text>
        </pre>
      )}
      {r.response && (
        <pre>
          {r.response.statusCode} <Text>{readable(bytes(r.response.body ?? "")).text}</Text>
        </pre>
      )}
    </div>
  );
}

/** The bytes of a text in base64. */
function bytes(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
