import type { CosmosContainer } from "../api/types";
import { Wide } from "../ui/wide";
import { Text } from "../ui/text";

type Leases = NonNullable<CosmosContainer["leases"]>;

/** How far functions have read the changes of a Cosmos DB container. */
export function LeaseDetails(props: { leases: Leases }) {
  return (
    <section class="panel">
      <h2>Leases</h2>
      <Wide label="Leases">
        <thead>
          <tr>
            <th>Function</th>
            <th>Lease container</th>
            <th>Range</th>
            <th>Owner</th>
            <th class="number">Read to</th>
            <th class="number">Pending</th>
          </tr>
        </thead>
        <tbody>
          {props.leases.flatMap((l) =>
            (l.ranges ?? []).map((r) => (
              <tr key={`${l.container} ${r.function ?? ""} ${r.range}`}>
                <td>
                  <Text>{r.function ?? l.functions?.join(", ") ?? ""}</Text>
                </td>
                <td>
                  <Text>{l.container}</Text>
                </td>
                <td>{r.range}</td>
                <td>
                  <Text>{r.owner ?? ""}</Text>
                </td>
                <td class="number">{r.error ? <Text class="failed">{r.error}</Text> : <Text>{r.continuation ?? "the beginning"}</Text>}</td>
                <td class={`number ${r.pending ? "waiting" : ""}`}>{r.pending ?? ""}</td>
              </tr>
            )),
          )}
        </tbody>
      </Wide>
      {props.leases.map((l) =>
        l.error ? (
          <p key={l.container} class="note failed">
            <Text>{`${l.container}: ${l.error}`}</Text>
          </p>
        ) : null,
      )}
    </section>
  );
}
