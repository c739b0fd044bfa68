// What a delivery changed in the state: balances, and entries of storage before and after.

import * as cbor from "./cbor.js";
import { find } from "./api.js";
import { fromHex, keyName, toHex } from "./bytes.js";
import { h } from "./dom.js";
import { clip, count } from "./format.js";
import { longTable, money, panel, who } from "./parts.js";
import { valueLine } from "./value.js";

const MAX_LETTERS = 200;

/** The changes of a delivery as a panel; null where it changed nothing, or the node no longer knows. */
export async function changesPanel(hash, signal) {
  const { changes } = (await find(`/transaction/${encodeURIComponent(hash)}/changes`, signal)) ?? { changes: [] };
  if (changes.length === 0) return null;
  const columns = [
    { name: "Account", cell: (row) => who(row.address, { actor: row.key_bytes !== null }) },
    { name: "Key", cell: (row) => name(row) },
    { name: "Before", cell: (row) => value(row, "before") },
    { name: "After", cell: (row) => value(row, "after") },
  ];
  const about = h("p", { class: "empty" }, "Without the fee.");
  return panel({ title: "State changes", aside: count(changes.length), flush: true }, longTable(columns, changes, { caption: "State changes" }), about);
}

function name({ key_bytes: key }) {
  if (key === null) return "Balance";
  return h("span", { class: "mono breakable" }, clip(keyName(fromHex(key) ?? new Uint8Array()), 100));
}

function value(row, side) {
  if (row.key_bytes === null) return money(row[`balance_${side}`]);
  if (row[side] === null) return h("span", { class: "faint" }, "none");
  const raw = fromHex(row[side]) ?? new Uint8Array();
  const node = cbor.tryDecode(raw);
  return node ? valueLine(node, MAX_LETTERS) : h("span", { class: "mono breakable" }, clip(toHex(raw), MAX_LETTERS));
}
