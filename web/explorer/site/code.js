// Python source as a page of numbered, coloured lines.

import { h } from "./dom.js";
import { visible } from "./format.js";
import { highlight } from "./highlight.js";

const MAX_LINES = 5_000;
const MAX_LINE_CHARACTERS = 2_000;

/**
 * The source as a list of lines. `marked` lines stand out as faulty; `from` and `to` cut a piece out (from 1, inclusive);
 * `href(line)` makes a line's number a link; `whole` lets the page scroll instead of the code.
 */
export function codeView(
  source,
  { marked = [], from = 1, to = Number.MAX_SAFE_INTEGER, href, whole = false, label = "Python source" } = {},
) {
  const lines = highlight(source);
  const last = Math.min(lines.length, to, from + MAX_LINES - 1);
  const items = [];
  for (let number = Math.max(1, from); number <= last; number += 1) {
    let room = MAX_LINE_CHARACTERS;
    const pieces = lines[number - 1].map(({ kind, text }) => {
      const shown = visible(text.slice(0, Math.max(0, room)));
      room -= text.length;
      return kind === "plain" ? shown : h("span", { class: kind }, shown);
    });
    if (room < 0) pieces.push(h("span", { class: "faint" }, " …"));
    const gutter = href
      ? h("a", { href: href(number), "aria-label": `Line ${number}` }, number)
      : h("a", { "aria-hidden": "true" }, number);
    items.push(
      h("li", { class: marked.includes(number) ? "marked" : null, dataset: { line: String(number) } }, gutter, h("span", {}, pieces)),
    );
  }
  const isLow = whole || from > 1 || to < lines.length;
  return h(
    "div",
    { class: isLow ? "code short" : "code", role: "region", "aria-label": label, tabindex: 0 },
    h("ol", {}, items),
    last < Math.min(lines.length, to) && h("p", { class: "empty" }, `${lines.length - last} more lines`),
  );
}
