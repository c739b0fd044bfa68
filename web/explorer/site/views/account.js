// One account: what it holds and what it did. An address with code leads on to the actor's page.

import { find, get } from "../api.js";
import { brandMark } from "../charts.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { count } from "../format.js";
import {
  action,
  asker,
  badge,
  copier,
  empty,
  facts,
  heightLink,
  kindBadge,
  moment,
  money,
  moreButton,
  panel,
  route,
  status,
  systemName,
  table,
  whom,
} from "../parts.js";

const PAGE_ROWS = 50;

/** See VIEWS in main.js. */
export async function accountView([address = ""], { live, signal }) {
  const [account, actor] = await Promise.all([
    find(`/account/${encodeURIComponent(address)}`, signal),
    find(`/actor/${encodeURIComponent(address)}`, signal),
  ]);
  if (actor) {
    location.replace(route.actor(actor.address));
    return { title: "Actor", node: h("div"), stay: true };
  }
  if (!account && !/^(0x)?[0-9a-f]{40}$/i.test(address)) {
    location.replace(route.search(address));
    return { title: "Search", node: h("div"), stay: true };
  }
  const shown = account ?? { address: `0x${address.replace(/^0x/, "").toLowerCase()}`, nonce: 0, balance: 0 };
  const name = systemName(shown.address);
  const state = h("div", {});
  const drawState = (now) =>
    replace(
      state,
      panel(
        {},
        facts(
          ["Balance", money(now.balance)],
          ["Transactions sent", count(now.nonce)],
          !account && ["", h("span", { class: "soft" }, "The chain has not seen this account yet.")],
        ),
      ),
    );
  drawState(shown);
  const past = await historyPanel(shown.address, signal);
  follow(live, signal, async () => {
    const now = await find(`/account/${shown.address}`, signal);
    if (now && (String(now.balance) !== String(shown.balance) || now.nonce !== shown.nonce)) {
      Object.assign(shown, now);
      drawState(now);
    }
    await past.refresh();
  });
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      brandMark(shown.address),
      h(
        "div",
        {},
        h("span", { class: "kicker" }, name ? "System actor" : "Account"),
        h("h1", { class: name ? null : "address" }, name ?? shown.address, copier(shown.address, "the address")),
      ),
      name && badge("accent", "part of the protocol"),
    ),
    state,
    past.node,
  );
  return { title: name ?? `Account ${shown.address.slice(0, 8)}`, node };
}

/** What an address sent and received, newest first. `refresh` brings the first page up to date. */
export async function historyPanel(address, signal) {
  const page = (cursor) =>
    get(`/account/${address}/history?limit=${PAGE_ROWS}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`, signal);
  const columns = [
    { name: "What", cell: (row) => h("a", { href: route.transaction(row.id) }, action(row)) },
    { name: "Kind", class: "optional", cell: (row) => kindBadge(row.kind) },
    { name: "", says: "Direction", cell: (row) => direction(row, address) },
    { name: "With", cell: (row) => (row.sender === address ? whom({ ...row, created: null }) : asker(row)) },
    { name: "Value", end: true, cell: (row) => (Number(row.value) > 0 ? money(row.value) : h("span", { class: "faint" }, "–")) },
    { name: "Block", end: true, cell: (row) => heightLink(row.block_height) },
    { name: "When", class: "optional", cell: (row) => moment(row.timestamp_ms) },
    { name: "", says: "Status", end: true, cell: (row) => status(row.status) },
  ];
  const box = h("div", {});
  const first = (await find(`/account/${address}/history?limit=${PAGE_ROWS}`, signal)) ?? { entries: [] };
  let entries = first.entries;
  let cursor = first.next_cursor;
  const fresh = new Set();
  const draw = () => {
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
        ? panel({ title: "History" }, empty("Nothing yet."))
        : panel(
            { title: "History", flush: true },
            table(columns, entries, { caption: "History", rowClass: (row) => (fresh.has(row.id) ? "fresh" : null) }),
            more,
          ),
    );
  };
  draw();
  const refresh = async () => {
    const now = await page();
    if (now.entries[0]?.id === entries[0]?.id) return;
    const known = new Set(entries.map(({ id }) => id));
    const added = now.entries.filter(({ id }) => !known.has(id));
    fresh.clear();
    for (const { id } of added) fresh.add(id);
    // More than a page came at once: begin again, so that no row between is missing.
    if (added.length === now.entries.length) [entries, cursor] = [now.entries, now.next_cursor];
    else entries = [...added, ...entries];
    draw();
  };
  return { node: box, refresh };
}

function direction(row, address) {
  if (row.sender === address && row.target === address) return h("span", { class: "faint" }, "itself");
  return h("span", { class: "faint" }, row.sender === address ? "to" : "from");
}
