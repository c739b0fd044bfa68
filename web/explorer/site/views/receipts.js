// Lists of receipts: of the whole chain, and of one account or actor.

import { get } from "../api.js";
import { sameHex } from "../bytes.js";
import { h } from "../dom.js";
import { follow } from "../follow.js";
import { cby, timestamp } from "../format.js";
import { choice, list, query, textFilter } from "../list.js";
import { KINDS, action, asker, heightLink, kindBadge, moment, money, route, status, whom } from "../parts.js";

const STATUSES = [
  ["", "Any status"],
  ["success", "Success"],
  ["failed", "Failed"],
];

/** See VIEWS in main.js. */
export async function transactionsView([kind = "transaction", status = ""], { live, signal }) {
  const receipts = receiptList("/transactions", { title: "Newest first", file: "transactions", kind, status, signal });
  await receipts.reload();
  follow(live, signal, receipts.refresh);
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("h1", {}, "Transactions"),
      h("p", { class: "soft" }, "Transactions, and the messages, timers and callbacks that follow from them."),
    ),
    receipts.node,
  );
  return { title: "Transactions", node };
}

/** Receipts that a path of the API lists. `address`: the account that they concern, which is then left out of the columns. */
export function receiptList(path, { title, file, address, kind = "", status: chosen = "", signal }) {
  const kinds = choice("Kind", [["", "All kinds"], ...Object.entries(KINDS).map(([value, [, several]]) => [value, several])], kind);
  const statuses = choice("Status", STATUSES, chosen);
  const handler = textFilter("Handler");
  const page = async (cursor, limit) => {
    const wanted = query({ limit, cursor, kind: kinds.value, status: statuses.value, handler: handler.value.trim() });
    const { entries, next_cursor: next } = await get(`${path}?${wanted}`, signal);
    return { rows: entries, next };
  };
  return list({
    title,
    file,
    page,
    columns: address ? columnsOf(address) : COLUMNS,
    filters: [kinds, statuses, handler],
    none: () => (statuses.value === "" && handler.value.trim() === "" ? "Nothing yet." : "Nothing matches."),
    keyOf: (row) => row.id,
  });
}

const WHAT = {
  name: "Action",
  cell: (row) => h("a", { href: route.transaction(row.id) }, action(row)),
  text: (row) => row.handler || row.instruction || row.kind,
};

const HASH = { name: "Hash", text: (row) => row.id };

const REST = [
  {
    name: "Value",
    end: true,
    class: "optional",
    cell: (row) => (Number(row.value) > 0 ? money(row.value) : h("span", { class: "faint" }, "–")),
    text: (row) => cby(row.value).replaceAll(",", ""),
  },
  { name: "Block", end: true, class: "optional", cell: (row) => heightLink(row.block_height), text: (row) => row.block_height },
  { name: "Time", class: "optional", cell: (row) => moment(row.timestamp_ms), text: (row) => timestamp(row.timestamp_ms) },
  { name: "", says: "Status", end: true, cell: (row) => status(row.status), text: (row) => row.status },
];

const KIND = { name: "Kind", class: "optional", cell: (row) => kindBadge(row.kind), text: (row) => row.kind };

const COLUMNS = [
  WHAT,
  { name: "From", class: "optional", cell: (row) => asker(row), text: (row) => row.sender },
  { name: "To", cell: (row) => whom(row), text: (row) => row.target },
  KIND,
  ...REST,
  HASH,
];

function columnsOf(address) {
  return [
    WHAT,
    KIND,
    { name: "", says: "Direction", cell: (row) => h("span", { class: "faint" }, direction(row, address)), text: (row) => direction(row, address) },
    {
      name: "Counterparty",
      cell: (row) => (sameHex(row.sender, address) ? whom({ ...row, created: null }) : asker(row)),
      text: (row) => (sameHex(row.sender, address) ? row.target : row.sender),
    },
    ...REST,
    HASH,
  ];
}

/** Where a receipt goes, as an account or actor sees it. */
export function direction(row, address) {
  if (!sameHex(row.sender, address)) return "from";
  return sameHex(row.target, address) ? "itself" : "to";
}
