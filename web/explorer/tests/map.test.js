import assert from "node:assert/strict";
import { test } from "node:test";
import { connections, mapSentence, neighbours } from "../site/map.js";

const block = (height, epoch, proposer, voters) => ({
  height,
  proposer,
  voters,
  messages: [
    { kind: "NEW_VIEW", round: { epoch, view: height - 1 } },
    { kind: "PROPOSE", round: { epoch, view: height } },
  ],
});

test("two validators are connected if one counted a vote of the other", () => {
  const keys = ["a", "b", "c", "d"];
  // Bits are read from the lowest: 0x03 names a and b.
  const blocks = [block(9, 2, "a", "0x03"), block(8, 2, "c", "0x05"), block(7, 2, "b", "0x0b"), block(6, 2, "x", "0x0f"), block(5, 1, "d", "0x0f"), block(4, 2, "d", "0x")];
  const { pairs, blocks: counted } = connections(keys, blocks);
  assert.deepEqual(pairs, [[0, 1], [0, 2], [1, 3]]);
  assert.equal(counted, 4);
  assert.deepEqual(neighbours(4, pairs), [[1, 2], [0, 3], [0], [1]]);
  assert.deepEqual(connections(keys, []), { pairs: [], blocks: 0 });
  assert.deepEqual(connections(keys, [block(1, 0, "a", "0x")]).pairs, []);
});

test("the ninth validator is in the second byte", () => {
  const keys = [..."abcdefghi"];
  assert.deepEqual(connections(keys, [block(3, 0, "a", "0x0001")]).pairs, [[0, 8]]);
});

test("a sentence says what the picture shows", () => {
  assert.equal(mapSentence(["a", "b"], [[0, 1]]), "2 validators, 1 of 1 connection seen: each is connected to every other.");
  assert.equal(mapSentence(["a", "b", "c"], [[0, 1]]), "3 validators, 1 of 3 connections seen; none of c.");
  assert.equal(mapSentence(["a", "b", "c"], [[0, 1], [1, 2]]), "3 validators, 2 of 3 connections seen.");
});
