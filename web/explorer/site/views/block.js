// One block: what it used, what happened in it, and what it commits to.

import { find, get } from "../api.js";
import { LANES, laneBars } from "../charts.js";
import { roundsText, signers } from "../consensus.js";
import { h } from "../dom.js";
import { bytes, clip, compact, count, plural } from "../format.js";
import {
  action,
  asker,
  empty,
  facts,
  identifier,
  kindBadge,
  longTable,
  moment,
  namedReceipts,
  panel,
  route,
  status,
  who,
  whom,
} from "../parts.js";

/** See VIEWS in main.js. */
export async function blockView([id], { live, signal }) {
  const [block, fees, lineage] = await Promise.all([
    get(`/block/${encodeURIComponent(id)}`, signal),
    find("/basefee", signal),
    validators(signal),
  ]);
  const { header } = block;
  const receipts = namedReceipts(block);
  const proposer = lineage.find((validator) => validator.consensus_key === header.proposer);
  const place = { height: Number(block.height), next: null };
  const title = `Block ${count(block.height)}`;
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("div", {}, h("span", { class: "kicker" }, "Block"), h("h1", { class: "number" }, count(block.height))),
      h("span", { class: "soft" }, moment(header.timestamp_ms)),
      steps(place, header, live, signal),
    ),
    h(
      "div",
      { class: "columns" },
      panel(
        { title: "Header" },
        facts(
          ["Hash", identifier(block.hash, { full: true })],
          [
            "Parent",
            Number(header.number) > 1
              ? identifier(header.parent, { href: route.block(header.parent) })
              : [identifier(header.parent), h("span", { class: "soft" }, " genesis")],
          ],
          ["Proposer", proposer ? who(proposer.address) : identifier(header.proposer)],
          ["Round", `view ${count(header.view)} of epoch ${count(header.epoch)}`],
          ["Base fees", `${count(header.base_fee_cycle)} a cycle, ${count(header.base_fee_cell)} a cell`],
          Number(header.skipped) > 0 && ["Number", `${count(header.number)}, since warps skipped ${plural(header.skipped, "height")}`],
        ),
      ),
      panel({ title: "Lanes", aside: used(header.usage) }, laneBars(header.usage, fees?.lanes)),
    ),
    receiptsPanel(
      "Transactions",
      receipts.filter(({ kind }) => kind === "transaction"),
      "No transaction in this block.",
    ),
    deliveries(receipts.filter(({ kind }) => kind !== "transaction")),
    h(
      "div",
      { class: "columns" },
      panel(
        { title: "Commitments" },
        facts(
          ["State root", identifier(header.state_root, { full: true })],
          ["Transaction root", identifier(header.tx_root, { full: true })],
          ["Receipt root", identifier(header.receipt_root, { full: true })],
          ["Operations root", identifier(header.ops_root, { full: true })],
        ),
      ),
      panel(
        { title: "Agreement" },
        facts(
          block.finality && ["State", state(block.finality)],
          block.messages && ["Messages", roundsText(block.messages)],
          ["Certificate", certificate(block.certificate)],
          [
            "Beacon",
            header.seeds.length > 0
              ? identifier(header.seeds[header.seeds.length - 1], { full: true, what: "the beacon" })
              : "none: the first block after genesis",
          ],
          ["Seeds carried", count(header.seeds.length)],
          ["Proposer's VRF", identifier(header.proposer_vrf)],
          [
            "Voters",
            Number.parseInt(header.voters.slice(2) || "0", 16) === 0
              ? "not recorded"
              : h("span", { class: "mono breakable" }, clip(header.voters, 200)),
          ],
        ),
      ),
    ),
    block.qc && certificatePanel(block.qc),
  );
  return { title, node };
}

/** The quorum certificate in the terms of 003 §6.1. */
function certificatePanel(qc) {
  const voted = signers(qc.signer_bitmap);
  return panel(
    { title: "Quorum certificate" },
    facts(
      ["Block hash", identifier(qc.block_hash, { full: true })],
      ["Height", count(qc.height)],
      ["Round", `view ${count(qc.round.view)} of epoch ${count(qc.round.epoch)}`],
      ["Aggregated signature", identifier(qc.aggregated_signature, { full: true, what: "the signature" })],
      [
        "Signer bitmap",
        voted === null ? "none: a threshold signature names nobody" : [h("span", { class: "mono" }, clip(qc.signer_bitmap, 200)), ` ${count(voted)} voted, as the next proposer saw it`],
      ],
    ),
  );
}

function state(finality) {
  const by = finality.finalized_by === null ? "" : `, by the certificate of block ${count(finality.finalized_by)}`;
  return finality.state === "committed" ? `finalized${by}; committed, since its child has a quorum certificate` : `finalized${by}`;
}

async function validators(signal) {
  return (await find("/validators?limit=1000", signal))?.validators ?? [];
}

function used(usage) {
  const sum = (unit) => LANES.reduce((total, lane) => total + Number(usage[lane][unit]), 0);
  return `${compact(sum("cycles"))} cycles, ${compact(sum("cells"))} cells`;
}

function certificate(hex) {
  if (!hex) return "finalized by that of a later block";
  return [identifier(hex, { what: "the certificate" }), h("span", { class: "soft" }, `, ${bytes((hex.length - 2) / 2)}`)];
}

/** Links to the block before and the one after; the latter wakes up once there is one. */
function steps(place, header, live, signal) {
  const first = Number(header.number) <= 1;
  const before = h(
    "a",
    { class: "button", href: first ? "#/" : route.block(header.parent), "aria-disabled": first ? "true" : null },
    "← Before",
  );
  const after = h("a", { class: "button", href: route.block(place.height + 1) }, "After →");
  const wake = () => {
    const isThere = live.tip === null || live.tip.height > place.height;
    if (isThere) after.removeAttribute("aria-disabled");
    else after.setAttribute("aria-disabled", "true");
  };
  wake();
  live.addEventListener("block", wake, { signal });
  after.addEventListener("click", (event) => {
    event.preventDefault();
    location.hash = route.search(`after:${place.height}`);
  });
  return h("div", { class: "steps" }, before, after);
}

function deliveries(receipts) {
  if (receipts.length === 0) return null;
  return receiptsPanel("Messages, timers and callbacks", receipts);
}

/** Receipts as a table, a page at a time. */
function receiptsPanel(title, receipts, nothing) {
  if (receipts.length === 0) return panel({ title }, empty(nothing));
  const columns = [
    {
      name: "Action",
      cell: (receipt) => h("a", { href: route.transaction(receipt.tx_hash) }, action(receipt)),
    },
    { name: "Name", class: "optional", cell: (receipt) => identifier(receipt.tx_hash, { href: route.transaction(receipt.tx_hash) }) },
    ...(receipts[0].kind === "transaction" ? [] : [{ name: "Kind", class: "optional", cell: (receipt) => kindBadge(receipt.kind) }]),
    { name: "From", class: "optional", cell: (receipt) => asker(receipt) },
    { name: "To", cell: (receipt) => whom(receipt) },
    { name: "Cycles", end: true, class: "optional", cell: (receipt) => count(receipt.cycles_used) },
    { name: "Events", end: true, class: "optional", cell: (receipt) => count(receipt.events.length) },
    { name: "", says: "Status", end: true, cell: (receipt) => status(receipt.status) },
  ];
  return panel({ title, aside: count(receipts.length), flush: true }, longTable(columns, receipts, { caption: title }));
}
