// The codec writes and reads as tests/vectors/cbor.json says, which holds for the node and the SDK as well.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { CborError, Float, decode, encode } from "../site/cbor.js";
import { fromHex, toHex } from "../site/bytes.js";

const vectors = JSON.parse(readFileSync(new URL("../../../tests/vectors/cbor.json", import.meta.url), "utf8"));

/** What a row's value stands for, as the encoder takes it. */
function valueOf(marked) {
  if (marked === null || typeof marked !== "object") return marked;
  const [[kind, inner]] = Object.entries(marked);
  switch (kind) {
    case "int":
      return BigInt(inner);
    case "float":
      return new Float(new DataView(fromHex(inner).buffer).getFloat64(0));
    case "bytes":
      return fromHex(inner);
    case "text":
      return inner;
    case "list":
      return inner.map(valueOf);
    case "map":
      return new Map(inner.map(([key, item]) => [valueOf(key), valueOf(item)]));
    case "deep":
      return nested(inner[0], valueOf(inner[1]), (value) => [value]);
    default:
      throw new Error(`no row has a ${kind}`);
  }
}

function nested(levels, innermost, around) {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = around(value);
  return value;
}

/** A decoded node as rows write it. */
function marked({ type, value }) {
  switch (type) {
    case "int":
      return { int: String(value) };
    case "float":
      return { float: bits(value) };
    case "bytes":
      return { bytes: toHex(value).slice(2) };
    case "text":
      return { text: value };
    case "list":
      return { list: value.map(marked) };
    case "map":
      return { map: value.map(([key, item]) => [marked(key), marked(item)]) };
    default:
      return value;
  }
}

function bits(float) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, float);
  return toHex(bytes).slice(2);
}

/** A row's value with its lists written out. */
function writtenOut(value) {
  return value?.deep ? nested(value.deep[0], value.deep[1], (inner) => ({ list: [inner] })) : value;
}

test("values are written as the vectors say", () => {
  for (const { about, value, hex } of [...vectors.both, ...vectors.written]) {
    assert.equal(toHex(encode(valueOf(value))), `0x${hex}`, about);
  }
});

test("values are read as the vectors say", () => {
  for (const { about, value, hex } of [...vectors.both, ...vectors.read]) {
    assert.deepEqual(marked(decode(fromHex(hex))), writtenOut(value), about);
  }
});

test("what is not canonical is refused", () => {
  for (const { about, hex } of vectors.refused) assert.throws(() => decode(fromHex(hex)), CborError, about);
});

test("what has no encoding is refused", () => {
  for (const { about, value } of vectors.unwritten) assert.throws(() => encode(valueOf(value)), CborError, about);
});
