import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { readBounded } from "../site/bounded.js";
import { MAX_WITNESS_BYTES } from "../site/verify/limits.js";

/** A response whose body comes in parts of these sizes, and what was asked of it. */
function inParts(...sizes) {
  const given = { parts: 0, isEnded: false };
  const body = new ReadableStream(
    {
      pull(controller) {
        if (given.parts === sizes.length) return controller.close();
        return controller.enqueue(new Uint8Array(sizes[given.parts++]).fill(given.parts));
      },
      cancel() {
        given.isEnded = true;
      },
    },
    { highWaterMark: 0 },
  );
  return [new Response(body), given];
}

test("a body is read up to its limit, and ended beyond it", async () => {
  assert.deepEqual(await readBounded(inParts(2, 1)[0], 3), Uint8Array.of(1, 1, 2));
  assert.deepEqual(await readBounded(new Response(), 0), new Uint8Array());
  const [response, given] = inParts(2, 2, 1_000, 1_000);
  await assert.rejects(readBounded(response, 3), /more than 3 bytes/);
  assert.deepEqual(given, { parts: 2, isEnded: true });
});

test("the page that verifies reads as much as the verifier does", () => {
  const source = readFileSync(new URL("../../../core/ingress/src/witness.rs", import.meta.url), "utf8");
  const [, product] = /pub const MAX_WITNESS_BYTES: usize = ([\d* ]+);/.exec(source);
  assert.equal(MAX_WITNESS_BYTES, product.split("*").reduce((all, factor) => all * Number(factor), 1));
});
