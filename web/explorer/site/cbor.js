// Canonical CBOR (RFC 8949 §4.2), as actors store and send it.
//
// Decoding keeps what JavaScript would blur (bytes or text, 1 or 1.0), so the answer is a tree of typed nodes:
// { type: "null" | "bool" | "int" | "float" | "bytes" | "text" | "list" | "map", value }. Integers are BigInt where they
// do not fit a number; a list holds nodes, a map holds [key, value] pairs of nodes.

const MAX_DEPTH = 64;
const MAX_NODES = 50_000;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Why bytes are not CBOR. */
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
    if (info === 24) return { major, info, number: this.view.getUint8(start) };
    if (info === 25) return { major, info, number: this.view.getUint16(start) };
    if (info === 26) return { major, info, number: this.view.getUint32(start) };
    return { major, info, number: narrow(this.view.getBigUint64(start)) };
  }

  node(depth) {
    this.nodes += 1;
    if (this.nodes > MAX_NODES) throw new CborError(`more than ${MAX_NODES} values`);
    if (depth > MAX_DEPTH) throw new CborError(`more than ${MAX_DEPTH} levels`);
    const { major, info, number } = this.head();
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
        return { type: "map", value: this.many(number, () => [this.node(depth + 1), this.node(depth + 1)]) };
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

  bignum(tag, depth) {
    if (tag !== 2 && tag !== 3) throw new CborError(`tag ${tag} is not used`);
    const { type, value } = this.node(depth + 1);
    if (type !== "bytes" || value.length > 1024) throw new CborError("a large integer that is none");
    let magnitude = 0n;
    for (const byte of value) magnitude = (magnitude << 8n) | BigInt(byte);
    return { type: "int", value: narrow(tag === 2 ? magnitude : -1n - magnitude) };
  }

  simple(info) {
    if (info === 20 || info === 21) return { type: "bool", value: info === 21 };
    if (info === 22) return { type: "null", value: null };
    if (info === 27) return { type: "float", value: this.view.getFloat64(this.at - 8) };
    throw new CborError(`simple value ${info} is not used`);
  }
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
  if (depth > MAX_DEPTH) throw new CborError(`more than ${MAX_DEPTH} levels`);
  if (value === null || value === undefined) return [Uint8Array.of(0xf6)];
  if (value === false || value === true) return [Uint8Array.of(value ? 0xf5 : 0xf4)];
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return integer(BigInt(value));
  if (typeof value === "number") return [float(value)];
  if (value instanceof Float) return [float(value.value)];
  if (value instanceof Uint8Array) return [head(2, BigInt(value.length)), value];
  if (typeof value === "string") {
    const bytes = new TextEncoder().encode(value);
    return [head(3, BigInt(bytes.length)), bytes];
  }
  if (Array.isArray(value)) return [head(4, BigInt(value.length)), ...value.flatMap((item) => chunks(item, depth + 1))];
  if (typeof value === "object") return mapping(value, depth);
  throw new CborError(`a ${typeof value} has no encoding`);
}

function mapping(value, depth) {
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const pairs = entries.map(([key, item]) => [join(chunks(key, depth + 1)), join(chunks(item, depth + 1))]);
  pairs.sort(([left], [right]) => left.length - right.length || compare(left, right));
  for (let index = 1; index < pairs.length; index += 1) {
    if (pairs[index][0].length === pairs[index - 1][0].length && compare(pairs[index][0], pairs[index - 1][0]) === 0) {
      throw new CborError("a map has a key twice");
    }
  }
  return [head(5, BigInt(pairs.length)), ...pairs.flat()];
}

function compare(left, right) {
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return left[at] - right[at];
  return 0;
}

function integer(value) {
  const [major, magnitude] = value < 0n ? [1, -1n - value] : [0, value];
  if (magnitude < 1n << 64n) return [head(major, magnitude)];
  const digits = magnitude.toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  const bytes = Uint8Array.from(even.match(/../g), (pair) => Number.parseInt(pair, 16));
  return [head(6, BigInt(2 + major)), head(2, BigInt(bytes.length)), bytes];
}

function float(value) {
  if (!Number.isFinite(value)) throw new CborError("a float must be finite");
  const bytes = new Uint8Array(9);
  bytes[0] = 0xfb;
  new DataView(bytes.buffer).setFloat64(1, value === 0 ? 0 : value);
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
