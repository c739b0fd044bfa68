// The tree of a transaction: every delivery it set off and every event along the way, joined by drawn branches.

import { fromHex } from "./bytes.js";
import * as cbor from "./cbor.js";
import { h, s } from "./dom.js";
import { clip, compact, count, plural } from "./format.js";
import { badge, heightLink, kindBadge, money, panel, payloadOfHex, route, who, whom } from "./parts.js";
import { edgePath, growTree, layoutTree } from "./tree.js";
import { valueLine } from "./value.js";

const ROW_HEIGHT = 44;
const INDENT = 26;
const MAX_EVENTS_SHOWN = 50;

/** The panel with the tree; `current` is the receipt that the page is about. */
export function treePanel({ root, deliveries, left }, current) {
  const tree = growTree(root, deliveries);
  const { rows, edges, left: cut } = layoutTree(tree, childrenOf);
  const events = [root, ...deliveries].reduce((sum, receipt) => sum + receipt.events.length, 0);
  const deepest = rows.reduce((most, { depth }) => Math.max(most, depth), 0);
  const width = (deepest + 1) * INDENT;
  const picture = s(
    "svg",
    {
      class: "branches",
      width,
      height: rows.length * ROW_HEIGHT,
      viewBox: `0 0 ${width} ${rows.length * ROW_HEIGHT}`,
      "aria-hidden": "true",
    },
    edges.map(({ from, to }) =>
      s("path", { class: rows[to].node.event ? "twig" : "branch", d: edgePath(rows[from], rows[to], ROW_HEIGHT, INDENT) }),
    ),
    rows.map((row) => dot(row)),
  );
  const list = h(
    "ol",
    { class: "tree-rows" },
    rows.map(({ node, depth }) =>
      h(
        "li",
        { style: { "--depth": depth } },
        h("span", { class: "hidden" }, `Level ${depth + 1}: `),
        node.event ? eventRow(node.event) : deliveryRow(node.item, node.item.tx_hash === current.tx_hash),
      ),
    ),
  );
  const aside = `${plural(deliveries.length, "message")}, ${plural(events, "event")}`;
  return panel(
    { title: "Execution trace", aside, flush: true },
    h(
      "div",
      { class: "tree scroll", style: { "--row": `${ROW_HEIGHT}px`, "--indent": `${INDENT}px` } },
      h("div", { class: "tree-inner" }, picture, list),
    ),
    cut + left > 0 && h("p", { class: "empty" }, `and ${count(cut + left)} more`),
    events > 0 && eventsBelow(rows),
  );
}

/** Events hang below their delivery, before what it sent. */
function childrenOf(node) {
  if (node.event) return [];
  const shown = node.item.events.slice(0, MAX_EVENTS_SHOWN).map((event) => ({ event }));
  return [...shown, ...node.children];
}

function dot({ node, row, depth }) {
  const x = (depth + 0.5) * INDENT;
  const y = (row + 0.5) * ROW_HEIGHT;
  if (node.event) return s("rect", { class: "dot-event", x: x - 3.5, y: y - 3.5, width: 7, height: 7, transform: `rotate(45 ${x} ${y})` });
  const kind = node.item.status === "failed" ? "dot-failed" : `dot-${node.item.kind === "timer" ? "timer" : "delivery"}`;
  return s("circle", { class: kind, cx: x, cy: y, r: 5.5 });
}

function deliveryRow(receipt, isCurrent) {
  const label = receipt.created ? "Deploy" : receipt.handler || (receipt.kind === "transaction" ? "Transfer" : "handle_message");
  return h(
    "div",
    { class: "tree-row" },
    isCurrent
      ? h("b", { class: "mono" }, clip(label, 60))
      : h("a", { class: "mono", href: route.transaction(receipt.tx_hash) }, clip(label, 60)),
    h("span", { class: "faint" }, "on"),
    whom(receipt),
    Number(receipt.value) > 0 && h("span", { class: "soft nowrap" }, "with ", money(receipt.value)),
    receipt.kind !== "transaction" && kindBadge(receipt.kind),
    receipt.status === "failed" && badge("bad", clip(receipt.error?.slug ?? "failed", 40)),
    h("span", { class: "tree-end faint" }, `${compact(receipt.cycles_used)} cycles · `, heightLink(receipt.block_height)),
  );
}

function eventRow(event) {
  const data = fromHex(event.data);
  const node = data && data.length > 0 ? cbor.tryDecode(data) : null;
  return h(
    "div",
    { class: "tree-row event" },
    h("span", { class: "event-name" }, clip(event.name, 80)),
    node ? valueLine(node, 120) : h("span", { class: "faint" }, data?.length ? plural(data.length, "byte") : "no data"),
  );
}

/** The events once more with all their data, folded. */
function eventsBelow(rows) {
  const events = rows.filter(({ node }) => node.event).slice(0, MAX_EVENTS_SHOWN);
  const fold = h("details", { class: "all-events" }, h("summary", {}, "All data of the events"));
  fold.addEventListener(
    "toggle",
    () =>
      fold.append(
        h(
          "ol",
          {},
          events.map(({ node: { event } }) =>
            h(
              "li",
              {},
              h("p", {}, h("b", {}, clip(event.name, 256)), h("span", { class: "faint" }, " by "), who(event.emitter, { actor: true })),
              payloadOfHex(event.data),
            ),
          ),
        ),
      ),
    { once: true },
  );
  return fold;
}
