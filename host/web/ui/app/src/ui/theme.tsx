import { signal } from "@preact/signals";

const name = "redeliver-theme";
const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];

function stored(): Theme {
  const value = localStorage.getItem(name);
  return themes.find((t) => t === value) ?? "auto";
}

export const theme = signal<Theme>(stored());

/** Counts up when the colours have changed: what is drawn takes them anew. */
export const colours = signal(0);

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colours.value++);
}

export function ThemeButton() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!;
  const choose = () => {
    theme.value = next;
    localStorage.setItem(name, next);
    document.documentElement.dataset["theme"] = next;
    colours.value++;
  };
  return (
    <button class="plain" onClick={choose} title={`Colours: ${theme.value}. Change to ${next}`} aria-label={`Colours: ${theme.value}. Change to ${next}`}>
      {theme.value === "light" ? "☀" : theme.value === "dark" ? "☾" : "◐"}
    </button>
  );
}
