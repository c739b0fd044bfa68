// A list with pages, filters and a CSV file: what the lists of blocks, transactions, actors, accounts and tokens share.

import { h, replace } from "./dom.js";
import { download, toCsv } from "./csv.js";
import { count } from "./format.js";
import { empty, moreButton, panel, table, trouble } from "./parts.js";

const PAGE_ROWS = 50;
const CSV_ROWS = 10_000;
const CSV_PAGE = 1_000;

/** New rows that join those on the page before the list begins again: a page that is open all night stays one that can be drawn. */
const MAX_ADDED = 300;

/** Empty pages of a filtered list that are asked for at once: each looks at as many rows as the node allows. */
const EMPTY_PAGES = 5;

/**
 * A list. `page(cursor, limit)` answers { rows, next, total? }: `next` is the cursor of the next page, undefined on the last.
 * A column is as for `table`; one with `text(row)` is also a column of the CSV file, which `file` names, and one without `cell` is
 * a column of that file only.
 * `filters` are elements that change what `page` asks for. `none` says that there are no rows: a text, or a function where it depends on
 * the filters. Answers { node, refresh, reload }.
 */
export function list({ title, caption = title, columns, page, file, filters = [], none, keyOf }) {
  const box = h("div", {});
  const state = { rows: [], next: undefined, total: undefined, fresh: new Set(), added: 0 };
  // Counts the times that the list began again: an answer to what was asked before that is dropped.
  let era = 0;
  const draw = () => {
    const more = state.next !== undefined && moreButton(() => extend(), state.rows.length > 0 ? "Show more" : "Look further back");
    replace(
      box,
      state.rows.length === 0
        ? empty(state.next === undefined ? emptyText(none) : "Nothing among the newest entries.")
        : table(columns.filter(({ cell }) => cell), state.rows, { caption, rowClass: (row) => (state.fresh.has(keyOf(row)) ? "fresh" : null) }),
      more,
    );
    counter.textContent = state.total === undefined ? "" : count(state.total);
  };
  const extend = async () => {
    const asked = era;
    for (let tries = 0; tries < EMPTY_PAGES; tries += 1) {
      const { rows, next, total } = await page(state.next, PAGE_ROWS);
      if (asked !== era) return true;
      Object.assign(state, { rows: [...state.rows, ...rows], next, total });
      if (rows.length > 0 || next === undefined) break;
    }
    draw();
    return true;
  };
  const reload = async () => {
    era += 1;
    Object.assign(state, { rows: [], next: undefined, total: undefined, added: 0 });
    state.fresh.clear();
    await extend();
  };
  /** Adds what came since, newest first; what is on the page stays. */
  const refresh = async () => {
    const asked = era;
    const { rows, next, total } = await page(undefined, PAGE_ROWS);
    if (asked !== era) return;
    const known = new Set(state.rows.map(keyOf));
    const added = rows.filter((row) => !known.has(keyOf(row)));
    if (added.length === 0) return;
    state.fresh = new Set(added.map(keyOf));
    // More than a page came at once: begin again, so that no row between is missing.
    if (added.length === rows.length || state.added + added.length > MAX_ADDED) Object.assign(state, { rows, next, added: 0 });
    else Object.assign(state, { rows: [...added, ...state.rows], added: state.added + added.length });
    state.total = total;
    draw();
  };
  const counter = h("span", {});
  const save = h("button", { class: "button small", type: "button", onClick: () => saveAs() }, "CSV");
  const saveAs = async () => {
    save.disabled = true;
    try {
      download(`${file}.csv`, toCsv(columns.filter(({ text }) => text).map(named), await everything(page)));
    } catch (problem) {
      if (problem?.name !== "AbortError") replace(box, trouble(problem, () => reload()));
    }
    save.disabled = false;
  };
  for (const filter of filters) filter.addEventListener("change", () => reload().catch((problem) => replace(box, trouble(problem, () => reload()))));
  const aside = h("span", { class: "with-filter" }, counter, filters, save);
  return { node: panel({ title, aside, flush: true }, box), refresh, reload };
}

function emptyText(none) {
  return typeof none === "function" ? none() : none;
}

function named(column) {
  return { name: column.name || column.says, text: column.text };
}

/** All rows up to a bound, in pages. */
async function everything(page) {
  const rows = [];
  let next;
  let pages = 0;
  do {
    const found = await page(next, CSV_PAGE);
    rows.push(...found.rows);
    next = found.next;
    pages += 1;
  } while (next !== undefined && rows.length < CSV_ROWS && pages < CSV_ROWS / CSV_PAGE);
  return rows.slice(0, CSV_ROWS);
}

/** A choice among [value, text] pairs, as a filter of a list. */
export function choice(label, options, chosen = "") {
  return h(
    "select",
    { class: "filter", "aria-label": label },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
}

/** A text, as a filter of a list: it counts when it is entered. */
export function textFilter(label, value = "") {
  return h("input", { class: "filter", type: "search", placeholder: label, "aria-label": label, value, maxlength: 256, spellcheck: "false" });
}

/** A query string of what is given; what is empty is left out. */
export function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}
