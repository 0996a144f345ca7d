import { requery } from "../route";
import { useSlash } from "../ui/slash";
import { outcomes, type Filter, type Selection } from "./filter";
import { signs } from "./draw";
import { hold, squeeze, zoom } from "./window";

/** What narrows the rows, and what moves the window of time. */
export function Tools(props: { filter: Filter; selection: Selection; table: boolean }) {
  const { filter, selection } = props;
  const search = useSlash();
  const change = (part: Partial<Filter> & { as?: string }) => requery({ ...filter, as: props.table ? "table" : "", ...part });

  const all = Object.values(selection.counts).reduce((a, b) => a + b, 0);
  return (
    <div class="tools" role="toolbar" aria-label="Filters and window of time">
      <input
        ref={search}
        type="search"
        placeholder="Message, body, error…  ( / )"
        aria-label="Search by message, body, error, delivery, invocation or queue"
        value={filter.text}
        onInput={(e) => change({ text: e.currentTarget.value })}
        onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
      />
      <Choice label="Function" all="All functions" value={filter.function} options={selection.functions} onChange={(v) => change({ function: v })} />
      <Choice label="Trigger" all="All triggers" value={filter.trigger} options={selection.triggers} onChange={(v) => change({ trigger: v })} />
      <span class="space" />
      {!props.table && <Window />}
      <button aria-pressed={props.table} onClick={() => change({ as: props.table ? "" : "table" })} title="The same rows as a table">
        Table
      </button>
      <div class="outcomes" role="group" aria-label="Outcome">
        <button aria-pressed={filter.outcome === ""} onClick={() => change({ outcome: "" })}>
          All <span class="count">{all}</span>
        </button>
        {outcomes.map((o) => (
          <button key={o.name} aria-pressed={filter.outcome === o.name} onClick={() => change({ outcome: filter.outcome === o.name ? "" : o.name })}>
            <span class={o.name} aria-hidden="true">
              {signs[o.name]}
            </span>
            {o.title} <span class="count">{selection.counts[o.name]}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

function Window() {
  return (
    <div class="row" role="group" aria-label="Window of time">
      <button onClick={() => zoom(0.6)} aria-label="Zoom in" title="Zoom in (+, or Ctrl and the wheel)">
        +
      </button>
      <button onClick={() => zoom(1 / 0.6)} aria-label="Zoom out" title="Zoom out (-)">
        −
      </button>
      <button aria-pressed={hold.value === "fit"} onClick={() => (hold.value = "fit")} title="Show the rows on screen as a whole (f)">
        Fit
      </button>
      <button aria-pressed={hold.value === "follow"} onClick={() => (hold.value = "follow")} title="Keep the host's time at the right end (l)">
        Follow
      </button>
      <button
        aria-pressed={squeeze.value}
        onClick={() => {
          squeeze.value = !squeeze.value;
          hold.value = "fit";
        }}
        title="Give long waits less room, so that short attempts are seen beside them"
      >
        Squeeze
      </button>
    </div>
  );
}

function Choice(props: { label: string; all: string; value: string; options: string[]; onChange: (value: string) => void }) {
  const options = props.value && !props.options.includes(props.value) ? [...props.options, props.value] : props.options;
  return (
    <select aria-label={props.label} value={props.value} onChange={(e) => props.onChange(e.currentTarget.value)}>
      <option value="">{props.all}</option>
      {options.map((o) => (
        <option key={o} value={o}>
          {o}
        </option>
      ))}
    </select>
  );
}
