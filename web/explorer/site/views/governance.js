// Decisions of the validators: proposals, votes, what a proposal would do if it took effect now, the council, and disputed jobs.

import * as cbor from "../cbor.js";
import { find, get, post } from "../api.js";
import { fromBase64, fromHex, toBase64 } from "../bytes.js";
import { Clock } from "../clock.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { amount, clip, count, plural } from "../format.js";
import { choice, list, query } from "../list.js";
import { badge, empty, facts, panel, payloadOfHex, route, table, who } from "../parts.js";
import { systemActors, systemName, withMethod } from "../system.js";
import { valueLine } from "../value.js";
import { jobsPanel } from "./jobs.js";

const JOBS_LOOKED_AT = 1_000;
const DISPUTES_SHOWN = 50;

/** Stage → [badge, word]. */
export const STAGES = {
  voting: ["wait", "Voting"],
  queued: ["accent", "Queued"],
  executed: ["good", "Executed"],
  failed: ["bad", "Failed"],
  rejected: ["bad", "Rejected"],
  cancelled: ["plain", "Cancelled"],
};

function stage(proposal) {
  const [kind, word] = STAGES[proposal.stage] ?? ["plain", clip(String(proposal.stage), 40)];
  return badge(kind, word);
}

/** What an action does, in one line. System actors have their names once the node has listed them. */
function sentence(action) {
  const target = action.actor && (systemName(action.actor) ?? action.actor);
  switch (action.action) {
    case "set_parameter":
      return `Set ${action.name ?? "an unknown parameter"} to ${count(action.value)}`;
    case "disburse":
      return `Pay ${amount(action.amount)} from ${action.bucket} to ${action.to}`;
    case "set_council":
      return `Appoint a council of ${plural(action.members?.length ?? 0, "member")}`;
    case "call":
      return `Call ${action.method} of ${target}`;
    case "circuit_break":
      return `Pause ${target}`;
    case "resume":
      return `Resume ${target}`;
    case "upgrade":
      return `Upgrade the protocol to version ${count(action.version)} from height ${count(action.height)} on`;
    case "cancel_upgrade":
      return `Cancel protocol version ${count(action.version)}`;
    default:
      return String(action.action);
  }
}

function sentences(proposal) {
  return proposal.actions.map((action) => clip(sentence(action), 200)).join("; ");
}

function votes(proposal, kind) {
  return proposal.ballots.filter((ballot) => ballot.choice === kind).length;
}

const COLUMNS = [
  { name: "No.", cell: (proposal) => h("a", { href: route.proposal(proposal.id) }, `#${proposal.id}`), text: (proposal) => proposal.id },
  { name: "Proposal", class: "grow", cell: (proposal) => h("a", { class: "breakable", href: route.proposal(proposal.id) }, clip(sentences(proposal), 160)), text: sentences },
  { name: "Tier", end: true, class: "optional", cell: (proposal) => count(proposal.tier), text: (proposal) => proposal.tier },
  {
    name: "Yes / no / abstain",
    end: true,
    class: "optional",
    cell: (proposal) => `${votes(proposal, "yes")} / ${votes(proposal, "no")} / ${votes(proposal, "abstain")}`,
    text: (proposal) => `${votes(proposal, "yes")}/${votes(proposal, "no")}/${votes(proposal, "abstain")}`,
  },
  { name: "Proposer", class: "optional", cell: (proposal) => who(proposal.proposer), text: (proposal) => proposal.proposer },
  { name: "", says: "Stage", end: true, cell: stage, text: (proposal) => proposal.stage },
];

/** See VIEWS in main.js. */
export async function governanceView(_, { live, signal }) {
  const stages = choice("Stage", [["", "All stages"], ...Object.entries(STAGES).map(([value, [, word]]) => [value, word])]);
  const page = async (cursor = 0, limit) => {
    const { proposals, total_count: total } = await get(`/governance/proposals?${query({ offset: cursor, limit, stage: stages.value })}`, signal);
    return { rows: proposals, next: proposals.length === limit ? cursor + limit : undefined, total };
  };
  const proposals = list({ title: "Proposals", file: "proposals", page, columns: COLUMNS, filters: [stages], none: "No proposal.", keyOf: (row) => row.id });
  const council = h("div", {});
  const upgrades = h("div", {});
  const disputes = h("div", {});
  const others = async () => {
    const [members, schedule, jobs] = await Promise.all([
      find("/governance/council", signal),
      find("/governance/upgrades", signal),
      find(`/jobs?limit=${JOBS_LOOKED_AT}`, signal),
    ]);
    replace(council, members && councilPanel(members));
    replace(upgrades, schedule && upgradesPanel(schedule));
    replace(disputes, disputesPanel(jobs?.jobs ?? []));
  };
  await systemActors();
  await Promise.all([proposals.reload(), others()]);
  follow(live, signal, others);
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("h1", {}, "Governance"),
      h("p", { class: "soft" }, "Validators decide about parameters, payments, pauses and upgrades. ", h("a", { href: "#/parameters" }, "All parameters")),
    ),
    proposals.node,
    upgrades,
    disputes,
    council,
  );
  return { title: "Governance", node };
}

function disputesPanel(jobs) {
  const disputed = jobs.filter(({ status }) => status === "disputed");
  return jobsPanel(disputed.slice(0, DISPUTES_SHOWN), { title: "Disputed jobs", total: disputed.length, none: "No job is disputed." });
}

const UPGRADES = [
  { name: "Version", cell: (row) => count(row.version) },
  { name: "From height", end: true, cell: (row) => count(row.height) },
  { name: "Changes", class: "grow", cell: (row) => (row.is_known ? clip(row.about, 200) : "This node does not know the version and stops before it.") },
];

function upgradesPanel({ version, scheduled }) {
  const aside = `version ${count(version)} applies`;
  if (scheduled.length === 0) return panel({ title: "Protocol versions", aside }, empty("No upgrade is scheduled."));
  return panel({ title: "Protocol versions", aside, flush: true }, table(UPGRADES, scheduled, { caption: "Protocol versions" }));
}

function councilPanel({ members, size, threshold }) {
  const rule = `${count(threshold)} of ${count(size)} must agree`;
  if (members.length === 0) return panel({ title: "Security council", aside: rule }, empty("No council is appointed."));
  return panel({ title: "Security council", aside: rule, flush: true }, table([{ name: "Member", cell: (member) => who(member) }], members, { caption: "Security council" }));
}

/** See VIEWS in main.js. */
export async function proposalView([id = ""], { live, signal }) {
  const path = `/governance/proposals/${encodeURIComponent(id)}`;
  const [clock] = await Promise.all([Clock.read(live, signal), systemActors()]);
  const body = h("div", {});
  const state = h("span", {});
  let last;
  const draw = async () => {
    const [proposal, validators] = await Promise.all([get(path, signal), find("/validators?limit=1000", signal)]);
    const text = JSON.stringify(proposal, (_, value) => (typeof value === "bigint" ? String(value) : value));
    if (text === last) return proposal;
    last = text;
    replace(state, stage(proposal));
    replace(body, ...parts(proposal, validators, clock, signal));
    return proposal;
  };
  const proposal = await draw();
  follow(live, signal, draw);
  const title = h("div", {}, h("span", { class: "kicker" }, `Proposal #${proposal.id}`), h("h1", { class: "breakable" }, clip(sentences(proposal), 200)));
  return { title: `Proposal #${proposal.id}`, node: h("div", {}, h("div", { class: "title" }, title, state), body) };
}

function parts(proposal, validators, clock, signal) {
  return [
    h("div", { class: "columns" }, aboutPanel(proposal, clock), actionsPanel(proposal)),
    h("div", { class: "columns" }, votesPanel(proposal, validators), previewPanel(proposal, signal)),
  ];
}

function aboutPanel(proposal, clock) {
  const due = { voting: "Voting ends", queued: "Takes effect from" }[proposal.stage];
  return panel(
    { title: "Proposal" },
    facts(
      ["Proposer", who(proposal.proposer)],
      ["Tier", count(proposal.tier)],
      ["Deposit", BigInt(proposal.deposit) > 0n ? amount(proposal.deposit) : "returned or burned"],
      ["Epoch", count(proposal.epoch)],
      due && proposal.height !== null && [due, `block ${count(proposal.height)}, ${clock.until(proposal.height)}`],
      proposal.is_fast && ["Fast track", "the council shortened the voting"],
      proposal.is_ratification && ["Ratification", "of a pause by the council"],
      proposal.fast_track.length > 0 && ["For the fast track", proposal.fast_track.slice(0, 32).map((member) => [who(member), " "])],
      proposal.cancel.length > 0 && ["For cancelling it", proposal.cancel.slice(0, 32).map((member) => [who(member), " "])],
    ),
  );
}

function actionsPanel(proposal) {
  const line = (action) =>
    h(
      "li",
      {},
      h("p", { class: "breakable" }, clip(sentence(action), 300)),
      action.members && h("p", { class: "small" }, action.members.slice(0, 32).map((member) => [who(member), " "])),
      action.argument && h("details", {}, h("summary", {}, "Argument"), payloadOfHex(action.argument)),
    );
  return panel({ title: "Actions", aside: count(proposal.actions.length) }, h("ol", { class: "reasons" }, proposal.actions.map(line)));
}

function votesPanel(proposal, validators) {
  const stakes = new Map((validators?.validators ?? []).filter((one) => one.in_set).map((one) => [one.address, BigInt(one.stake)]));
  const total = [...stakes.values()].reduce((sum, stake) => sum + stake, 0n);
  const share = (kind) => {
    const stake = proposal.ballots.filter((ballot) => ballot.choice === kind).reduce((sum, { voter }) => sum + (stakes.get(voter) ?? 0n), 0n);
    return `${plural(votes(proposal, kind), "validator")}, ${total > 0n ? Number((stake * 1_000n) / total) / 10 : 0}% of the stake`;
  };
  const columns = [
    { name: "Validator", cell: ({ voter }) => who(voter) },
    { name: "Vote", cell: ({ choice: vote }) => badge({ yes: "good", no: "bad" }[vote] ?? "plain", { yes: "Yes", no: "No" }[vote] ?? "Abstain") },
  ];
  return panel(
    { title: "Votes", aside: `${count(proposal.ballots.length)} of ${count(stakes.size)}` },
    facts(["Yes", share("yes")], ["No", share("no")], ["Abstain", share("abstain")]),
    proposal.ballots.length > 0 ? table(columns, proposal.ballots.slice(0, 200), { caption: "Votes" }) : empty("Nobody has voted yet."),
  );
}

/** A simulation of the proposal on the newest state; nothing of it stays. */
function previewPanel(proposal, signal) {
  const box = h("div", { "aria-live": "polite" }, h("p", { class: "soft" }, "Simulating …"));
  preview(proposal, signal).then(
    (shown) => replace(box, ...shown),
    (problem) => !signal.aborted && replace(box, empty(`It cannot be simulated: ${clip(String(problem.message), 200)}`)),
  );
  return panel({ title: "If it took effect now", aside: "simulated on the newest state" }, box);
}

async function preview(proposal, signal) {
  const payload = toBase64(cbor.encode({ actions: proposal.actions.map(encodable) }));
  const { result } = await post(`/actor/${await withMethod("preview")}/read_handler`, { selector: "preview", payload }, signal);
  const part = (map, name) => map.value.find(([key]) => key.value === name)[1];
  const found = cbor.decode(fromBase64(result));
  const error = part(found, "error").value;
  const events = part(found, "events").value;
  const columns = [
    { name: "Event", cell: (event) => clip(String(part(event, "name").value), 80) },
    { name: "Data", class: "grow", cell: (event) => valueLine(part(event, "data"), 200) },
  ];
  return [
    error ? h("p", {}, badge("bad", `Fails: ${clip(String(error), 80)}`), " Nothing of it would take effect.") : h("p", {}, badge("good", "Succeeds")),
    events.length > 0 && table(columns, events.slice(0, 100), { caption: "Events of the simulation" }),
  ].filter(Boolean);
}

/** An action as the chain reads it: addresses and arguments as bytes. */
function encodable(action) {
  const raw = (text) => fromHex(text) ?? new Uint8Array();
  const encoded = { ...action };
  for (const name of ["to", "actor"]) if (action[name]) encoded[name] = raw(action[name]);
  if (action.members) encoded.members = action.members.map(raw);
  if (action.argument) encoded.argument = cbor.plain(cbor.decode(raw(action.argument)));
  return encoded;
}
