// All blocks, newest first.

import { get } from "../api.js";
import { h } from "../dom.js";
import { follow } from "../follow.js";
import { compact, count, timestamp } from "../format.js";
import { choice, list, query, textFilter } from "../list.js";
import { heightLink, identifier, moment } from "../parts.js";

const COLUMNS = [
  { name: "Height", cell: (block) => heightLink(block.height), text: (block) => block.height },
  { name: "Time", cell: (block) => moment(block.timestamp_ms), text: (block) => timestamp(block.timestamp_ms) },
  { name: "Transactions", end: true, cell: (block) => count(block.transaction_count), text: (block) => block.transaction_count },
  { name: "Receipts", end: true, class: "optional", cell: (block) => count(block.receipt_count), text: (block) => block.receipt_count },
  { name: "Cycles", end: true, cell: (block) => compact(block.cycles_used), text: (block) => block.cycles_used },
  { name: "Cells", end: true, class: "optional", cell: (block) => compact(block.cells_used), text: (block) => block.cells_used },
  { name: "Cycle base fee", end: true, class: "optional", cell: (block) => count(block.base_fee_cycle), text: (block) => block.base_fee_cycle },
  { name: "Hash", class: "optional", cell: (block) => identifier(block.hash), text: (block) => block.hash },
];

/** See VIEWS in main.js. */
export async function blocksView(_, { live, signal }) {
  const shown = choice("Blocks", [["", "All blocks"], ["true", "Blocks with receipts"]]);
  const below = textFilter("Below height");
  const page = async (cursor, limit) => {
    const from = /^[\d,]{1,20}$/.test(below.value.trim()) ? below.value.replaceAll(",", "").trim() : undefined;
    const { blocks } = await get(`/blocks?${query({ limit, before: cursor ?? from, busy: shown.value })}`, signal);
    const last = blocks[blocks.length - 1];
    return { rows: blocks, next: last && Number(last.height) > 1 ? last.height : undefined };
  };
  const blocks = list({
    title: "Newest first",
    file: "blocks",
    page,
    columns: COLUMNS,
    filters: [shown, below],
    none: "No block matches.",
    keyOf: (block) => block.hash,
  });
  await blocks.reload();
  follow(live, signal, async () => below.value.trim() === "" && blocks.refresh());
  const node = h("div", {}, h("div", { class: "title" }, h("h1", {}, "Blocks")), blocks.node);
  return { title: "Blocks", node };
}
