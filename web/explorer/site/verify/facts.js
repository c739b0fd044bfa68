// What the page tells about an answer that holds.

import { visible } from "../format.js";

/** Rows of a name and a text. What the actor sent is named as such: a header `actor` is not the actor. */
export function factsOf(result, size) {
  const rows = [
    ["Name", result.name],
    ["Actor", result.actor ?? "none"],
    ["Block", `${result.height}, ${new Date(result.timestamp_ms).toLocaleString()}`],
    ["Finalized", `epoch ${result.epoch}, view ${result.view}`],
    ["Replayed", `${result.cycles.toLocaleString()} cycles over ${result.records} proven records, ${size.toLocaleString()} bytes`],
    ["Status", `${result.status}${result.failure ? ` ${result.failure}` : ""}`],
    ...result.headers.map(([name, value]) => [`Header ${name}`, value]),
    ["The actor saw", result.seen.map(([name, value]) => `${name}: ${value}`).join("; ")],
  ];
  return rows.map((row) => row.map(visible));
}
