import { send, withQuery } from "../api/client";
import type { Life } from "../journal/life";
import { lastDelivery } from "../journal/life";
import { Said, Sure, useActions } from "../ui/action";
import { graveOf, placeOf } from "./place";

/** What can be done with a message. */
export function Buttons(props: { life: Life }) {
  const { life } = props;
  const actions = useActions();
  const last = lastDelivery(life);
  const place = placeOf(life);
  const grave = graveOf(life);
  const poison = life.message && life.source.endsWith("-poison") && life.function === "";
  const open = life.outcome === "waiting" || life.outcome === "queued";

  const again = () =>
    actions.run(async () => {
      await send("POST", "deliveries/again", { delivery: last?.id });
      return "It runs again.";
    });
  const redrive = (queue: string, id: string) =>
    actions.run(async () => {
      const moved = await send<{ to?: string; newId?: string }>("POST", withQuery(`queues/${encodeURIComponent(queue)}/redrive`, { id }));
      return `It is in ${moved.to ?? "its queue"} again${moved.newId ? `, as ${moved.newId}` : ""}.`;
    });
  const release = () =>
    actions.run(async () => {
      await send("POST", "messages/release", place);
      return "It is free to be received now.";
    });
  const kill = () =>
    actions.run(async () => {
      await send("POST", "messages/poison", place);
      return "It is moved away from its function.";
    });

  return (
    <div class="row">
      {last && (
        <button disabled={actions.busy} onClick={again} title="Runs the function with the inputs of the last delivery">
          Run again
        </button>
      )}
      {grave?.service === "queue" && (
        <button class="first" disabled={actions.busy} onClick={() => redrive(grave.entity, grave.id)} title={`Moves it from ${grave.entity} back to its queue`}>
          Redrive
        </button>
      )}
      {poison && (
        <button class="first" disabled={actions.busy} onClick={() => redrive(life.source, life.message)} title="Moves it back to its queue">
          Redrive
        </button>
      )}
      {grave?.service === "servicebus" && <BusRedrive entity={life.source} id={life.message} actions={actions} />}
      {place && open && !poison && (
        <button disabled={actions.busy} onClick={release} title="Ends its wait, or its lock">
          Release now
        </button>
      )}
      {place && open && !poison && (
        <Sure disabled={actions.busy} question="Give this message up?" onSure={kill}>
          Move to poison
        </Sure>
      )}
      <Said of={actions} />
    </div>
  );
}

/** A dead letter of Service Bus is told by its sequence number, which the journal does not have. */
function BusRedrive(props: { entity: string; id: string; actions: ReturnType<typeof useActions> }) {
  const redrive = () =>
    props.actions.run(async () => {
      const path = `${props.entity}/$DeadLetterQueue`;
      const peeked = await send<{ messages: { messageId: string; sequenceNumber: number }[] }>("GET", withQuery("servicebus/messages", { path, max: 256 }));
      const found = peeked.messages.find((m) => m.messageId === props.id);
      if (!found) throw new Error("The message is no longer in the dead-letter queue.");
      await send("POST", withQuery("servicebus/redrive", { path, sequence: found.sequenceNumber }));
      return `It is in ${props.entity} again.`;
    });
  return (
    <button class="first" disabled={props.actions.busy} onClick={redrive} title={`Moves it from the dead-letter queue back to ${props.entity}`}>
      Redrive
    </button>
  );
}
