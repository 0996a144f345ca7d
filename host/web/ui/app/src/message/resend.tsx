import { useState } from "preact/hooks";
import { hasKey, root, sendRaw } from "../api/client";
import type { Life } from "../journal/life";
import { link } from "../route";
import { Copy, Said, useActions } from "../ui/action";
import { Text } from "../ui/text";
import { asCommand, asCurl, asScenario } from "./copied";
import { requestOf, textOf, type Sendable } from "./sendable";

/** Sends a message once more: as it is from a shell or in a test, or changed from here. */
export function Resend(props: { message: Sendable; life: Life | undefined }) {
  const { message } = props;
  const [open, set] = useState(false);
  const scenario = asScenario(message, props.life);
  return (
    <>
      <div class="row" role="group" aria-label="Send once more">
        <span class="muted">Copy as</span>
        <Copy text={asCommand(message, location.port)} shown={message.service === "blob" ? "redeliver upload" : "redeliver send"} />
        <Copy text={asCurl(message, new URL(root, location.href).href, hasKey())} shown="curl" />
        {scenario && <Copy text={scenario} shown="scenario" />}
        {!message.content.binary && (
          <button aria-expanded={open} onClick={() => set(!open)}>
            Edit and send again
          </button>
        )}
      </div>
      {open && <Edit message={message} />}
    </>
  );
}

function Edit(props: { message: Sendable }) {
  const { message: m } = props;
  const actions = useActions();
  const [text, set] = useState(textOf(m));
  const submit = (event: Event) => {
    event.preventDefault();
    actions.run(async () => {
      const { method, path } = requestOf(m);
      const answer = await sendRaw<{ id?: string; messageId?: string; ids?: string[] }>(method, path, text);
      const id = answer.id ?? answer.messageId ?? answer.ids?.[0];
      return id ? { text: `Sent to ${m.entity} as ${id}.`, to: link("message", id) } : `Sent to ${m.entity}.`;
    });
  };
  return (
    <form class="stack" onSubmit={submit}>
      <label class="field">
        <span class="muted">
          To <Text>{m.id && m.service === "blob" ? `${m.entity}/${m.id}` : m.entity}</Text>
          {Object.keys(m.content.properties).length > 0 && m.service !== "blob" && ", with the same properties"}
        </span>
        <textarea spellcheck={false} value={text} onInput={(e) => set(e.currentTarget.value)} />
      </label>
      <div class="row">
        <button class="first" type="submit" disabled={actions.busy}>
          Send
        </button>
        <Said of={actions} />
      </div>
    </form>
  );
}
