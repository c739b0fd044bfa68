// Rounds of consensus in the terms of 003 §6.1: what the validators said in each, how often one of them led in a row, and whose votes were counted.

import { clip, count } from "./format.js";

/** The messages of a block's rounds in words: consecutive rounds that were given up as one part. */
export function roundsText(messages) {
  const parts = [];
  for (const { kind, round } of messages) {
    const last = parts[parts.length - 1];
    if (kind === "NEW_VIEW" && last?.kind === kind) last.to = round.view;
    else parts.push({ kind, from: round.view, to: round.view });
  }
  return parts.map(({ kind, from, to }) => (from === to ? `${kind} ${from}` : `${kind} ${from}–${to}`)).join(", ");
}

/** How many rounds were given up before the block with these messages. */
export function givenUp(messages) {
  return messages.filter(({ kind }) => kind === "NEW_VIEW").length;
}

/** By proposer, the most blocks that it led in a row. Blocks are in the order of the chain, forwards or backwards. */
export function longestRuns(blocks) {
  const longest = new Map();
  let run = 0;
  blocks.forEach(({ proposer }, place) => {
    run = place > 0 && blocks[place - 1].proposer === proposer ? run + 1 : 1;
    longest.set(proposer, Math.max(longest.get(proposer) ?? 0, run));
  });
  return longest;
}

/** The epoch of a block, as its own round says. */
function epochOf(block) {
  return block.messages?.find(({ kind }) => kind === "PROPOSE")?.round.epoch;
}

/**
 * The blocks that name votes of the newest one's epoch: others have other signers. The first block of an epoch names none, because its parent is of
 * the epoch before.
 */
export function withVotes(blocks) {
  const newest = blocks.length === 0 ? undefined : epochOf(blocks.reduce((one, other) => (Number(other.height) > Number(one.height) ? other : one)));
  return blocks.filter((block) => newest !== undefined && epochOf(block) === newest && (block.voters ?? "0x") !== "0x");
}

/** Whether a bitmap names the signer at a place. */
export function names(bitmap, place) {
  const at = 2 + 2 * Math.floor(place / 8);
  return ((Number.parseInt(bitmap.slice(at, at + 2) || "0", 16) >> (place % 8)) & 1) === 1;
}

/** For each place in `keys`, the signers' keys in order, in how many of these blocks its vote is named, and in how many it is not. */
export function votes(keys, blocks) {
  const counted = withVotes(blocks);
  return keys.map((_, place) => {
    const voted = counted.filter(({ voters }) => names(voters, place)).length;
    return { voted, missed: counted.length - voted };
  });
}

/** Status → [badge, word]. */
const STATUSES = {
  active: ["good", "Active"],
  waiting: ["wait", "Waiting"],
  leaving: ["plain", "Leaving"],
  jailed: ["bad", "In jail"],
  withdrawn: ["plain", "Withdrawn"],
};

/** The badge of a validator's status, its word, and what more there is to say: until when, and how often it was in jail. */
export function statusOf({ status, until, jailings }) {
  const [kind, word] = STATUSES[status] ?? ["plain", clip(String(status), 40)];
  const times = Number(jailings);
  const parts = [
    until !== null && until !== undefined && `${status === "leaving" ? "stake free at" : "until"} height ${count(until)}`,
    times > 0 && `jailed ${times === 1 ? "once" : `${times} times`}`,
  ];
  return { kind, word, more: parts.filter(Boolean).join(", ") };
}

/** Why the next set leaves a validator out, in words; an empty text where it does not. */
export function leftOutText(reason) {
  if (!reason) return "";
  const why = reason === "share_revealed" ? "it did not acknowledge its share in time (it was behind or could not be reached), so the share is public" : "it was to receive a share when a dealing failed";
  return `the next set leaves it out: ${why}`;
}

/** How far a validator is on its way to a share, in words. */
export function shareText(share) {
  const at = (height) => (height === null || height === undefined ? "later" : `at height ${height}`);
  switch (share?.stage) {
    case "signing":
      return "signing";
    case "receiving":
      return `receiving a share; signing ${at(share.signs_from)}`;
    case "chosen":
      return `chosen ${at(share.chosen_at)}; signing ${at(share.signs_from)}`;
    case "bonded":
      return `bonded; chosen ${at(share.chosen_at)}`;
    default:
      return "–";
  }
}

/** Signers whose bit is set in a bitmap, of as many as it has bits; null where nobody is named. */
export function signers(bitmap) {
  if (!bitmap) return null;
  const bits = [...bitmap.slice(2)].reduce((sum, digit) => sum + [...Number.parseInt(digit, 16).toString(2)].filter((bit) => bit === "1").length, 0);
  return bits === 0 ? null : bits;
}
