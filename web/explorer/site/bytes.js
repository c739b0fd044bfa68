// Bytes as people write them: hexadecimal with 0x, base64, UTF-8 text.

const HEX_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** `0x…` of bytes. */
export function toHex(bytes) {
  let text = "0x";
  for (const byte of bytes) text += HEX_BYTE[byte];
  return text;
}

/** The bytes of a hexadecimal text, 0x optional; null where it is none. */
export function fromHex(text) {
  const digits = text.startsWith("0x") || text.startsWith("0X") ? text.slice(2) : text;
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) return null;
  const bytes = new Uint8Array(digits.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

/** Whether two addresses or hashes are the same. What a reader typed or a link has may have capitals; the node writes none. */
export function sameHex(one, other) {
  return typeof one === "string" && typeof other === "string" && one.toLowerCase() === other.toLowerCase();
}

/** base64 of bytes. */
export function toBase64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The bytes of a base64 text; null where it is none. */
export function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

/** The text that bytes spell in UTF-8; null where they spell none. */
export function toText(bytes) {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/** Whether every character of a text can be seen, line breaks and tabs aside. */
export function isPrintable(text) {
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]/.test(text);
}

/** A storage key for people: text, or the text that it begins with and the rest in hex. */
export function keyName(bytes) {
  const text = toText(bytes);
  if (text !== null && isPrintable(text)) return text;
  let end = 0;
  while (end < bytes.length && bytes[end] >= 0x20 && bytes[end] < 0x7f) end += 1;
  return end < 3 ? toHex(bytes) : String.fromCharCode(...bytes.subarray(0, end)) + toHex(bytes.subarray(end));
}
