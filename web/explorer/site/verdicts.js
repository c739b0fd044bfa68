// The market's words: what modes prove, what verdicts mean, and how the verifier came to its decision, in sentences.

import { cby, count, plural } from "./format.js";
import { withParameters } from "./parameters.js";

/** Mode → [its name, what a result must be to be accepted]. */
export const MODES = {
  none: ["No verification", "The single runner is trusted; only the checks on its result apply."],
  economic_bond: ["Economic bond", "The single runner is trusted, and a challenge can cost its stake."],
  majority_vote: ["Majority vote", "The most frequent value wins, if enough runners gave it."],
  structured_match: ["Structured match", "A result that passes every check wins, if enough runners pass them."],
  deterministic: ["Deterministic", "The results must be the same bytes, each attested by a trusted environment."],
  semantic_similarity: ["Semantic similarity", "The largest group of similar answers wins, if it is large enough."],
};

/** Status → [badge, word]. */
export const STATUSES = {
  drawing: ["wait", "Drawing"],
  waiting: ["wait", "Waiting for runners"],
  assigned: ["wait", "Working"],
  revealing: ["wait", "Revealing"],
  verified: ["good", "Verified"],
  disputed: ["bad", "Disputed"],
  settled: ["good", "Settled"],
  failed: ["bad", "Failed"],
};

/** Verdict → [badge, word, what it means for the runner]. Names in braces are parameters. */
export const VERDICTS = {
  pending: ["wait", "Waiting", "nothing is decided yet"],
  accepted: ["good", "Accepted", "agrees with the accepted result, and is paid"],
  differs: ["bad", "Differs", "valid by itself, but differs from the accepted result: no pay, −{jobs.reputation_timeout} reputation"],
  invalid: ["bad", "Invalid", "fails a check on its own: no pay, −{jobs.reputation_timeout} reputation"],
  timedout: ["bad", "Timed out", "no commitment came in time: no pay, −{jobs.reputation_timeout} reputation"],
  unrevealed: ["bad", "Not revealed", "committed but never revealed: {jobs.non_reveal_slash} of the stake is slashed, unless it attested a crash"],
  dishonest: ["bad", "Dishonest", "proven dishonest: {jobs.dishonesty_slash} of the stake is slashed"],
  excused: ["plain", "Excused", "could not do the work for an external reason"],
  held: ["wait", "Held", "fails an objective check that no result has passed yet: the job or the runner is at fault"],
  unfit: ["plain", "Unfit", "fails a check of the submitter: minimum fee, no blame"],
};

/** What a verdict means for the runner, with the parameters as they are; nothing for an unknown one. */
export function meaning(verdict, rows) {
  return withParameters(VERDICTS[verdict]?.[2] ?? "", rows);
}

/** Why a job has no result. */
const REASONS = {
  no_seed: "the round whose seed draws the committee never occurred",
  no_replacement_available: "no candidates were left",
  runners_busy: "too few runners had a free slot",
  retries_exhausted: "its last draw failed as well",
  actor_fault: "enough runners reported that the job is malformed",
  external_fault: "enough runners could not reach what the job needs",
  secrets_paused: "governance paused 0x04, so that its runners could not have the job's secrets or keys",
  volumes_paused: "governance paused 0x0A or 0x0B, so that its runners could not have the job's volumes",
  copies_used_up: "the policies of its secrets let too few further runners have them",
  checks_failed: "the results fail the submitter's own checks",
  no_majority: "two committees disagreed, and neither has a majority",
  impossible: "enough runners reported that its bounds are too tight",
};

/** Why a result was accepted, or none was: one sentence a step. `rows` are the parameters. */
export function reasoning(job, rows) {
  const [mode, rule] = MODES[job.mode] ?? [job.mode, ""];
  const lines = [`${mode}: ${rule}`];
  const of = (verdict) => job.members.filter((member) => member.verdict === verdict).length;
  if (job.checks.length > 0) lines.push(`Checks, in order: ${job.checks.join(", ")}.`);
  if (job.vote_field) lines.push(`Runners vote on the field ${job.vote_field}.`);
  if (job.tee_required) lines.push(`Each result must be attested; ${count(job.members.filter(({ attested }) => attested).length)} were.`);
  const revealed = job.members.filter(({ revealed_at: at }) => Number(at) > 0).length;
  if (job.members.length > 0) lines.push(`${plural(revealed, "result")} of ${count(job.members.length)} received, ${count(job.threshold)} must agree.`);
  for (const verdict of ["invalid", "differs", "unrevealed", "timedout", "excused", "dishonest"])
    if (of(verdict) > 0) lines.push(`${count(of(verdict))} ${VERDICTS[verdict][1].toLowerCase()}: ${meaning(verdict, rows)}.`);
  if (Number(job.verified_at) > 0) {
    const snapshot = job.snapshot === "elected" ? "" : ` The ${job.snapshot.replaceAll("_", " ")} of them is handed on.`;
    lines.push(`${count(job.agreeing)} agree, so a result was accepted in block ${count(job.verified_at)}.${snapshot}`);
  }
  if (job.reason) lines.push(`There is no result: ${REASONS[job.reason] ?? job.reason.replaceAll("_", " ")}.`);
  if (job.earlier?.length > 0) lines.push(`The ${plural(job.earlier.length, "runner")} before disagreed, so a second committee decided.`);
  if (Number(job.attempt) > 0) lines.push(`This is draw ${count(Number(job.attempt) + 1)}; ${plural(job.excluded.length, "runner")} may not be drawn again.`);
  return lines;
}

/** Events that end a job, with who got what of its escrow. */
export const ENDINGS = ["JobSettled", "JobFailed"];

/**
 * Who got what of a job that is over, by the event that ended it: [{ name, value, kind }], in base units. What a job that failed paid before
 * is no part of its event, and neither is what a job paid before it was settled, while it waited for runners.
 */
export function payments(job, { name, value }) {
  const parts =
    name === "JobSettled"
      ? [
          { name: "Runners", value: BigInt(value.paid), kind: "good" },
          { name: "Burned", value: BigInt(value.burned), kind: "burned" },
          { name: "Treasury", value: BigInt(value.treasury), kind: "tip" },
        ]
      : [];
  parts.push({ name: "Refunded", value: BigInt(value.refunded), kind: "refunded" });
  const earlier = parts.reduce((rest, part) => rest - part.value, BigInt(job.max_price) + BigInt(job.tip));
  if (earlier > 0n) parts.push({ name: name === "JobSettled" ? "Paid or burned earlier" : "Paid or burned", value: earlier, kind: "burned" });
  return parts;
}

/** The same in one sentence. */
export function paymentSentence(parts) {
  return parts.map(({ name, value }) => `${name} ${cby(value)} CBY`).join(", ");
}
