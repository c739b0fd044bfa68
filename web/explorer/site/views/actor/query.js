// Questions to an actor: a handler run on the newest state, which may write nothing.

import * as cbor from "../../cbor.js";
import { ApiError, post } from "../../api.js";
import { fromBase64, fromHex, toBase64 } from "../../bytes.js";
import { h, replace } from "../../dom.js";
import { failurePanel } from "../../failure.js";
import { clip, plural, visible } from "../../format.js";
import { parseJson } from "../../json.js";
import { heightLink, panel, payload, route } from "../../parts.js";

/** See TABS in ../actor.js. */
export async function queryTab({ actor, source, handlers, detail, signal }) {
  const askable = handlers.filter(({ access }) => access !== "private");
  const chosen = askable.find(({ name }) => name === detail) ?? firstOf(askable);
  const handler = h("input", {
    id: "query-handler",
    list: "query-handlers",
    required: true,
    spellcheck: "false",
    value: detail ?? chosen?.name ?? "",
    maxlength: 256,
  });
  const argument = h("textarea", { id: "query-argument", rows: 4, spellcheck: "false" });
  const format = h(
    "select",
    { id: "query-format" },
    [
      ["cbor", "CBOR, from JSON"],
      ["json", "JSON"],
      ["raw", "raw bytes, in hex"],
    ].map(([value, text]) => h("option", { value }, text)),
  );
  const about = h("p", { class: "small soft", "aria-live": "polite" });
  const answer = h("div", { "aria-live": "polite" });
  const describe = () => {
    const known = handlers.find(({ name }) => name === handler.value);
    if (known) format.value = known.format;
    argument.placeholder = placeholderOf(known);
    about.textContent = known ? visible([`${known.name}(${known.parameters.join(", ")})`, known.about].filter(Boolean).join(": ")) : "";
  };
  describe();
  handler.addEventListener("input", describe);
  const ask = async (event) => {
    event.preventDefault();
    replace(answer, h("p", { class: "soft" }, "Running …"));
    try {
      const selector = handler.value.trim();
      const reply = await post(
        `/actor/${actor.address}/read_handler`,
        { selector, payload: toBase64(encoded(argument.value, format.value)) },
        signal,
      );
      replace(answer, replyPanel(reply));
    } catch (problem) {
      if (!signal.aborted) replace(answer, refusal(problem, { actor, source }));
    }
  };
  const node = h(
    "div",
    {},
    panel(
      { title: "Query a handler" },
      h(
        "p",
        { class: "soft small" },
        "The handler runs on the newest state and may write nothing, so a query costs nothing and changes nothing.",
      ),
      h(
        "form",
        { class: "query", onSubmit: ask },
        h(
          "datalist",
          { id: "query-handlers" },
          askable.map(({ name }) => h("option", { value: name })),
        ),
        h("div", {}, h("label", { for: "query-handler" }, "Handler"), handler, about),
        h("div", {}, h("label", { for: "query-format" }, "Encoding"), format),
        h("div", { class: "whole" }, h("label", { for: "query-argument" }, "Argument"), argument),
        h("div", { class: "whole" }, h("button", { class: "button main" }, "Run query")),
      ),
    ),
    answer,
  );
  return { node };
}

/** What is asked first: not `init`, which has run. */
export function firstOf(handlers) {
  return handlers.find(({ name }) => name !== "init") ?? handlers[0];
}

/** What an argument may look like. */
function placeholderOf(handler) {
  if (handler?.format === "raw") return "0x…";
  if (!handler || handler.line === null) return 'Empty, or JSON such as {"name": "Ada"}';
  if (handler.parameters.length === 0) return "It takes no argument.";
  if (handler.parameters.length === 1) return `The value of ${handler.parameters[0]}, as JSON`.slice(0, 300);
  return `{${handler.parameters.map((name) => `"${name}": …`).join(", ")}}`.slice(0, 300);
}

/** The bytes of an argument as the handler reads it. Throws a SyntaxError or CborError with what is wrong. */
function encoded(text, format) {
  const trimmed = text.trim();
  if (trimmed === "") return new Uint8Array();
  if (format === "raw") {
    const raw = fromHex(trimmed);
    if (raw === null) throw new SyntaxError("raw bytes are written as pairs of hexadecimal digits");
    return raw;
  }
  const value = parseJson(trimmed);
  return format === "json" ? new TextEncoder().encode(trimmed) : cbor.encode(value);
}

function replyPanel(reply) {
  const raw = fromBase64(reply.result) ?? new Uint8Array();
  return panel(
    { title: "Answer", aside: [`${plural(reply.cycles_used, "cycle")}, seen at `, heightLink(reply.block_height)] },
    raw.length === 0 ? h("span", { class: "soft" }, "It returned nothing.") : payload(raw, { open: 3 }),
  );
}

function refusal(problem, { actor, source }) {
  if (!(problem instanceof ApiError)) {
    return panel({ title: "The argument cannot be sent.", kind: "trouble" }, h("p", {}, clip(problem.message, 400)));
  }
  return failurePanel({ ...problem, what: problem.message }, { source, href: (line) => route.actor(actor.address, `source/${line}`) });
}
