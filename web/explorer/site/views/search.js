// Where a text leads: a height, a hash of a block or transaction, an address, a registered name; and what begins with it: names,
// actors by class or handler, addresses.

import { find, get } from "../api.js";
import { h } from "../dom.js";
import { clip, count } from "../format.js";
import { badge, empty, panel, route, table, who } from "../parts.js";

/** Kind of a result → its word, and whether its address has code. */
export const KINDS = {
  name: ["Name", true],
  class: ["Class", true],
  handler: ["Handler", true],
  actor: ["Address", true],
  account: ["Address", false],
};

/** See VIEWS in main.js. Leads on where there is one place to go. */
export async function searchView([text = ""], { signal }) {
  const next = await lead(text.trim(), signal);
  if (next) return { next };
  const results = await matches(text.trim(), signal);
  if (results.length > 0) return { title: "Search", node: resultsView(text, results) };
  const node = h(
    "div",
    {},
    h("div", { class: "title" }, h("h1", {}, "Nothing found")),
    panel(
      {},
      h("p", { class: "breakable" }, "This chain knows no ", h("code", {}, clip(text, 200) || "empty name"), "."),
      h(
        "p",
        { class: "soft" },
        "Search for a height, a hash, an address or its first digits, a registered name, or the name of an actor's class or handler. The 0x of hashes and addresses may be left out. A pending transaction shows up once the node has it.",
      ),
    ),
    empty(h("a", { href: "#/" }, "Back to the chain")),
  );
  return { title: "Search", node };
}

/** What begins with a text, as the node finds it. */
async function matches(text, signal) {
  const letters = [...text].length;
  if (letters < 2 || letters > 64) return [];
  return (await find(`/search?text=${encodeURIComponent(text)}`, signal))?.results ?? [];
}

function resultsView(text, results) {
  const columns = [
    {
      name: "Found",
      cell: ({ kind, text: found, address }) => h("a", { class: "breakable", href: target(kind, address, found) }, clip(found, 100)),
    },
    { name: "Kind", cell: ({ kind }) => badge(kind === "class" ? "accent" : "plain", KINDS[kind]?.[0] ?? clip(kind, 20)) },
    { name: "Actor or account", class: "optional", cell: ({ kind, address }) => who(address, { actor: KINDS[kind]?.[1] }) },
  ];
  return h(
    "div",
    {},
    h("div", { class: "title" }, h("h1", {}, "Search results"), h("p", { class: "soft breakable" }, "Beginning with ", h("code", {}, clip(text, 64)))),
    panel({ title: "Results", aside: count(results.length), flush: true }, table(columns, results, { caption: "Results" })),
  );
}

function target(kind, address, text) {
  if (kind === "handler") return route.actor(address, `query/${encodeURIComponent(text)}`);
  return KINDS[kind]?.[1] ? route.actor(address) : route.account(address);
}

async function lead(text, signal) {
  const after = /^after:(\d{1,18})$/.exec(text);
  if (after) return nextBlock(Number(after[1]), signal);
  const height = text.replace(/[,_ ]/g, "");
  if (/^#?\d{1,18}$/.test(height)) {
    const number = height.replace("#", "");
    return (await find(`/block/${number}`, signal)) ? route.block(number) : null;
  }
  if (/^latest$/i.test(text)) return route.block((await get("/height", signal)).height);
  const digits = /^(?:0x)?([0-9a-f]+)$/i.exec(text)?.[1].toLowerCase();
  if (digits?.length === 40) return `#/account/0x${digits}`;
  if (digits?.length === 64) {
    const [transaction, receipt, block, job] = await Promise.all([
      find(`/transaction/0x${digits}`, signal),
      find(`/transaction/0x${digits}/receipt`, signal),
      find(`/block/0x${digits}`, signal),
      find(`/job/0x${digits}`, signal),
    ]);
    if (job) return route.job(job.job_id);
    if (transaction || receipt) return route.transaction(`0x${digits}`);
    if (block) return route.block(block.height);
  }
  // `mysite`, or the whole host of a site: its name is what stands before the gateway's domain.
  const name = text.toLowerCase().replace(/\.(?:localhost|cowboy\.network)$/, "");
  if (/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)) {
    const found = await find(`/names/${name}`, signal);
    if (found) return `#/account/${found.actor_address}`;
  }
  return null;
}

/** The first block above a height: the next one, unless a warp skipped heights there. */
async function nextBlock(height, signal) {
  if (await find(`/block/${height + 1}`, signal)) return route.block(height + 1);
  const { total_count: total } = await get("/blocks?limit=1", signal);
  let low = 0;
  let high = Number(total) - 1;
  let found = null;
  // Blocks stand newest first, so the wanted one is the last that is still above the height.
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const [block] = (await get(`/blocks?offset=${middle}&limit=1`, signal)).blocks;
    if (block && Number(block.height) > height) {
      found = block;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return found ? route.block(found.height) : route.block(height);
}
