import assert from "node:assert/strict";
import test from "node:test";
import { indices, releasesOf } from "../site/views/secrets.js";

test("releases stand as their last event says", () => {
  const opened = (id, height) => ({ name: "release.opened", block_height: height, value: { release_id: id, account: "0xa", version: 1 } });
  const logs = [
    { name: "release.lapsed", block_height: 90, value: { release_id: "0x2", amount: 5 } },
    { name: "release.closed", block_height: 50, value: { release_id: "0x1", served: 0b1011 } },
    { name: "release.closed", block_height: 49, value: { release_id: "0x0", served: 1 } },
    opened("0x3", 41),
    { name: "secret.stored", block_height: 40, value: {} },
    opened("0x2", 31),
    opened("0x1", 30),
  ];
  const rows = releasesOf(logs).map(({ release_id, state, served, opened_at }) => [release_id, state, served, opened_at]);
  assert.deepEqual(rows, [
    ["0x3", "open", null, 41],
    ["0x2", "lapsed", null, 31],
    ["0x1", "closed", 0b1011, 30],
  ]);
  assert.deepEqual([indices(0b1011), indices(0), indices(1 << 15)], [[0, 1, 3], [], [15]]);
});
