// Numbers, amounts and times as people read them. Everything takes number or BigInt, and nothing loses a digit.

const BASE_UNITS = 1_000_000_000n;
const THIN = "\u202f";

/** An integer of a number, BigInt or decimal text; null where it is none. */
export function whole(value) {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : null;
  if (typeof value === "string" && /^-?\d{1,40}$/.test(value)) return BigInt(value);
  return null;
}

/** 1,234,567 */
export function count(value) {
  const number = whole(value);
  if (number === null) return typeof value === "number" ? String(value) : "–";
  return number.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "1,234.5 CBY": an amount of base units in CBY, exactly, or rounded down to `places`. */
export function amount(value, places = 9) {
  const text = cby(value, places);
  return text === "–" ? text : `${text}${THIN}CBY`;
}

/** The number of `amount` without its unit. */
export function cby(value, places = 9) {
  const units = whole(value);
  if (units === null) return "–";
  const sign = units < 0n ? "−" : "";
  const magnitude = units < 0n ? -units : units;
  const fraction = (magnitude % BASE_UNITS).toString().padStart(9, "0").slice(0, places).replace(/0+$/, "");
  if (magnitude > 0n && magnitude / BASE_UNITS === 0n && fraction === "") return `${sign}<0.${"1".padStart(places, "0")}`;
  return `${sign}${count(magnitude / BASE_UNITS)}${fraction ? `.${fraction}` : ""}`;
}

/** A large number in three figures: 22.2M, 1.50k. */
export function compact(value) {
  const number = Number(whole(value) ?? value);
  if (!Number.isFinite(number)) return "–";
  for (const [scale, letter] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ]) {
    if (Math.abs(number) >= scale * 0.9995) return trimmed(number / scale) + letter;
  }
  return trimmed(number);
}

function trimmed(number) {
  const digits = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  return number
    .toFixed(digits)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

/** A share of a whole in per cent: 0 to 100 and beyond, one decimal below ten. */
export function percent(part, all) {
  const total = Number(all);
  if (!(total > 0)) return "0%";
  const share = (Number(part) / total) * 100;
  if (share > 0 && share < 0.05) return "<0.1%";
  return `${share < 10 ? trimmed(Number(share.toFixed(1))) : share.toFixed(0)}%`;
}

const BYTES = [
  [1024 ** 4, "TiB"],
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
];

/** 1.4 KiB */
export function bytes(value) {
  const number = Number(value);
  if (number < 1024) return `${number} B`;
  const [scale, unit] = BYTES.find(([least]) => number >= least * 0.9995) ?? BYTES[BYTES.length - 1];
  return `${trimmed(number / scale)} ${unit}`;
}

/** How long ago or ahead: "now", "12 s ago", "in 3 min". */
export function relative(milliseconds, now) {
  const distance = Number(milliseconds) - now;
  const ago = distance <= 0;
  const text = duration(Math.abs(distance));
  if (Math.abs(distance) < 1_000) return "now";
  return ago ? `${text} ago` : `in ${text}`;
}

/** A span of time in its two largest units at most. */
export function duration(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return join(Math.floor(seconds / 60), "min", seconds % 60, "s");
  if (seconds < 86_400) return join(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "min");
  return join(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3600), "h");
}

function join(large, largeUnit, small, smallUnit) {
  return large < 10 && small > 0 ? `${large} ${largeUnit} ${small} ${smallUnit}` : `${large} ${largeUnit}`;
}

/** 2026-11-21 07:41:03 UTC */
export function timestamp(milliseconds) {
  const number = Number(milliseconds);
  if (!Number.isFinite(number) || Math.abs(number) > 8.64e15) return "–";
  return new Date(number)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
}

/** 0x1234…cdef: the two ends of a long identifier. */
export function ends(text, head = 6, tail = 4) {
  return text.length <= head + tail + 3 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;
}

/** At most `limit` characters, and how many were left out; nothing in it invisible or against the direction of reading. */
export function clip(text, limit) {
  if (text.length <= limit) return visible(text);
  return `${visible(text.slice(0, limit))}… (${count(text.length - limit)} more characters)`;
}

/** Controls, blanks that look like nothing, signs of direction, and tags. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\uffff\u{e0000}-\u{e0fff}]/gu;

/** Accents on accents: more than any script has on one letter cover the lines above and below. */
const PILED = /(\p{M}{4})\p{M}+/gu;

/** The text with a mark in place of every character that could make it look like another text, or cover one. */
export function visible(text) {
  return text.replace(UNSEEN, "\ufffd").replace(PILED, "$1\ufffd");
}

/** An endpoint, which is a name or an address, with its port. An address of IPv6 stands in brackets. */
export function authority(endpoint, port) {
  return endpoint.includes(":") ? `[${endpoint}]:${port}` : `${endpoint}:${port}`;
}

/** Texts that a list in a sentence names. */
const MAX_LISTED = 12;

/** Texts in a line: the first of them where there are many. */
export function shortList(texts) {
  const rest = texts.length - MAX_LISTED;
  return rest > 0 ? `${texts.slice(0, MAX_LISTED).join(", ")} and ${count(rest)} more` : texts.join(", ");
}

/** "1 byte", "2 bytes" */
export function plural(number, noun) {
  return `${count(number)} ${noun}${String(number) === "1" ? "" : "s"}`;
}

/** A parameter's value with its unit. */
export function parameter(value, unit) {
  const number = whole(value);
  if (number === null) return String(value);
  if (unit === "base units") return amount(number);
  if (unit === "basis points") return `${trimmed(Number(number) / 100)}%`;
  if (unit === "bytes") return number < 1024n ? `${number} B` : `${bytes(number)}`;
  if (unit === "ns") return duration(Number(number) / 1e6);
  if (unit === "count" || !unit) return count(number);
  return unit.length > 2 && unit.endsWith("s") ? plural(number, unit.slice(0, -1)) : `${count(number)} ${unit}`;
}

/** The range of a parameter; the unit stands once where it is a word. */
export function range(min, max, unit) {
  const [low, high] = [parameter(min, unit), parameter(max, unit)];
  const word = /^[\d,]+( .+)$/.exec(high)?.[1];
  if (word && low === `1${word.replace(/s$/, "")}`) return `1 to ${high}`;
  return `${word && low.endsWith(word) ? low.slice(0, -word.length) : low} to ${high}`;
}
