import { demand, withQuery } from "../api/client";
import type { ShownMessage } from "../api/types";
import { readable, type Readable } from "../ui/bytes";
import { held, type Place } from "./place";

/** A message as its service holds it, with its body. */
export interface Content extends Readable {
  service: string; // that holds it, or held it
  bytes: Uint8Array;
  properties: Record<string, string>;
  origin?: string; // of one that was given up
}

/** What the page has read stays when the service lets the message go. */
const known = new Map<string, Content>();
const mostKnown = 200;

export function knownContent(name: string): Content | undefined {
  return known.get(name);
}

/** Reads what is at a place; undefined where it is no longer held. The name is the message's own. */
export async function read(place: Place, name: string, signal: AbortSignal): Promise<Content | undefined> {
  const found = await held(place, signal);
  if (!found) return undefined;
  const { at, message } = found;
  const content = whole(at.service, message) ?? (await load(at, message, signal));
  known.delete(name);
  known.set(name, content);
  if (known.size > mostKnown) known.delete(known.keys().next().value!);
  return content;
}

/** The content of a message whose preview is all of it. */
function whole(service: string, m: ShownMessage): Content | undefined {
  if (m.preview === undefined || m.binary) return undefined;
  const bytes = new TextEncoder().encode(m.preview);
  return bytes.length === m.size ? contentOf(service, bytes, false, m) : undefined;
}

async function load(at: Place, m: ShownMessage, signal: AbortSignal): Promise<Content> {
  const response = await demand(withQuery("messages/body", { ...at }), { signal });
  return contentOf(at.service, new Uint8Array(await response.arrayBuffer()), response.headers.has("X-Redeliver-Truncated"), m);
}

function contentOf(service: string, bytes: Uint8Array, truncated: boolean, m: ShownMessage): Content {
  return { ...readable(bytes, truncated), service, bytes, properties: m.properties ?? {}, ...(m.origin === undefined ? {} : { origin: m.origin }) };
}
