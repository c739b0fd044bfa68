// The chain now: its height, its latest blocks as they come, what space costs, and how many CBY there are.

import { each, find, get } from "../api.js";
import { blockStrip, partsBar, sparkline } from "../charts.js";
import { h, replace } from "../dom.js";
import { compact, count, duration, plural } from "../format.js";
import { follow } from "../follow.js";
import {
  action,
  asker,
  empty,
  heightLink,
  identifier,
  kindBadge,
  moment,
  money,
  namedReceipts,
  panel,
  route,
  status,
  table,
  whom,
} from "../parts.js";

const STRIP_BLOCKS = 48;
const TABLE_BLOCKS = 10;
const ACTIVITY_ROWS = 12;
const RATE_WINDOW_MS = 30_000;
const REFRESH_MS = 400;
// Waiting transactions come and go between blocks too.
const IDLE_MS = 4_000;

/** See VIEWS in main.js. */
export async function homeView(_, { live, signal }) {
  const state = await load(signal);
  const node = h("div", { class: "home" });
  const draw = () => replace(node, ...view(state));
  draw();
  follow(
    live,
    signal,
    async () => {
      Object.assign(state, await load(signal, state));
      // A reader who walks through the page by keyboard keeps the place; the next block after that is drawn.
      if (!signal.aborted && !node.contains(document.activeElement)) draw();
    },
    { pause: REFRESH_MS, every: IDLE_MS },
  );
  return { title: "", node };
}

async function load(signal, before) {
  const [blocks, fees, supply, health] = await Promise.all([
    get(`/blocks?limit=${STRIP_BLOCKS}`, signal),
    find("/basefee", signal),
    find("/supply", signal),
    find("/health/detailed", signal),
  ]);
  const summaries = blocks.blocks;
  return { summaries, fees, supply, health, receipts: await activity(summaries, signal, before) };
}

/** The newest receipts, from the newest blocks that are not too large to fetch for a glance. */
async function activity(summaries, signal, before) {
  const wanted = [];
  let rows = 0;
  for (const summary of summaries) {
    const size = Number(summary.receipt_count);
    if (size === 0 || size > 300) continue;
    wanted.push(summary);
    rows += size;
    if (rows >= ACTIVITY_ROWS || wanted.length >= 8) break;
  }
  const known = new Map((before?.receipts ?? []).map((group) => [group.hash, group]));
  return each(wanted, async ({ hash }) => known.get(hash) ?? { hash, receipts: await receiptsOf(hash, signal) });
}

async function receiptsOf(hash, signal) {
  const block = await find(`/block/${hash}`, signal);
  return block ? namedReceipts(block) : [];
}

function view({ summaries, fees, supply, health, receipts }) {
  const newest = summaries[0];
  const oldestFirst = [...summaries].reverse();
  return [
    h("h1", { class: "hidden" }, "The chain now"),
    h(
      "section",
      { class: "hero" },
      h(
        "div",
        { class: "hero-height" },
        h("span", { class: "kicker" }, "Height"),
        newest ? h("a", { class: "number", href: route.block(newest.height) }, count(newest.height)) : h("b", {}, "0"),
        h("p", { class: "soft" }, newest ? ["Block made ", moment(newest.timestamp_ms), pace(summaries, health)] : "No block yet"),
      ),
      h(
        "div",
        { class: "hero-strip" },
        blockStrip(oldestFirst, (block) => route.block(block.height)),
      ),
    ),
    h(
      "section",
      { class: "figures", "aria-label": "Figures" },
      figure("Per second", rate(summaries), `transactions, over the last ${duration(span(summaries))}`),
      figure("Pending", health ? count(health.mempool) : "–", "transactions in the mempool"),
      feeFigure(
        "Cycle base fee",
        fees?.cycle_basefee,
        oldestFirst.map((block) => Number(block.base_fee_cycle)),
      ),
      feeFigure(
        "Cell base fee",
        fees?.cell_basefee,
        oldestFirst.map((block) => Number(block.base_fee_cell)),
      ),
    ),
    h(
      "div",
      { class: "columns wide-left" },
      h("div", {}, activityPanel(receipts), blocksPanel(summaries)),
      h("div", {}, supply && supplyPanel(supply), welcome(health)),
    ),
  ];
}

function pace(summaries, health) {
  if (health && Number(health.block_time_ms) === 0) return ", the next as soon as there is work";
  if (health?.block_time_ms) return `, one every ${duration(Number(health.block_time_ms))}`;
  return "";
}

function span(summaries) {
  const recent = inWindow(summaries);
  return recent.length < 2 ? 0 : Number(recent[0].timestamp_ms) - Number(recent[recent.length - 1].timestamp_ms);
}

function inWindow(summaries) {
  const newest = Number(summaries[0]?.timestamp_ms ?? 0);
  return summaries.filter((block, at) => at < 2 || newest - Number(block.timestamp_ms) <= RATE_WINDOW_MS);
}

function rate(summaries) {
  const recent = inWindow(summaries);
  const time = span(summaries);
  if (time <= 0) return "–";
  const transactions = recent.slice(0, -1).reduce((sum, block) => sum + Number(block.transaction_count), 0);
  return compact(transactions / (time / 1000));
}

function figure(name, value, about) {
  return h(
    "div",
    { class: "figure" },
    h("span", { class: "kicker" }, name),
    h("b", { class: "number" }, value),
    h("span", { class: "small faint" }, about),
  );
}

function feeFigure(name, fee, values) {
  const trend = `${name}, from ${count(values[0] ?? 0)} to ${count(values[values.length - 1] ?? 0)} base units over ${plural(values.length, "block")}`;
  return h(
    "div",
    { class: "figure" },
    h("span", { class: "kicker" }, name),
    h("b", { class: "number", title: "base units" }, fee === undefined ? "–" : count(fee)),
    values.length > 1 && sparkline(values, trend),
  );
}

function blocksPanel(summaries) {
  const columns = [
    { name: "Height", cell: (block) => heightLink(block.height) },
    { name: "Time", cell: (block) => moment(block.timestamp_ms) },
    { name: "Transactions", end: true, cell: (block) => count(block.transaction_count) },
    { name: "All receipts", end: true, class: "optional", cell: (block) => count(block.receipt_count) },
    { name: "Cycles", end: true, cell: (block) => compact(block.cycles_used) },
    { name: "Cells", end: true, class: "optional", cell: (block) => compact(block.cells_used) },
  ];
  return panel({ title: "Latest blocks", aside: h("a", { href: "#/blocks" }, "all"), flush: true }, table(columns, summaries.slice(0, TABLE_BLOCKS), { caption: "Latest blocks" }));
}

function activityPanel(groups) {
  const rows = groups.flatMap(({ receipts }) => receipts.slice().reverse()).slice(0, ACTIVITY_ROWS);
  if (rows.length === 0) return panel({ title: "Latest activity" }, empty("No receipt in the latest blocks."));
  const columns = [
    {
      name: "Action",
      cell: (receipt) => h("a", { href: route.transaction(receipt.tx_hash) }, action(receipt)),
    },
    { name: "From", class: "optional", cell: (receipt) => asker(receipt) },
    { name: "To", cell: (receipt) => whom(receipt) },
    { name: "Kind", class: "optional", cell: (receipt) => kindBadge(receipt.kind) },
    { name: "Block", end: true, class: "optional", cell: (receipt) => heightLink(receipt.block_height) },
    { name: "", says: "Status", end: true, cell: (receipt) => status(receipt.status) },
  ];
  return panel({ title: "Latest activity", aside: h("a", { href: "#/transactions/" }, "all"), flush: true }, table(columns, rows, { caption: "Latest activity" }));
}

function supplyPanel(supply) {
  const burned = Number(supply.burned);
  return panel(
    { title: "Supply" },
    h("p", { class: "supply-now" }, money(supply.circulating, 4)),
    h("p", { class: "small soft" }, "circulating now"),
    h(
      "dl",
      { class: "sum" },
      h("div", {}, h("dt", {}, "Genesis"), h("dd", {}, money(supply.genesis, 6))),
      h("div", {}, h("dt", {}, "+ minted"), h("dd", {}, money(supply.minted, 6))),
      h("div", {}, h("dt", {}, "− burned"), h("dd", {}, money(supply.burned, 6))),
    ),
    burned > 0 &&
      Number(supply.minted) > 0 &&
      partsBar(
        [
          { name: "Minted", kind: "good", value: supply.minted, text: "" },
          { name: "Burned", kind: "burned", value: supply.burned, text: "" },
        ],
        "Minted against burned",
      ),
  );
}

function welcome(health) {
  if (!health?.dev) return null;
  return panel(
    { title: "A dev chain" },
    h("p", { class: "small soft" }, "It runs in one process, for you to experiment with:"),
    h(
      "ul",
      { class: "commands mono" },
      [
        "cowboy actor new hello",
        "cowboy wallet create",
        "cowboy faucet",
        "cowboy actor deploy hello/actor.py",
        "cowboy chain mine 10",
        "cowboy chain warp --blocks 1000",
      ].map((line) => h("li", {}, line)),
    ),
    identifierRow("Genesis", health.genesis),
  );
}

function identifierRow(name, hash) {
  return h("p", { class: "small soft" }, `${name} `, identifier(hash));
}
