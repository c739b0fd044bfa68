// Volumes and the relays that keep them.

import { get, post } from "../api.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { authority, bytes, clip, count, plural } from "../format.js";
import { badge, empty, facts, heightLink, identifier, money, panel, route, table, who } from "../parts.js";
import { withEvent, withMethod } from "../system.js";

const NEWEST = 100;

/** The event of a new volume. */
export const CREATED = "volume.created";

/** The views of system actors that these pages ask. */
export const SYSTEM_VIEWS = ["list_relays", "get_volume", "list_caps"];
const [RELAYS, VOLUME, CAPABILITIES] = SYSTEM_VIEWS;

/** What a view of a system actor returns. */
async function view(method, argument, signal) {
  const { result } = await post(`/actors/${await withMethod(method)}/views/${method}`, argument, signal);
  return result;
}

/** All relays: a page begins with the last of the one before it, and one without another relay is the last. */
export async function allRelays(page) {
  const found = new Map();
  for (let last; ; ) {
    const before = found.size;
    for (const row of await page(last === undefined ? {} : { first: last })) found.set((last = row.address), row);
    if (found.size === before) return [...found.values()];
  }
}

/** See VIEWS in main.js. */
export async function storageView(_, { live, signal }) {
  const box = h("div", {});
  const emitter = await withEvent(CREATED);
  const draw = async () => {
    const [relays, { logs }] = await Promise.all([
      allRelays((argument) => view(RELAYS, argument, signal)),
      get(`/actor/${emitter}/logs?order=desc&limit=${NEWEST}`, signal),
    ]);
    const created = logs.filter(({ name }) => name === CREATED).map(({ value }) => value);
    replace(box, volumesPanel(created), relaysPanel(relays));
  };
  await draw();
  follow(live, signal, draw);
  const about = "A volume is a set of files whose shards lie with relays. Neither the chain nor a relay knows their names or their content.";
  const node = h("div", {}, h("div", { class: "title" }, h("h1", {}, "Storage"), h("p", { class: "soft" }, about)), box);
  return { title: "Storage", node };
}

function volumesPanel(created) {
  if (created.length === 0) return panel({ title: "Newest volumes" }, empty("No volume was created lately."));
  const columns = [
    { name: "Volume", cell: (row) => identifier(row.volume_id, { href: route.volume(row.volume_id), what: "the id" }) },
    { name: "Owner", cell: (row) => who(row.owner) },
    { name: "First escrow", end: true, cell: (row) => money(row.amount) },
  ];
  return panel({ title: "Newest volumes", aside: count(created.length), flush: true }, table(columns, created, { caption: "Volumes" }));
}

function relayState(relay) {
  if (relay.left_at != null) return badge("bad", "left");
  if (!relay.is_healthy) return badge("wait", "silent");
  if (relay.gave_way_at != null) return badge("wait", "gave way");
  if (!relay.is_eligible) return badge("wait", "short of stake");
  return relay.rests_until == null ? badge("good", "up") : badge("wait", "rests");
}

function relaysPanel(relays) {
  if (relays.length === 0) return panel({ title: "Relays" }, empty("No relay is registered."));
  const columns = [
    { name: "Relay", cell: (row) => who(row.address) },
    { name: "State", cell: relayState },
    { name: "Address", class: "optional", cell: (row) => h("span", { class: "breakable" }, clip(authority(row.endpoint, row.port), 256)) },
    { name: "Region", class: "optional", cell: (row) => clip(row.region, 16) },
    { name: "Slots", end: true, cell: (row) => count(row.slots) },
    { name: "Reserved", end: true, class: "optional", cell: (row) => `${bytes(row.reserved)} of ${bytes(row.capacity)}` },
    { name: "Missed proofs in a row", end: true, cell: (row) => count(row.misses) },
    { name: "Next proof", end: true, class: "optional", cell: (row) => count(row.next_draw) },
    { name: "Stake", end: true, cell: (row) => money(row.stake, 2) },
  ];
  return panel({ title: "Relays", aside: count(relays.length), flush: true }, table(columns, relays, { caption: "Relays" }));
}

const KEYS = { public: "none: everybody reads it", committee: "the committee of secrets makes them", owner: "its owner keeps them" };
const STATES = { active: "good", grace_period: "wait", deleted: "bad" };

/** See VIEWS in main.js. */
export async function volumeView([id], { live, signal }) {
  const box = h("div", {});
  const draw = async () => {
    const [volume, capabilities] = await Promise.all([
      view(VOLUME, { volume: id }, signal),
      view(CAPABILITIES, { volume: id }, signal),
    ]);
    if (volume === null) replace(box, panel({ title: "Volume" }, empty("The chain has no such volume.")));
    else replace(box, factsPanel(volume), slotsPanel(volume), partitionsPanel(volume), capabilitiesPanel(capabilities));
  };
  await draw();
  follow(live, signal, draw);
  return { title: "Volume", node: h("div", {}, h("div", { class: "title" }, h("h1", {}, "Volume"), identifier(id, { full: true, what: "the id" })), box) };
}

function factsPanel(volume) {
  const used = BigInt(volume.bytes) * BigInt(volume.data);
  return panel(
    { title: "Facts" },
    facts(
      ["Owner", who(volume.owner)],
      ["State", badge(STATES[volume.status], volume.status.replace("_", " "))],
      ["Code", `${volume.data}+${volume.parity}: any ${volume.parity} of ${plural(volume.slots.length, "relay")} may be lost`],
      ["Keys", KEYS[volume.keys]],
      ["Used", `${bytes(used)} of ${bytes(volume.quota)}`],
      ["Escrow", money(volume.escrow)],
      ["Earned by relays, not yet paid", money(volume.owed)],
      ["Costs in an epoch", money(volume.per_epoch)],
      ["Manifest root", identifier(volume.manifest_root)],
    ),
  );
}

function slotsPanel({ slots }) {
  const rows = slots.map((slot, place) => ({ ...slot, place }));
  const columns = [
    { name: "Slot", end: true, cell: (row) => count(row.place) },
    { name: "Relay", cell: (row) => (row.relay ? who(row.relay) : h("span", { class: "faint" }, "none")) },
    { name: "State", cell: (row) => (row.is_serving ? badge("good", "serves") : badge("wait", row.relay ? "rebuilds" : "vacant")) },
    { name: "Since", end: true, class: "optional", cell: (row) => heightLink(row.since) },
    { name: "Price of a MiB and epoch", end: true, class: "optional", cell: (row) => money(row.price) },
  ];
  return panel({ title: "Slots", aside: count(rows.length), flush: true }, table(columns, rows, { caption: "Slots" }));
}

function partitionsPanel({ partitions, data }) {
  if (partitions.length === 0) return panel({ title: "Partitions" }, empty("There are no files."));
  const columns = [
    { name: "Hash of the name", cell: (row) => identifier(row.partition) },
    { name: "Root", class: "optional", cell: (row) => identifier(row.root) },
    { name: "Size", end: true, cell: (row) => bytes(BigInt(row.bytes) * BigInt(data)) },
  ];
  return panel({ title: "Partitions", aside: count(partitions.length), flush: true }, table(columns, partitions, { caption: "Partitions" }));
}

function capabilitiesPanel(capabilities) {
  if (capabilities.length === 0) return panel({ title: "Capabilities" }, empty("Only the owner may use it, or everybody where it is public."));
  const columns = [
    { name: "Holder", cell: (row) => who(row.holder) },
    { name: "May", cell: (row) => ({ r: "read", w: "write", rw: "read and write" })[row.mode] },
    { name: "Partition", class: "optional", cell: (row) => identifier(row.partition) },
    { name: "Written", end: true, class: "optional", cell: (row) => `${bytes(row.used_bytes)} of ${bytes(row.max_bytes)}` },
    { name: "Until", end: true, cell: (row) => count(row.until) },
  ];
  return panel({ title: "Capabilities", aside: count(capabilities.length), flush: true }, table(columns, capabilities, { caption: "Capabilities" }));
}
