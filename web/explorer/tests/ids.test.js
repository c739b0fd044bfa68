import assert from "node:assert/strict";
import test from "node:test";
import { malformed } from "../site/ids.js";
import { firstOf } from "../site/views/actor/query.js";

test("an address of the page with a wrong id says which id, and how long it is", () => {
  const [address, hash] = ["ab".repeat(20), `0x${"CD".repeat(32)}`];
  const rows = [
    [["job", [hash]], null],
    [["job", ["zz"]], { text: "zz", what: "id of a job", form: "has 64 hexadecimal digits" }],
    [["volume", []], { text: "", what: "id of a volume", form: "has 64 hexadecimal digits" }],
    [["runner", [address]], null],
    [["secret", [address, hash]], null],
    [["secret", [hash]], { text: hash, what: "address of a secret's owner", form: "has 40 hexadecimal digits" }],
    [["secret", [address, "0x12"]], { text: "0x12", what: "hash of a secret's name", form: "has 64 hexadecimal digits" }],
    // Views that take more than ids.
    [["block", ["latest"]], null],
    [["block", ["118"]], null],
    [["block", [hash]], null],
    [["block", [".."]], { text: "..", what: "name of a block", form: "is its height, or its hash of 64 hexadecimal digits" }],
    [["actor", [address, "source"]], null],
    [["actor", [".."]], { text: "..", what: "address of an actor", form: "has 40 hexadecimal digits" }],
    [["proposal", ["0"]], null],
    [["proposal", ["one"]], { text: "one", what: "number of a proposal", form: "has decimal digits" }],
    [["search", ["zz"]], null],
    [["constructor", ["zz"]], null],
  ];
  for (const [call, expected] of rows) assert.deepEqual(malformed(...call), expected, call.join(" "));
});

test("an actor is not asked to begin again", () => {
  const named = (...names) => names.map((name) => ({ name }));
  assert.equal(firstOf(named("init", "greetings")).name, "greetings");
  assert.equal(firstOf(named("init")).name, "init");
  assert.equal(firstOf([]), undefined);
});
