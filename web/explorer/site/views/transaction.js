// One transaction, message or timer fire: what was asked, what came of it as a tree, what it cost, and why it failed.

import { each, find } from "../api.js";
import { fromHex, sameHex } from "../bytes.js";
import { partsBar } from "../charts.js";
import { codeView } from "../code.js";
import { h } from "../dom.js";
import { bytes, clip, compact, count, percent } from "../format.js";
import { failurePanel } from "../failure.js";
import { follow } from "../follow.js";
import {
  asker,
  badge,
  effective,
  facts,
  heightLink,
  identifier,
  moment,
  money,
  nodeOf,
  panel,
  payload,
  payloadOfHex,
  route,
  spaced,
  status,
  who,
  whom,
} from "../parts.js";
import { changesPanel } from "../changes.js";
import { treePanel } from "../tree-view.js";
import { valueView } from "../value.js";
import { wakeOf } from "../wake.js";

const MAX_DELIVERIES = 300;

/** See VIEWS in main.js. */
export async function transactionView([id = ""], { live, signal, redraw }) {
  if (!isHash(id)) return missing(id);
  const name = encodeURIComponent(id);
  const [transaction, receipt] = await Promise.all([find(`/transaction/${name}`, signal), find(`/transaction/${name}/receipt`, signal)]);
  if (!transaction && !receipt) return missing(id, live, signal, redraw);
  const isPending = !receipt;
  if (isPending) follow(live, signal, async () => (await find(`/transaction/${name}/receipt`, signal)) && redraw());
  const hash = transaction?.hash ?? receipt.tx_hash;
  const heading = headingOf(transaction, receipt);
  const tree = receipt && (await family(receipt, signal));
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h(
        "div",
        {},
        h("span", { class: "kicker" }, receipt ? kindName(receipt.kind) : "Transaction"),
        h("h1", { class: "breakable" }, heading),
      ),
      status(receipt?.status ?? "pending"),
      receipt && h("span", { class: "soft" }, moment(receipt.timestamp_ms)),
    ),
    receipt?.error && (await errorPanel(receipt, transaction, signal)),
    h(
      "div",
      { class: "columns wide-left" },
      h(
        "div",
        {},
        askedPanel(hash, transaction, receipt, tree),
        tree && treePanel(tree, receipt),
        receipt && answerPanel(receipt),
        receipt?.printed && printedPanel(receipt.printed),
        receipt && (await changesPanel(hash, signal)),
      ),
      h("div", {}, receipt ? feePanel(receipt, transaction) : offerPanel(transaction)),
    ),
    transaction?.instruction ? payloadPanel(effective(transaction.instruction)) : receipt && argumentPanel(receipt),
  );
  return { title: `${heading} ${hash.slice(0, 8)}`, node };
}

/** What the handlers printed: the word of this node, kept for a while. */
function printedPanel(printed) {
  return panel({ title: "Printed" }, h("div", { class: "block-of-text" }, clip(printed, 5_000)));
}

function isHash(text) {
  return /^(0x)?[0-9a-f]{64}$/i.test(text);
}

function missing(id, live, signal, redraw) {
  if (isHash(id)) follow(live, signal, redraw);
  return {
    title: "Not found",
    node: h(
      "div",
      {},
      h("div", { class: "title" }, h("h1", {}, isHash(id) ? "Not found, or not yet" : "That is no hash")),
      panel(
        {},
        h("p", { class: "breakable" }, h("code", {}, clip(id, 200))),
        h(
          "p",
          { class: "soft" },
          isHash(id)
            ? "The node does not know a transaction or delivery with this hash. If it was just sent, this page shows it as soon as it is in a block."
            : "The hash of a transaction has 64 hexadecimal digits.",
        ),
      ),
    ),
  };
}

function kindName(kind) {
  return { transaction: "Transaction", message: "Message", timer: "Timer fire", callback: "Callback" }[kind] ?? clip(String(kind), 40);
}

function headingOf(transaction, receipt) {
  if (receipt && receipt.kind !== "transaction") return clip(receipt.handler || "Message", 80);
  const instruction = transaction && effective(transaction.instruction);
  if (!instruction) return clip(receipt?.handler || "Transaction", 80);
  if (instruction.name === "Execute") return clip(instruction.handler ?? "Execute", 80);
  return instruction.name === "Deploy" ? "Deploy an actor" : spaced(instruction.name);
}

/** The receipt where everything began, with all that it set off: [root, ...deliveries]. */
async function family(receipt, signal) {
  const isRoot = receipt.kind === "transaction" || receipt.kind === "timer";
  const root = (!isRoot && (await find(`/transaction/${receipt.origin}/receipt`, signal))) || receipt;
  const names = root.deliveries.slice(0, MAX_DELIVERIES);
  const deliveries = await each(names, (name) => find(`/transaction/${name}/receipt`, signal));
  return {
    root,
    deliveries: deliveries.filter((delivery) => delivery && delivery.tx_hash !== root.tx_hash),
    left: root.deliveries.length - names.length,
  };
}

function askedPanel(hash, transaction, receipt, tree) {
  const instruction = transaction && effective(transaction.instruction);
  const target = receipt?.created ?? receipt?.target ?? instruction?.target;
  const value = receipt?.value ?? instruction?.value ?? 0;
  return panel(
    { title: "Request" },
    facts(
      ["Hash", identifier(hash, { full: true })],
      tree && !sameHex(receipt.origin, hash) && originRow(receipt, tree.root),
      ["From", receipt ? asker(receipt) : who(transaction.from)],
      transaction?.instruction.inner && ["Impersonated by", who(transaction.from), " ", badge("accent", "dev chain only")],
      target && [receipt?.created ? "Created" : "To", receipt ? whom(receipt) : who(target)],
      (receipt?.handler || instruction?.handler) && [
        receipt?.created || instruction?.name === "Deploy" ? "Init handler" : "Handler",
        h("code", {}, clip(receipt?.handler || instruction.handler, 256)),
      ],
      Number(value) > 0 && [receipt?.created ? "Endowment" : "Value", money(value)],
      instruction?.owner && ["New owner", who(instruction.owner)],
      instruction?.timer && ["Timer", identifier(instruction.timer)],
      receipt
        ? ["Block", heightLink(receipt.block_height), h("span", { class: "soft" }, `, index ${count(receipt.index)}`)]
        : ["Block", h("span", { class: "soft" }, "pending in the mempool")],
      transaction && ["Nonce", count(transaction.nonce)],
      transaction && ["Size", bytes(Number(transaction.size))],
      transaction?.additional_signers.length > 0 && [
        "Additional signers",
        transaction.additional_signers.slice(0, 64).map((signer) => [who(signer), " "]),
      ],
      transaction?.metadata.length > 2 && ["Metadata", payloadOfHex(transaction.metadata)],
    ),
  );
}

/** Where a delivery began: with a transaction, or with a timer, whose page is that of its fire. */
function originRow(receipt, root) {
  const isElsewhere = root.tx_hash !== receipt.tx_hash;
  const name = identifier(receipt.origin, { href: isElsewhere ? route.transaction(root.tx_hash) : null, full: true });
  return [isElsewhere ? "Origin" : "Timer", name];
}

function answerPanel(receipt) {
  if (receipt.return_data.length <= 2) return null;
  return panel({ title: "Return value" }, payloadOfHex(receipt.return_data));
}

function feePanel(receipt, transaction) {
  const { fee } = receipt;
  const waiting = BigInt(fee.reserved) - BigInt(fee.burned) - BigInt(fee.tip) - BigInt(fee.refunded);
  const parts = [
    { name: "Burned", kind: "burned", value: fee.burned, text: money(fee.burned) },
    { name: "Tip to the proposer", kind: "tip", value: fee.tip, text: money(fee.tip) },
    { name: "Refunded", kind: "refunded", value: fee.refunded, text: money(fee.refunded) },
    waiting > 0n && { name: "Reserved for its messages", kind: "kept", value: waiting, text: money(waiting) },
  ].filter(Boolean);
  return panel(
    { title: "Fee" },
    h("p", { class: "fee-total" }, money(fee.total)),
    h(
      "p",
      { class: "small soft" },
      BigInt(fee.reserved) > 0n ? ["of ", money(fee.reserved), " reserved, paid by "] : "nothing was reserved or charged of ",
      who(fee.payer),
    ),
    partsBar(parts, `Of the reserve ${percent(fee.burned, fee.reserved)} was burned and ${percent(fee.refunded, fee.reserved)} refunded`),
    facts(
      ["Cycles", gauge(receipt.cycles_used, transaction?.cycles_limit)],
      ["Cells", gauge(receipt.cells_used, transaction?.cells_limit)],
      ["Price", `${count(fee.cycle_price)} a cycle, ${count(fee.cell_price)} a cell`],
      transaction && ["Maximum price", `${count(transaction.max_fee_per_cycle)} a cycle, ${count(transaction.max_fee_per_cell)} a cell`],
    ),
  );
}

function gauge(used, limit) {
  return [
    h("span", { class: "number" }, count(used)),
    limit !== undefined && h("span", { class: "faint" }, ` of ${compact(limit)}, ${percent(used, limit)}`),
  ];
}

function offerPanel(transaction) {
  return panel(
    { title: "Limits and fees offered" },
    facts(
      ["Cycles", `at most ${count(transaction.cycles_limit)}`],
      ["Cells", `at most ${count(transaction.cells_limit)}`],
      ["Price", `at most ${count(transaction.max_fee_per_cycle)} a cycle, ${count(transaction.max_fee_per_cell)} a cell`],
      ["Tip", `${count(transaction.max_priority_fee_per_cycle)} a cycle, ${count(transaction.max_priority_fee_per_cell)} a cell`],
    ),
  );
}

function payloadPanel(instruction) {
  const hasPayload = instruction.payload !== undefined && instruction.payload.length > 2;
  const sections = [
    hasPayload &&
      panel({ title: instruction.name === "Deploy" ? "Payload of the init handler" : "Payload" }, payloadOfHex(instruction.payload)),
    instruction.manifest !== undefined &&
      instruction.manifest !== null &&
      panel({ title: "Manifest" }, valueView(nodeOf(instruction.manifest), { open: 3 })),
    instruction.details !== undefined &&
      instruction.details !== null &&
      panel({ title: "Operands" }, valueView(nodeOf(instruction.details), { open: 2 })),
    typeof instruction.code === "string" &&
      panel({ title: "Source", aside: bytes(instruction.code.length), flush: true }, codeView(instruction.code)),
  ].filter(Boolean);
  return sections;
}

/** What a message, timer or callback brought along; of a timer what its handler gets of it. */
function argumentPanel(receipt) {
  const bytes = fromHex(receipt.payload ?? "0x") ?? new Uint8Array();
  const data = receipt.kind === "timer" ? wakeOf(bytes).data : bytes;
  return data.length > 0 && panel({ title: "Payload" }, payload(data));
}

/** Why it failed, with the source that failed: the actor's, or the one that was to be deployed. */
async function errorPanel(receipt, transaction, signal) {
  const deployed = transaction && effective(transaction.instruction).code;
  if (typeof deployed === "string") return failurePanel(receipt.error, { source: deployed });
  const code = await find(`/actor/${receipt.target}/code`, signal);
  return failurePanel(receipt.error, { source: code?.source, href: (line) => route.actor(receipt.target, `source/${line}`) });
}
