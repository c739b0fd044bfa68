import assert from "node:assert/strict";
import test from "node:test";
import { CborError, Float, decode, encode, plain } from "../site/cbor.js";
import { fromHex, toHex } from "../site/bytes.js";

// RFC 8949 appendix A, as far as the profile goes: [hex, value].
const BOTH_WAYS = [
  ["00", 0],
  ["17", 23],
  ["1818", 24],
  ["1903e8", 1000],
  ["1a000f4240", 1_000_000],
  ["1b000000e8d4a51000", 1_000_000_000_000],
  ["1bffffffffffffffff", 18446744073709551615n],
  ["c249010000000000000000", 18446744073709551616n],
  ["3bffffffffffffffff", -18446744073709551616n],
  ["c349010000000000000000", -18446744073709551617n],
  ["20", -1],
  ["3863", -100],
  ["f4", false],
  ["f5", true],
  ["f6", null],
  ["40", new Uint8Array()],
  ["4401020304", Uint8Array.of(1, 2, 3, 4)],
  ["60", ""],
  ["6161", "a"],
  ["62c3bc", "ü"],
  ["64f0908591", "𐅑"],
  ["80", []],
  ["83010203", [1, 2, 3]],
  ["8301820203820405", [1, [2, 3], [4, 5]]],
  ["fb3ff199999999999a", 1.1],
  ["fbc010666666666666", -4.1],
  ["a0", new Map()],
  [
    "a201020304",
    new Map([
      [1, 2],
      [3, 4],
    ]),
  ],
  [
    "a26161016162820203",
    new Map([
      ["a", 1],
      ["b", [2, 3]],
    ]),
  ],
];

test("values survive both ways", () => {
  for (const [hex, value] of BOTH_WAYS) {
    assert.equal(toHex(encode(value)), `0x${hex}`);
    assert.deepEqual(plain(decode(fromHex(hex))), value, hex);
  }
});

test("map keys stand by length, then bytes", () => {
  assert.equal(toHex(encode({ bb: 1, a: 2, c: 3 })), "0xa361610261630362626201");
});

test("a float stays a float where asked", () => {
  assert.equal(toHex(encode(new Float(1))), "0xfb3ff0000000000000");
  assert.deepEqual(decode(fromHex("fb3ff0000000000000")), { type: "float", value: 1 });
  assert.equal(toHex(encode(new Float(-0))), "0xfb0000000000000000");
});

test("refuses what is not one value", () => {
  const refused = [
    "",
    "18",
    "61",
    "62c3",
    "81",
    "9f01ff",
    "5f4101ff",
    "a1",
    "a101",
    "0000",
    "f7",
    "f97e00",
    "c101",
    "1c",
    "ff",
    "9bffffffffffffffff",
    "bb0fffffffffffffff",
    "5b7fffffffffffffff",
    "61ff",
    "81".repeat(257) + "00",
  ];
  for (const hex of refused) assert.throws(() => decode(fromHex(hex)), CborError, hex);
});

test("refuses to encode what has no encoding", () => {
  for (const value of [NaN, Infinity, Symbol("x"), () => 1]) assert.throws(() => encode(value), CborError);
  assert.throws(
    () =>
      encode(
        new Map([
          [1, 1],
          [1n, 2],
        ]),
      ),
    CborError,
  );
});
