// Every number of the protocol, by group, with what it means and how far it may move.

import { capital } from "../charts.js";
import { h, replace } from "../dom.js";
import { clip, count, parameter, plural, range } from "../format.js";
import { parameters } from "../parameters.js";
import { badge, empty } from "../parts.js";

/** See VIEWS in main.js. */
export async function parametersView(_, { signal }) {
  const params = [...(await parameters(signal)).values()];
  const groups = new Map();
  for (const row of params) {
    const [group] = row.name.split(".");
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  const list = h("div", {});
  const draw = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (row) => words.every((word) => `${row.name} ${row.doc}`.toLowerCase().includes(word));
    const sections = [...groups].map(([group, rows]) => [group, rows.filter(matches)]).filter(([, rows]) => rows.length > 0);
    replace(
      list,
      ...(sections.length > 0 ? sections.map(([group, rows]) => section(group, rows)) : [empty("No parameter matches.")]),
    );
  };
  draw("");
  const filter = h("input", {
    class: "filter",
    type: "search",
    placeholder: "Filter by name or meaning",
    "aria-label": "Filter the parameters",
    onInput: () => draw(filter.value),
  });
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("h1", {}, "Parameters"),
      h("span", { class: "soft" }, `${plural(params.length, "parameter")} of the protocol`),
      h("div", { class: "steps" }, filter),
    ),
    list,
  );
  return { title: "Parameters", node };
}

function section(group, rows) {
  return h(
    "section",
    { class: "panel parameters", "aria-label": group },
    h("header", {}, h("h2", {}, capital(group)), h("div", { class: "aside" }, count(rows.length))),
    h("dl", {}, rows.map(line)),
  );
}

function line(row) {
  const changed = String(row.value) !== String(row.genesis);
  const [group, ...name] = row.name.split(".");
  return h(
    "div",
    {},
    h("dt", {}, h("code", {}, h("span", { class: "faint" }, `${group}.`), clip(name.join("."), 100))),
    h(
      "dd",
      {},
      h("p", {}, withCode(clip(row.doc.trim(), 1_000))),
      h(
        "p",
        { class: "small faint" },
        `${range(row.min, row.max, row.unit)} · ${row.tier === "fixed" ? "fixed" : `tier ${clip(String(row.tier), 20)}`} · ${clip(row.source, 120)}`,
      ),
    ),
    h(
      "dd",
      { class: "now number" },
      parameter(row.value, row.unit),
      changed && badge("accent", `genesis ${parameter(row.genesis, row.unit)}`),
    ),
  );
}

/** A text in which `these` marks set code. */
function withCode(text) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? h("code", {}, part) : part));
}
