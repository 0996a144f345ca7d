import { usePolled } from "../api/polled";
import type { Status } from "../api/types";
import { Copy } from "../ui/action";
import { Text } from "../ui/text";
import { exampleOf } from "./firstmessage";

/** What to type for a first message, by what the app's own functions wait for. */
export function Example() {
  const status = usePolled<Status>("status", 3_000);
  if (!status.value) return null;
  const line = exampleOf(status.value.report?.functions ?? [], location.port);
  if (!line) return <p>The app has no function that waits for one.</p>;
  return (
    <>
      <p>Send one, and it appears here:</p>
      <Line text={line} />
    </>
  );
}

/** A line to type, and to copy. */
export function Line(props: { text: string }) {
  return (
    <div class="line">
      <code>
        <Text>{props.text}</Text>
      </code>
      <Copy text={props.text} what="the command" />
    </div>
  );
}
