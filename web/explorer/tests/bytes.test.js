import assert from "node:assert/strict";
import test from "node:test";
import { fromBase64, fromHex, isPrintable, keyName, sameHex, toBase64, toHex, toText } from "../site/bytes.js";

test("bytes survive hex and base64", () => {
  const bytes = Uint8Array.of(0, 1, 127, 128, 255);
  assert.equal(toHex(bytes), "0x00017f80ff");
  assert.deepEqual(fromHex("0x00017F80ff"), bytes);
  assert.deepEqual(fromHex("00017f80ff"), bytes);
  assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
  for (const text of ["0x0", "0xzz", "x", "0x0x00"]) assert.equal(fromHex(text), null, text);
  assert.equal(fromBase64("%"), null);
});

test("addresses and hashes are the same with capitals", () => {
  assert.ok(sameHex("0xab12", "0xAB12"));
  for (const other of ["0xab13", "0xab1", "", null, undefined]) assert.ok(!sameHex("0xab12", other), String(other));
  assert.ok(!sameHex(null, null), "neither is an address");
});

test("text is UTF-8 or none", () => {
  assert.equal(toText(fromHex("c3bc")), "\u00fc");
  assert.equal(toText(fromHex("ff")), null);
  const rows = [
    ["abc\n\t", true],
    ["\u0000", false],
    ["\u202e", false],
    ["", true],
  ];
  for (const [text, expected] of rows) assert.equal(isPrintable(text), expected);
});

test("keys show the text they begin with", () => {
  const rows = [
    ["636f756e74", "count"],
    ["5f5f696e74657276616c3aff00", "__interval:0xff00"],
    ["61ff", "0x61ff"],
    ["", ""],
    ["c3bc", "\u00fc"],
  ];
  for (const [hex, expected] of rows) assert.equal(keyName(fromHex(hex)), expected, hex);
});
