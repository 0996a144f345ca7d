import { send } from "../api/client";
import type { MessageMoved, RanAgain, Redriven } from "../api/types";
import type { Life } from "../journal/life";
import { lastDelivery } from "../journal/life";
import { link } from "../route";
import { Said, Sure, useActions } from "../ui/action";
import { visible } from "../ui/text";
import { graveOf, located, placeOf, type Place } from "./place";

/** What can be done with a message. */
export function Buttons(props: { life: Life }) {
  const { life } = props;
  const actions = useActions();
  const last = lastDelivery(life);
  const place = placeOf(life);
  // A poison message that no function receives lies where it came to rest.
  const rests = life.function === "" && life.source.endsWith("-poison");
  const grave = graveOf(life) ?? (rests ? place : undefined);
  const open = life.outcome === "waiting" || life.outcome === "queued";

  const again = () =>
    actions.run(async () => {
      const { newId } = await send<RanAgain>("POST", "deliveries/again", { delivery: last?.id });
      return anew("It runs again", newId);
    });
  const redrive = (from: Place) =>
    actions.run(async () => {
      const moved = await send<Redriven>("POST", "messages/redrive", await located(from));
      return anew(`It is in ${moved.to} again`, moved.newId);
    });
  const release = (from: Place) =>
    actions.run(async () => {
      await send("POST", "messages/release", await located(from));
      return "Its wait is over: it can be received now.";
    });
  const kill = (from: Place) =>
    actions.run(async () => {
      const moved = await send<MessageMoved>("POST", "messages/poison", await located(from));
      return moved.target ? `It is in ${moved.target} now.` : "It is given up.";
    });

  return (
    <div class="row">
      {last && (
        <button disabled={actions.busy} onClick={again} title="Runs the function with the inputs of the last delivery">
          Run again
        </button>
      )}
      {grave && (
        <button class="first" disabled={actions.busy} onClick={() => redrive(grave)} title={visible(`Moves it from ${grave.entity} back to where it came from`)}>
          Redrive
        </button>
      )}
      {place && open && !grave && place.service !== "eventhub" && place.service !== "blob" && (
        <>
          <button disabled={actions.busy} onClick={() => release(place)} title="Ends its wait, or its lock">
            Release now
          </button>
          <Sure disabled={actions.busy} question="Give this message up?" onSure={() => kill(place)}>
            Move to poison
          </Sure>
        </>
      )}
      <Said of={actions} />
    </div>
  );
}

/** Says that a message goes on, and under which identity if that is a new one. */
function anew(text: string, id: string | undefined) {
  return id ? { text: `${text}, as ${id}.`, to: link("message", id) } : `${text}.`;
}
