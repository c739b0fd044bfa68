// Canonical CBOR (RFC 8949 §4.2), as actors store and send it. tests/vectors/cbor.json says what that is, for the node and the SDK as well.
//
// Decoding keeps what JavaScript would blur (bytes or text, 1 or 1.0), so the answer is a tree of typed nodes:
// { type: "null" | "bool" | "int" | "float" | "bytes" | "text" | "list" | "map", value }. Integers are BigInt where they
// do not fit a number; a list holds nodes, a map holds [key, value] pairs of nodes.

import { toHex } from "./bytes.js";

// Lists, maps and large integers that may be inside each other.
const MAX_DEPTH = 256;
const MAX_NODES = 50_000;
// Bits of the largest integer, without its sign.
const MAX_INTEGER_BITS = 4_096n;
// The least numbers for which heads of 2, 3, 5 and 9 bytes are the shortest.
const LEAST = [24, 0x100, 0x10000, 0x100000000];
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Why bytes are not canonical CBOR, or a value has no encoding. */
export class CborError extends Error {}

/** The one value that `bytes` hold. Throws CborError where there is none, more than one, or too much of it. */
export function decode(bytes) {
  const reader = new Reader(bytes);
  const node = reader.node(0);
  if (reader.at !== bytes.length) throw new CborError(`${bytes.length - reader.at} bytes too many`);
  return node;
}

/** The same, or null instead of an exception. */
export function tryDecode(bytes) {
  try {
    return decode(bytes);
  } catch (problem) {
    if (problem instanceof CborError) return null;
    throw problem;
  }
}

/** A typed node as a plain JavaScript value: bytes as Uint8Array, a map as Map. */
export function plain(node) {
  if (node.type === "list") return node.value.map(plain);
  if (node.type === "map") return new Map(node.value.map(([key, value]) => [plain(key), plain(value)]));
  return node.value;
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.nodes = 0;
  }

  need(count) {
    if (count > this.bytes.length - this.at) throw new CborError("the bytes end too early");
    const start = this.at;
    this.at += count;
    return start;
  }

  head() {
    const first = this.bytes[this.need(1)];
    const major = first >> 5;
    const info = first & 31;
    if (info > 27) throw new CborError(`length form ${info} is not used`);
    if (info < 24) return { major, info, number: info };
    const start = this.need(1 << (info - 24));
    const number = this.argument(info, start);
    if (major !== 7 && number < LEAST[info - 24]) throw new CborError(`a head for ${number} that is too long`);
    return { major, info, number };
  }

  argument(info, start) {
    if (info === 24) return this.view.getUint8(start);
    if (info === 25) return this.view.getUint16(start);
    if (info === 26) return this.view.getUint32(start);
    return narrow(this.view.getBigUint64(start));
  }

  node(depth) {
    this.nodes += 1;
    if (this.nodes > MAX_NODES) throw new CborError(`more than ${MAX_NODES} values`);
    const { major, info, number } = this.head();
    if (major >= 4 && major <= 6) checkDepth(depth);
    switch (major) {
      case 0:
        return { type: "int", value: number };
      case 1:
        return { type: "int", value: narrow(-1n - BigInt(number)) };
      case 2:
        return { type: "bytes", value: this.slice(number) };
      case 3:
        return { type: "text", value: this.text(number) };
      case 4:
        return { type: "list", value: this.many(number, () => this.node(depth + 1)) };
      case 5:
        return { type: "map", value: this.map(number, depth) };
      case 6:
        return this.bignum(number, depth);
      default:
        return this.simple(info);
    }
  }

  slice(length) {
    const start = this.need(length);
    return this.bytes.slice(start, start + length);
  }

  text(length) {
    try {
      return utf8.decode(this.slice(length));
    } catch (problem) {
      if (problem instanceof CborError) throw problem;
      throw new CborError("text that is not UTF-8");
    }
  }

  many(count, read) {
    // Each item takes a byte at least, so a lying count is found out before it costs memory.
    if (count > this.bytes.length - this.at) throw new CborError("the bytes end too early");
    const items = [];
    for (let index = 0; index < count; index += 1) items.push(read());
    return items;
  }

  map(count, depth) {
    const keys = new Keys();
    return this.many(count, () => {
      const start = this.at;
      const key = this.node(depth + 1);
      keys.add(key, this.bytes.subarray(start, this.at));
      return [key, this.node(depth + 1)];
    });
  }

  bignum(tag, depth) {
    if (tag !== 2 && tag !== 3) throw new CborError(`tag ${tag} is not used`);
    const { type, value } = this.node(depth + 1);
    if (type !== "bytes" || value.length <= 8 || value[0] === 0) throw new CborError("a large integer that is none");
    if (value.length > MAX_INTEGER_BITS / 8n) throw new CborError(`an integer of more than ${MAX_INTEGER_BITS} bits`);
    const magnitude = BigInt(toHex(value));
    return { type: "int", value: checkedInteger(tag === 2 ? magnitude : -1n - magnitude) };
  }

  simple(info) {
    if (info === 20 || info === 21) return { type: "bool", value: info === 21 };
    if (info === 22) return { type: "null", value: null };
    if (info === 27) return { type: "float", value: checkedFloat(this.view.getFloat64(this.at - 8)) };
    throw new CborError(`simple value ${info} is not used`);
  }
}

/** What the keys of a map are held against: they ascend by length, then bytes, and no two are one key in Python, as 1, 1.0 and true are. */
class Keys {
  constructor() {
    this.previous = null;
    this.numbers = new Set();
  }

  add({ type, value }, bytes) {
    if (type === "list" || type === "map") throw new CborError(`a ${type} as key`);
    if (this.previous !== null && order(this.previous, bytes) >= 0) throw new CborError("keys that do not ascend");
    this.previous = bytes;
    const isNumber = type === "int" || type === "bool" || (type === "float" && Number.isInteger(value));
    if (!isNumber) return;
    const number = BigInt(value);
    if (this.numbers.has(number)) throw new CborError("a map has a key twice");
    this.numbers.add(number);
  }
}

/** Which of two encoded keys comes first. */
function order(left, right) {
  return left.length - right.length || compare(left, right);
}

function checkDepth(depth) {
  if (depth >= MAX_DEPTH) throw new CborError(`more than ${MAX_DEPTH} levels`);
}

function checkedInteger(value) {
  if ((value < 0n ? -value : value) >> MAX_INTEGER_BITS > 0n) throw new CborError(`an integer of more than ${MAX_INTEGER_BITS} bits`);
  return value;
}

/** A float that is finite, and zero where it is minus zero. */
function checkedFloat(value) {
  if (!Number.isFinite(value)) throw new CborError("a float must be finite");
  return value === 0 ? 0 : value;
}

function narrow(big) {
  const number = Number(big);
  return Number.isSafeInteger(number) ? number : big;
}

/**
 * The canonical bytes of null, boolean, number, bigint, string, Uint8Array, array, plain object or Map.
 * A number that is whole is an integer; wrap it in Float for a float. Throws CborError for anything else.
 */
export function encode(value) {
  return join(chunks(value, 0));
}

/** A number that is a float even when it is whole. */
export class Float {
  constructor(value) {
    this.value = value;
  }
}

function chunks(value, depth) {
  if (value === null || value === undefined) return [Uint8Array.of(0xf6)];
  if (value === false || value === true) return [Uint8Array.of(value ? 0xf5 : 0xf4)];
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return integer(BigInt(value), depth);
  if (typeof value === "number") return [float(value)];
  if (value instanceof Float) return [float(value.value)];
  if (value instanceof Uint8Array) return [head(2, BigInt(value.length)), value];
  if (typeof value === "string") {
    const bytes = new TextEncoder().encode(value);
    return [head(3, BigInt(bytes.length)), bytes];
  }
  if (typeof value !== "object") throw new CborError(`a ${typeof value} has no encoding`);
  checkDepth(depth);
  if (Array.isArray(value)) return [head(4, BigInt(value.length)), ...value.flatMap((item) => chunks(item, depth + 1))];
  return mapping(value, depth);
}

function mapping(value, depth) {
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const pairs = entries.map(([key, item]) => [join(chunks(key, depth + 1)), join(chunks(item, depth + 1))]);
  pairs.sort(([left], [right]) => order(left, right));
  const keys = new Keys();
  for (const [key] of pairs) keys.add(decode(key), key);
  return [head(5, BigInt(pairs.length)), ...pairs.flat()];
}

function compare(left, right) {
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return left[at] - right[at];
  return 0;
}

function integer(value, depth) {
  const [major, magnitude] = value < 0n ? [1, -1n - value] : [0, value];
  if (magnitude < 1n << 64n) return [head(major, magnitude)];
  checkDepth(depth);
  checkedInteger(value);
  const digits = magnitude.toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  const bytes = Uint8Array.from(even.match(/../g), (pair) => Number.parseInt(pair, 16));
  return [head(6, BigInt(2 + major)), head(2, BigInt(bytes.length)), bytes];
}

function float(value) {
  const bytes = new Uint8Array(9);
  bytes[0] = 0xfb;
  new DataView(bytes.buffer).setFloat64(1, checkedFloat(value));
  return bytes;
}

function head(major, number) {
  const kind = major << 5;
  if (number < 24n) return Uint8Array.of(kind | Number(number));
  const width = number < 0x100n ? 0 : number < 0x10000n ? 1 : number < 0x100000000n ? 2 : 3;
  const bytes = new Uint8Array(1 + (1 << width));
  bytes[0] = kind | (24 + width);
  let rest = number;
  for (let at = bytes.length - 1; at > 0; at -= 1) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

function join(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
