import type { Life } from "../journal/life";
import { quoted } from "../ui/shell";
import { endOf, requestOf, split, textOf, type Sendable } from "./sendable";

/** The line of the command that sends a message once more, to the host at a port. */
export function asCommand(m: Sendable, port: string): string {
  const { own, made } = split(m.content.properties);
  const flags: string[] = [];
  const flag = (name: string, value: string | undefined) => value !== undefined && flags.push(`--${name}`, quoted(value));
  if (m.service === "servicebus") {
    flag("session", own["sessionId"]);
    flag("subject", own["subject"]);
    flag("content-type", own["contentType"]);
    flag("correlation-id", own["correlationId"]);
    flag("to", own["to"]);
    flag("reply-to", own["replyTo"]);
  }
  if (m.service === "eventhub") flag("key", m.content.properties["partitionKey"]);
  if (/^(servicebus|eventhub)$/.test(m.service)) for (const [k, v] of Object.entries(made)) flag("property", `${k}=${v}`);
  flag("port", port);
  const to = m.service === "blob" ? `redeliver upload ${quoted(`${m.entity}/${m.id}`)} -` : `redeliver send ${m.service} ${quoted(m.entity)}`;
  const text = textOf(m);
  if (m.content.binary || m.service === "blob" || text === "-" || text === "") {
    return `printf %s ${quoted(base64(m.content.bytes))} | base64 -d | ${to}${m.service === "blob" ? "" : " -"} ${flags.join(" ")}`;
  }
  return text.startsWith("-") ? `${to} ${flags.join(" ")} -- ${quoted(text)}` : `${to} ${quoted(text)} ${flags.join(" ")}`;
}

/** The same as a request of the control API. */
export function asCurl(m: Sendable, base: string, withKey: boolean): string {
  const { method, path } = requestOf(m);
  const key = withKey ? ` -H "x-functions-key: $KEY"` : "";
  const to = `-X ${method} ${quoted(base + path)} -H 'Content-Type: application/octet-stream'${key}`;
  if (m.content.binary) return `printf %s ${quoted(base64(m.content.bytes))} | base64 -d | curl ${to} --data-binary @-`;
  return `curl ${to} --data-raw ${quoted(textOf(m))}`;
}

/** A scenario that sends the message, and expects what became of it here; undefined where scenarios cannot say the body. */
export function asScenario(m: Sendable, life: Life | undefined): string | undefined {
  if (m.content.binary || m.content.truncated) return undefined;
  const end = endOf(life);
  const then = end
    ? `  functions: {${word(life!.function)}: {attempts: ${end.attempts}, deliveries: ${end.deliveries}, ends: ${end.ends}}}`
    : "  invariants: true";
  return ["name: " + JSON.stringify(`a message of ${m.entity}`), "app: .", "when:", `  - ${step(m)}`, "then:", then, ""].join("\n");
}

function step(m: Sendable): string {
  const text = textOf(m);
  const { own, made } = split(m.content.properties);
  const body = json(text);
  switch (m.service) {
    case "servicebus": {
      const session = own["sessionId"] === undefined ? "" : `, sessionId: ${JSON.stringify(own["sessionId"])}`;
      const more = Object.keys(made).length > 0 ? `, properties: ${JSON.stringify(made)}` : "";
      return `send: {serviceBus: ${word(m.entity)}, body: ${body}${session}${more}}`;
    }
    case "eventhub": {
      const key = m.content.properties["partitionKey"];
      return `sendEvents: {eventHub: ${word(m.entity)}${key === undefined ? "" : `, key: ${JSON.stringify(key)}`}, bodies: [${body}]}`;
    }
    case "eventgrid":
      return `publish: {topic: ${word(m.entity)}, events: [${text}]}`;
    case "cosmos":
      return `write: {container: ${word(m.entity)}, documents: [${text}]}`;
    case "blob":
      return `upload: {blob: ${JSON.stringify(`${m.entity}/${m.id}`)}, body: ${JSON.stringify(text)}}`;
    default:
      return `send: {queue: ${word(m.entity)}, body: ${body}}`;
  }
}

/** A body in YAML: as JSON where that is sent byte for byte, else as a text. */
function json(text: string): string {
  try {
    if (/^[[{]/.test(text) && JSON.stringify(JSON.parse(text)) === text) return text;
  } catch {
    // a text
  }
  return JSON.stringify(text);
}

function word(name: string): string {
  return /^[A-Za-z][\w-]*$/.test(name) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(name) ? name : JSON.stringify(name);
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
