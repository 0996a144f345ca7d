import { effect, signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { now } from "../clock/now";
import { nameOf, which, type Life } from "../journal/life";
import { told, version } from "../journal/store";
import { go, link } from "../route";
import { Short, Text, visible } from "../ui/text";
import { colours } from "../ui/theme";
import { timeOfDay } from "../ui/time";
import { Scale } from "./axis";
import { drawAxis, drawLanes, prepare, rowHeight, signs } from "./draw";
import { readPalette, type Palette } from "./palette";
import { pick, sentence } from "./pick";
import { hold, pan, seen, settle, squeeze, zoom } from "./window";

/** The key of the row that the keyboard is at; it stays when the reader comes back. */
export const selected = signal("");

const overscan = 6;

/** The rows: names as elements, lives as a picture beside them. Only what is on screen exists. */
export function Lanes(props: { lives: Life[] }) {
  const { lives } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const axisCanvas = useRef<HTMLCanvasElement>(null);
  const [box, setBox] = useState({ width: 0, height: 0, labels: 0 });
  const [top, setTop] = useState(0);
  const [hint, setHint] = useState<{ x: number; y: number; text: string }>();
  const palette = useRef<Palette | undefined>(undefined);
  const latest = useRef({ lives, top, box });
  latest.current = { lives, top, box };

  useLayoutEffect(() => {
    const element = scroll.current!;
    const measure = () => {
      const labels = parseFloat(getComputedStyle(element).getPropertyValue("--labels"));
      setBox({ width: element.clientWidth - labels, height: element.clientHeight, labels });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    // Who comes back from a message goes on with the keys.
    if (selected.peek() && document.activeElement === document.body) element.focus({ preventScroll: true });
    return () => observer.disconnect();
  }, []);

  const shown = useRef<{ scale: Scale; rows: Life[]; first: number } | undefined>(undefined);
  const draw = () => {
    const { lives, top, box } = latest.current;
    if (!canvas.current || !axisCanvas.current || box.width < 1) return;
    const first = Math.max(0, Math.floor(top / rowHeight));
    const rows = lives.slice(first, first + Math.ceil(box.height / rowHeight) + 1);
    settle(rows, now());
    const { axis, from, to } = seen.peek();
    const scale = new Scale(axis, from, to, box.width);
    shown.current = { scale, rows, first };
    const p = (palette.current ??= readPalette());
    const a = prepare(axisCanvas.current, box.width, 30);
    if (a) drawAxis(a, scale, p, told.hostMarks);
    const c = prepare(canvas.current, box.width, box.height);
    if (c) drawLanes(c, scale, p, { lives: rows, first, top, height: box.height, selected: selected.peek(), now: now(), marks: told.hostMarks });
  };

  // Draws after each change, once a picture.
  useEffect(() => {
    let asked = 0;
    const stop = effect(() => {
      void [version.value, seen.value, hold.value, squeeze.value, selected.value, colours.value];
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(draw);
    });
    const recolour = colours.subscribe(() => (palette.current = undefined));
    const ticking = setInterval(() => {
      const goesOn = hold.peek() === "follow" || latest.current.lives.some((l) => l.outcome === "running" || l.outcome === "waiting");
      if (!document.hidden && goesOn) draw();
    }, 500);
    return () => {
      stop();
      recolour();
      clearInterval(ticking);
      cancelAnimationFrame(asked);
    };
  }, []);
  useLayoutEffect(draw);

  // Wheel listeners of the library do not hold the page's own zoom back.
  useEffect(() => {
    const element = scroll.current!;
    const wheel = (event: WheelEvent) => {
      const { box } = latest.current;
      const x = event.clientX - element.getBoundingClientRect().left - box.labels;
      if (x < 0) return;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        zoom(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) * 0.01), x / box.width);
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        pan((event.deltaX || event.deltaY) / box.width);
      }
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);

  const drag = useRef<{ x: number; moved: boolean } | undefined>(undefined);
  const at = (event: PointerEvent | MouseEvent) => {
    const bounds = scroll.current!.getBoundingClientRect();
    const x = event.clientX - bounds.left - box.labels;
    const life = lives[Math.floor((event.clientY - bounds.top + scroll.current!.scrollTop) / rowHeight)];
    return { x, life };
  };
  const move = (event: PointerEvent) => {
    if (drag.current && event.buttons & 1) {
      const by = event.clientX - drag.current.x;
      if (drag.current.moved || Math.abs(by) > 4) {
        drag.current = { x: event.clientX, moved: true };
        pan(-by / box.width);
        setHint(undefined);
      }
      return;
    }
    const { x, life } = at(event);
    if (x < 0 || !life || !shown.current) setHint(undefined);
    else setHint({ x: event.clientX, y: event.clientY, text: pick(life, shown.current.scale, x).text });
  };
  const click = (event: MouseEvent) => {
    const moved = drag.current?.moved;
    drag.current = undefined;
    const { x, life } = at(event);
    if (moved || !life) return;
    selected.value = life.key;
    const attempt = x >= 0 && shown.current ? pick(life, shown.current.scale, x).attempt : "";
    open(life, attempt);
  };

  const axisMove = (event: PointerEvent) => {
    const scale = shown.current?.scale;
    if (!scale) return;
    const x = event.clientX - axisCanvas.current!.getBoundingClientRect().left;
    const near = told.hostMarks.filter((m) => Math.abs(scale.x(m.time) - x) < 6).slice(-8);
    const lines = near.map((m) => `${timeOfDay(m.time)}  ${visible(m.text)}`);
    setHint({ x: event.clientX, y: event.clientY, text: lines.length > 0 ? lines.join("\n") : timeOfDay(scale.time(x)) });
  };

  const choose = (index: number) => {
    const life = lives[Math.max(0, Math.min(lives.length - 1, index))];
    if (!life) return;
    selected.value = life.key;
    const y = lives.indexOf(life) * rowHeight;
    const element = scroll.current!;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = y + rowHeight - element.clientHeight;
  };
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const index = lives.findIndex((l) => l.key === selected.peek());
    const page = Math.max(1, Math.floor(box.height / rowHeight) - 1);
    const moves: Record<string, () => void> = {
      ArrowDown: () => choose(index + 1),
      ArrowUp: () => choose(index < 0 ? 0 : index - 1),
      PageDown: () => choose(index + page),
      PageUp: () => choose(index - page),
      Home: () => choose(0),
      End: () => choose(lives.length - 1),
      ArrowLeft: () => pan(-0.1),
      ArrowRight: () => pan(0.1),
      "+": () => zoom(0.7),
      "=": () => zoom(0.7),
      "-": () => zoom(1 / 0.7),
      f: () => (hold.value = "fit"),
      l: () => (hold.value = "follow"),
      Enter: () => index >= 0 && open(lives[index]!, ""),
    };
    const what = moves[event.key];
    if (!what) return;
    event.preventDefault();
    what();
  };

  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const rows = lives.slice(first, first + Math.ceil(box.height / rowHeight) + 2 * overscan);
  const active = rows.find((l) => l.key === selected.value);
  return (
    <>
      <div class="axis">
        <span class="legend">
          <span>Message</span>
          <span title="attempts / deliveries">Attempts / deliveries</span>
        </span>
        <canvas ref={axisCanvas} aria-hidden="true" onPointerMove={axisMove} onPointerLeave={() => setHint(undefined)} />
      </div>
      <div class="lanes">
        <canvas ref={canvas} aria-hidden="true" />
        <div
          ref={scroll}
          class="scroll"
          role="listbox"
          tabIndex={0}
          aria-label="Messages and invocations, the latest first. Enter opens one."
          aria-activedescendant={active ? `life-${active.seq}` : undefined}
          onScroll={(e) => setTop(e.currentTarget.scrollTop)}
          onKeyDown={key}
          onPointerDown={(e) => (drag.current = { x: e.clientX, moved: false })}
          onPointerMove={move}
          onPointerLeave={() => setHint(undefined)}
          onClick={click}
        >
          <div class="sizer" role="presentation" style={{ height: `${lives.length * rowHeight}px` }}>
            {rows.map((life, i) => (
              <Lane key={life.key} life={life} latest={life.latest} index={first + i} count={lives.length} selected={life.key === selected.value} />
            ))}
          </div>
        </div>
      </div>
      {hint && (
        <div class="hint" aria-hidden="true" style={placeOf(hint)}>
          {hint.text}
        </div>
      )}
    </>
  );
}

/** A row. Its life is told in place, and latest says that it has changed. */
function Lane(props: { life: Life; latest: number; index: number; count: number; selected: boolean }) {
  const { life, index } = props;
  return (
    <div
      id={`life-${life.seq}`}
      class="lane"
      role="option"
      aria-selected={props.selected}
      aria-setsize={props.count}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
    >
      <span class="out-of-sight">{sentence(life)}</span>
      <div class="label" aria-hidden="true">
        <span class={life.outcome}>{signs[life.outcome]}</span>
        <Text class="function" title={life.function || life.source}>
          {life.function || life.source || "?"}
        </Text>
        <Short class="id">{nameOf(life)}</Short>
        <span class="counts">
          {life.attempts} / {life.deliveries.length}
        </span>
      </div>
    </div>
  );
}

function placeOf(hint: { x: number; y: number }) {
  const left = hint.x > window.innerWidth / 2;
  const low = hint.y > window.innerHeight - 160;
  return {
    left: left ? "auto" : `${hint.x + 14}px`,
    right: left ? `${window.innerWidth - hint.x + 14}px` : "auto",
    top: low ? "auto" : `${hint.y + 16}px`,
    bottom: low ? `${window.innerHeight - hint.y + 12}px` : "auto",
  };
}

/** Goes to the message of a life. */
export function open(life: Life, attempt: string): void {
  go(link("message", nameOf(life), { ...which(life), attempt }));
}
