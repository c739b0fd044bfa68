import assert from "node:assert/strict";
import { test } from "node:test";
import { givenUp, longestRuns, roundsText, shareText, signers } from "../site/consensus.js";

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
