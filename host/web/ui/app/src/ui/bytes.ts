/** The bytes of a body as a person reads them. */
export interface Readable {
  text: string;
  binary: boolean;
  truncated: boolean;
  size: number;
}

const mostHex = 4_096;

/** Reads bytes as text, and JSON with its lines; what is no text in hexadecimal. */
export function readable(bytes: Uint8Array, truncated = false): Readable {
  const loaded = { truncated, size: bytes.length };
  try {
    const text = new TextDecoder("utf-8", { fatal: !truncated }).decode(bytes);
    if (!text.includes("\0")) return { ...loaded, text: pretty(text), binary: false };
  } catch {
    // no text
  }
  return { ...loaded, text: hex(bytes.subarray(0, mostHex)), binary: true, truncated: truncated || bytes.length > mostHex };
}

function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function hex(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let i = 0; i < bytes.length; i += 16) {
    const row = [...bytes.subarray(i, i + 16)];
    const codes = row.map((b) => b.toString(16).padStart(2, "0")).join(" ");
    const signs = row.map((b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : ".")).join("");
    lines.push(`${i.toString(16).padStart(6, "0")}  ${codes.padEnd(47)}  ${signs}`);
  }
  return lines.join("\n");
}
