// The protocol's own actors, as the node lists them: asked for once, when the page first needs one.

import { get } from "./api.js";

/** Address → actor, once the node has answered. */
let known = null;
let asked = null;

/** The system actors by address: { number, address, name, doc, methods, events }. Fails with the request, which the next call repeats. */
export function systemActors() {
  asked ??= get("/methods").then(
    ({ actors }) => (known = new Map(actors.map((actor) => [actor.address, actor]))),
    (problem) => {
      asked = null;
      throw problem;
    },
  );
  return asked;
}

/**
 * The name of a system actor, null for any other address: at once where the list is there, else undefined, and `later(name)` once it is;
 * null as well where the list cannot be had.
 */
export function systemName(address, later) {
  const name = () => known.get(address.toLowerCase())?.name ?? null;
  if (known !== null) return name();
  if (later) systemActors().then(() => later(name()), () => later(null));
  return undefined;
}

/** Whether a text reads like the name of a system actor; false while the node has not listed them. */
export function isSystemName(text) {
  const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
  return known !== null && [...known.values()].some(({ name }) => plain(name) === plain(text));
}

/** The address of the system actor that has a method. */
export function withMethod(method) {
  return addressWith(method, ({ methods }) => methods);
}

/** The address of the system actor that emits an event. */
export function withEvent(event) {
  return addressWith(event, ({ events }) => events);
}

async function addressWith(name, rows) {
  for (const [address, actor] of await systemActors()) if (rows(actor).some((row) => row.name === name)) return address;
  throw new Error(`This node has no system actor with ${name}.`);
}
