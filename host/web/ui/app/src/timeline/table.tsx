import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { now } from "../clock/now";
import { nameOf, which, type Life } from "../journal/life";
import { link } from "../route";
import { Short, Text } from "../ui/text";
import { span, when } from "../ui/time";
import { rowHeight, signs } from "./draw";

const overscan = 10;

/** The rows of the timeline as a table: the same in words and numbers. */
export function Table(props: { lives: Life[] }) {
  const scroll = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => setHeight(scroll.current?.clientHeight ?? 600), []);
  const { lives } = props;
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const rows = lives.slice(first, first + Math.ceil(height / rowHeight) + 2 * overscan);
  const filler = (count: number) => (
    <tr class="filler" aria-hidden="true">
      <td colSpan={8} style={{ height: `${count * rowHeight}px` }} />
    </tr>
  );
  return (
    <div ref={scroll} class="lanes tabular" tabIndex={0} role="region" aria-label="Messages and invocations" onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <table aria-rowcount={lives.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th>State</th>
            <th>Function</th>
            <th>Message</th>
            <th class="number">Deliveries</th>
            <th class="number">Attempts</th>
            <th>Began</th>
            <th class="number">Took</th>
            <th>Last error</th>
          </tr>
        </thead>
        <tbody>
          {first > 0 && filler(first)}
          {rows.map((life, i) => (
            <tr key={life.key} aria-rowindex={first + i + 2}>
              <td>
                <span class={life.outcome}>{signs[life.outcome]}</span> <Text>{life.state}</Text>
              </td>
              <td>
                <Text>{life.function || life.source}</Text>
              </td>
              <td>
                <a href={link("message", nameOf(life), which(life))}>
                  <Short>{nameOf(life)}</Short>
                </a>
              </td>
              <td class="number">{life.deliveries.length}</td>
              <td class="number">{life.attempts}</td>
              <td>{when(life.start, now())}</td>
              <td class="number">{span(life.end - life.start)}</td>
              <td class="muted">
                <Text title={life.error}>{life.error}</Text>
              </td>
            </tr>
          ))}
          {first + rows.length < lives.length && filler(lives.length - first - rows.length)}
        </tbody>
      </table>
    </div>
  );
}
