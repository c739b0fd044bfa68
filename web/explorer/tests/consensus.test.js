import assert from "node:assert/strict";
import { test } from "node:test";
import { givenUp, leftOutText, longestRuns, roundsText, shareText, signers, statusOf, votes } from "../site/consensus.js";

const message = (kind, view) => ({ kind, round: { epoch: 3, view } });

test("rounds that were given up stand before the block's", () => {
  const messages = [message("NEW_VIEW", 5), message("NEW_VIEW", 6), message("PROPOSE", 7), message("VOTE", 7)];
  assert.equal(roundsText(messages), "NEW_VIEW 5–6, PROPOSE 7, VOTE 7");
  assert.equal(roundsText(messages.slice(1)), "NEW_VIEW 6, PROPOSE 7, VOTE 7");
  assert.equal(givenUp(messages), 2);
});

test("blocks in a row are counted for each proposer", () => {
  const blocks = [..."aabbbaac"].map((proposer) => ({ proposer }));
  assert.deepEqual([...longestRuns(blocks)], [["a", 2], ["b", 3], ["c", 1]]);
  assert.equal(longestRuns([]).size, 0);
});

test("a share has a stage, and a bitmap has signers", () => {
  assert.equal(shareText({ stage: "chosen", chosen_at: 219, receives_from: 280, signs_from: 320 }), "chosen at height 219; signing at height 320");
  assert.equal(shareText({ stage: "bonded", chosen_at: null }), "bonded; chosen later");
  assert.equal(shareText(undefined), "–");
  assert.equal(signers("0x0b"), 3);
  assert.equal(signers("0x00"), null);
  assert.equal(signers(null), null);
});

test("votes are counted in the blocks of the newest epoch that name some", () => {
  const block = (height, epoch, voters) => ({ height, voters, messages: [message("NEW_VIEW", 1), { kind: "PROPOSE", round: { epoch, view: 2 } }] });
  // Bits are read from the lowest. The first block of an epoch names nobody, and the epoch before had other signers.
  const blocks = [block(24, 3, "0x05"), block(23, 3, "0x07"), block(22, 3, "0x"), block(21, 2, "0x00")];
  assert.deepEqual(votes(["a", "b", "c"], blocks), [{ voted: 2, missed: 0 }, { voted: 1, missed: 1 }, { voted: 2, missed: 0 }]);
  assert.deepEqual(votes(["a"], []), [{ voted: 0, missed: 0 }]);
});

test("a status says until when, and how often there was jail", () => {
  assert.deepEqual(statusOf({ status: "active", until: null, jailings: 0 }), { kind: "good", word: "Active", more: "" });
  assert.deepEqual(statusOf({ status: "jailed", until: 900, jailings: 2 }), { kind: "bad", word: "In jail", more: "until height 900, jailed 2 times" });
  assert.equal(statusOf({ status: "leaving", until: 70, jailings: 1 }).more, "stake free at height 70, jailed once");
  assert.equal(statusOf({ status: "unheard of", jailings: 0 }).word, "unheard of");
});

test("who is left out is told why", () => {
  assert.match(leftOutText("share_revealed"), /^the next set leaves it out: it did not acknowledge its share in time/);
  assert.match(leftOutText("dealing_failed"), /^the next set leaves it out: .*dealing failed$/);
  assert.equal(leftOutText(null), "");
});
