import { send } from "../api/client";
import type { DeliveryInfo, GridTopic, Redriven } from "../api/types";
import { now } from "../clock/now";
import { link } from "../route";
import { Wide } from "../ui/wide";
import { Said, useActions } from "../ui/action";
import { count, Short, Text, visible } from "../ui/text";
import { at, span, when } from "../ui/time";

/** The event subscriptions of a topic, and the events that they still have. */
export function GridDetails(props: { topic: GridTopic; deliveries: DeliveryInfo[]; changed: () => void }) {
  const host = now();
  const actions = useActions(props.changed);
  const redrive = (subscription: string) =>
    actions.run(async () => {
      const entity = `${props.topic.name}/${subscription}`;
      const { moved } = await send<Redriven>("POST", "messages/redrive", { service: "eventgrid", entity });
      return moved > 0 ? `${count(moved, "dead letter")} moved back to ${entity}.` : `${entity} has no dead letter.`;
    });
  return (
    <>
      <section class="panel">
        <h2>Event subscriptions</h2>
        <Said of={actions} />
        <Wide label="Event subscriptions">
          <thead>
            <tr>
              <th>Name</th>
              <th>To</th>
              <th>State</th>
              <th class="number">Pending</th>
              <th class="number">Failures</th>
              <th class="number">Dead-lettered</th>
              <th>Next attempt</th>
              <th>Dead letters</th>
            </tr>
          </thead>
          <tbody>
            {props.topic.subscriptions.map((s) => (
              <tr key={s.name}>
                <td>
                  <Text>{s.name}</Text>
                </td>
                <td>
                  <Text>{s.function ?? s.endpoint ?? ""}</Text>
                </td>
                <td>{s.state}</td>
                <td class="number">{s.pending}</td>
                <td class="number">{s.failures ?? 0}</td>
                <td class="number">{s.deadLetters ?? 0}</td>
                <td>
                  <Then time={at(s.next)} host={host} />
                  {at(s.sparedUntil) !== undefined && <span class="waiting"> spared until {when(at(s.sparedUntil)!, host)}</span>}
                </td>
                <td>
                  <button disabled={actions.busy} onClick={() => redrive(s.name)} aria-label={`Redrive the dead letters of ${visible(s.name)}`}>
                    Redrive
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </Wide>
      </section>
      {props.deliveries.length > 0 && (
        <section class="panel">
          <h2>Events under way</h2>
          <Wide label="Events under way">
            <thead>
              <tr>
                <th>Event</th>
                <th>Type and subject</th>
                <th>Subscription</th>
                <th class="number">Attempts</th>
                <th>Last answer</th>
                <th>Next attempt</th>
              </tr>
            </thead>
            <tbody>
              {props.deliveries.map((d) => (
                <tr key={`${d.subscription} ${d.eventId}`}>
                  <td>
                    <a href={link("message", d.eventId)}>
                      <Short>{d.eventId}</Short>
                    </a>
                  </td>
                  <td>
                    <Text>{d.eventType}</Text> <Text class="muted">{d.subject}</Text>
                  </td>
                  <td>
                    <Text>{d.subscription}</Text>
                  </td>
                  <td class="number">{d.attempts.length}</td>
                  <td>
                    {d.attempts.at(-1)?.outcome ?? ""} {d.attempts.at(-1)?.status ?? ""}
                  </td>
                  <td>
                    <Then time={at(d.next)} host={host} />
                  </td>
                </tr>
              ))}
            </tbody>
          </Wide>
        </section>
      )}
    </>
  );
}

function Then(props: { time: number | undefined; host: number }) {
  const { time, host } = props;
  if (time === undefined) return null;
  return (
    <>
      {when(time, host)} {time > host && <span class="muted">in {span(time - host)}</span>}
    </>
  );
}
