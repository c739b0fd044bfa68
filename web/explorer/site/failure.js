// Why something failed: the chain's words, and the line of Python where it did.

import { codeView } from "./code.js";
import { h } from "./dom.js";
import { clip } from "./format.js";
import { facts, nodeOf, panel } from "./parts.js";
import { exceptionLine, frames, ownLines } from "./trace.js";
import { valueView } from "./value.js";

const CONTEXT_LINES = 4;
const MAX_PARTICULARS = 20;

/**
 * The panel of an error as the API says it: { code, slug, category, what, why, fix, context }. `source` is the actor's where it is
 * known, `href(line)` leads to a line of it.
 */
export function failurePanel(error, { source, href } = {}) {
  const { trace, ...others } = error.context ?? {};
  const line = typeof source === "string" ? placeIn(trace, others, source) : null;
  const exception = exceptionLine(trace);
  return panel(
    { title: clip(error.what, 500), kind: "trouble" },
    exception && h("p", { class: "exception mono breakable" }, clip(exception, 1_000)),
    line !== null && pieceOfCode(source, line, href),
    facts(
      ["Why", clip(error.why ?? "", 1_000)],
      ["What to do", clip(error.fix ?? "", 1_000)],
      [
        "Code",
        h("code", {}, clip(`${error.code ?? ""} ${error.slug ?? ""}`, 100)),
        h("span", { class: "soft" }, ` ${clip(error.category ?? "", 40)}`),
      ],
      ...Object.entries(others)
        .slice(0, MAX_PARTICULARS)
        .map(([name, value]) => [clip(name, 60), valueView(nodeOf(value), { open: 2 })]),
    ),
    frames(trace).length > 0 &&
      h("details", { class: "trace" }, h("summary", {}, "Python's traceback"), h("div", { class: "block-of-text" }, clip(trace, 20_000))),
  );
}

/** The line to show: where the traceback leaves the actor's source, else one that the particulars name. */
function placeIn(trace, others, source) {
  const lineCount = source.split("\n").length;
  const own = ownLines(trace, lineCount);
  if (own.length > 0) return own[own.length - 1];
  const line = Number(others.line ?? 0);
  return Number.isInteger(line) && line >= 1 && line <= lineCount ? line : null;
}

function pieceOfCode(source, line, href) {
  const view = codeView(source, {
    marked: [line],
    from: Math.max(1, line - CONTEXT_LINES),
    to: line + CONTEXT_LINES,
    href,
    label: `The source around line ${line}`,
  });
  return h("div", { class: "piece" }, view);
}
