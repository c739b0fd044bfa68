import assert from "node:assert/strict";
import test from "node:test";
import { factsOf } from "../site/verify/facts.js";

test("what an actor sends is not told as what was verified", () => {
  const result = {
    name: "shop",
    actor: "0x01",
    height: 7,
    timestamp_ms: 0,
    epoch: 1,
    view: 2,
    cycles: 3,
    records: 4,
    status: 200,
    headers: [
      ["actor", "0x02"],
      ["x-note", "a\u202eb"],
    ],
    seen: [["path", "/"]],
  };
  const facts = factsOf(result, 1_000);
  assert.deepEqual(
    facts.filter(([name]) => /actor$/iu.test(name)),
    [
      ["Actor", "0x01"],
      ["Header actor", "0x02"],
    ],
  );
  assert.deepEqual(facts.find(([name]) => name === "Header x-note"), ["Header x-note", "a\ufffdb"]);
});
