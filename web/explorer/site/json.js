// JSON without loss: integers beyond 2^53 become BigInt instead of being rounded.
//
// Amounts are counted in base units and the whole supply is 10^18 of them, so `JSON.parse` would show wrong balances.

const MAX_DEPTH = 200;
// A number stands after one of these, a digit of a hash does not. A match inside a text only costs time.
const LONG_INTEGER = /(?:^|[:[,])\s*-?\d{16}/;

/** The value that `text` spells. Throws SyntaxError with the place where it is not JSON. */
export function parseJson(text) {
  return LONG_INTEGER.test(text) ? new Parser(text).document() : JSON.parse(text);
}

/** JSON text of a value that may hold BigInt. */
export function printJson(value, indent = 0) {
  const plain = JSON.stringify(value, (_, item) => (typeof item === "bigint" ? `\u0000${item}` : item), indent);
  return plain === undefined ? "null" : plain.replace(/"\\u0000(-?\d+)"/g, "$1");
}

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
  }

  document() {
    const value = this.value();
    this.space();
    if (this.at !== this.text.length) this.refuse("the end of the text");
    return value;
  }

  refuse(expected) {
    throw new SyntaxError(`not JSON at character ${this.at}: expected ${expected}`);
  }

  space() {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at += 1;
  }

  take(text) {
    this.space();
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  value() {
    if (this.take("{")) return this.nested(() => this.object());
    if (this.take("[")) return this.nested(() => this.array());
    if (this.take("true")) return true;
    if (this.take("false")) return false;
    if (this.take("null")) return null;
    return this.text[this.at] === '"' ? this.string() : this.number();
  }

  nested(read) {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) this.refuse(`at most ${MAX_DEPTH} levels`);
    const value = read();
    this.depth -= 1;
    return value;
  }

  object() {
    const object = {};
    if (this.take("}")) return object;
    do {
      this.space();
      const key = this.string();
      if (!this.take(":")) this.refuse("a colon");
      // A plain assignment of "__proto__" would set the prototype.
      Object.defineProperty(object, key, { value: this.value(), writable: true, enumerable: true, configurable: true });
    } while (this.take(","));
    if (!this.take("}")) this.refuse("a comma or the end of an object");
    return object;
  }

  array() {
    const array = [];
    if (this.take("]")) return array;
    do array.push(this.value());
    while (this.take(","));
    if (!this.take("]")) this.refuse("a comma or the end of a list");
    return array;
  }

  /** Up to the next quotation mark that is not escaped. A pattern for all of it would fill the stack with the longest texts. */
  string() {
    if (this.text[this.at] !== '"') this.refuse("a string");
    let end = this.at;
    do end = this.text.indexOf('"', end + 1);
    while (end >= 0 && this.isEscaped(end));
    if (end < 0) this.refuse("the end of a string");
    const start = this.at;
    this.at = end + 1;
    return JSON.parse(this.text.slice(start, end + 1));
  }

  /** Whether an odd number of backslashes stands before a place. */
  isEscaped(place) {
    let at = place;
    while (this.text[at - 1] === "\\") at -= 1;
    return (place - at) % 2 === 1;
  }

  number() {
    const pattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) this.refuse("a value");
    this.at = pattern.lastIndex;
    const number = Number(found[0]);
    const whole = found[1] === undefined && found[2] === undefined;
    return whole && !Number.isSafeInteger(number) ? BigInt(found[0]) : number;
  }
}
