import { useState } from "preact/hooks";
import { sendRaw, withQuery } from "../api/client";
import { Said, useActions } from "../ui/action";
import type { Entity } from "./entities";

interface Form {
  method: string;
  label: string;
  hint: string;
  name?: string; // of the field beside the body
  path: (entity: string, name: string) => string;
}

const forms: Record<string, Form> = {
  queue: {
    method: "POST", label: "Send", hint: "The message's text",
    path: (queue) => `queues/${encodeURIComponent(queue)}/messages`,
  },
  servicebus: {
    method: "POST", label: "Send", hint: "The message's body", name: "Session (where the entity has sessions)",
    path: (path, session) => withQuery("servicebus/messages", { path, session }),
  },
  eventgrid: {
    method: "POST", label: "Publish", hint: "The event's data, or whole events",
    path: (topic) => withQuery("eventgrid/events", { topic }),
  },
  eventhub: {
    method: "POST", label: "Send", hint: "The event's body", name: "Partition key",
    path: (hub, key) => withQuery("eventhubs/events", { hub, key }),
  },
  cosmos: {
    method: "POST", label: "Write", hint: 'A document, or an array of them: {"id": "1"}',
    path: (container) => withQuery("cosmos/documents", { container }),
  },
  blob: {
    method: "PUT", label: "Upload", hint: "The blob's content", name: "Name of the blob",
    path: (container, name) => withQuery(`containers/${encodeURIComponent(container)}/blob`, { name }),
  },
};

/** Sends to an entity. */
export function Send(props: { entity: Entity; changed: () => void }) {
  const form = forms[props.entity.service];
  return form ? <SendForm {...props} form={form} /> : null;
}

function SendForm(props: { entity: Entity; form: Form; changed: () => void }) {
  const { entity, form } = props;
  const actions = useActions(props.changed);
  const [body, setBody] = useState("");
  const [name, setName] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    actions.run(async () => {
      const answer = await sendRaw<{ id?: string; messageId?: string; ids?: string[] }>(form.method, form.path(entity.name, name), body);
      const id = answer.id ?? answer.messageId ?? answer.ids?.join(", ");
      return id ? `Sent as ${id}.` : "Sent.";
    });
  };
  return (
    <details>
      <summary>{form.label}…</summary>
      <form class="stack" onSubmit={submit}>
        {form.name && (
          <label class="field">
            {form.name}
            <input value={name} onInput={(e) => setName(e.currentTarget.value)} />
          </label>
        )}
        <label class="field">
          {form.hint}
          <textarea spellcheck={false} value={body} onInput={(e) => setBody(e.currentTarget.value)} />
        </label>
        <div class="row">
          <button class="first" type="submit" disabled={actions.busy}>
            {form.label}
          </button>
        </div>
        <Said of={actions} />
      </form>
    </details>
  );
}
