import type { Page } from "playwright-core";

/**
 * What does not fit on the page as it is shown: the page or a panel that is wider than its
 * place, an element that is narrower than its text, a word that is broken between its
 * letters. A region that is moved sideways with the keys may be wider than its place, but
 * its words are whole, and a text that is cut has to be whole in its title. What a person
 * or a program has written line by line may break anywhere.
 */
export async function misfits(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const longestWord = 20; // longer ones are identities, which may be broken anywhere
    const wrongs: string[] = [];
    const name = (e: Element) => `<${e.tagName.toLowerCase()} class="${e.getAttribute("class") ?? ""}"> ${(e.textContent ?? "").trim().slice(0, 40)}`;
    const sideways = (e: Element) => e.closest('[role="region"][tabindex="0"]') !== null;
    const unseen = (e: Element) => e.closest(".out-of-sight, canvas, .hint") !== null;
    const seen = (e: Element) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
    const ruler = document.createElement("canvas").getContext("2d")!;
    const width = (text: string, style: CSSStyleDeclaration) => {
      ruler.font = style.font;
      return ruler.measureText(text).width;
    };
    if (document.scrollingElement!.scrollWidth > innerWidth) wrongs.push(`the page is ${document.scrollingElement!.scrollWidth} wide`);
    for (const e of document.querySelectorAll("body *")) {
      if (!seen(e) || unseen(e)) continue;
      const style = getComputedStyle(e);
      const box = e.getBoundingClientRect();
      if (!sideways(e) && (e instanceof HTMLSelectElement || e instanceof HTMLInputElement)) {
        const text = e instanceof HTMLSelectElement ? (e.selectedOptions[0]?.text ?? "") : e.value || e.placeholder;
        const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - (e instanceof HTMLSelectElement ? 14 : 0);
        if (width(text, style) > room + 1) wrongs.push(`${name(e)}: ${text} takes ${Math.round(width(text, style))} of ${Math.round(room)}`);
        continue;
      }
      const cut = style.textOverflow === "ellipsis" && (e.getAttribute("title") ?? e.closest("[title]")?.getAttribute("title") ?? "") !== "";
      if (!sideways(e) && e.scrollWidth > e.clientWidth + 1 && style.display !== "inline" && !cut) wrongs.push(`${name(e)}: ${e.scrollWidth} wide in ${e.clientWidth}`);
      if (!sideways(e) && box.right > innerWidth + 1 && style.position !== "fixed") wrongs.push(`${name(e)}: ends at ${Math.round(box.right)}`);
      for (const node of e.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE || style.whiteSpace === "nowrap" || e.closest("pre")) continue;
        for (const word of (node.textContent ?? "").matchAll(/[\p{L}\p{N}]+/gu)) {
          if (word[0].length > longestWord) continue;
          const range = document.createRange();
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
          if (lines.size > 1) wrongs.push(`${name(e)}: the word ${word[0]} is broken`);
        }
      }
    }
    return [...new Set(wrongs)];
  });
}
