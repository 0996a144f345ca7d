import { send, withQuery } from "../api/client";
import { Said, Sure, useActions } from "../ui/action";
import type { Entity } from "./entities";

/** What can be done with all messages of an entity at once. */
export function Whole(props: { entity: Entity; changed: () => void }) {
  const { entity } = props;
  const actions = useActions(props.changed);
  const purge = purgeOf(entity);
  const redrive = redriveOf(entity);
  const empty = entity.counts.every(([, count]) => count === 0);
  if (!purge && !redrive) return null;
  return (
    <div class="row">
      {redrive && (
        <button
          class="first"
          disabled={actions.busy || empty}
          onClick={() =>
            actions.run(async () => {
              const moved = await send<{ moved: number; to: string; left?: number }>("POST", redrive);
              return `${moved.moved} moved to ${moved.to}${moved.left ? `, ${moved.left} left` : ""}.`;
            })
          }
        >
          Redrive all
        </button>
      )}
      {purge && (
        <Sure
          disabled={actions.busy || empty}
          question={`Delete everything in ${entity.name}?`}
          onSure={() =>
            actions.run(async () => {
              const { removed } = await send<{ removed: number }>("DELETE", purge);
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

function redriveOf(e: Entity): string | undefined {
  if (!e.dead) return undefined;
  return e.service === "queue" ? `queues/${encodeURIComponent(e.name)}/redrive` : withQuery("servicebus/redrive", { path: e.name });
}
