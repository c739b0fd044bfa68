// What the page tells about an answer that holds.

import { clip } from "../format.js";
import { MAX_HEADERS, SHOWN } from "./limits.js";

/** Rows of a name and a text. What the actor sent is named as such: a header `actor` is not the actor. */
export function factsOf(result, size) {
  const rows = [
    ["Name", result.name],
    ["Actor", result.actor ?? "none"],
    ["Block", `${result.height}, ${new Date(result.timestamp_ms).toLocaleString()}`],
    ["Finalized", `epoch ${result.epoch}, view ${result.view}`],
    ["Replayed", `${result.cycles.toLocaleString()} cycles over ${result.records} proven records, ${size.toLocaleString()} bytes`],
    ["Status", `${result.status}${result.failure ? ` ${result.failure}` : ""}`],
    ...result.headers.slice(0, MAX_HEADERS).map(([name, value]) => [`Header ${name}`, value]),
    ["The actor saw", result.seen.slice(0, MAX_HEADERS).map(([name, value]) => `${name}: ${value}`).join("; ")],
  ];
  const left = result.headers.length - MAX_HEADERS;
  if (left > 0) rows.push(["More headers", String(left)]);
  return rows.map((row) => row.map((text) => clip(text, SHOWN.header)));
}
