// The parts that views are made of.

import { ApiError } from "./api.js";
import { fromHex, isPrintable, toHex, toText } from "./bytes.js";
import * as cbor from "./cbor.js";
import { brandMark } from "./charts.js";
import { h, hidden, replace, s } from "./dom.js";
import { cby, clip, count, ends, plural, relative, timestamp } from "./format.js";
import { actorName } from "./names.js";
import { parseJson } from "./json.js";
import { isSystemName, systemName } from "./system.js";
import { valueView } from "./value.js";

/** Addresses of this page, all made here so that nothing else spells one. */
export const route = {
  block: (id) => `#/block/${encodeURIComponent(id)}`,
  transaction: (hash) => `#/tx/${encodeURIComponent(hash)}`,
  account: (address) => `#/account/${encodeURIComponent(address)}`,
  actor: (address, tab) => `#/actor/${encodeURIComponent(address)}${tab ? `/${tab}` : ""}`,
  job: (id) => `#/job/${encodeURIComponent(id)}`,
  token: (id) => `#/token/${encodeURIComponent(id)}`,
  proposal: (id) => `#/proposal/${encodeURIComponent(id)}`,
  runner: (address) => `#/runner/${encodeURIComponent(address)}`,
  volume: (id) => `#/volume/${encodeURIComponent(id)}`,
  secret: (account, name) => `#/secret/${encodeURIComponent(account)}/${encodeURIComponent(name)}`,
  search: (text) => `#/search/${encodeURIComponent(text)}`,
};

/** A titled box. `flush` lets a table reach its edges. */
export function panel({ title, aside, flush, kind }, ...children) {
  return h(
    "section",
    { class: `panel${kind ? ` ${kind}` : ""}` },
    title && h("header", {}, h("h2", {}, title), aside && h("div", { class: "aside" }, aside)),
    h("div", { class: flush ? "flush" : "body" }, children),
  );
}

/** Names and what they are: [name, content] rows; rows without content are left out. */
export function facts(...rows) {
  const shown = rows.filter((row) => row && row[1] !== null && row[1] !== undefined && row[1] !== false);
  return h(
    "dl",
    { class: "facts" },
    shown.map(([name, ...content]) => h("div", {}, h("dt", {}, name), h("dd", {}, content))),
  );
}

/**
 * A table. A column is { name, end?, cell(row), class? }; a column without a name has a name for screen readers in `says`. In a narrow window each
 * row is a card whose cells have their column's name before them (base.css). The roles say that it still is a table, which some browsers forget then.
 */
export function table(columns, rows, { caption, rowClass } = {}) {
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { role: "table" },
      caption && h("caption", { class: "hidden" }, caption),
      h(
        "thead",
        { role: "rowgroup" },
        h(
          "tr",
          { role: "row" },
          columns.map((column) => h("th", { scope: "col", role: "columnheader", class: classes(column) }, column.name || hidden(column.says ?? ""))),
        ),
      ),
      h(
        "tbody",
        { role: "rowgroup" },
        rows.map((row) =>
          h(
            "tr",
            { role: "row", class: rowClass?.(row) },
            columns.map((column) => h("td", { role: "cell", class: classes(column), dataset: { name: column.name } }, column.cell(row))),
          ),
        ),
      ),
    ),
  );
}

/** Rows of a long table that are drawn at first, and with each "Show more". */
export const PAGE_ROWS = 100;

/** A table of rows that are all here, a page of them at a time. `view.shown` says how many; it outlives a redraw where the caller keeps it. */
export function longTable(columns, rows, { view = { shown: PAGE_ROWS }, ...options } = {}) {
  const box = h("div", {});
  const draw = () => {
    const more = view.shown < rows.length && moreButton(extend);
    replace(box, table(columns, rows.slice(0, view.shown), options), more);
  };
  const extend = () => {
    view.shown += PAGE_ROWS;
    draw();
    return true;
  };
  draw();
  return box;
}

/** How many rows are here, and of how many where these are not all. */
export function tally(here, total = here) {
  return Number(total) > here ? `${count(here)} of ${count(total)}` : count(here);
}

function classes(column) {
  return [column.end && "end", column.class].filter(Boolean).join(" ") || null;
}

/** A sentence where there is nothing to show. */
export function empty(...children) {
  return h("p", { class: "empty" }, children);
}

const SIGNS = {
  good: "M1.5 5.5 4 8 8.5 2.5",
  bad: "M2 2l6 6M8 2 2 8",
  wait: "M5 1.5v3.5l2.5 1.5",
};

/** Letters from which a badge may be cut in a narrow window. */
const LONG_BADGE = 20;

/** A word in a coloured pill, with a sign that does not depend on colour. */
export function badge(kind, text) {
  return h(
    "span",
    { class: `badge ${kind}` },
    SIGNS[kind] && s("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, s("path", { d: SIGNS[kind] })),
    h("span", { title: text.length > LONG_BADGE ? text : null }, text),
  );
}

/** The status of a transaction or receipt. */
export function status(value) {
  if (value === "success") return badge("good", "Success");
  if (value === "failed") return badge("bad", "Failed");
  return badge("wait", value === "pending" ? "Pending" : clip(String(value), 40));
}

/** What sets deliveries off: kind → [its name, the name of several]. */
export const KINDS = {
  transaction: ["Transaction", "Transactions"],
  message: ["Message", "Messages"],
  timer: ["Timer", "Timers"],
  callback: ["Callback", "Callbacks"],
  job: ["Job", "Jobs"],
  protocol: ["Protocol", "The protocol's own"],
};

/** What set a delivery off. */
export function kindBadge(kind) {
  return badge(kind === "timer" ? "timer" : "plain", KINDS[kind]?.[0] ?? clip(String(kind), 40));
}

// How far the chain's clock is ahead of this machine's: a dev chain that was warped lives in the future.
let ahead = 0;

/** The chain's time, as far as it is known. */
function chainNow() {
  return Date.now() + ahead;
}

/** Forgets how far ahead the chain was, after it went back. */
export function forgetClock() {
  ahead = 0;
}

/** A moment that has passed, shown as how long ago; it stays right while the page is open. */
export function moment(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "–";
  const value = Number(milliseconds);
  ahead = Math.max(ahead, value - Date.now());
  return h(
    "time",
    {
      dataset: { at: String(value) },
      title: timestamp(value),
      datetime: Number.isFinite(value) && Math.abs(value) < 8.64e15 ? new Date(value).toISOString() : null,
    },
    relative(value, chainNow()),
  );
}

/** Brings every moment on the page up to date. */
export function refreshMoments() {
  const now = chainNow();
  for (const element of document.querySelectorAll("time[data-at]")) {
    const text = relative(Number(element.dataset.at), now);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** An amount of base units in CBY, the fraction quieter than the whole. */
export function money(units, places) {
  const text = cby(units, places);
  const [whole, fraction] = text.split(".");
  return h(
    "span",
    { class: "amount number nowrap" },
    whole,
    fraction && h("span", { class: "fraction" }, `.${fraction}`),
    h("span", { class: "unit" }, "CBY"),
  );
}

/** A button that copies a text. */
export function copier(text, what) {
  const button = h(
    "button",
    { class: "copy", type: "button", title: `Copy ${what}`, "aria-label": `Copy ${what}`, onClick: () => copy() },
    s(
      "svg",
      { viewBox: "0 0 16 16", "aria-hidden": "true" },
      s("rect", { x: 5.5, y: 5.5, width: 8, height: 8, rx: 1.5 }),
      s("path", { d: "M10.5 3v-.500h-8v8H3" }),
    ),
  );
  const say = (name, isDone) => {
    button.classList.toggle("done", isDone);
    button.title = name;
    button.setAttribute("aria-label", name);
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = h("textarea", { value: text, class: "hidden" });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say("Copied", true);
    setTimeout(() => say(`Copy ${what}`, false), 1_200);
  };
  return button;
}

/** A long identifier: its ends, or all of it with a way to copy it. */
export function identifier(text, { href, full, what = "the hash" } = {}) {
  const shown = full ? text : ends(text);
  const body = href
    ? h("a", { href, class: "mono", title: full ? null : text }, shown)
    : h("span", { class: "mono", title: full ? null : text }, shown);
  return full ? h("span", { class: "long" }, body, copier(text, what)) : body;
}

/** Who an address is: its mark, its name or ends, linked. `actor`: it has code, and so may have a name. */
export function who(address, { actor } = {}) {
  const href = actor ? route.actor(address) : route.account(address);
  const link = h("a", { href, class: "mono", title: address }, ends(address));
  const label = (...text) => {
    link.classList.remove("mono");
    replace(link, ...text);
  };
  // Whoever writes a class may give it any name, also that of a system actor: the address says more then.
  const claim = (name) => name && !isSystemName(name) && label(name, h("span", { class: "mono tail" }, address.slice(-4)));
  const identify = (name) => (name ? label(name) : actor && claim(actorName(address, claim)));
  const name = systemName(address, identify);
  if (name !== undefined) identify(name);
  return h("span", { class: "who" }, brandMark(address), link);
}

/** Whom a receipt was for: the actor it deployed or ran, or the account that was paid. */
export function whom(receipt) {
  if (receipt.created) return who(receipt.created, { actor: true });
  return who(receipt.target, { actor: receipt.handler !== "" || receipt.kind !== "transaction" });
}

/** The sender of a receipt: an account, or an actor that sent a message or woke up. */
export function asker(receipt) {
  return who(receipt.sender, { actor: receipt.kind === "message" || receipt.kind === "timer" });
}

/** A height, linked to its block. */
export function heightLink(height) {
  return h("a", { href: route.block(height), class: "number" }, count(height));
}

/** What a receipt or transaction asks for, in a few words. */
export function action({ handler, kind, created, instruction }) {
  if (created || instruction === "Deploy") return h("span", {}, "Deploy");
  if (handler) return h("code", {}, clip(handler, 60));
  return h("span", {}, instruction ? spaced(instruction) : kind === "message" ? "message" : "Transfer");
}

/** "SetBalance" → "Set Balance" */
export function spaced(name) {
  return clip(name.replace(/([a-z])([A-Z])/g, "$1 $2"), 80);
}

/** The receipts of a block, those of transactions with the name of what was asked. */
export function namedReceipts({ receipts, transactions }) {
  return receipts.map((receipt, at) => ({ ...receipt, instruction: transactions[at] && effective(transactions[at].instruction).name }));
}

/** What counts of an instruction: where one impersonates, that which ran. */
export function effective(instruction) {
  return instruction.inner ?? instruction;
}

/**
 * Bytes in the ways they can be read: as a decoded value, as text, as hex. `format` says how the reader takes them
 * where that is known.
 */
export function payload(bytes, { open = 2 } = {}) {
  if (bytes === null) return h("span", { class: "faint" }, "not hex");
  if (bytes.length === 0) return h("span", { class: "faint" }, "empty");
  const ways = [];
  const text = toText(bytes);
  const json = text === null ? undefined : jsonOf(text);
  const node = cbor.tryDecode(bytes);
  if (json !== undefined) ways.push(["JSON", () => valueView(nodeOf(json), { open })]);
  // A short ASCII text decodes as CBOR too; the text is the likelier meaning then.
  const isText = text !== null && isPrintable(text);
  if (node !== null && !(isText && json === undefined && bytes.length > 1 && node.type === "int"))
    ways.push(["CBOR", () => valueView(node, { open })]);
  if (isText) ways.push(["Text", () => h("div", { class: "block-of-text" }, clip(text, 20_000))]);
  ways.push(["Hex", () => h("div", { class: "block-of-text" }, clip(toHex(bytes), 20_000))]);
  const place = h("div", {});
  const buttons = ways.map(([name, show]) =>
    h("button", { type: "button", "aria-pressed": "false", onClick: () => choose(name, show) }, name),
  );
  const choose = (name, show) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === name));
    replace(place, show());
  };
  choose(...ways[0]);
  return h(
    "div",
    { class: "payload" },
    h(
      "div",
      { class: "ways", role: "group", "aria-label": "Read the bytes as" },
      buttons,
      h("span", { class: "faint small" }, plural(bytes.length, "byte")),
    ),
    place,
  );
}

/** The same, from the API's hex. */
export function payloadOfHex(text, options) {
  return payload(typeof text === "string" ? fromHex(text) : null, options);
}

function jsonOf(text) {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Lists and objects inside each other of which nodes are made: more than are drawn, and far less than fill the stack. */
const MAX_DEPTH = 64;

/** A JSON value as the typed nodes that values are shown from. */
export function nodeOf(value, depth = 0) {
  if (depth > MAX_DEPTH) return { type: "text", value: "…" };
  if (value === null || value === undefined) return { type: "null", value: null };
  if (typeof value === "boolean") return { type: "bool", value };
  if (typeof value === "bigint") return { type: "int", value };
  if (typeof value === "number") return { type: Number.isInteger(value) ? "int" : "float", value };
  if (typeof value === "string") return { type: "text", value };
  if (Array.isArray(value)) return { type: "list", value: value.map((item) => nodeOf(item, depth + 1)) };
  return { type: "map", value: Object.entries(value).map(([key, item]) => [{ type: "text", value: key }, nodeOf(item, depth + 1)]) };
}

/** What went wrong, in the node's words, with a way to try again. */
export function trouble(problem, retry) {
  const known = problem instanceof ApiError;
  if (!known) console.error(problem);
  return panel(
    { title: known ? problem.message : "This page could not be drawn.", kind: "trouble" },
    facts(
      known && problem.why && ["Why", problem.why],
      known && problem.fix && ["What to do", problem.fix],
      !known && ["Why", clip(String(problem?.message ?? problem), 400)],
      known && problem.code !== undefined && ["Code", h("code", {}, clip(`${problem.code} ${problem.slug ?? ""}`, 100))],
    ),
    retry && h("p", {}, h("button", { class: "button", type: "button", onClick: retry }, "Try again")),
  );
}

/** A button that brings more rows; it answers with the element to keep below the rows. `load` answers whether there are more. */
export function moreButton(load, label = "Show more") {
  const button = h("button", { class: "button", type: "button" }, label);
  const row = h("div", { class: "more" }, button);
  const said = h("span", { class: "soft small", role: "status" });
  row.append(said);
  let isBusy = false;
  button.addEventListener("click", async () => {
    if (isBusy) return;
    // A button that is disabled loses the focus, and with it the reader's place.
    isBusy = true;
    button.setAttribute("aria-disabled", "true");
    said.textContent = "";
    try {
      if (!(await load())) row.remove();
    } catch (problem) {
      if (problem?.name !== "AbortError") said.textContent = clip(problem.message, 200);
    }
    button.removeAttribute("aria-disabled");
    isBusy = false;
  });
  return row;
}
