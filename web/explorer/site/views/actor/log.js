// The events of an actor, as they are emitted.

import * as cbor from "../../cbor.js";
import { find } from "../../api.js";
import { fromHex, toHex } from "../../bytes.js";
import { h, replace } from "../../dom.js";
import { clip, count } from "../../format.js";
import { empty, heightLink, moment, moreButton, panel, route } from "../../parts.js";
import { valueLine } from "../../value.js";

const LOG_ROWS = 30;

/** New events that join those on the page before the list begins again. */
const MAX_ADDED = 300;

/** See TABS in ../actor.js. */
export async function logTab({ actor, signal }) {
  const box = h("div", {});
  let logs = await logsOf(actor.address, 0, LOG_ROWS, signal);
  let shown = logs.logs;
  let grown = 0;
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
    grown += added.length;
    if (added.length === now.logs.length || grown > MAX_ADDED) [shown, grown] = [now.logs, 0];
    else shown = [...added, ...shown];
    logs = now;
    draw();
  };
  return { node: box, refresh };
}

function keyOf(log) {
  return `${log.receipt}/${log.index}`;
}

/** A page of an actor's events, newest first. */
export async function logsOf(address, offset, limit, signal) {
  return (await find(`/actor/${address}/logs?order=desc&offset=${offset}&limit=${limit}`, signal)) ?? { logs: [], total_count: 0 };
}

/** Events in a panel: `more` leads to all of them, `fresh` are those to point out. */
export function logPanel({ logs, total_count: total }, { title, more, fresh }) {
  if (logs.length === 0) return panel({ title }, empty("No event yet."));
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
