import assert from "node:assert/strict";
import test from "node:test";
import { OLD, warning } from "../site/verify/age.js";

test("an old answer has a warning, and a new one has none", () => {
  const now = 2_000_000_000_000;
  for (const age of [-5_000, 0, 1_000, OLD]) assert.equal(warning(7, now - age, now), "");
  assert.match(warning(7, now - OLD - 1, now), /^True at block 7, 1 min ago: /u);
  assert.match(warning(7, now - 21 * 86_400_000, now), /^True at block 7, 21 d/u);
});
