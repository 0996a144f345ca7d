import type { Life } from "../journal/life";
import { Text } from "../ui/text";
import { span, timeOfDay } from "../ui/time";

/** What the service did to the message by itself. */
export function Marks(props: { life: Life }) {
  const { marks } = props.life;
  if (marks.length === 0) return null;
  return (
    <section class="panel">
      <h2>Its service</h2>
      <ul class="logs">
        {marks.map((m) => (
          <li key={m.seq}>
            <span class="muted mono">{timeOfDay(m.time)}</span> <Text>{m.text}</Text>
            {m.delay !== undefined && m.delay > 0 && <span class="muted">, then {span(m.delay)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
