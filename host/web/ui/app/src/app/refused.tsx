import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import { edits } from "../journal/store";
import { link } from "../route";
import { Text } from "../ui/text";
import type { App, Generation } from "../api/types";

/** Says on every view that the files are not what runs, from a refused edit until the next that is loaded or undone. */
export function RefusedEdit() {
  const [list, set] = useState<Generation[]>([]);
  const seen = edits.value;
  useEffect(() => {
    const abort = new AbortController();
    if (seen > 0) {
      get<App>("app", abort.signal)
        .then((app) => set(app.generations))
        .catch(() => undefined); // the stream says that the host is away
    }
    return () => abort.abort();
  }, [seen]);
  const last = list.at(-1);
  if (!last?.refused || last.undone) return null;
  const first = list.at(-(last.fault ?? 1)) ?? last;
  const more = (last.faults ?? 1) - 1;
  const running = list.findLast((g) => g.current);
  return (
    <div class="banner refused" role="alert">
      <strong>{running ? `The edit is refused, generation ${running.number} runs on:` : "The app is not loaded:"}</strong>
      <Text class="reason mono">{firstLine(first)}</Text>
      {more > 0 && <span>and {more} more</span>}
      <a href={link("app")}>All of it</a>
    </div>
  );
}

function firstLine(of: Generation): string {
  const reason = (of.reason ?? "").trim().split("\n", 1)[0] ?? "";
  return of.file && !reason.startsWith(of.file) ? `${of.file}: ${reason}` : reason;
}
