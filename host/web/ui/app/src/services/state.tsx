import { useRef } from "preact/hooks";
import { demand, send, sendRaw } from "../api/client";
import { Said, Sure, useActions } from "../ui/action";
import { span } from "../ui/time";

/** Saves what the services hold to a file, loads it from one, and empties all. */
export function StatePanel(props: { changed: () => void }) {
  const actions = useActions(props.changed);
  const file = useRef<HTMLInputElement>(null);
  const save = () =>
    actions.run(async () => {
      const blob = await (await demand("state")).blob();
      const url = URL.createObjectURL(blob);
      const anchor = document.createElement("a");
      anchor.href = url;
      anchor.download = "redeliver.state";
      anchor.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
      return `Saved, ${blob.size.toLocaleString()} bytes.`;
    });
  const load = (chosen: File) =>
    actions.run(async () => {
      const { movedMs } = await sendRaw<{ movedMs?: number }>("PUT", "state", chosen);
      return `${chosen.name} is loaded${movedMs ? `; its times moved by ${span(movedMs)}` : ""}.`;
    });
  const reset = () =>
    actions.run(async () => {
      await send("DELETE", "state");
      return "The services are empty.";
    });
  return (
    <section class="panel stack">
      <h2>State of all services</h2>
      <div class="row">
        <button disabled={actions.busy} onClick={save}>
          Save to a file
        </button>
        <button disabled={actions.busy} onClick={() => file.current?.click()}>
          Load from a file
        </button>
        <input
          ref={file}
          type="file"
          hidden
          aria-label="File of a state"
          onChange={(e) => {
            const chosen = e.currentTarget.files?.[0];
            e.currentTarget.value = "";
            if (chosen) load(chosen);
          }}
        />
        <Sure disabled={actions.busy} question="Delete all messages, blobs and documents?" onSure={reset}>
          Reset
        </Sure>
      </div>
      <Said of={actions} />
    </section>
  );
}
