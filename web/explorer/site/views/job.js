// One job: what was asked, who was drawn and why, what they committed and revealed, how that was judged, and who was paid.

import { find, get } from "../api.js";
import { partsBar } from "../charts.js";
import { h, replace } from "../dom.js";
import { isPastDraw, seedsIn, verify } from "../draw.js";
import { clip, count, duration, percent, plural } from "../format.js";
import { follow } from "../follow.js";
import { parameters } from "../parameters.js";
import { badge, empty, facts, heightLink, identifier, money, panel, payloadOfHex, route, table, who } from "../parts.js";
import { withEvent } from "../system.js";
import { ENDINGS, MODES, VERDICTS, meaning, paymentSentence, payments, reasoning } from "../verdicts.js";
import { jobStatus } from "./jobs.js";

/** Rounds whose seeds can be read, so that no draw takes longer: a parameter that is fixed. */
const HISTORY = "consensus.seed_history";

/** Events of a block that are looked through at once for the one that ended a job. */
const EVENTS_PAGE = 1_000;

/** Candidates that the table shows beside those that were drawn. */
const SHOWN_CANDIDATES = 100;

/** See VIEWS in main.js. */
export async function jobView([id = ""], { live, signal }) {
  const path = `/job/${encodeURIComponent(id)}`;
  const [job, snapshot, rows] = await Promise.all([get(path, signal), find(`${path}/candidates`, signal), parameters(signal)]);
  const body = h("div", {});
  const state = h("span", {});
  const draw = async (now) => {
    const seeds = now.members.length > 0 ? await seedsAfter(now, Number(rows.get(HISTORY)?.value ?? 0), signal) : [];
    const ending = Number(now.over_at) > 0 ? await endingOf(now, signal) : null;
    replace(state, jobStatus(now.status));
    replace(body, ...parts(now, { snapshot, seeds, ending, rows }));
  };
  await draw(job);
  let last = JSON.stringify(job, printed);
  follow(live, signal, async () => {
    const now = await find(path, signal);
    const text = now && JSON.stringify(now, printed);
    // A fold that is open is being read.
    if (!now || text === last || body.querySelector("details[open]")) return;
    last = text;
    await draw(now);
  });
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("div", {}, h("span", { class: "kicker" }, "Job"), h("h1", {}, `${capital(job.kind)}, ${clip((MODES[job.mode] ?? [job.mode])[0].toLowerCase(), 60)}`)),
      state,
      h("p", { class: "soft small" }, identifier(job.job_id, { full: true, what: "the job's id" })),
    ),
    body,
  );
  return { title: `Job ${job.job_id.slice(0, 10)}`, node };
}

const printed = (_, value) => (typeof value === "bigint" ? String(value) : value);

function capital(text) {
  return clip(text.slice(0, 1).toUpperCase() + text.slice(1), 40);
}

/** The seeds in the headers from the submission to the first block after the round that draws, as bytes; a dev chain may skip heights. */
async function seedsAfter(job, history, signal) {
  const seeds = [];
  const first = Number(job.submitted_at);
  for (let height = first; height <= first + history; height += 1) {
    const block = await find(`/block/${height}`, signal);
    if (!block) continue;
    seeds.push(...seedsIn(block.header));
    if (isPastDraw(job, block.header)) break;
  }
  return seeds;
}

/** The event that ended a job, { name, value }; null where the node has it no more. */
async function endingOf(job, signal) {
  const emitter = await withEvent(ENDINGS[0]);
  for (let offset = 0; ; offset += EVENTS_PAGE) {
    const logs = (await find(`/actor/${emitter}/logs?from=${job.over_at}&offset=${offset}&limit=${EVENTS_PAGE}`, signal))?.logs ?? [];
    const found = logs.find(({ name, value }) => ENDINGS.includes(name) && value?.job_id === job.job_id);
    if (found) return found;
    if (logs.length < EVENTS_PAGE || Number(logs.at(-1).block_height) > Number(job.over_at)) return null;
  }
}

function parts(job, { snapshot, seeds, ending, rows }) {
  return [
    h("div", { class: "columns" }, askedPanel(job), moneyPanel(job, ending)),
    committeePanel(job, snapshot, seeds),
    membersPanel(job, rows),
    h("div", { class: "columns" }, reasoningPanel(job, rows), resultPanel(job)),
  ];
}

function askedPanel(job) {
  return panel(
    { title: "Request" },
    facts(
      ["Requester", who(job.submitter, { actor: true }), " in block ", heightLink(job.submitted_at)],
      job.callback && ["Callback", who(job.callback.actor, { actor: true }), " ", h("code", {}, clip(job.callback.handler, 80))],
      ["Committee", `${plural(job.committee, "runner")}, ${count(job.threshold)} must agree`],
      ["Result limit", `at most ${plural(job.max_return_bytes, "byte")}, ${job.data_format ? clip(job.data_format, 60) : "of any form"}`],
      ["Expected execution time", duration(Number(job.expected_execution_ms))],
      job.required_runner_pool && ["Required pool", h("code", {}, clip(job.required_runner_pool, 140))],
      job.retrial_of && ["Retrial of", identifier(job.retrial_of, { href: route.job(job.retrial_of) })],
      Number(job.commit_until) > 0 && ["Commitments until", heightLink(job.commit_until)],
      Number(job.reveal_until) > 0 && ["Revelations until", heightLink(job.reveal_until)],
    ),
    h("details", {}, h("summary", {}, "The submission, as runners receive it"), payloadOfHex(job.request)),
  );
}

function moneyPanel(job, ending) {
  const isOver = Number(job.over_at) > 0;
  const isDecided = isOver || ["verified", "disputed"].includes(job.status);
  return panel(
    { title: "Payments", aside: isOver ? "final" : isDecided ? ["paid in block ", count(job.status_until)] : "in escrow" },
    facts(["Maximum price", money(job.max_price)], ["Tip", money(job.tip)], ["In escrow", money(job.escrow)], isDecided && ["Gross price", money(job.gross)]),
    isOver ? shares(job, ending) : empty(isDecided ? "The escrow is paid out, and the rest refunded, when the job is settled." : "Not decided yet."),
  );
}

function shares(job, ending) {
  if (ending === null) return empty("This node no longer has the event that says who got what.");
  const paid = payments(job, ending).map((part) => ({ ...part, text: money(part.value) }));
  return partsBar(paid, paymentSentence(paid));
}

function committeePanel(job, snapshot, seeds) {
  if (job.members.length === 0) {
    const waits = job.status === "drawing";
    return panel(
      { title: "Committee selection" },
      empty(
        waits
          ? `${plural(job.candidates, "runner")} can be drawn. The seed of view ${count(job.draw_view)}, which is not known yet, selects ${count(job.committee)} of them.`
          : job.status === "waiting"
            ? `Too few runners have a free slot. The committee is selected when ${count(job.committee)} of them do, or the job fails in block ${count(job.status_until)}.`
            : "No committee is currently selected.",
      ),
    );
  }
  if (!snapshot) return panel({ title: "Committee selection" }, empty("The candidates are no longer stored."));
  const { picks, checks, excluded, passed } = verify(job, snapshot, seeds);
  const holds = checks.every(([, holds]) => holds);
  const total = snapshot.candidates.reduce((sum, { weight }) => sum + BigInt(weight), 0n);
  const pickColumns = [
    { name: "Pick", end: true, cell: (pick) => count(picks.indexOf(pick) + 1) },
    { name: "Runner", cell: (pick) => runnerLink(pick.runner) },
    { name: "Weight", end: true, cell: (pick) => count(pick.weight) },
    { name: "Chance", end: true, cell: (pick) => percent(pick.weight, pick.left) },
    { name: "Point drawn", end: true, class: "optional", cell: (pick) => `${count(pick.point)} of ${count(pick.left)}` },
  ];
  const chosen = new Map(picks.map(({ runner }, at) => [runner, at + 1]));
  const shown = snapshot.candidates.slice(0, SHOWN_CANDIDATES);
  const candidateColumns = [
    { name: "Candidate", cell: ({ runner }) => runnerLink(runner) },
    { name: "Weight", end: true, cell: ({ weight }) => count(weight) },
    { name: "Share", end: true, cell: ({ weight }) => percent(weight, total) },
    {
      name: "Drawn",
      cell: ({ runner }) =>
        passed.includes(runner) ? badge("plain", "busy") : chosen.has(runner) ? badge("good", `pick ${chosen.get(runner)}`) : excluded.includes(runner) ? badge("plain", "left out") : "",
    },
  ];
  return panel(
    { title: "Committee selection", aside: holds ? badge("good", "Selection verified") : badge("bad", "Selection does not verify") },
    h(
      "ul",
      { class: "checks" },
      checks.map(([what, isRight]) => h("li", {}, badge(isRight ? "good" : "bad", isRight ? "Holds" : "Fails"), " ", what)),
    ),
    facts(
      ["Seed of the draw", identifier(job.seed, { full: true, what: "the seed" })],
      ["Root of the candidates", identifier(job.candidates_root, { full: true, what: "the root" })],
      ["Seed from", Number(job.draw_view) > 0 ? `view ${count(job.draw_view)} of epoch ${count(job.draw_epoch)}` : "the parent beacon of the submission"],
    ),
    table(pickColumns, picks, { caption: "The draw, pick by pick" }),
    h(
      "details",
      {},
      h("summary", {}, `All ${plural(snapshot.candidates.length, "candidate")}, by address`),
      table(candidateColumns, shown, { caption: "Candidates" }),
      snapshot.candidates.length > shown.length && empty(`and ${count(snapshot.candidates.length - shown.length)} more`),
    ),
  );
}

/** A runner, linked to its page. */
export function runnerLink(address) {
  return h("a", { class: "mono", href: route.runner(address), title: address }, `${address.slice(0, 8)}…${address.slice(-4)}`);
}

function membersPanel(job, rows) {
  if (job.members.length === 0) return null;
  const columns = [
    {
      name: "Runner",
      cell: (member) => [runnerLink(member.runner), job.aggregator === member.runner && [" ", badge("plain", "aggregator")]],
    },
    { name: "Reputation", end: true, class: "optional", cell: (member) => count(member.reputation) },
    { name: "Committed", cell: (member) => said(member.committed_at, member.commitment) },
    { name: "Revealed", cell: (member) => said(member.revealed_at, member.output) },
    { name: "Compute time", end: true, class: "optional", cell: (member) => (Number(member.compute_ms) > 0 ? duration(Number(member.compute_ms)) : "–") },
    {
      name: "Verdict",
      cell: (member) => {
        const [kind, word] = VERDICTS[member.verdict] ?? ["plain", clip(member.verdict, 40)];
        return h("span", { title: meaning(member.verdict, rows) }, badge(kind, word), member.attested && [" ", badge("plain", "attested")], member.crashed && [" ", badge("wait", "crashed")]);
      },
    },
    { name: "Paid", end: true, cell: (member) => money(member.paid) },
  ];
  return panel(
    { title: "Results", flush: true },
    table(columns, [...job.members, ...(job.earlier ?? [])], { caption: "Members" }),
    h(
      "div",
      { class: "revelations" },
      job.members
        .filter(({ result }) => result)
        .slice(0, 9)
        .map((member) =>
          h("details", {}, h("summary", {}, "Result of ", h("code", {}, member.runner.slice(0, 10))), payloadOfHex(member.result)),
        ),
    ),
  );
}

function said(height, digest) {
  if (Number(height) === 0) return h("span", { class: "faint" }, "–");
  return [heightLink(height), " ", h("span", { class: "faint" }, identifier(digest))];
}

function reasoningPanel(job, rows) {
  return panel(
    { title: "Verification" },
    h(
      "ol",
      { class: "reasons" },
      reasoning(job, rows).map((line) => h("li", {}, clip(line, 400))),
    ),
    (job.claims ?? []).map((claim) =>
      facts(
        ["Challenged by", who(claim.challenger), " in block ", heightLink(claim.at)],
        claim.runner && ["Against", runnerLink(claim.runner)],
        claim.claim && ["Claim", clip(claim.claim, 256)],
        claim.retrial && ["Retrial", identifier(claim.retrial, { href: route.job(claim.retrial) })],
        ["Bond", money(claim.bond)],
      ),
    ),
  );
}

function resultPanel(job) {
  if (job.result) return panel({ title: "Accepted result", aside: job.result_of && ["of ", runnerLink(job.result_of)] }, payloadOfHex(job.result, { open: 4 }));
  return panel({ title: "Accepted result" }, empty(job.status === "failed" ? "None." : "None yet."));
}
