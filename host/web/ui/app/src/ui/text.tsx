/**
 * What a text says, with the characters visible that would change how the rest looks:
 * controls, and marks that turn the direction of writing.
 */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** A name or a text of an app or a sender, apart from the text around it. */
export function Text(props: { children: string; class?: string; title?: string }) {
  return (
    <bdi class={props.class} title={props.title === undefined ? undefined : visible(props.title)}>
      {visible(props.children)}
    </bdi>
  );
}

/** "1 attempt", "2 attempts". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString()} ${n === 1 ? one : many}`;
}

/** The beginning of an identity, with all of it as a title. */
export function Short(props: { children: string; class?: string }) {
  const text = props.children;
  const short = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(text) ? text.slice(0, 8) : text;
  return (
    <Text class={`mono ${props.class ?? ""}`} title={text}>
      {short}
    </Text>
  );
}
