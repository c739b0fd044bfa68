// An actor at a glance.

import * as cbor from "../../cbor.js";
import { find, get } from "../../api.js";
import { fromHex, keyName, toHex } from "../../bytes.js";
import { h, replace } from "../../dom.js";
import { bytes, clip, count, percent } from "../../format.js";
import { badge, empty, facts, heightLink, identifier, money, nodeOf, panel, route, table, who } from "../../parts.js";
import { valueLine } from "../../value.js";
import { gatewayUrl, siteLink } from "../../sites.js";
import { heldPanel } from "../tokens.js";
import { failedPanel, fires, wakes } from "../timers.js";
import { logPanel, logsOf } from "./log.js";

const MAILBOX_ROWS = 20;
const MAX_NAMES = 20;

/** See TABS in ../actor.js. */
export async function overviewTab(context) {
  const { actor, source, clock, signal } = context;
  const summary = /^\s*(?:"""|''')\s*([^\n]{1,300})/.exec(source)?.[1].replace(/("""|''')\s*$/, "");
  const side = h("div", {});
  const news = h("div", {});
  const refresh = async () => {
    const [logs, timers, stored, failed] = await Promise.all([
      logsOf(actor.address, 0, 8, signal),
      find(`/timers/${actor.address}?limit=5`, signal),
      find(`/actors/${actor.address}/storage?limit=12`, signal),
      source ? failedPanel(actor.address, signal) : null,
    ]);
    replace(side, failed, nextPanel(timers?.timers ?? [], clock, actor), storagePreview(actor, stored?.entries ?? []));
    replace(news, logPanel(logs, { title: "Latest events", more: route.actor(actor.address, "log") }));
  };
  const [names, gateway, held] = await Promise.all([
    find(`/actor/${actor.address}/names?limit=${MAX_NAMES}`, signal),
    gatewayUrl(signal),
    heldPanel(actor.address, signal),
  ]);
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
          source && ["Owner", who(actor.owner)],
          source && actor.creator !== actor.owner && ["Deployed by", who(actor.creator)],
          names?.names.length > 0 && ["Names", namesOf(names, gateway)],
          ["Deployed", Number(actor.created_at) === 0 ? "at genesis" : ["in block ", heightLink(actor.created_at)]],
          source && ["Code hash", identifier(actor.code_hash)],
          [
            "Space used",
            `${bytes(Number(actor.storage_bytes))} of ${bytes(Number(actor.storage_quota))}, ${percent(actor.storage_bytes, actor.storage_quota)}`,
          ],
          ["Messages in the mailbox", count(actor.mailbox_count)],
          Number(actor.nonce) > 0 && ["Actors deployed", count(actor.nonce)],
          source && ["Entitlements", entitlements(actor.entitlements)],
        ),
      ),
      handlersPanel(context),
      Number(actor.mailbox_count) > 0 && (await mailboxPanel(actor, signal)),
      news,
    ),
    h("div", {}, side, held),
  );
  return { node, refresh };
}

/** The names that lead to the actor, each with the site that a gateway serves. */
function namesOf({ names, next_cursor: next }, gateway) {
  const line = (name) => h("li", {}, h("strong", { class: "breakable" }, clip(name.name, 100)), " ", siteLink(name, gateway));
  return h("ul", { class: "grants" }, names.map(line), next && h("li", {}, "and more"));
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
    { name: "Origin", class: "optional", cell: (message) => identifier(message.origin, { href: route.transaction(message.origin) }) },
  ];
  return panel(
    { title: "Mailbox", aside: count(actor.mailbox_count), flush: true },
    table(columns, messages, { caption: "Mailbox" }),
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
      entries.map((entry) =>
        h("div", {}, h("dt", { class: "mono" }, clip(keyName(fromHex(entry.key_bytes) ?? new Uint8Array()), 80)), h("dd", {}, line(entry))),
      ),
    ),
  );
}

function nextPanel(timers, clock, actor) {
  if (timers.length === 0) return null;
  return panel(
    { title: "Next timers", aside: h("a", { href: route.actor(actor.address, "timers") }, "all") },
    h(
      "ol",
      { class: "next" },
      timers.map((timer) =>
        h(
          "li",
          {},
          h("b", {}, fires(timer, clock)),
          h("span", {}, wakes(timer)),
          !timer.is_paused && h("span", { class: "faint number" }, `at ${count(timer.height)}`),
        ),
      ),
    ),
  );
}
