import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Refusal } from "../api/client";
import { Text, visible } from "./text";

/** How the last action of a view ended. */
export interface Outcome {
  good: boolean;
  text: string;
  hint: string;
  to?: string; // where it goes on
}

/** What an action says when it succeeds. */
type Success = string | { text: string; to: string };

export interface Actions {
  outcome: Outcome | undefined;
  busy: boolean;
  /** Runs an action; what it returns is said when it succeeds. */
  run: (what: () => Promise<Success>) => void;
}

export function useActions(after?: () => void): Actions {
  const [outcome, say] = useState<Outcome>();
  const [busy, set] = useState(false);
  const run = (what: () => Promise<Success>) => {
    set(true);
    say(undefined);
    what()
      .then((done) => say({ good: true, hint: "", ...(typeof done === "string" ? { text: done } : done) }))
      .catch((error: Error) => say({ good: false, text: error.message, hint: error instanceof Refusal ? error.hint : "" }))
      .finally(() => {
        set(false);
        after?.();
      });
  };
  return { outcome, busy, run };
}

/** Says how an action ended, to readers of the screen too. */
export function Said(props: { of: Actions }) {
  const { outcome } = props.of;
  return (
    <div role="status" aria-live="polite">
      {outcome && (
        <p class={`note ${outcome.good ? "succeeded" : "failed"}`}>
          <Text>{outcome.text}</Text> {outcome.to && <a href={outcome.to}>Show it</a>}
          {outcome.hint && (
            <>
              {" "}
              <Text class="muted">{outcome.hint}</Text>
            </>
          )}
        </p>
      )}
    </div>
  );
}

/** A button that asks once more before it does what cannot be undone. */
export function Sure(props: { children: ComponentChildren; question: string; disabled?: boolean; onSure: () => void }) {
  const [asked, ask] = useState(false);
  if (!asked) {
    return (
      <button class="danger" disabled={props.disabled} onClick={() => ask(true)}>
        {props.children}
      </button>
    );
  }
  const sure = () => {
    ask(false);
    props.onSure();
  };
  return (
    <span class="row" role="group" aria-label={visible(props.question)}>
      <Text>{props.question}</Text>
      <button class="danger" ref={(b) => b?.focus()} onClick={sure}>
        Yes
      </button>
      <button onClick={() => ask(false)}>No</button>
    </span>
  );
}

/** Copies a text: what it is, or the form in which it is copied. */
export function Copy(props: { text: string; what?: string; shown?: string }) {
  const [done, set] = useState("");
  const name = props.shown === undefined ? `Copy ${props.what}` : `Copy as ${props.shown}`;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      set("Copied");
    } catch {
      set("The browser refuses"); // it does on pages of other machines
    }
    setTimeout(() => set(""), 1_500);
  };
  return (
    <button class={props.shown ? "" : "plain"} onClick={() => void copy()} aria-label={name} title={name}>
      {done || (props.shown ?? "Copy")}
    </button>
  );
}
