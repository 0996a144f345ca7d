const units: [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

/** A span in at most two units: "1 h 5 min", "1.2 s", "0.3 ms". */
export function span(ms: number): string {
  if (ms < 0) return `-${span(-ms)}`;
  if (ms >= 59_995) ms = Math.round(ms / 1_000) * 1_000;
  else if (ms >= 10) ms = Math.round(ms);
  if (ms < 10) return `${+ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${+(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const i = units.findIndex(([, size]) => ms >= size);
  const [name, size] = units[i]!;
  const [lower, part] = units[i + 1]!;
  const whole = Math.floor(ms / size);
  const rest = Math.floor((ms % size) / part);
  return rest > 0 ? `${whole} ${name} ${rest} ${lower}` : `${whole} ${name}`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });

/** A time of day with milliseconds, as this machine's clocks show it. */
export function timeOfDay(ms: number): string {
  const below = Math.floor(((ms % 1000) + 1000) % 1000);
  return `${clock.format(ms)}.${String(below).padStart(3, "0")}`;
}

export function seconds(ms: number): string {
  return clock.format(ms);
}

export function date(ms: number): string {
  return day.format(ms);
}

/** The time with its day, where that is not the day of now. */
export function when(ms: number, now: number): string {
  return date(ms) === date(now) ? timeOfDay(ms) : `${date(ms)} ${timeOfDay(ms)}`;
}

/** An RFC 3339 time of an answer as milliseconds; undefined where there is none. */
export function at(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The milliseconds of a time span of .NET: "00:00:10.8000000", "1.00:00:00". */
export function timeSpan(text: string): number {
  const m = /^(-?)(?:(\d+)\.)?(\d+):(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  if (!m) return 0;
  const [, sign, days, hours, minutes, seconds] = m;
  const ms = ((Number(days ?? 0) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000;
  return sign ? -ms : ms;
}
