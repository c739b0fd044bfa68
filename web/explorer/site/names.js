// What actors call themselves: the name of the class in their source, looked up once an address.
//
// A name is the author's claim and never stands alone: the end of the address stands beside it.

import { find } from "./api.js";

const MAX_LOOKUPS = 200;

const names = new Map();

/**
 * The name of an actor's class, as its author wrote it; null where the source has none. Between `@actor` and its class are few lines at most: without
 * a limit, a source of nothing but `@actor` takes minutes.
 */
export function classNameOf(source) {
  const found =
    /^@(?:[\w.]+\.)?actor\b[^\n]*\n(?:[@#][^\n]*\n){0,20}class\s+([A-Za-z_]\w{0,40})/m.exec(source) ?? /^class\s+(Actor)\b/m.exec(source);
  return found ? found[1] : null;
}

/** The name of the actor at an address: at once where it is known, else undefined, and `later(name)` once it is. */
export function actorName(address, later) {
  const known = names.get(address);
  if (known === undefined && names.size < MAX_LOOKUPS) names.set(address, lookUp(address));
  const entry = names.get(address);
  if (!(entry instanceof Promise)) return entry;
  entry.then((name) => name && later(name));
  return undefined;
}

/** Keeps what a source says, which is then not asked for again. */
export function learn(address, source) {
  names.set(address, classNameOf(source));
}

async function lookUp(address) {
  try {
    learn(address, (await find(`/actor/${address}/code`))?.source ?? "");
  } catch {
    // A node that is away: the next page asks again.
    names.delete(address);
    return null;
  }
  return names.get(address);
}
