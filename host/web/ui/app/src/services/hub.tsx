import type { HubInfo } from "../api/types";
import { Wide } from "../ui/wide";
import { Text } from "../ui/text";

/** How far each consumer group has read each partition of a hub. */
export function HubDetails(props: { hub: HubInfo }) {
  return (
    <section class="panel">
      <h2>Partitions and checkpoints</h2>
      <Wide label="Partitions and checkpoints">
        <thead>
          <tr>
            <th>Partition</th>
            <th class="number">Events</th>
            <th class="number">Last sequence number</th>
            <th>Consumer group</th>
            <th class="number">Checkpoint</th>
            <th class="number">Behind</th>
          </tr>
        </thead>
        <tbody>
          {props.hub.partitions.flatMap((p) =>
            (p.checkpoints.length > 0 ? p.checkpoints : [undefined]).map((c, i) => (
              <tr key={`${p.id} ${c?.consumerGroup ?? ""}`}>
                <td>{i === 0 && p.id}</td>
                <td class="number">{i === 0 && p.events.toLocaleString()}</td>
                <td class="number">{i === 0 && p.lastSequence}</td>
                <td>{c && <Text>{c.consumerGroup}</Text>}</td>
                <td class="number">{c ? (c.error ? <Text class="failed">{c.error}</Text> : (c.sequenceNumber ?? "none")) : ""}</td>
                <td class={`number ${c && c.behind > 0 ? "waiting" : ""}`}>{c?.behind.toLocaleString()}</td>
              </tr>
            )),
          )}
        </tbody>
      </Wide>
    </section>
  );
}
