import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { now } from "../clock/now";
import { nameOf, which, type Life } from "../journal/life";
import { go, link } from "../route";
import { even, Scale, squeezed } from "../timeline/axis";
import { drawAxis, drawLife, prepare } from "../timeline/draw";
import { readPalette } from "../timeline/palette";
import { pick } from "../timeline/pick";
import { squeeze } from "../timeline/window";
import { colours } from "../ui/theme";

const height = 62;

/** The life of a message as its row in the timeline, as wide as the page. A click goes to the attempt. */
export function Strip(props: { life: Life }) {
  const { life } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [hint, setHint] = useState("");
  void colours.value;

  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const scale = scaleOf(life, width);
  useLayoutEffect(() => {
    if (width < 1 || !canvas.current) return;
    const c = prepare(canvas.current, width, height);
    if (!c) return;
    const p = readPalette();
    drawAxis(c, scale, p, []);
    drawLife(c, scale, p, life, 46, now());
  });

  const at = (event: MouseEvent) => pick(life, scale, event.clientX - canvas.current!.getBoundingClientRect().left);
  return (
    <div ref={box} class="strip" title={hint}>
      <canvas
        ref={canvas}
        aria-hidden="true"
        onPointerMove={(e) => setHint(at(e).text)}
        onClick={(e) => {
          const { attempt } = at(e);
          if (attempt) go(link("message", nameOf(life), { ...which(life), attempt }));
        }}
      />
    </div>
  );
}

function scaleOf(life: Life, width: number): Scale {
  const axis = squeeze.value ? squeezed([life]) : even;
  const from = axis.place(life.start);
  const to = axis.place(life.outcome === "running" ? Math.max(life.end, now()) : life.end);
  const room = Math.max(to - from, 5);
  return new Scale(axis, from - room * 0.02, to + room * 0.2, Math.max(width, 1));
}
