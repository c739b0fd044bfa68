import assert from "node:assert/strict";
import test from "node:test";
import { fromHex } from "../site/bytes.js";
import { encode } from "../site/cbor.js";
import { wakeOf } from "../site/wake.js";

// As the SDK writes it for `set_interval(5, "beat")`.
const INTERVAL =
  "0043494e542f1179b89d6dbbcc6a196471d8cb52c257a0d720abf623a2a121411c7add4f81000000000000000500000000000186a00000000000004e20000462656174";

test("timers say what they will run", () => {
  const rows = [
    [fromHex(INTERVAL), { handler: "beat", every: 5n, data: new Uint8Array() }],
    [fromHex(`${INTERVAL}f6`), { handler: "beat", every: 5n, data: Uint8Array.of(0xf6) }],
    [fromHex(INTERVAL.slice(0, -2)), { handler: null, every: null, data: fromHex(INTERVAL.slice(0, -2)) }],
    [encode({ _handler: "expire", _payload: Uint8Array.of(1) }), { handler: "expire", every: null, data: Uint8Array.of(1) }],
    [
      encode({ _handler: 1, _payload: Uint8Array.of(1) }),
      { handler: null, every: null, data: encode({ _handler: 1, _payload: Uint8Array.of(1) }) },
    ],
    [Uint8Array.of(0xa2, 0xff), { handler: null, every: null, data: Uint8Array.of(0xa2, 0xff) }],
    [new Uint8Array(), { handler: null, every: null, data: new Uint8Array() }],
  ];
  for (const [bytes, expected] of rows) assert.deepEqual(wakeOf(bytes), expected);
});
