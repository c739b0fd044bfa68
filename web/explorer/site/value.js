// Decoded values, as people read them: Python's spelling, folded where they are deep, cut where they are long.

import { toHex } from "./bytes.js";
import { h } from "./dom.js";
import { clip, count } from "./format.js";

const MAX_ITEMS = 200;
const MAX_TEXT = 4_000;
const MAX_DEPTH = 24;

/** Items that are drawn at once, whatever is open: of what is larger, folds are closed. */
const MAX_DRAWN = 2_000;

/** The view of a typed node of cbor.js. Lists and maps are open down to `open` levels. */
export function valueView(node, { open = 1 } = {}) {
  return h("div", { class: "value" }, draw(node, null, open, 0, { left: MAX_DRAWN }));
}

/** A node on one line, for tables. */
export function valueLine(node, limit = 160) {
  return h(
    "span",
    { class: "value" },
    h("span", { class: node.type === "list" || node.type === "map" ? "soft" : node.type }, clip(spell(node, 0), limit)),
  );
}

/** `key` stands before the value, inside the line that folds it. `budget.left` counts what may still be drawn. */
function draw(node, key, open, depth, budget) {
  const name = key && [h("span", { class: "key" }, spellKey(key)), h("span", { class: "mute" }, ": ")];
  if (node.type !== "list" && node.type !== "map") return [name, leaf(node)];
  const size = node.value.length;
  const [start, end] = node.type === "list" ? ["[", "]"] : ["{", "}"];
  if (size === 0) return [name, h("span", { class: "mute" }, start + end)];
  if (depth >= MAX_DEPTH) return [name, h("span", { class: "mute" }, `${start}…${end}`)];
  const isOpen = open > 0 && budget.left > 0;
  const fold = h(
    "details",
    { open: isOpen },
    h("summary", {}, name, node.type === "list" ? `list of ${count(size)}` : `${count(size)} ${size === 1 ? "entry" : "entries"}`),
  );
  const fill = (rest) => {
    if (fold.childElementCount > 1) return;
    const shown = node.value.slice(0, MAX_ITEMS);
    rest.left -= shown.length;
    const rows =
      node.type === "list"
        ? shown.map((item) => h("li", {}, draw(item, null, open - 1, depth + 1, rest)))
        : shown.map(([itemKey, item]) => h("li", {}, draw(item, itemKey, open - 1, depth + 1, rest)));
    fold.append(h("ul", {}, rows, size > MAX_ITEMS && h("li", { class: "mute" }, `and ${count(size - MAX_ITEMS)} more`)));
  };
  if (isOpen) fill(budget);
  else fold.addEventListener("toggle", () => fill({ left: MAX_DRAWN }), { once: true });
  return fold;
}

/** A value without parts; one that is an address leads there. */
function leaf(node) {
  const text = node.type === "bytes" ? toHex(node.value.subarray(0, 21)) : node.type === "text" ? node.value : "";
  const shown = h("span", { class: node.type }, spell(node, 0));
  return /^0x[0-9a-f]{40}$/.test(text) ? h("a", { href: `#/account/${text}` }, shown) : shown;
}

function spellKey(node) {
  return node.type === "text" && /^[\w.:/-]{1,200}$/.test(node.value) ? node.value : spell(node, 0);
}

/** A node in Python's spelling. */
export function spell(node, depth) {
  switch (node.type) {
    case "null":
      return "None";
    case "bool":
      return node.value ? "True" : "False";
    case "int":
      return clip(String(node.value), 1_500);
    case "float":
      return Number.isInteger(node.value) && Math.abs(node.value) < 1e16 ? `${node.value}.0` : String(node.value);
    case "text":
      return quote(clip(node.value, MAX_TEXT));
    case "bytes":
      return clip(toHex(node.value), MAX_TEXT);
    default:
      return nested(node, depth);
  }
}

function nested(node, depth) {
  const [start, end] = node.type === "list" ? ["[", "]"] : ["{", "}"];
  if (depth > 3) return `${start}…${end}`;
  const shown = node.value.slice(0, 12);
  const parts =
    node.type === "list"
      ? shown.map((item) => spell(item, depth + 1))
      : shown.map(([key, item]) => `${spellKey(key)}: ${spell(item, depth + 1)}`);
  if (node.value.length > shown.length) parts.push("…");
  return start + parts.join(", ") + end;
}

function quote(text) {
  const escaped = text
    .replace(/[\\"]/g, "\\$&")
    .replace(/\n/g, "\\n")
    .replace(/\t/g, "\\t")
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
      (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return `"${escaped}"`;
}
