import { useEffect, useRef } from "preact/hooks";

/** Whether a key goes into a text that is written. */
export function typing(event: KeyboardEvent): boolean {
  return /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName);
}

/** The search field that the key / leads to. */
export function useSlash() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const slash = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || typing(event)) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    window.addEventListener("keydown", slash);
    return () => window.removeEventListener("keydown", slash);
  }, []);
  return field;
}
