import { useEffect, useState } from "preact/hooks";
import { get } from "./client";

/** What a view knows of an answer that it asks for again and again. */
export interface Polled<T> {
  value: T | undefined;
  error: string;
  /** Asks now. */
  again: () => void;
}

/** Asks for a path at once and then every so many milliseconds, while the tab is seen. */
export function usePolled<T>(path: string, every: number): Polled<T> {
  const [state, set] = useState<{ path: string; value?: T; error: string }>({ path, error: "" });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const ask = async () => {
      try {
        const value = await get<T>(path, abort.signal);
        set({ path, value, error: "" });
      } catch (error) {
        if (abort.signal.aborted) return;
        set((before) => ({ ...(before.path === path ? before : { path }), error: String((error as Error).message) }));
      }
      if (!abort.signal.aborted) timer = window.setTimeout(next, every);
    };
    const next = () => {
      if (document.hidden) timer = window.setTimeout(next, every);
      else void ask();
    };
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, every, turn]);
  return { value: state.path === path ? state.value : undefined, error: state.error, again: () => setTurn((n) => n + 1) };
}
