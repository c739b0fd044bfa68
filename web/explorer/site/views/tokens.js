// Tokens of the protocol: all of them, one with its holders and events, and those of an account.

import { find, get } from "../api.js";
import { h } from "../dom.js";
import { follow } from "../follow.js";
import { clip, count, timestamp, whole } from "../format.js";
import { list, query } from "../list.js";
import { facts, heightLink, identifier, moment, panel, route, table, who } from "../parts.js";

const MAX_HELD = 100;

const NAMES = {
  TokenCreated: "Created",
  TokenTransferred: "Transfer",
  TokenMinted: "Mint",
  TokenBurned: "Burn",
  TokenApproved: "Approval",
  TokenHookSet: "Hook set",
  TokenOwnershipTransferred: "New owner",
};

/** An amount of units with the token's decimals, exactly. */
export function tokenAmount(units, decimals) {
  const number = whole(String(units));
  if (number === null) return "–";
  const places = Math.min(255, Math.max(0, Number(decimals)));
  const digits = number.toString().padStart(places + 1, "0");
  const fraction = places === 0 ? "" : digits.slice(-places).replace(/0+$/, "");
  return `${count(BigInt(places === 0 ? digits : digits.slice(0, -places)))}${fraction ? `.${fraction}` : ""}`;
}

function tokenLink(token) {
  return h("a", { href: route.token(token.token_id) }, h("bdi", {}, nameOf(token)), " ", h("bdi", { class: "faint" }, clip(token.symbol, 16)));
}

/** A token's name, which may be blank. */
function nameOf({ name }) {
  return name.trim() === "" ? "(a blank name)" : clip(name, 64);
}

const COLUMNS = [
  { name: "Token", cell: tokenLink, text: (token) => token.name },
  { name: "Symbol", text: (token) => token.symbol },
  { name: "Supply", end: true, cell: (token) => tokenAmount(token.supply, token.decimals), text: (token) => tokenAmount(token.supply, token.decimals).replaceAll(",", "") },
  { name: "Owner", class: "optional", cell: (token) => who(token.owner), text: (token) => token.owner },
  { name: "Created", end: true, class: "optional", cell: (token) => heightLink(token.created_at), text: (token) => token.created_at },
  { name: "Id", class: "optional", cell: (token) => identifier(token.token_id), text: (token) => token.token_id },
];

/** See VIEWS in main.js. */
export async function tokensView(_, { signal }) {
  const page = async (cursor = 0, limit) => {
    const { tokens, total_count: total } = await get(`/tokens?${query({ offset: cursor, limit })}`, signal);
    const end = cursor + tokens.length;
    return { rows: tokens, next: tokens.length > 0 && end < Number(total) ? end : undefined, total };
  };
  const tokens = list({ title: "By id", caption: "Tokens", file: "tokens", page, columns: COLUMNS, none: "Nobody has created a token.", keyOf: (token) => token.token_id });
  await tokens.reload();
  return { title: "Tokens", node: h("div", {}, h("div", { class: "title" }, h("h1", {}, "Tokens")), tokens.node) };
}

/** See VIEWS in main.js. */
export async function tokenView([id = ""], { live, signal }) {
  const path = `/token/${encodeURIComponent(id)}`;
  const token = await get(path, signal);
  const amount = (units) => tokenAmount(units, token.decimals);
  const holders = holderList(path, token, signal);
  const events = eventList(path, token, signal);
  await Promise.all([holders.reload(), events.reload()]);
  follow(live, signal, events.refresh);
  const node = h(
    "div",
    {},
    h("div", { class: "title" }, h("div", {}, h("span", { class: "kicker" }, "Token"), h("h1", { class: "breakable" }, nameOf(token))), h("span", { class: "soft" }, clip(token.symbol, 16))),
    panel(
      { title: "Token" },
      facts(
        ["Id", identifier(token.token_id, { full: true, what: "the id" })],
        ["Supply", amount(token.supply)],
        ["Maximum supply", whole(token.max_supply) >= (1n << 128n) - 1n ? "unlimited" : amount(token.max_supply)],
        ["Decimals", count(token.decimals)],
        ["Owner", who(token.owner)],
        token.hook && ["Transfer hook", who(token.hook, { actor: true })],
        token.metadata_uri && ["Metadata", h("code", { class: "breakable" }, clip(token.metadata_uri, 256))],
        ["Created", ["in block ", heightLink(token.created_at)]],
      ),
    ),
    h("div", { class: "columns wide-left" }, events.node, holders.node),
  );
  return { title: nameOf(token), node };
}

function holderList(path, token, signal) {
  const page = async (cursor, limit) => {
    const { holders, next_cursor: next } = await get(`${path}/holders?${query({ limit, cursor })}`, signal);
    return { rows: holders, next };
  };
  const columns = [
    { name: "Holder", cell: (row) => who(row.account), text: (row) => row.account },
    { name: "Amount", end: true, cell: (row) => tokenAmount(row.amount, token.decimals), text: (row) => tokenAmount(row.amount, token.decimals).replaceAll(",", "") },
  ];
  return list({ title: "Holders", file: `holders-${token.token_id.slice(0, 10)}`, page, columns, none: "Nobody holds it.", keyOf: (row) => row.account });
}

function eventList(path, token, signal) {
  const page = async (cursor, limit) => {
    const { events, next_cursor: next } = await get(`${path}/events?${query({ limit, cursor })}`, signal);
    return { rows: events, next };
  };
  const party = (name) => ({
    name: name === "from" ? "From" : "To",
    cell: (row) => (isAddress(row.value?.[name]) ? who(row.value[name]) : h("span", { class: "faint" }, "–")),
    text: (row) => row.value?.[name],
  });
  const columns = [
    {
      name: "Event",
      cell: (row) => h("a", { href: route.transaction(row.receipt) }, NAMES[row.name] ?? clip(row.name, 40)),
      text: (row) => NAMES[row.name] ?? row.name,
    },
    party("from"),
    party("to"),
    {
      name: "Amount",
      end: true,
      cell: (row) => tokenAmount(row.value?.amount ?? row.value?.supply, token.decimals),
      text: (row) => tokenAmount(row.value?.amount ?? row.value?.supply, token.decimals).replaceAll(",", ""),
    },
    { name: "Time", end: true, class: "optional", cell: (row) => moment(row.timestamp_ms), text: (row) => timestamp(row.timestamp_ms) },
    { name: "Transaction", text: (row) => row.receipt },
  ];
  const key = (row) => `${row.receipt}/${row.index}`;
  return list({ title: "Transfers", file: `transfers-${token.token_id.slice(0, 10)}`, page, columns, none: "Nothing has happened to it.", keyOf: key });
}

function isAddress(value) {
  return /^0x[0-9a-f]{40}$/.test(value);
}

/** The tokens that an address holds, as a panel; null where it holds none. */
export async function heldPanel(address, signal) {
  const { tokens, next_cursor: next } = (await find(`/account/${address}/tokens?limit=${MAX_HELD}`, signal)) ?? { tokens: [] };
  if (tokens.length === 0) return null;
  const columns = [
    { name: "Token", cell: ({ token }) => tokenLink(token) },
    { name: "Amount", end: true, cell: ({ token, amount }) => tokenAmount(amount, token.decimals) },
  ];
  return panel({ title: "Tokens", aside: next ? `the first ${count(tokens.length)}` : count(tokens.length), flush: true }, table(columns, tokens, { caption: "Tokens" }));
}
