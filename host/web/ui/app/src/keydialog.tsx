import { useEffect, useRef, useState } from "preact/hooks";
import { giveKey, keyWanted } from "./api/client";

/** Asks for the master key, which a host that was started with --enableAuth wants. */
export function KeyDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [key, set] = useState("");
  const [given, count] = useState(0);
  const wanted = keyWanted.value;
  useEffect(() => {
    if (wanted) dialog.current?.showModal();
    else dialog.current?.close();
  }, [wanted]);
  const give = (event: Event) => {
    event.preventDefault();
    if (key.trim() === "") return;
    giveKey(key.trim());
    count(given + 1);
    set("");
  };
  return (
    <dialog ref={dialog} aria-labelledby="key-title" onCancel={(e) => e.preventDefault()}>
      <form class="stack" onSubmit={give}>
        <h2 id="key-title">This host wants a key</h2>
        <p>
          It was started with <code>--enableAuth</code>. Enter its master key; the browser keeps it until this tab is closed.
        </p>
        {given > 0 && (
          <p class="note failed" role="alert">
            The host refused that key.
          </p>
        )}
        <label class="field">
          Master key
          <input type="password" autocomplete="off" value={key} onInput={(e) => set(e.currentTarget.value)} />
        </label>
        <div class="row end">
          <button class="first" type="submit">
            Continue
          </button>
        </div>
      </form>
    </dialog>
  );
}
