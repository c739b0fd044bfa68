// One actor: its source, what it stores, what it will do by itself, what it announced, and questions to it.

import { ApiError, find, get, post } from "../api.js";
import { fromBase64, fromHex, toBase64, toHex } from "../bytes.js";
import * as cbor from "../cbor.js";
import { brandMark, capital } from "../charts.js";
import { Clock, countdown } from "../clock.js";
import { codeView } from "../code.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { bytes, clip, count, percent } from "../format.js";
import { handlers as readHandlers } from "../handlers.js";
import { parseJson } from "../json.js";
import {
  badge,
  copier,
  empty,
  facts,
  heightLink,
  identifier,
  moment,
  money,
  moreButton,
  nodeOf,
  panel,
  payload,
  route,
  systemName,
  table,
  trouble,
  who,
} from "../parts.js";
import { classNameOf, learn } from "../names.js";
import { valueLine, valueView } from "../value.js";
import { historyPanel } from "./account.js";
import { timersPanel, wakes } from "./timers.js";

const PAGE_ROWS = 50;
const LOG_ROWS = 30;
const MAILBOX_ROWS = 20;

/** Tab's name → title, and what draws it: (context) → { node, refresh? }. */
const TABS = {
  overview: ["Overview", overviewTab],
  source: ["Source", sourceTab],
  storage: ["Storage", storageTab],
  timers: ["Timers", timersTab],
  log: ["Log", logTab],
  query: ["Query", queryTab],
  history: ["History", historyTab],
};

/** See VIEWS in main.js. */
export async function actorView([address = "", tab = "overview", detail], { live, signal }) {
  const id = encodeURIComponent(address);
  const [actor, code] = await Promise.all([get(`/actor/${id}`, signal), find(`/actor/${id}/code`, signal)]);
  const source = code?.source ?? "";
  const name = systemName(actor.address) ?? classNameOf(source);
  if (source) learn(actor.address, source);
  const context = { actor, source, handlers: handlersOf(actor, source), detail, signal, live, clock: await Clock.read(live, signal) };
  const [title, draw] = TABS[Object.hasOwn(TABS, tab) ? tab : "overview"];
  const body = await draw(context);
  const balance = h("span", {}, money(actor.balance));
  const timers = h("span", { class: "tally" }, count(actor.timer_count));
  follow(live, signal, async () => {
    const now = await find(`/actor/${actor.address}`, signal);
    if (!now) return;
    if (String(now.balance) !== String(actor.balance)) replace(balance, money(now.balance));
    timers.textContent = count(now.timer_count);
    Object.assign(actor, now);
    await body.refresh?.();
  });
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      brandMark(actor.address),
      h(
        "div",
        {},
        h("span", { class: "kicker" }, systemName(actor.address) ? "System actor" : "Actor"),
        h("h1", { class: name ? null : "address" }, name ?? actor.address),
      ),
      actor.status === "active" ? badge("good", "Active") : badge("bad", capital(clip(actor.status, 60).replaceAll("_", " "))),
      h("span", { class: "title-balance" }, balance),
      name && h("p", { class: "soft small" }, identifier(actor.address, { full: true, what: "the address" })),
    ),
    h(
      "nav",
      { class: "tabs", "aria-label": "About this actor" },
      Object.entries(TABS).map(([key, [text]]) =>
        h(
          "a",
          { href: route.actor(actor.address, key === "overview" ? "" : key), "aria-current": TABS[key][0] === title ? "page" : null },
          text,
          key === "timers" && timers,
        ),
      ),
    ),
    body.node,
  );
  return { title: `${name ?? actor.address.slice(0, 8)} · ${title}`, node, stay: tab !== "overview" && !detail, ready: body.ready };
}

/** What the node says it offers, with what its source says about each. */
function handlersOf(actor, source) {
  const read = readHandlers(source);
  const names = actor.handlers ?? [];
  if (names.length === 0) return read;
  const unknown = { line: null, parameters: [], access: "unknown", format: "cbor", deferred: false, about: "" };
  return names.map((name) => read.find((handler) => handler.name === name) ?? { ...unknown, name: String(name) });
}

// Overview

async function overviewTab(context) {
  const { actor, source, clock, signal } = context;
  const summary = /^\s*(?:"""|''')\s*([^\n]{1,300})/.exec(source)?.[1].replace(/("""|''')\s*$/, "");
  const side = h("div", {});
  const news = h("div", {});
  const refresh = async () => {
    const [logs, timers, stored] = await Promise.all([
      logsOf(actor.address, 0, 8, signal),
      find(`/timers/${actor.address}?limit=5`, signal),
      find(`/actors/${actor.address}/storage?limit=12`, signal),
    ]);
    replace(side, nextPanel(timers?.timers ?? [], clock, actor), storagePreview(actor, stored?.entries ?? []));
    replace(news, logPanel(logs, { title: "Latest events", more: route.actor(actor.address, "log") }));
  };
  await refresh();
  const node = h(
    "div",
    { class: "columns wide-left" },
    h(
      "div",
      {},
      panel(
        { title: "About" },
        summary && h("p", { class: "about" }, clip(summary, 300)),
        facts(
          ["Owner", who(actor.owner)],
          actor.creator !== actor.owner && ["Deployed by", who(actor.creator)],
          ["Deployed in block", heightLink(actor.created_at)],
          ["Code hash", identifier(actor.code_hash)],
          [
            "Space used",
            `${bytes(Number(actor.storage_bytes))} of ${bytes(Number(actor.storage_quota))}, ${percent(actor.storage_bytes, actor.storage_quota)}`,
          ],
          ["Messages waiting", count(actor.mailbox_count)],
          Number(actor.nonce) > 0 && ["Actors deployed", count(actor.nonce)],
          ["Entitlements", entitlements(actor.entitlements)],
        ),
      ),
      handlersPanel(context),
      Number(actor.mailbox_count) > 0 && (await mailboxPanel(actor, signal)),
      news,
    ),
    side,
  );
  return { node, refresh };
}

function entitlements(grants) {
  if (grants.length === 0) return h("span", { class: "soft" }, "none");
  return h(
    "ul",
    { class: "grants" },
    grants
      .slice(0, 100)
      .map(({ id, params, deprecated }) =>
        h(
          "li",
          {},
          h("code", {}, clip(id, 100)),
          params && Object.keys(params).length > 0 && [" ", valueLine(nodeOf(params), 160)],
          deprecated && [" ", badge("wait", "deprecated")],
        ),
      ),
  );
}

function handlersPanel({ actor, handlers }) {
  if (handlers.length === 0) return null;
  const words = { public: "anyone may call it", restricted: "only some may call it", private: "only itself", unknown: "" };
  return panel(
    { title: "Handlers" },
    h(
      "ul",
      { class: "handlers" },
      handlers.map((handler) =>
        h(
          "li",
          {},
          h(
            "p",
            {},
            h(
              "a",
              {
                class: "mono",
                href: handler.line ? route.actor(actor.address, `source/${handler.line}`) : route.actor(actor.address, "source"),
              },
              clip(handler.name, 100),
            ),
            h("span", { class: "mono faint" }, `(${clip(handler.parameters.join(", "), 120)})`),
            " ",
            handler.access === "restricted" && badge("wait", words.restricted),
            handler.access === "private" && badge("plain", words.private),
            handler.access !== "private" &&
              h("a", { class: "small ask", href: route.actor(actor.address, `query/${encodeURIComponent(handler.name)}`) }, "query"),
          ),
          handler.about && h("p", { class: "small soft" }, clip(handler.about, 200)),
        ),
      ),
    ),
  );
}

async function mailboxPanel(actor, signal) {
  const { messages } = await get(`/actors/${actor.address}/mailbox?limit=${MAILBOX_ROWS}`, signal);
  const columns = [
    { name: "Handler", cell: (message) => h("code", {}, clip(message.handler || "handle_message", 80)) },
    { name: "From", cell: (message) => who(message.sender, { actor: true }) },
    { name: "Value", end: true, cell: (message) => money(message.value) },
    { name: "Began with", class: "optional", cell: (message) => identifier(message.origin, { href: route.transaction(message.origin) }) },
  ];
  return panel(
    { title: "Messages waiting", aside: count(actor.mailbox_count), flush: true },
    table(columns, messages, { caption: "Messages waiting" }),
  );
}

function storagePreview(actor, entries) {
  if (entries.length === 0) return panel({ title: "Storage" }, empty("Nothing stored."));
  const line = (entry) => {
    const raw = fromHex(entry.value_bytes) ?? new Uint8Array();
    const node = cbor.tryDecode(raw);
    return node ? valueLine(node, 120) : h("span", { class: "mono faint" }, clip(toHex(raw), 80));
  };
  return panel(
    { title: "Storage", aside: h("a", { href: route.actor(actor.address, "storage") }, "all") },
    h(
      "dl",
      { class: "pairs" },
      entries.map((entry) => h("div", {}, h("dt", { class: "mono" }, clip(entry.key, 80)), h("dd", {}, line(entry)))),
    ),
  );
}

function nextPanel(timers, clock, actor) {
  if (timers.length === 0) return null;
  return panel(
    { title: "Next to fire", aside: h("a", { href: route.actor(actor.address, "timers") }, "all") },
    h(
      "ol",
      { class: "next" },
      timers.map((timer) =>
        h(
          "li",
          {},
          h("b", {}, countdown(timer.height, clock)),
          h("span", {}, wakes(timer)),
          h("span", { class: "faint number" }, `at ${count(timer.height)}`),
        ),
      ),
    ),
  );
}

// Source

async function sourceTab({ actor, source, detail }) {
  if (!source) return { node: empty("The node has no source for this actor.") };
  const view = codeView(source, { whole: true, href: (line) => route.actor(actor.address, `source/${line}`) });
  const node = panel(
    {
      title: "Source",
      aside: [`${count(source.split("\n").length)} lines, ${bytes(source.length)}`, copier(source, "the source")],
      flush: true,
    },
    view,
  );
  const ready = () => {
    const line = view.querySelector(`[data-line="${Number(detail) || 0}"]`);
    line?.classList.add("pointed");
    line?.scrollIntoView({ block: "center" });
  };
  return { node, ready };
}

// Storage

async function storageTab({ actor, signal }) {
  const prefix = h("input", {
    class: "filter",
    type: "search",
    placeholder: "Keys that begin with …",
    "aria-label": "Only keys that begin with",
  });
  const box = h("div", {});
  let entries = [];
  let cursor;
  const known = new Map();
  const page = (from, limit = PAGE_ROWS) =>
    get(
      `/actors/${actor.address}/storage?limit=${limit}${prefix.value ? `&prefix=${encodeURIComponent(prefix.value)}` : ""}${from ? `&cursor=${encodeURIComponent(from)}` : ""}`,
      signal,
    );
  const columns = [
    { name: "Key", cell: (entry) => h("span", { class: "mono breakable" }, clip(entry.key, 200)) },
    { name: "Value", class: "grow", cell: valueCell },
    { name: "Bytes", end: true, class: "optional", cell: (entry) => count((entry.value_bytes.length - 2) / 2) },
  ];
  const draw = () => {
    const changed = (entry) => known.has(entry.key_bytes) && known.get(entry.key_bytes) !== entry.value_bytes;
    const more =
      cursor &&
      moreButton(async () => {
        const next = await page(cursor);
        entries = [...entries, ...next.entries];
        cursor = next.next_cursor;
        draw();
        return true;
      });
    replace(
      box,
      entries.length === 0
        ? empty(prefix.value ? "No key begins like that." : "Nothing stored.")
        : table(columns, entries, { caption: "Storage", rowClass: (entry) => (changed(entry) ? "fresh" : null) }),
      more,
    );
    for (const entry of entries) known.set(entry.key_bytes, entry.value_bytes);
  };
  const load = async () => {
    const first = await page();
    entries = first.entries;
    cursor = first.next_cursor;
    draw();
  };
  await load();
  prefix.addEventListener("input", () => load().catch((problem) => !signal.aborted && replace(box, trouble(problem))));
  const refresh = async () => {
    // Only what is on the page is brought up to date; open folds stay as they are where nothing changed.
    const now = await page(undefined, Math.min(1_000, Math.max(PAGE_ROWS, entries.length)));
    const isSame =
      now.entries.length === entries.length &&
      now.entries.every((entry, at) => entry.key_bytes === entries[at].key_bytes && entry.value_bytes === entries[at].value_bytes);
    if (isSame) return;
    entries = now.entries;
    cursor = now.next_cursor;
    draw();
  };
  const space = `${bytes(Number(actor.storage_bytes))} of ${bytes(Number(actor.storage_quota))}`;
  return { node: panel({ title: "Storage", aside: h("span", { class: "with-filter" }, space, prefix), flush: true }, box), refresh };
}

function valueCell(entry) {
  const raw = fromHex(entry.value_bytes) ?? new Uint8Array();
  const node = cbor.tryDecode(raw);
  if (node === null) return payload(raw);
  return node.type === "list" || node.type === "map" ? valueView(node, { open: node.value.length <= 6 ? 1 : 0 }) : valueLine(node, 2_000);
}

// Timers

async function timersTab({ actor, clock, signal }) {
  const box = h("div", {});
  const refresh = async () => {
    const { timers } = await get(`/timers/${actor.address}?limit=1000`, signal);
    // A fold that is open is being read.
    if (box.querySelector("details[open]")) return;
    replace(box, timersPanel(timers, clock));
  };
  await refresh();
  return { node: box, refresh };
}

// Log

async function logTab({ actor, signal }) {
  const box = h("div", {});
  let logs = await logsOf(actor.address, 0, LOG_ROWS, signal);
  let shown = logs.logs;
  const fresh = new Set();
  const draw = () => {
    const more =
      shown.length < Number(logs.total_count) &&
      moreButton(async () => {
        const next = await logsOf(actor.address, shown.length, LOG_ROWS, signal);
        shown = [...shown, ...next.logs];
        draw();
        return true;
      });
    replace(box, logPanel({ ...logs, logs: shown }, { title: "Events", fresh }), more);
  };
  draw();
  const refresh = async () => {
    const now = await logsOf(actor.address, 0, LOG_ROWS, signal);
    const known = new Set(shown.map(keyOf));
    const added = now.logs.filter((log) => !known.has(keyOf(log)));
    if (added.length === 0) return;
    fresh.clear();
    for (const log of added) fresh.add(keyOf(log));
    shown = added.length === now.logs.length ? now.logs : [...added, ...shown];
    logs = now;
    draw();
  };
  return { node: box, refresh };
}

function keyOf(log) {
  return `${log.receipt}/${log.index}`;
}

async function logsOf(address, offset, limit, signal) {
  return (await find(`/actor/${address}/logs?order=desc&offset=${offset}&limit=${limit}`, signal)) ?? { logs: [], total_count: 0 };
}

function logPanel({ logs, total_count: total }, { title, more, fresh }) {
  if (logs.length === 0) return panel({ title }, empty("Nothing announced yet."));
  return panel(
    { title, aside: more ? h("a", { href: more }, `all ${count(total)}`) : count(total) },
    h(
      "ol",
      { class: "log" },
      logs.map((log) =>
        h(
          "li",
          { class: fresh?.has(keyOf(log)) ? "fresh" : null },
          h("div", { class: "log-when small" }, heightLink(log.block_height), h("span", { class: "faint" }, moment(log.timestamp_ms))),
          h(
            "div",
            { class: "log-what" },
            h("a", { class: "event-name", href: route.transaction(log.receipt) }, clip(log.name, 120)),
            " ",
            dataLine(log.data),
          ),
        ),
      ),
    ),
  );
}

function dataLine(hex) {
  const raw = fromHex(hex);
  if (!raw || raw.length === 0) return null;
  const node = cbor.tryDecode(raw);
  return node ? valueLine(node, 400) : h("span", { class: "mono faint" }, clip(toHex(raw), 120));
}

// Query

async function queryTab({ actor, handlers, detail, signal }) {
  const askable = handlers.filter(({ access }) => access !== "private");
  const chosen = askable.find(({ name }) => name === detail) ?? askable[0];
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
    about.textContent = known ? [`${known.name}(${known.parameters.join(", ")})`, known.about].filter(Boolean).join(": ") : "";
  };
  describe();
  handler.addEventListener("input", describe);
  const ask = async (event) => {
    event.preventDefault();
    replace(answer, h("p", { class: "soft" }, "Asking …"));
    try {
      const selector = handler.value.trim();
      const reply = await post(
        `/actor/${actor.address}/read_handler`,
        { selector, payload: toBase64(encoded(argument.value, format.value)) },
        signal,
      );
      replace(answer, replyPanel(reply));
    } catch (problem) {
      if (!signal.aborted) replace(answer, refusal(problem));
    }
  };
  const node = h(
    "div",
    {},
    panel(
      { title: "Ask a handler" },
      h(
        "p",
        { class: "soft small" },
        "The handler runs on the newest state and may write nothing, so a question costs nothing and changes nothing.",
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
        h("div", {}, h("label", { for: "query-format" }, "It reads"), format),
        h("div", { class: "whole" }, h("label", { for: "query-argument" }, "Argument"), argument),
        h("div", { class: "whole" }, h("button", { class: "button main" }, "Ask")),
      ),
    ),
    answer,
  );
  return { node };
}

/** What an argument may look like. */
function placeholderOf(handler) {
  if (handler?.format === "raw") return "0x…";
  if (!handler || handler.line === null) return 'Empty, or JSON such as {"name": "Ada"}';
  if (handler.parameters.length === 0) return "It takes no argument.";
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
    { title: "Answer", aside: [`${count(reply.cycles_used)} cycles, seen at `, heightLink(reply.block_height)] },
    raw.length === 0 ? h("span", { class: "soft" }, "It returned nothing.") : payload(raw, { open: 3 }),
  );
}

function refusal(problem) {
  if (!(problem instanceof ApiError))
    return panel({ title: "The argument cannot be sent.", kind: "trouble" }, h("p", {}, clip(problem.message, 400)));
  const trace = problem.context?.trace;
  return panel(
    { title: clip(problem.message, 400), kind: "trouble" },
    facts(problem.why && ["Why", problem.why], problem.fix && ["What to do", problem.fix], [
      "Code",
      h("code", {}, `${problem.code ?? problem.status} ${problem.slug ?? ""}`),
    ]),
    typeof trace === "string" && h("div", { class: "block-of-text" }, clip(trace, 20_000)),
  );
}

// History

async function historyTab({ actor, signal }) {
  return historyPanel(actor.address, signal);
}
