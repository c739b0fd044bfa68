// The verifier: answers of gateways, checked by the same code as in `cowboy verify-response`, in WebAssembly.

/** Loads the verifier from its bytes, or from the response to a request for them, and makes it ready. */
export async function load(source) {
  const bytes = source instanceof Response ? await source.arrayBuffer() : source;
  const { instance } = await WebAssembly.instantiate(bytes, {});
  instance.exports.prepare();
  return new Verifier(instance.exports);
}

class Verifier {
  constructor(exports) {
    this.exports = exports;
  }

  /** Checks a witness, and what the gateway signed beside it: bytes but for the URL and the signature. Answers what held, and what did not. */
  check({ genesis, groupKey, url, witness, signature = "" }) {
    const text = new TextEncoder();
    const parts = [genesis, groupKey, text.encode(url), witness, text.encode(signature)];
    const length = parts.reduce((sum, part) => sum + 4 + part.length, 0);
    const input = this.exports.room(length);
    let place = input;
    for (const part of parts) {
      new DataView(this.exports.memory.buffer).setUint32(place, part.length, true);
      new Uint8Array(this.exports.memory.buffer, place + 4, part.length).set(part);
      place += 4 + part.length;
    }
    try {
      return JSON.parse(this.take(this.exports.check(input, length)));
    } catch (cut) {
      if (!(cut instanceof WebAssembly.RuntimeError)) throw cut;
      throw new Error(`The verifier itself failed: ${this.take(this.exports.problem()) || cut.message}`);
    }
  }

  /** The text of an answer, whose room goes back. */
  take(answer) {
    const { buffer } = this.exports.memory;
    const size = new DataView(buffer).getUint32(answer, true);
    const text = new TextDecoder().decode(new Uint8Array(buffer, answer + 4, size));
    this.exports.give_back(answer);
    return text;
  }
}

/** The bytes of hex digits behind `0x`. */
export function unhex(text) {
  const digits = /^0x((?:[0-9a-f]{2})*)$/i.exec(text.trim());
  if (!digits) throw new Error("That is not hex: 0x and pairs of digits.");
  return Uint8Array.from(digits[1].match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** The same URL, asking for a witness. */
export function asking(text) {
  const url = new URL(text);
  url.hash = "";
  url.search += (url.search ? "&" : "?") + "_cowboy_proof";
  return url.href;
}
