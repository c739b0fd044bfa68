// The protocol's parameters, as they are now.

import { get } from "./api.js";
import { parameter } from "./format.js";

/** The rows of `/params`, by name. */
export async function parameters(signal) {
  const { params } = await get("/params?limit=1000", signal);
  return new Map(params.map((row) => [row.name, row]));
}

/** A text in which the values of parameters stand in the place of their names in braces: "{jobs.non_reveal_slash} of the stake". */
export function withParameters(text, rows) {
  return text.replace(/\{([\w.]+)\}/g, (_, name) => {
    const row = rows.get(name);
    return row ? parameter(row.value, row.unit) : name;
  });
}
