import { signal } from "@preact/signals";

/** The control API, seen from the page, which is served at ui/ below it. */
export const root = new URL("../", document.baseURI).pathname;

const keyName = "redeliver-key";

/** Whether the host has refused the key that the page has, or wants one. */
export const keyWanted = signal(false);

let answered: (() => void)[] = [];

/** An answer that is no success: what the host says of it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    text: string,
    readonly hint: string,
  ) {
    super(text);
  }
}

/** Gives the host's master key, once for this tab. */
export function giveKey(key: string): void {
  sessionStorage.setItem(keyName, key);
  keyWanted.value = false;
  const waiting = answered;
  answered = [];
  for (const go of waiting) go();
}

/** Whether the host takes calls with a key only. */
export function hasKey(): boolean {
  return sessionStorage.getItem(keyName) !== null;
}

/** Calls the control API. Waits for a key when the host wants one. */
export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const headers = new Headers(init.headers);
    const key = sessionStorage.getItem(keyName);
    if (key) headers.set("x-functions-key", key);
    const response = await fetch(root + path, { ...init, headers, cache: "no-store" });
    if (response.status !== 401) return response;
    await response.body?.cancel();
    if (sessionStorage.getItem(keyName) !== key) continue; // given while this call was under way
    keyWanted.value = true;
    await new Promise<void>((resolve) => answered.push(resolve));
  }
}

/** Calls the control API and throws a Refusal where it does not succeed. */
export async function demand(path: string, init?: RequestInit): Promise<Response> {
  const response = await call(path, init);
  if (response.ok) return response;
  let text = `${response.status} ${response.statusText}`;
  let hint = "";
  try {
    const body = (await response.json()) as { error?: string; hint?: string };
    text = body.error ?? text;
    hint = body.hint ?? "";
  } catch {
    // no JSON: the status says it
  }
  throw new Refusal(response.status, text, hint);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await demand(path, signal ? { signal } : {});
  return (await response.json()) as T;
}

/** Sends a request with a body of JSON, or none, and returns the answer. */
export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json" };
  }
  return read<T>(await demand(path, init));
}

/** Sends a request with a body that is not looked at, and returns the answer. */
export async function sendRaw<T>(method: string, path: string, body: BodyInit): Promise<T> {
  return read<T>(await demand(path, { method, body, headers: { "Content-Type": "application/octet-stream" } }));
}

async function read<T>(response: Response): Promise<T> {
  const text = await response.text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

/** A path with a query, without the parameters that are empty. */
export function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}
