// The market's words: what modes prove, what verdicts mean, and how the verifier came to its decision, in sentences.

import { cby, count, plural } from "./format.js";

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

/** Verdict → [badge, word, what it means for the runner]. */
export const VERDICTS = {
  pending: ["wait", "Waiting", "nothing is decided yet"],
  accepted: ["good", "Accepted", "agrees with the accepted result, and is paid"],
  differs: ["bad", "Differs", "valid by itself, but differs from the accepted result: no pay, −5 reputation"],
  invalid: ["bad", "Invalid", "fails a check on its own: no pay, −5 reputation"],
  timedout: ["bad", "Timed out", "no commitment came in time: no pay, −5 reputation"],
  unrevealed: ["bad", "Not revealed", "committed but never revealed: a quarter of the stake is slashed, unless it attested a crash"],
  dishonest: ["bad", "Dishonest", "proven dishonest: 30% of the stake is slashed"],
  excused: ["plain", "Excused", "could not do the work for an external reason"],
  held: ["wait", "Held", "fails an objective check that no result has passed yet: the job or the runner is at fault"],
  unfit: ["plain", "Unfit", "fails a check of the submitter: minimum fee, no blame"],
};

/** Why a job has no result. */
const REASONS = {
  no_seed: "the round whose seed draws the committee never occurred",
  no_replacement_available: "no candidates were left",
  runners_busy: "too few runners had a free slot",
  retries_exhausted: "its last draw failed as well",
  actor_fault: "enough runners reported that the job is malformed",
  external_fault: "enough runners could not reach what the job needs",
  checks_failed: "the results fail the submitter's own checks",
  no_majority: "two committees disagreed, and neither has a majority",
  impossible: "enough runners reported that its bounds are too tight",
};

/** Why a result was accepted, or none was: one sentence a step. */
export function reasoning(job) {
  const [mode, rule] = MODES[job.mode] ?? [job.mode, ""];
  const lines = [`${mode}: ${rule}`];
  const of = (verdict) => job.members.filter((member) => member.verdict === verdict).length;
  if (job.checks.length > 0) lines.push(`Checks, in order: ${job.checks.join(", ")}.`);
  if (job.vote_field) lines.push(`Runners vote on the field ${job.vote_field}.`);
  if (job.tee_required) lines.push(`Each result must be attested; ${count(job.members.filter(({ attested }) => attested).length)} were.`);
  const revealed = job.members.filter(({ revealed_at: at }) => Number(at) > 0).length;
  if (job.members.length > 0) lines.push(`${plural(revealed, "result")} of ${count(job.members.length)} received, ${count(job.threshold)} must agree.`);
  for (const verdict of ["invalid", "differs", "unrevealed", "timedout", "excused", "dishonest"])
    if (of(verdict) > 0) lines.push(`${count(of(verdict))} ${VERDICTS[verdict][1].toLowerCase()}: ${VERDICTS[verdict][2]}.`);
  if (Number(job.verified_at) > 0) {
    const snapshot = job.snapshot === "elected" ? "" : ` The ${job.snapshot === "firstvalid" ? "first valid" : job.snapshot} of them is handed on.`;
    lines.push(`${count(job.agreeing)} agree, so a result was accepted in block ${count(job.verified_at)}.${snapshot}`);
  }
  if (job.reason) lines.push(`There is no result: ${REASONS[job.reason] ?? job.reason.replaceAll("_", " ")}.`);
  if (job.earlier?.length > 0) lines.push(`The ${plural(job.earlier.length, "runner")} before disagreed, so a second committee decided.`);
  if (Number(job.attempt) > 0) lines.push(`This is draw ${count(Number(job.attempt) + 1)}; ${plural(job.excluded.length, "runner")} may not be drawn again.`);
  return lines;
}

/**
 * Who gets what of a job: [{ name, value, kind }], in base units. Until it is settled it is what will be paid, should nobody
 * challenge it.
 */
export function payments(job) {
  const escrow = BigInt(job.max_price) + BigInt(job.tip);
  const runners = [...job.members, ...(job.earlier ?? [])].reduce((sum, { paid }) => sum + BigInt(paid), 0n);
  const gross = BigInt(job.gross);
  const tip = runners > 0n && Number(job.verified_at) > 0 ? BigInt(job.tip) : 0n;
  const treasury = gross / 100n;
  // Whatever of the price is neither a runner's nor the treasury's is destroyed, dust included.
  const burned = gross > 0n ? gross - treasury - (runners - tip) : 0n;
  const refunded = escrow - runners - (gross > 0n ? treasury + burned : 0n);
  return [
    { name: "Runners", value: runners, kind: "good" },
    { name: "Burned", value: burned, kind: "burned" },
    { name: "Treasury", value: treasury, kind: "tip" },
    { name: "Refunded", value: refunded, kind: "refunded" },
  ];
}

/** The same in one sentence. */
export function paymentSentence(job) {
  return payments(job)
    .map(({ name, value }) => `${name} ${cby(value)} CBY`)
    .join(", ");
}
