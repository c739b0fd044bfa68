// One actor: the head of its page, and the tabs below it.

import { find, get } from "../api.js";
import { brandMark, capital } from "../charts.js";
import { Clock } from "../clock.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { clip, count } from "../format.js";
import { handlers as readHandlers } from "../handlers.js";
import { PAGE_ROWS, badge, identifier, money, route } from "../parts.js";
import { classNameOf, learn } from "../names.js";
import { isSystemName, systemActors } from "../system.js";
import { historyPanel } from "./account.js";
import { logTab } from "./actor/log.js";
import { overviewTab } from "./actor/overview.js";
import { rentTab } from "./actor/rent.js";
import { rightsTab } from "./actor/rights.js";
import { queryTab } from "./actor/query.js";
import { sourceTab } from "./actor/source.js";
import { storageTab } from "./actor/storage.js";
import { failedPanel, timersPanel } from "./timers.js";

/** Tab's name → title, and what draws it: (context) → { node, refresh? }. */
const TABS = {
  overview: ["Overview", overviewTab],
  source: ["Source", sourceTab],
  storage: ["Storage", storageTab],
  timers: ["Timers", timersTab],
  rent: ["Rent", rentTab],
  rights: ["Rights", rightsTab],
  log: ["Events", logTab],
  query: ["Query", queryTab],
  history: ["History", historyTab],
};

/** See VIEWS in main.js. */
export async function actorView([address = "", tab = "overview", detail], { live, signal }) {
  const id = encodeURIComponent(address);
  const [actor, code, system] = await Promise.all([get(`/actor/${id}`, signal), find(`/actor/${id}/code`, signal), systemActors()]);
  const source = code?.source ?? "";
  const name = system.get(actor.address)?.name ?? classNameOf(source);
  if (source) learn(actor.address, source);
  const context = { actor, source, handlers: handlersOf(actor, source), detail, signal, live, clock: await Clock.read(live, signal) };
  const [title, draw] = TABS[Object.hasOwn(TABS, tab) ? tab : "overview"];
  // The protocol's own actors are no Python and arm no timers.
  const tabs = Object.entries(TABS).filter(([key]) => source || !["source", "timers", "query", "rent", "rights"].includes(key));
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
        h("span", { class: "kicker" }, system.has(actor.address) ? "System actor" : "Actor"),
        h("h1", { class: name ? null : "address" }, name ?? actor.address),
      ),
      actor.status === "active" ? badge("good", "Active") : badge("bad", capital(clip(actor.status, 60).replaceAll("_", " "))),
      name && !system.has(actor.address) && isSystemName(name) && badge("bad", "Not the system actor of this name"),
      h("span", { class: "title-balance" }, balance),
      name && h("p", { class: "soft small" }, identifier(actor.address, { full: true, what: "the address" })),
    ),
    h(
      "nav",
      { class: "tabs", "aria-label": "About this actor" },
      tabs.map(([key, [text]]) =>
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
  const ready = () => {
    node.querySelector(".tabs [aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
    body.ready?.();
  };
  return { title: `${name ?? actor.address.slice(0, 8)} · ${title}`, node, stay: tab !== "overview" && !detail, ready };
}

/** What the node says it offers, with what its source says about each. */
function handlersOf(actor, source) {
  const read = readHandlers(source);
  const names = actor.handlers ?? [];
  if (names.length === 0) return read;
  const unknown = { line: null, parameters: [], access: "unknown", format: "cbor", deferred: false, about: "" };
  return names.map((name) => read.find((handler) => handler.name === name) ?? { ...unknown, name: String(name) });
}

async function timersTab({ actor, clock, signal }) {
  const box = h("div", {});
  const view = { shown: PAGE_ROWS };
  const refresh = async () => {
    const [{ timers }, failed] = await Promise.all([get(`/timers/${actor.address}?limit=1000`, signal), failedPanel(actor.address, signal)]);
    // A fold that is open is being read.
    if (box.querySelector("details[open]")) return;
    replace(box, failed, timersPanel(timers, clock, { view }));
  };
  await refresh();
  return { node: box, refresh };
}

async function historyTab({ actor, signal }) {
  return historyPanel(actor.address, signal);
}
