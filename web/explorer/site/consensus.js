// Rounds of consensus in the terms of 003 §6.1: what the validators said in each, and how often one of them led in a row.

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
