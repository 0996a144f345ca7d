import { send, withQuery } from "../api/client";
import { Said, Sure, useActions } from "../ui/action";
import type { Purged, Redriven } from "../api/types";
import { Text } from "../ui/text";
import type { Entity } from "./entities";

/** What can be done with all messages of an entity at once. */
export function Whole(props: { entity: Entity; changed: () => void }) {
  const { entity } = props;
  const actions = useActions(props.changed);
  const purge = purgeOf(entity);
  const origin = originOf(entity);
  const empty = entity.counts.every(([, count]) => count === 0);
  if (!purge && !entity.dead) return null;
  return (
    <div class="row">
      {entity.dead && (
        <button
          class="first"
          disabled={actions.busy || empty}
          onClick={() =>
            actions.run(async () => {
              const moved = await send<Redriven>("POST", "messages/redrive", { service: entity.service, entity: entity.name });
              return `${moved.moved} moved to ${moved.to}${moved.left ? `, ${moved.left} left` : ""}.`;
            })
          }
        >
          Redrive all{origin && " to "}
          {origin && <Text>{origin}</Text>}
        </button>
      )}
      {purge && (
        <Sure
          disabled={actions.busy || empty}
          question={`Delete everything in ${entity.name}?`}
          onSure={() =>
            actions.run(async () => {
              const { removed } = await send<Purged>("DELETE", purge);
              return `${removed} deleted.`;
            })
          }
        >
          Purge
        </Sure>
      )}
      <Said of={actions} />
    </div>
  );
}

function purgeOf(e: Entity): string | undefined {
  switch (e.service) {
    case "queue":
      return `queues/${encodeURIComponent(e.name)}/messages`;
    case "servicebus":
      return withQuery("servicebus/messages", { path: e.name });
    case "cosmos":
      return withQuery("cosmos/documents", { container: e.name });
    default:
      return undefined;
  }
}

/** Where a redrive leads, where the name tells it. */
function originOf(e: Entity): string {
  if (e.service === "servicebus") return e.name.replace(/(\/\$Transfer)?\/\$DeadLetterQueue$/, "");
  return e.name === "webjobs-blobtrigger-poison" ? "" : e.name.replace(/-poison$/, "");
}
