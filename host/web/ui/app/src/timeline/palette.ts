/** The colours of the style sheet, for what is drawn. */
export interface Palette {
  bg: string;
  raised: string;
  line: string;
  strong: string;
  text: string;
  muted: string;
  selected: string;
  succeeded: string;
  failed: string;
  waiting: string;
  running: string;
  dead: string;
  queued: string;
}

const names: Record<keyof Palette, string> = {
  bg: "--bg", raised: "--raised", line: "--line", strong: "--strong-line", text: "--text", muted: "--muted", selected: "--selected",
  succeeded: "--succeeded", failed: "--failed", waiting: "--waiting", running: "--running", dead: "--dead", queued: "--queued",
};

/** Reads the colours as they are now: light-dark() is resolved on an element. */
export function readPalette(): Palette {
  const probe = document.createElement("span");
  document.body.append(probe);
  const out = {} as Palette;
  for (const [key, name] of Object.entries(names) as [keyof Palette, string][]) {
    probe.style.color = `var(${name})`;
    out[key] = getComputedStyle(probe).color;
  }
  probe.remove();
  return out;
}
