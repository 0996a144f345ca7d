import type { Mark } from "../api/types";
import type { Attempt, Delivery, Life } from "../journal/life";
import { visible } from "../ui/text";
import { date, seconds, timeOfDay } from "../ui/time";
import { even, ticks, type Scale } from "./axis";
import type { Palette } from "./palette";

export const rowHeight = 28;
const leastBar = 3;

/** The rows on screen, and where they stand. */
export interface Picture {
  lives: Life[];
  first: number; // index of lives[0] among all rows
  top: number; // the scroll position
  height: number;
  selected: string;
  now: number;
  marks: Mark[];
}

/** Sizes a canvas for the screen's pixels and returns what draws on it, cleared. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const dense = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * dense));
  const h = Math.max(1, Math.round(height * dense));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const c = canvas.getContext("2d");
  c?.setTransform(dense, 0, 0, dense, 0, 0);
  c?.clearRect(0, 0, width, height);
  return c;
}

export function drawAxis(c: CanvasRenderingContext2D, scale: Scale, p: Palette, marks: Mark[]): void {
  const { times, step } = ticks(scale, scale.axis === even ? 96 : 110);
  c.font = "12px system-ui, sans-serif";
  c.textBaseline = "middle";
  c.textAlign = "center";
  let day = "";
  for (const t of times) {
    const x = scale.x(t);
    c.fillStyle = p.strong;
    c.fillRect(Math.round(x), 24, 1, 6);
    c.fillStyle = p.muted;
    const today = date(t);
    let label = step < 1_000 ? timeOfDay(t) : seconds(t);
    if (step >= 86_400_000 || (day !== "" && today !== day)) label = today;
    day = today;
    const half = c.measureText(label).width / 2;
    if (x - half > 2 && x + half < scale.width - 2) c.fillText(label, x, 13);
  }
  for (const m of marks) {
    const x = scale.x(m.time);
    if (x < -5 || x > scale.width + 5) continue;
    c.fillStyle = markColour(m, p);
    c.beginPath();
    c.moveTo(x - 5, 30);
    c.lineTo(x + 5, 30);
    c.lineTo(x, 22);
    c.fill();
  }
}

function markColour(m: Mark, p: Palette): string {
  if (m.kind === "clock_moved") return p.waiting;
  return /refused|error|exited|unreachable|opened|lost/.test(m.kind) ? p.failed : p.running;
}

export function drawLanes(c: CanvasRenderingContext2D, scale: Scale, p: Palette, picture: Picture): void {
  c.fillStyle = p.line;
  c.globalAlpha = 0.55;
  for (const t of ticks(scale, scale.axis === even ? 96 : 110).times) c.fillRect(Math.round(scale.x(t)), 0, 1, picture.height);
  c.globalAlpha = 1;
  for (const m of picture.marks) drawMark(c, scale, p, picture, m);
  c.fillStyle = p.running; // the host's time
  c.fillRect(Math.round(scale.x(picture.now)), 0, 1, picture.height);
  picture.lives.forEach((life, i) => {
    const y = (picture.first + i) * rowHeight - picture.top;
    if (life.key === picture.selected) {
      c.fillStyle = p.selected;
      c.globalAlpha = 0.6;
      c.fillRect(0, y, scale.width, rowHeight);
      c.globalAlpha = 1;
    }
    c.fillStyle = p.line;
    c.globalAlpha = 0.45;
    c.fillRect(0, y + rowHeight - 1, scale.width, 1);
    c.globalAlpha = 1;
    drawLife(c, scale, p, life, y + rowHeight / 2, picture.now);
  });
}

/** Something that concerns the host as a line through all rows, and a jump of the clock as a band. */
function drawMark(c: CanvasRenderingContext2D, scale: Scale, p: Palette, picture: Picture, m: Mark): void {
  if (m.kind === "clock_moved" && m.delay) {
    const from = Math.max(scale.x(m.time), 0);
    const to = Math.min(scale.x(m.time + m.delay), scale.width);
    c.fillStyle = p.waiting;
    c.globalAlpha = 0.1;
    if (to > from) c.fillRect(from, 0, to - from, picture.height);
    c.globalAlpha = 1;
  }
  const x = Math.round(scale.x(m.time)) + 0.5;
  if (x < 0 || x > scale.width) return;
  c.strokeStyle = markColour(m, p);
  c.globalAlpha = 0.7;
  c.setLineDash([3, 3]);
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(x, 0);
  c.lineTo(x, picture.height);
  c.stroke();
  c.setLineDash([]);
  c.globalAlpha = 1;
}

export function drawLife(c: CanvasRenderingContext2D, scale: Scale, p: Palette, life: Life, y: number, now: number): void {
  const open = life.outcome === "running" || life.outcome === "waiting";
  const end = open ? Math.max(life.end, now) : life.end;
  if (scale.x(end) < -200 || scale.x(life.start) > scale.width) {
    drawAside(c, scale, p, life, y, scale.x(end) < 0);
    return;
  }
  drawBetween(c, scale, p, life, y);
  for (const m of life.marks) {
    if (m.kind === "enqueued" || m.kind === "event_attempted") drawTick(c, scale.x(m.time), y, p.queued);
    else if (m.kind !== "lock_renewed") drawTick(c, scale.x(m.time), y, p.waiting);
  }
  for (const d of life.deliveries) drawDelivery(c, scale, p, d, y, now);
  drawEnd(c, scale, p, life, y);
}

/** A life that is outside of the window: on which side. */
function drawAside(c: CanvasRenderingContext2D, scale: Scale, p: Palette, life: Life, y: number, left: boolean): void {
  c.fillStyle = p[life.outcome];
  const x = left ? 4 : scale.width - 4;
  const d = left ? 6 : -6;
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x + d, y - 4);
  c.lineTo(x + d, y + 4);
  c.fill();
}

/** The times in which no listener has the message: in its queue, hidden, or locked. */
function drawBetween(c: CanvasRenderingContext2D, scale: Scale, p: Palette, life: Life, y: number): void {
  c.strokeStyle = p.strong;
  c.lineWidth = 1;
  c.setLineDash([1, 3]);
  let from = life.start;
  for (const d of life.deliveries) {
    line(c, scale.x(from), scale.x(d.start), y);
    from = d.end ?? d.start;
  }
  const mark = life.marks.at(-1);
  if (mark && mark.time >= from) line(c, scale.x(from), scale.x(mark.time + (mark.delay ?? 0)), y);
  c.setLineDash([]);
}

function line(c: CanvasRenderingContext2D, from: number, to: number, y: number): void {
  if (to - from < 1) return;
  c.beginPath();
  c.moveTo(from, Math.round(y) + 0.5);
  c.lineTo(to, Math.round(y) + 0.5);
  c.stroke();
}

function drawTick(c: CanvasRenderingContext2D, x: number, y: number, colour: string): void {
  c.fillStyle = colour;
  c.fillRect(Math.round(x) - 1, y - 5, 2, 10);
}

function drawDelivery(c: CanvasRenderingContext2D, scale: Scale, p: Palette, d: Delivery, y: number, now: number): void {
  const from = scale.x(d.start);
  const waitEnd = plannedEnd(d);
  const to = Math.max(scale.x(d.end ?? Math.max(waitEnd, now)), from + leastBar + 4);
  if (to < -10 || from > scale.width + 10) return;
  c.fillStyle = p.raised;
  c.strokeStyle = p.strong;
  c.lineWidth = 1;
  if (d.end === undefined) c.setLineDash([4, 3]);
  c.beginPath();
  c.roundRect(Math.max(from - 2, -10) + 0.5, y - 9.5, Math.min(to, scale.width + 10) - Math.max(from - 2, -10) + 1, 19, 4);
  c.fill();
  c.stroke();
  c.setLineDash([]);
  c.strokeStyle = p.waiting;
  for (const a of d.attempts) {
    if (a.end === undefined || a.delay === undefined) continue;
    c.lineWidth = 2;
    c.setLineDash([3, 2]);
    line(c, scale.x(a.end), Math.min(scale.x(a.end + a.delay), to), y - 0.5);
    c.setLineDash([]);
  }
  let free = -Infinity;
  d.attempts.forEach((a) => {
    free = drawAttempt(c, scale, p, a, y, now, free);
  });
}

/** When the wait ends that goes on now, or nothing is known to end. */
function plannedEnd(d: Delivery): number {
  const a = d.attempts.at(-1);
  return a?.end !== undefined && a.delay !== undefined ? a.end + a.delay : d.start;
}

function drawAttempt(c: CanvasRenderingContext2D, scale: Scale, p: Palette, a: Attempt, y: number, now: number, free: number): number {
  const from = Math.max(scale.x(a.start), -10);
  const to = Math.max(Math.min(scale.x(a.end ?? now), scale.width + 10), from + leastBar);
  if (to < free) return free; // too narrow to be told apart
  const failed = a.end !== undefined && a.status !== "succeeded";
  c.fillStyle = p[colourOf(a)];
  c.beginPath();
  c.roundRect(from, y - 7, to - from, 14, Math.min(2, (to - from) / 2));
  c.fill();
  if (failed && to - from > 14) {
    c.strokeStyle = p.bg;
    c.lineWidth = 1.5;
    const x = from + 7;
    c.beginPath();
    c.moveTo(x - 3, y - 3);
    c.lineTo(x + 3, y + 3);
    c.moveTo(x + 3, y - 3);
    c.lineTo(x - 3, y + 3);
    c.stroke();
  }
  return to + 0.5;
}

export function colourOf(a: Attempt): "running" | "succeeded" | "failed" {
  if (a.end === undefined) return "running";
  return a.status === "succeeded" ? "succeeded" : "failed";
}

/** Signs of the ends, which do not need colour to be told apart. */
export const signs: Record<Life["outcome"], string> = {
  queued: "◦", running: "▶", waiting: "◷", succeeded: "✓", failed: "✕", dead: "☠",
};

/** How a life ended, behind its last delivery, or where its service gave it up later. */
function drawEnd(c: CanvasRenderingContext2D, scale: Scale, p: Palette, life: Life, y: number): void {
  const last = life.deliveries.at(-1);
  if (!last || last.end === undefined) return;
  const end = life.outcome === "dead" ? Math.max(last.end, life.marks.at(-1)?.time ?? 0) : last.end;
  const x = Math.max(scale.x(end), scale.x(last.start) + leastBar + 4) + 7;
  if (x > scale.width || x < -300) return;
  c.fillStyle = p[life.outcome];
  c.font = "12px system-ui, sans-serif";
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillText(signs[life.outcome], x, y + 0.5);
  const text = visible(life.state);
  if (x + 16 + c.measureText(text).width < scale.width) c.fillText(text, x + 16, y + 0.5);
}
