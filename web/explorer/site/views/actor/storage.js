// What an actor stores, decoded, a page at a time.

import * as cbor from "../../cbor.js";
import { get } from "../../api.js";
import { fromHex, keyName } from "../../bytes.js";
import { h, replace } from "../../dom.js";
import { bytes, clip, count } from "../../format.js";
import { empty, moreButton, panel, payload, table, trouble } from "../../parts.js";
import { valueLine, valueView } from "../../value.js";

const PAGE_ROWS = 50;
const SHORT_BYTES = 64;

/** See TABS in ../actor.js. */
export async function storageTab({ actor, signal }) {
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
    {
      name: "Key",
      cell: (entry) => h("span", { class: "mono breakable" }, clip(keyName(fromHex(entry.key_bytes) ?? new Uint8Array()), 200)),
    },
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
  if (node === null) return raw.length <= SHORT_BYTES ? valueLine({ type: "bytes", value: raw }) : payload(raw);
  return node.type === "list" || node.type === "map" ? valueView(node, { open: node.value.length <= 6 ? 1 : 0 }) : valueLine(node, 2_000);
}
