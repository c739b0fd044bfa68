// Who does jobs: all runners, and one with its stake, reputation, jobs and slashes.

import { find, get } from "../api.js";
import * as cbor from "../cbor.js";
import { fromHex, sameHex, toHex } from "../bytes.js";
import { brandMark } from "../charts.js";
import { h, replace } from "../dom.js";
import { clip, count, plural } from "../format.js";
import { follow } from "../follow.js";
import { parameters } from "../parameters.js";
import { PAGE_ROWS, badge, empty, facts, heightLink, identifier, longTable, money, panel, route, table, tally } from "../parts.js";
import { withEvent } from "../system.js";
import { jobsPanel } from "./jobs.js";
import { runnerLink } from "./job.js";

const MAX_EVENTS = 1_000;

/** Health → [badge, word, what it means]. */
export const HEALTH = {
  healthy: ["good", "Healthy", "it can be drawn"],
  silent: ["bad", "Silent", "no heartbeat for too long"],
  low: ["bad", "Low", "its reputation is too low"],
  stake: ["bad", "Low stake", "its stake is below the minimum"],
  probation: ["wait", "On probation", "its reputation fell too low"],
  leaving: ["plain", "Leaving", "it accepts no more jobs"],
};

/** Events of slashes, all of one system actor: name → what it says. */
export const SLASHES = {
  NonRevealSlash: "committed and never revealed",
  WrongModelSlash: "attested a model other than the job's",
};

/** See VIEWS in main.js. */
export async function runnersView(_, { live, signal }) {
  const box = h("div", {});
  const shown = { shown: PAGE_ROWS };
  const draw = async () => {
    const { runners, total_count: total } = await get("/runners?limit=1000", signal);
    replace(box, runnersPanel(runners, total, shown));
  };
  await draw();
  follow(live, signal, draw);
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("h1", {}, "Runners"),
      h("p", { class: "soft" }, "Programs that stake CBY and execute ", h("a", { href: "#/jobs" }, "jobs"), "."),
    ),
    box,
  );
  return { title: "Runners", node };
}

function healthBadge(health) {
  const [kind, word, meaning] = HEALTH[health] ?? ["plain", clip(String(health), 40), ""];
  return h("span", { title: meaning }, badge(kind, word));
}

function runnersPanel(runners, total, view) {
  if (runners.length === 0) return panel({ title: "Runners" }, empty("No runner is registered."));
  const columns = [
    { name: "Runner", cell: (runner) => runnerLink(runner.address) },
    { name: "Health", cell: (runner) => healthBadge(runner.health) },
    { name: "Stake that counts", end: true, cell: (runner) => money(BigInt(runner.stake) + BigInt(runner.delegated_counted), 2) },
    { name: "Reputation", end: true, cell: (runner) => count(runner.reputation) },
    { name: "Active jobs", end: true, class: "optional", cell: (runner) => `${count(runner.active_jobs)} of ${count(runner.capabilities.max_concurrent_jobs)}` },
    { name: "Done", end: true, cell: (runner) => count(runner.jobs_done) },
    { name: "Failed", end: true, class: "optional", cell: (runner) => count(runner.jobs_failed) },
    { name: "Kinds", class: "optional", cell: (runner) => clip(runner.capabilities.job_types.join(", "), 80) },
  ];
  return panel({ title: "Runners", aside: tally(runners.length, total), flush: true }, longTable(columns, runners, { caption: "Runners", view }));
}

/** See VIEWS in main.js. */
export async function runnerView([address = ""], { live, signal }) {
  const path = `/runner/${encodeURIComponent(address)}`;
  const [rows, emitter] = await Promise.all([parameters(signal), withEvent(Object.keys(SLASHES)[0])]);
  const body = h("div", {});
  const state = h("span", {});
  const draw = async () => {
    const [runner, jobs, logs] = await Promise.all([
      get(path, signal),
      find(`${path}/jobs?limit=100`, signal),
      find(`/actor/${emitter}/logs?order=desc&limit=${MAX_EVENTS}`, signal),
    ]);
    replace(state, healthBadge(runner.health), runner.flagged && [" ", badge("bad", "To be reviewed")]);
    replace(body, ...parts(runner, rows, jobs?.jobs ?? [], slashesOf(runner.address, logs?.logs ?? [])));
    return runner;
  };
  const runner = await draw();
  follow(live, signal, draw);
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      brandMark(runner.address),
      h("div", {}, h("span", { class: "kicker" }, "Runner"), h("h1", { class: "address" }, runner.address)),
      state,
      h("p", { class: "small" }, h("a", { href: route.account(runner.address) }, "Its account")),
    ),
    body,
  );
  return { title: `Runner ${runner.address.slice(0, 8)}`, node };
}

/** What the verifier said of a runner's stake, the newest first. */
export function slashesOf(address, logs) {
  return logs
    .filter(({ name }) => Object.hasOwn(SLASHES, name))
    .map((log) => ({ log, data: cbor.tryDecode(fromHex(log.data) ?? new Uint8Array()) }))
    .map(({ log, data }) => ({ log, fields: data?.type === "map" ? new Map(data.value.map(([key, item]) => [key.value, item.value])) : new Map() }))
    .filter(({ fields }) => fields.get("runner") instanceof Uint8Array && sameHex(toHex(fields.get("runner")), address))
    .map(({ log, fields }) => ({
      height: log.block_height,
      why: SLASHES[log.name],
      job: fields.get("job_id") instanceof Uint8Array ? toHex(fields.get("job_id")) : null,
      amount: fields.get("amount") ?? null,
    }));
}

/** The greatest reputation: the end of the range of the row that gives a new runner its own; null where the node has no such row. */
export function reputationMax(rows) {
  return rows.get("jobs.reputation_start")?.max ?? null;
}

/** How much of what others delegate counts, in a sentence, with the parameter as it is. */
export function delegationSentence(rows) {
  const share = Number(rows.get("jobs.self_bond")?.value ?? 0);
  const most = share > 0 ? `up to ${Number(((10_000 - share) / share).toFixed(2))} times the runner's own stake` : "without a limit";
  return `Delegated stake counts in draws and for the size of jobs ${most}, which limits the power that a runner has with others' money; all of it can be slashed.`;
}

function parts(runner, rows, jobs, slashes) {
  const reputation = reputationMax(rows);
  const rates = runner.rate_card;
  const able = runner.capabilities;
  return [
    h(
      "div",
      { class: "columns" },
      panel(
        { title: "Status" },
        facts(
          ["Stake", money(runner.stake)],
          BigInt(runner.delegated) > 0n && [
            "Delegated",
            money(runner.delegated),
            ", of which ",
            money(runner.delegated_counted),
            " counts",
            h("p", { class: "small soft" }, delegationSentence(rows)),
          ],
          BigInt(runner.unbonding) > 0n && ["Unbonding", money(runner.unbonding)],
          ["Reputation", reputation === null ? count(runner.reputation) : `${count(runner.reputation)} of ${count(reputation)}`],
          ["Jobs", `${count(runner.jobs_done)} done, ${count(runner.jobs_failed)} failed`],
          ["Registered", heightLink(runner.registered_at)],
          ["Last heartbeat", heightLink(runner.last_heartbeat)],
          Number(runner.probations) > 0 && ["Probation", `${plural(runner.probations, "time")}, the last until ${count(runner.probation_until)}`],
          Number(runner.crashes) > 0 && ["Recent crashes", count(runner.crashes)],
          runner.attestation && [
            "Environment",
            `${runner.attestation.environment}, until ${count(runner.attestation.valid_until)}, `,
            identifier(runner.attestation.measurement),
          ],
        ),
      ),
      panel(
        { title: "Capabilities and prices" },
        facts(
          ["Kinds", clip(able.job_types.join(", "), 120)],
          able.tee_support.length > 0 && ["TEE support", clip(able.tee_support.join(", "), 120)],
          able.regions.length > 0 && ["Regions", clip(able.regions.join(", "), 120)],
          able.http_domains.length > 0 && ["HTTP domains", clip(able.http_domains.join(", "), 400)],
          ["Concurrent jobs", count(able.max_concurrent_jobs)],
          ["Input token", money(rates.llm_input_token)],
          ["Output token", money(rates.llm_output_token)],
          ["HTTP request", money(rates.http_request_base)],
          ["Compute second", money(rates.compute_second)],
          ["Job value", money(rates.min_job_value), " to ", money(rates.max_job_value)],
          rates.supported_models.length > 0 && ["Models", rates.supported_models.slice(0, 8).map((model) => h("div", {}, identifier(model)))],
        ),
      ),
    ),
    jobsPanel(jobs, { title: "Active jobs", none: "No active job." }),
    slashesPanel(slashes),
  ];
}

function slashesPanel(slashes) {
  if (slashes.length === 0) return panel({ title: "Slashes" }, empty("No slash among the newest events."));
  const columns = [
    { name: "In block", cell: (slash) => heightLink(slash.height) },
    { name: "Reason", cell: (slash) => slash.why },
    { name: "Job", cell: (slash) => (slash.job ? identifier(slash.job, { href: route.job(slash.job) }) : "–") },
    { name: "Stake", end: true, cell: (slash) => (slash.amount === null ? "–" : money(slash.amount)) },
  ];
  return panel({ title: "Slashes", aside: count(slashes.length), flush: true }, table(columns, slashes, { caption: "Slashes" }));
}
