// All actors, and all accounts.

import { get } from "../api.js";
import { h } from "../dom.js";
import { bytes, cby, clip, count } from "../format.js";
import { list, query, textFilter } from "../list.js";
import { badge, heightLink, money, route, who } from "../parts.js";

const decimal = (units) => cby(units).replaceAll(",", "");

const ACTOR_COLUMNS = [
  { name: "Actor", cell: (row) => who(row.address, { actor: true }), text: (row) => row.address },
  {
    name: "Class",
    cell: (row) => (row.class_name ? h("a", { href: route.actor(row.address) }, clip(row.class_name, 80)) : h("span", { class: "faint" }, "–")),
    text: (row) => row.class_name,
  },
  { name: "Owner", class: "optional", cell: (row) => who(row.owner), text: (row) => row.owner },
  { name: "Balance", end: true, cell: (row) => money(row.balance, 4), text: (row) => decimal(row.balance) },
  { name: "Storage", end: true, class: "optional", cell: (row) => bytes(Number(row.storage_bytes)), text: (row) => row.storage_bytes },
  { name: "Timers", end: true, class: "optional", cell: (row) => count(row.timer_count), text: (row) => row.timer_count },
  {
    name: "Deployed",
    end: true,
    class: "optional",
    cell: (row) => (Number(row.created_at) === 0 ? "genesis" : heightLink(row.created_at)),
    text: (row) => row.created_at,
  },
  { name: "", says: "Status", end: true, cell: (row) => standing(row.status), text: (row) => row.status },
];

function standing(status) {
  return status === "active" ? badge("good", "Active") : badge("bad", clip(status, 40).replaceAll("_", " "));
}

/** See VIEWS in main.js. */
export async function actorsView(_, { signal }) {
  const page = async (cursor, limit) => {
    const { actors, next_cursor: next, total_count: total } = await get(`/actors?${query({ limit, cursor })}`, signal);
    return { rows: actors, next, total };
  };
  const actors = list({ title: "By address", caption: "Actors", file: "actors", page, columns: ACTOR_COLUMNS, none: "No actor is deployed.", keyOf: (row) => row.address });
  await actors.reload();
  const about = h("p", { class: "soft" }, "Programs that hold state and CBY. ", h("a", { href: "#/accounts" }, "All accounts"));
  return { title: "Actors", node: h("div", {}, h("div", { class: "title" }, h("h1", {}, "Actors"), about), actors.node) };
}

const ACCOUNT_COLUMNS = [
  { name: "Address", cell: (row) => who(row.address, { actor: row.is_actor }), text: (row) => row.address },
  { name: "Kind", cell: (row) => (row.is_actor ? badge("accent", "Actor") : badge("plain", "Account")), text: (row) => (row.is_actor ? "actor" : "account") },
  { name: "Balance", end: true, cell: (row) => money(row.balance), text: (row) => decimal(row.balance) },
  { name: "Transactions sent", end: true, cell: (row) => count(row.nonce), text: (row) => row.nonce },
];

/** See VIEWS in main.js. */
export async function accountsView(_, { signal }) {
  const prefix = textFilter("Begins with 0x…");
  const page = async (cursor, limit) => {
    const begin = /^(?:0x)?[0-9a-f]{1,40}$/i.exec(prefix.value.trim())?.[0];
    const { accounts, next_cursor: next } = await get(`/accounts?${query({ limit, cursor, prefix: begin })}`, signal);
    return { rows: accounts, next };
  };
  const accounts = list({
    title: "By address",
    caption: "Accounts",
    file: "accounts",
    page,
    columns: ACCOUNT_COLUMNS,
    filters: [prefix],
    none: () => (prefix.value.trim() === "" ? "No account has sent or received anything yet." : "No account begins with these digits."),
    keyOf: (row) => row.address,
  });
  await accounts.reload();
  const about = h("p", { class: "soft" }, "Accounts and actors that have sent or received something.");
  return { title: "Accounts", node: h("div", {}, h("div", { class: "title" }, h("h1", {}, "Accounts"), about), accounts.node) };
}
