// Why these runners: the draw of a committee, made again out of public data (002 §5, 003 §5.3), as `cowboy job verify-selection` does.

import { fromHex, toHex } from "./bytes.js";
import { keccak256 } from "./keccak.js";

const utf8 = new TextEncoder();
const DOMAIN = utf8.encode("cowboy-runner-select-v3:");
const EPOCH_DOMAIN = utf8.encode("cowboy-epoch-seed:");
const RETRY_DOMAIN = utf8.encode("retry:");

function number(value, size, isLittle) {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  if (size === 8) view.setBigUint64(0, BigInt(value), isLittle);
  else view.setUint32(0, Number(value), isLittle);
  return bytes;
}

/** The root of the candidates' tree: leaves keccak256(runner ‖ weight), each under its place, an odd last node paired with itself. */
export function rootOf(candidates) {
  const leaf = ({ runner, weight }, at) => keccak256(number(at, 4, false), keccak256(fromHex(runner), number(weight, 8, false)));
  let level = candidates.map(leaf);
  while (level.length > 1) {
    const above = [];
    for (let at = 0; at < level.length; at += 2) above.push(keccak256(level[at], level[at + 1] ?? level[at]));
    level = above;
  }
  return toHex(keccak256(number(candidates.length, 4, false), level[0] ?? keccak256()));
}

/** The seed of a job's first draw, from the seed of a round. */
export function seedOf(roundSeed, job, submittedAt) {
  return toHex(keccak256(roundSeed, DOMAIN, fromHex(job), number(submittedAt, 8, true)));
}

/** The beacon of an epoch's first view, which no round before it can give. */
function epochBeacon(parent) {
  return keccak256(EPOCH_DOMAIN, fromHex(parent));
}

/** The seeds in a block's header, as bytes. */
export function seedsIn(header) {
  const seeds = header.seeds ?? [];
  return seeds.length > 0 ? seeds.map((seed) => fromHex(seed) ?? new Uint8Array()) : [epochBeacon(header.parent)];
}

/**
 * Whether the seed of the round that draws for a job stands in this header, or in one before it. Where the epoch ended before that round, the
 * first round of the next one draws.
 */
export function isPastDraw(job, header) {
  const [epoch, view] = [Number(header.epoch), Number(header.view)];
  return epoch === Number(job.draw_epoch) ? view > Number(job.draw_view) : epoch > Number(job.draw_epoch) && view > 1;
}

/**
 * Draws `count` runners: { picks: [{ runner, weight, left, point, share }], seed }. A pick says its weight, the sum of the weights
 * that were left, and the point in that sum which the hash chose.
 */
export function draw(candidates, excluded, seed, attempt, count) {
  const out = new Set(excluded);
  const pool = candidates.filter(({ runner }) => !out.has(runner)).map(({ runner, weight }) => ({ runner, weight: BigInt(weight) }));
  const first = Number(attempt) === 0 ? fromHex(seed) : keccak256(fromHex(seed), RETRY_DOMAIN, number(attempt, 4, true));
  let left = pool.reduce((sum, { weight }) => sum + weight, 0n);
  let current = first;
  const picks = [];
  for (let place = 0; place < Math.min(count, pool.length) && left > 0n; place += 1) {
    current = keccak256(current, number(place, 8, true));
    const point = new DataView(current.buffer).getBigUint64(0, true) % left;
    let at = place;
    for (let rest = point; rest >= pool[at].weight; at += 1) rest -= pool[at].weight;
    [pool[place], pool[at]] = [pool[at], pool[place]];
    picks.push({ ...pool[place], left, point });
    left -= pool[place].weight;
  }
  return { picks, seed: toHex(first) };
}

/**
 * Whether a job's committee is the one that the public data give: { picks, excluded, passed, checks }. A check is [what, whether it holds]. `seeds` are
 * those of the headers after the submission, as bytes.
 */
export function verify(job, snapshot, seeds) {
  const members = job.members.map(({ runner }) => runner);
  // Who failed in this very draw is left out of later ones only.
  const excluded = job.excluded.filter((runner) => !members.includes(runner));
  // Who had no free slot was picked and passed over.
  const passed = job.passed ?? [];
  const { picks } = draw(snapshot.candidates, excluded, job.seed, job.attempt, members.length + passed.length);
  const chosen = picks.filter(({ runner }) => !passed.includes(runner));
  const isSorted = snapshot.candidates.every(({ runner }, at, all) => at === 0 || all[at - 1].runner < runner);
  const named = seeds.find((seed) => seedOf(seed, job.job_id, job.submitted_at) === job.seed);
  return {
    picks,
    excluded,
    passed,
    checks: [
      ["The candidates are in order, and match the root that the chain stored at submission", isSorted && rootOf(snapshot.candidates) === job.candidates_root],
      ["The seed follows from a round's seed in a block header", named !== undefined],
      ["The draw with that seed gives these runners, in this order", chosen.length > 0 && chosen.every(({ runner }, at) => runner === members[at])],
    ],
  };
}
