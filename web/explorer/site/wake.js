// What a timer's payload means to the SDK: a named handler, or an interval that arms itself again.

import { toText } from "./bytes.js";
import * as cbor from "./cbor.js";

const INTERVAL_TAG = [0x00, 0x43, 0x49, 0x4e, 0x54];
const EVERY_START = INTERVAL_TAG.length + 32;
const NAME_START = EVERY_START + 3 * 8 + 2;

/**
 * What a timer will run: { handler, every, data }. `every` is the number of blocks between fires, null for one that fires
 * once; `handler` is null where the payload names none and the timer's own handler runs.
 */
export function wakeOf(bytes) {
  return intervalOf(bytes) ?? namedOf(bytes) ?? { handler: null, every: null, data: bytes };
}

/** tag ‖ id (32) ‖ blocks, cycles and cells (8 each) ‖ length of the handler's name (2) ‖ name ‖ data */
function intervalOf(bytes) {
  if (bytes.length < NAME_START || !INTERVAL_TAG.every((byte, at) => bytes[at] === byte)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = NAME_START + view.getUint16(NAME_START - 2);
  const handler = bytes.length < end ? null : toText(bytes.subarray(NAME_START, end));
  return handler === null ? null : { handler, every: view.getBigUint64(EVERY_START), data: bytes.slice(end) };
}

/** The canonical CBOR map of `_handler` and `_payload`. */
function namedOf(bytes) {
  const node = bytes[0] === 0xa2 ? cbor.tryDecode(bytes) : null;
  const fields = node === null ? new Map() : new Map(node.value.map(([key, value]) => [key.value, value]));
  const [handler, payload] = [fields.get("_handler"), fields.get("_payload")];
  return handler?.type === "text" && payload?.type === "bytes" ? { handler: handler.value, every: null, data: payload.value } : null;
}
