import type { Attempt, LogLine } from "../journal/life";

/** Attempts in a row that went alike: the first stands for all. */
export interface Row {
  attempt: Attempt;
  logs: LogLine[];
  same: Attempt[]; // those after it that are equal, but for their time
  /** What it is held against, where it failed like an earlier attempt and differs in the rest. */
  as?: { number: number; gone: string[]; sameStack: boolean };
  /** The lines that the earlier attempt did not write. */
  fresh: Set<LogLine>;
}

/** Folds the attempts of a delivery: equal ones into one row, and one that failed with the same error into what differs. */
export function folded(attempts: Attempt[], logsOf: (a: Attempt) => LogLine[]): Row[] {
  const rows: Row[] = [];
  let whole: Row | undefined; // the last that is shown as a whole
  for (const attempt of attempts) {
    const logs = logsOf(attempt);
    const last = rows.at(-1);
    if (last && alike(last, attempt, logs)) {
      last.same.push(attempt);
      continue;
    }
    const row: Row = { attempt, logs, same: [], fresh: new Set() };
    rows.push(row);
    if (!whole || !attempt.error || attempt.end === undefined || attempt.status !== whole.attempt.status || attempt.error !== whole.attempt.error) {
      whole = row;
      continue;
    }
    const before = new Set(whole.logs.map(told));
    const now = new Set(logs.map(told));
    row.fresh = new Set(logs.filter((l) => !before.has(told(l))));
    row.as = { number: whole.attempt.number, gone: [...before].filter((l) => !now.has(l)), sameStack: attempt.stack === whole.attempt.stack };
  }
  return rows;
}

function alike(row: Row, b: Attempt, logs: LogLine[]): boolean {
  const a = row.attempt;
  return (
    a.end !== undefined && b.end !== undefined && a.status === b.status && a.error === b.error && a.stack === b.stack &&
    row.logs.length === logs.length && row.logs.every((l, i) => told(l) === told(logs[i]!))
  );
}

/** A line without its time. */
function told(l: LogLine): string {
  return `${l.level} ${l.text}`;
}
