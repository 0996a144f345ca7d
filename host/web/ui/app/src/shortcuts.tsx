import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { typing } from "./ui/slash";

const keys: [keys: string, what: string][] = [
  ["?", "This list"],
  ["/", "Search what is shown: messages, or what the services hold"],
  ["Escape", "Leave the search, close this list"],
  ["↑ ↓", "To the row before or after"],
  ["Page Up, Page Down", "A screen of rows"],
  ["Home, End", "To the first or the last row"],
  ["Enter", "Open the message of the row"],
  ["← →", "Move the window of time; Shift and the wheel, or dragging, do too"],
  ["+ -", "Zoom; Ctrl and the wheel do too"],
  ["f", "Fit: the rows on screen as a whole"],
  ["l", "Follow: the host's time stays in sight"],
];

/** The keys of the page, for who asks with ? or the button. */
export function Shortcuts() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const ask = (event: KeyboardEvent) => {
      if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
      event.preventDefault();
      if (dialog.current?.open) dialog.current.close();
      else if (!document.querySelector("dialog[open]")) dialog.current?.showModal();
    };
    window.addEventListener("keydown", ask);
    return () => window.removeEventListener("keydown", ask);
  }, []);
  return (
    <>
      <button class="plain" onClick={() => dialog.current?.showModal()} title="The keys of this page ( ? )" aria-label="The keys of this page">
        ?
      </button>
      <dialog ref={dialog} aria-labelledby="keys-title">
        <form class="stack" method="dialog">
          <h2 id="keys-title">Keys</h2>
          <dl class="facts">
            {keys.map(([key, what]) => (
              <Fragment key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </Fragment>
            ))}
          </dl>
          <div class="row end">
            <button type="submit">Close</button>
          </div>
        </form>
      </dialog>
    </>
  );
}
