import type { ComponentChildren } from "preact";

/** A table that is moved sideways where it is wider than its panel, with the keys too. */
export function Wide(props: { label: string; children: ComponentChildren }) {
  return (
    <div class="table" role="region" aria-label={props.label} tabIndex={0}>
      <table>{props.children}</table>
    </div>
  );
}
