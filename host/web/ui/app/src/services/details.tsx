import type { Inventory } from "../api/types";
import { Text } from "../ui/text";
import { amount, type Entity } from "./entities";
import { GridDetails } from "./grid";
import { HubDetails } from "./hub";
import { LeaseDetails } from "./leases";
import { Messages } from "./messages";
import { Send } from "./send";
import { Whole } from "./whole";

/** One entity: what can be done with it, what only its service has, and its messages. */
export function Details(props: { entity: Entity; inventory: Inventory; changed: () => void }) {
  const { entity, inventory, changed } = props;
  return (
    <>
      <section class="panel stack">
        <div class="row">
          <h2>
            <Text>{entity.name}</Text>
          </h2>
          {entity.counts.map(([label, count]) => (
            <span key={label} class={entity.dead && count > 0 ? "dead" : "muted"}>
              {amount(count, label)}
            </span>
          ))}
        </div>
        <Whole entity={entity} changed={changed} />
        {!entity.dead && <Send entity={entity} changed={changed} />}
      </section>
      <Special entity={entity} inventory={inventory} changed={changed} />
      <Messages entity={entity} changed={changed} />
    </>
  );
}

function Special(props: { entity: Entity; inventory: Inventory; changed: () => void }) {
  const { entity, inventory, changed } = props;
  switch (entity.service) {
    case "eventgrid": {
      const topic = inventory.eventgrid.find((t) => t.name === entity.name);
      return topic ? <GridDetails topic={topic} deliveries={inventory.deliveries.filter((d) => d.topic === topic.name)} changed={changed} /> : null;
    }
    case "eventhub": {
      const hub = inventory.eventhubs.find((h) => h.name === entity.name);
      return hub ? <HubDetails hub={hub} /> : null;
    }
    case "cosmos": {
      const container = inventory.cosmos.find((c) => c.path === entity.name);
      return container?.leases?.length ? <LeaseDetails leases={container.leases} /> : null;
    }
    default:
      return null;
  }
}
