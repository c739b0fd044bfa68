import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fromHex, toHex } from "../site/bytes.js";
import { draw, isPastDraw, rootOf, seedOf, seedsIn, verify } from "../site/draw.js";
import { keccak256 } from "../site/keccak.js";
import { parseJson } from "../site/json.js";

const utf8 = new TextEncoder();
const { draws } = parseJson(readFileSync(new URL("../../../tests/vectors/selection.json", import.meta.url), "utf8"));

test("keccak-256 of known texts, across the length of a block", () => {
  const rows = [
    ["", "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"],
    ["abc", "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"],
    ["a".repeat(135), "0x34367dc248bbd832f4e3e69dfaac2f92638bd0bbd18f2912ba4ef454919cf446"],
    ["a".repeat(136), "0xa6c4d403279fe3e0af03729caada8374b5ca54d8065329a3ebcaeb4b60aa386e"],
  ];
  for (const [text, expected] of rows) assert.equal(toHex(keccak256(utf8.encode(text))), expected, `${text.length} bytes`);
  assert.deepEqual(keccak256(utf8.encode("a"), utf8.encode("bc")), keccak256(utf8.encode("abc")));
});

test("the published draws come out the same: roots, seeds, runners", () => {
  assert.ok(draws.length >= 8);
  for (const row of draws) {
    assert.equal(rootOf(row.candidates), row.candidates_root, row.name);
    assert.equal(seedOf(fromHex(row.round_seed), row.job_id, row.submitted_at), row.seed, row.name);
    const { picks } = draw(row.candidates, row.excluded, row.seed, row.attempt, row.selected.length);
    assert.deepEqual(
      picks.map(({ runner }) => runner),
      row.selected,
      row.name,
    );
    for (const { weight, left, point } of picks) assert.ok(point < left && weight <= left, row.name);
  }
});

test("whatever does not fit is seen", () => {
  const row = draws.find(({ attempt, selected }) => Number(attempt) === 0 && selected.length >= 3);
  const job = {
    job_id: row.job_id,
    submitted_at: row.submitted_at,
    seed: row.seed,
    attempt: row.attempt,
    excluded: row.excluded,
    members: row.selected.map((runner) => ({ runner })),
    candidates_root: row.candidates_root,
  };
  const seeds = [fromHex("0x00"), fromHex(row.round_seed)];
  const holds = (job, candidates, seeds) => verify(job, { candidates }, seeds).checks.map(([, holds]) => holds);
  assert.deepEqual(holds(job, row.candidates, seeds), [true, true, true]);
  const heavier = row.candidates.map((candidate, at) => (at === 0 ? { ...candidate, weight: BigInt(candidate.weight) + 1n } : candidate));
  assert.equal(holds(job, heavier, seeds)[0], false, "a weight that was changed");
  assert.equal(holds(job, [...row.candidates].reverse(), seeds)[0], false, "another order");
  assert.equal(holds(job, row.candidates, [fromHex("0x00")])[1], false, "a seed of no header");
  const others = { ...job, members: [...job.members].reverse() };
  assert.equal(holds(others, row.candidates, seeds)[2], false, "other runners");
});

test("the seed of a draw stands in the first block after its round", () => {
  const parent = `0x${"00".repeat(32)}`;
  assert.deepEqual(seedsIn({ parent, seeds: ["0x01", "0x02"] }), [new Uint8Array([1]), new Uint8Array([2])]);
  assert.equal(toHex(seedsIn({ parent, seeds: [] })[0]), toHex(keccak256(utf8.encode("cowboy-epoch-seed:"), fromHex(parent))), "the first of an epoch");
  const rows = [
    ["before", 3, 8, false],
    ["the round itself", 3, 9, false],
    ["the next one", 3, 10, true],
    ["a later epoch's first view, which has no seed", 4, 1, false],
    ["its second", 4, 2, true],
    ["an earlier epoch", 2, 90, false],
  ];
  for (const [name, epoch, view, expected] of rows) assert.equal(isPastDraw({ draw_epoch: 3, draw_view: 9 }, { epoch, view }), expected, name);
  assert.equal(isPastDraw({ draw_epoch: 0, draw_view: 0 }, { epoch: 1, view: 7 }), true, "a draw by the submission's own beacon");
});
