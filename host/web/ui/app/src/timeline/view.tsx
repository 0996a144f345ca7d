import { Example } from "../app/example";
import { gaps, told, version } from "../journal/store";
import { route } from "../route";
import { useBodies } from "./bodies";
import { filterOf, select } from "./filter";
import { Lanes } from "./lanes";
import { Table } from "./table";
import { Tools } from "./tools";

/** Every message and invocation, from left to right through the host's time. */
export function TimelineView() {
  void version.value;
  const { query } = route.value;
  const filter = filterOf(query);
  const inBody = useBodies(filter.text);
  const selection = select(told.lives, filter, (message) => told.has(message), inBody);
  const table = query.get("as") === "table";
  return (
    <div class="timeline">
      <h1 class="out-of-sight">Timeline</h1>
      <Tools filter={filter} selection={selection} table={table} />
      {gaps.value.map((g) => (
        <div key={g.after} class="gap" role="status">
          {g.count.toLocaleString()} records {g.after > 0 ? `after record ${g.after.toLocaleString()} ` : "of the beginning "}are no longer in the host's journal and are not shown.
        </div>
      ))}
      {selection.lives.length === 0 ? <Empty any={told.lives.length > 0} text={filter.text !== ""} /> : table ? <Table lives={selection.lives} /> : <Lanes lives={selection.lives} />}
    </div>
  );
}

function Empty(props: { any: boolean; text: boolean }) {
  return (
    <div class="lanes">
      <div class="empty">
        {props.any ? (
          <>
            <p>No message passes these filters.</p>
            {props.text && <p>A text is found in the body of a message that a service still has: the journal keeps no bodies.</p>}
          </>
        ) : (
          <>
            <p>No message has come yet.</p>
            <Example />
          </>
        )}
      </div>
    </div>
  );
}
