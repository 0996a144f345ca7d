import type { Life } from "../journal/life";

/**
 * Where times stand along the axis. On an even axis a unit is a millisecond. On a squeezed
 * one the time between two things that happened takes the room of its root, so that
 * attempts of a millisecond and waits of an hour are seen in one picture.
 */
export interface Axis {
  place(time: number): number;
  time(place: number): number;
}

export const even: Axis = { place: (t) => t, time: (p) => p };

const power = 0.3;

export function squeezed(lives: Life[]): Axis {
  const times = instants(lives);
  if (times.length < 2) return even;
  const places = [0];
  for (let i = 1; i < times.length; i++) places.push(places[i - 1]! + (times[i]! - times[i - 1]!) ** power);
  const last = times.length - 1;
  // Beyond what has happened, a second has the room that it has after an instant.
  const beyond = 1000 ** power / 1000;
  return {
    place(t) {
      if (t <= times[0]!) return (t - times[0]!) * beyond;
      if (t >= times[last]!) return places[last]! + (t - times[last]!) * beyond;
      const i = after(times, t);
      const part = (t - times[i - 1]!) / (times[i]! - times[i - 1]!);
      return places[i - 1]! + part * (places[i]! - places[i - 1]!);
    },
    time(p) {
      if (p <= 0) return times[0]! + p / beyond;
      if (p >= places[last]!) return times[last]! + (p - places[last]!) / beyond;
      const i = after(places, p);
      const part = (p - places[i - 1]!) / (places[i]! - places[i - 1]!);
      return times[i - 1]! + part * (times[i]! - times[i - 1]!);
    },
  };
}

/** The index of the first value above x; there is one. */
function after(sorted: number[], x: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

const mostInstants = 2_000; // of a delivery that is tried for ever

function instants(lives: Life[]): number[] {
  const all: number[] = [];
  for (const life of lives) {
    all.push(life.start, life.end);
    for (const m of life.marks) all.push(m.time);
    for (const d of life.deliveries) {
      all.push(d.start);
      if (d.end !== undefined) all.push(d.end);
      for (const a of d.attempts.slice(-mostInstants)) {
        all.push(a.start);
        if (a.end !== undefined) all.push(a.end);
      }
    }
  }
  all.sort((a, b) => a - b);
  return all.filter((t, i) => i === 0 || t !== all[i - 1]);
}

/** A part of the axis on a strip of pixels. */
export class Scale {
  constructor(
    readonly axis: Axis,
    readonly from: number,
    readonly to: number,
    readonly width: number,
  ) {}

  x(time: number): number {
    return ((this.axis.place(time) - this.from) / (this.to - this.from)) * this.width;
  }

  place(x: number): number {
    return this.from + (x / this.width) * (this.to - this.from);
  }

  time(x: number): number {
    return this.axis.time(this.place(x));
  }
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
  1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000, 2_592_000_000,
];

/** The times to write along a scale, about one every so many pixels. */
export function ticks(scale: Scale, every: number): { times: number[]; step: number } {
  if (scale.axis !== even) {
    const times: number[] = [];
    for (let x = every / 2; x < scale.width; x += every) times.push(scale.time(x));
    return { times, step: 1 };
  }
  const wanted = ((scale.to - scale.from) / scale.width) * every;
  const step = steps.find((s) => s >= wanted) ?? steps.at(-1)!;
  const times: number[] = [];
  const shift = step >= 3_600_000 ? new Date(scale.from).getTimezoneOffset() * 60_000 : 0; // days begin at midnight here
  for (let t = Math.ceil((scale.from - shift) / step) * step + shift; t <= scale.to && times.length < 200; t += step) times.push(t);
  return { times, step };
}
