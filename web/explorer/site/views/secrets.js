// Secrets: the key that they are sealed to, who holds it, and who was released what. The chain knows no value and no name.

import { get, post } from "../api.js";
import { sameHex } from "../bytes.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { authority, bytes, clip, count } from "../format.js";
import { badge, empty, facts, heightLink, identifier, money, panel, route, table, who } from "../parts.js";
import { withEvent } from "../system.js";

const NEWEST = 200;

/** Between two reads of these events, which are many, and of up to 32 versions. */
const PAUSE_MS = 3_000;

/** The event of a new version of a secret: its emitter has the views. */
export const STORED = "secret.stored";

/** The events of a release → how it then stands. */
export const RELEASE_EVENTS = { "release.opened": "open", "release.closed": "closed", "release.lapsed": "lapsed" };

const STATES = { open: "wait", closed: "good", lapsed: "bad" };

/** The phases in which dealers speak; in the others players do. */
const OF_DEALERS = ["deal", "log"];

/** The views of the emitter that these pages ask. */
export const SYSTEM_VIEWS = ["get_key", "get_round", "get_secret", "get_version", "get_proxy"];
const [KEY, ROUND, SECRET, VERSION, PROXY] = SYSTEM_VIEWS;

/** Between two reads of the same proxies. */
const PROXIES_MS = 30_000;

/** Events of releases, the newest first → the releases that were opened among them, the newest first, each as it stands now. */
export function releasesOf(logs) {
  const ends = new Map();
  const releases = [];
  for (const { name, value, block_height: height } of logs) {
    const state = RELEASE_EVENTS[name];
    if (state === undefined) continue;
    if (state === "open") releases.push({ state, served: null, ...value, opened_at: height, ...ends.get(value.release_id) });
    else ends.set(value.release_id, { state, served: value.served ?? null });
  }
  return releases;
}

/** Of the releases among events, those of one secret. */
export function releasesOfSecret(account, hash, logs) {
  return releasesOf(logs).filter((row) => sameHex(row.account, account) && sameHex(row.name_hash, hash));
}

/** The proxies that a key, a dealing or events name, ascending by address: the chain has no list of them. */
export function proxiesIn(values) {
  const seats = values.flatMap((value) => [value?.members, value?.dealers, value?.players].flatMap((list) => list ?? []));
  const named = [...seats.map((seat) => seat.address), ...values.map((value) => value?.proxy)];
  return [...new Set(named.filter((text) => typeof text === "string").map((text) => text.toLowerCase()))].sort();
}

/** Reads proxies: anew where others are asked for, or after a while. */
function proxyReader(actor, signal) {
  let [asked, at, rows] = ["", 0, []];
  return async (addresses) => {
    if (asked !== addresses.join() || performance.now() - at > PROXIES_MS) {
      const found = await Promise.allSettled(addresses.map((proxy) => view(actor, PROXY, { address: proxy }, signal)));
      [asked, at, rows] = [addresses.join(), performance.now(), found.flatMap(({ value }) => value ?? [])];
    }
    return rows;
  };
}

/** The indices whose bits are set. */
export function indices(bits) {
  return Array.from({ length: 16 }, (_, index) => index).filter((index) => (bits >> index) & 1);
}

/** What a view of 0x04 returns. */
async function view(address, method, argument, signal) {
  const { result } = await post(`/actors/${address}/views/${method}`, argument, signal);
  return result;
}

/** See VIEWS in main.js. */
export async function secretsView(_, { live, signal }) {
  const box = h("div", {});
  const address = await withEvent(STORED);
  const proxies = proxyReader(address, signal);
  const draw = async () => {
    const [key, round, { logs }] = await Promise.all([
      view(address, KEY, {}, signal),
      view(address, ROUND, {}, signal),
      get(`/actor/${address}/logs?order=desc&limit=${NEWEST}`, signal),
    ]);
    const stored = logs.filter(({ name }) => name === STORED);
    const members = await proxies(proxiesIn([key, round, ...logs.map(({ value }) => value)]));
    replace(box, keyPanel(key), round && roundPanel(round), proxiesPanel(members), storedPanel(stored), releasesPanel(releasesOf(logs)));
  };
  await draw();
  follow(live, signal, draw, { pause: PAUSE_MS });
  const about = "A secret is sealed to a key of which no proxy has more than a share. The chain knows no value and no name, but a hash of each name.";
  const node = h("div", {}, h("div", { class: "title" }, h("h1", {}, "Secrets"), h("p", { class: "soft" }, about)), box);
  return { title: "Secrets", node };
}

function keyPanel(key) {
  if (key === null || key.master === null) return panel({ title: "Key" }, empty("No committee holds a key yet."));
  return panel(
    { title: "Key" },
    facts(
      ["Number", count(key.key_id)],
      ["Public key", identifier(key.master, { what: "the key" })],
      ["Committee", `${count(key.epoch)}: ${key.threshold} of ${key.members.length} have to answer`],
      ["Answers since", heightLink(key.since)],
      ["Next draw", count(key.next_draw)],
      ["Opens until", key.sunset === null ? null : count(key.sunset)],
      ["Members", h("ol", {}, key.members.map((member) => h("li", {}, who(member.address))))],
    ),
  );
}

function roundPanel(round) {
  const speakers = OF_DEALERS.includes(round.phase) ? round.dealers : round.players;
  return panel(
    { title: "Dealing" },
    facts(
      ["Number", `${count(round.round)}, of key ${count(round.key_id)}`],
      ["Began at", heightLink(round.begun_at)],
      ["Phase", `${round.phase}, until ${count(round.ends_at)}`],
      ["Spoke", `${indices(round.spoke).length} of ${speakers.length}`],
      ["Deal", `${round.dealers.length}`],
      ["Receive", `${round.players.length}`],
    ),
  );
}

function proxyState(proxy) {
  if (proxy.left_at != null) return badge("bad", "left");
  return proxy.is_able ? badge("good", "can be drawn") : badge("wait", "cannot be drawn");
}

function proxiesPanel(proxies) {
  const title = "Proxies with a seat or in the newest events";
  if (proxies.length === 0) return panel({ title }, empty("No proxy registered lately."));
  const columns = [
    { name: "Proxy", cell: (row) => who(row.address) },
    { name: "State", cell: proxyState },
    { name: "Address", class: "optional", cell: (row) => h("span", { class: "breakable" }, clip(authority(row.endpoint, row.port), 256)) },
    { name: "Missed demands", end: true, class: "optional", cell: (row) => count(row.silences) },
    { name: "Heard of at", end: true, class: "optional", cell: (row) => heightLink(row.last_heartbeat) },
    { name: "Stake", end: true, cell: (row) => money(row.stake, 2) },
  ];
  return panel({ title, aside: count(proxies.length), flush: true }, table(columns, proxies, { caption: "Proxies" }));
}

function storedPanel(stored) {
  if (stored.length === 0) return panel({ title: "Newest secrets" }, empty("No secret was stored lately."));
  const columns = [
    { name: "Hash of the name", cell: ({ value }) => identifier(value.name_hash, { href: route.secret(value.account, value.name_hash) }) },
    { name: "Owner", cell: ({ value }) => who(value.account) },
    { name: "Version", end: true, cell: ({ value }) => count(value.version) },
    { name: "Stored at", end: true, cell: (row) => heightLink(row.block_height) },
  ];
  return panel({ title: "Newest secrets", aside: count(stored.length), flush: true }, table(columns, stored, { caption: "Secrets" }));
}

function releasesPanel(releases) {
  if (releases.length === 0) return panel({ title: "Releases" }, empty("Nothing was released lately."));
  const columns = [
    { name: "Release", cell: (row) => identifier(row.release_id) },
    { name: "State", cell: (row) => badge(STATES[row.state], row.state) },
    { name: "What", class: "optional", cell: releasedThing },
    { name: "Recipient", cell: (row) => who(row.recipient) },
    { name: "Answered", class: "optional", cell: (row) => (row.served === null ? "–" : indices(row.served).join(", ")) },
    { name: "Opened at", end: true, cell: (row) => heightLink(row.opened_at) },
  ];
  return panel({ title: "Releases", aside: count(releases.length), flush: true }, table(columns, releases, { caption: "Releases" }));
}

/** Whether a release is of a volume's key: the versions of these count on from the volume's generation, times 65,536. */
export function isVolumeKey({ version }) {
  return BigInt(version) > 65_536n;
}

function releasedThing(row) {
  if (isVolumeKey(row)) return h("span", {}, "key of volume ", identifier(row.name_hash, { href: route.volume(row.name_hash), what: "the id" }));
  return h("span", {}, identifier(row.name_hash, { href: route.secret(row.account, row.name_hash) }), `, version ${count(row.version)}`);
}

/** See VIEWS in main.js. */
export async function secretView([account, hash], { live, signal }) {
  const box = h("div", {});
  const address = await withEvent(STORED);
  const draw = async () => {
    const asked = { account, name_hash: hash };
    const [secret, { logs }] = await Promise.all([
      view(address, SECRET, asked, signal),
      get(`/actor/${address}/logs?order=desc&limit=${NEWEST}`, signal),
    ]);
    if (secret === null) return replace(box, panel({ title: "Secret" }, empty("The account has no such secret.")));
    const versions = await Promise.all(secret.versions.map((version) => view(address, VERSION, { ...asked, version }, signal)));
    const own = releasesOfSecret(account, hash, logs);
    return replace(box, secretPanel(account, secret), versionsPanel(versions.filter((version) => version !== null).reverse()), releasesPanel(own));
  };
  await draw();
  follow(live, signal, draw, { pause: PAUSE_MS });
  const title = h("div", { class: "title" }, h("h1", {}, "Secret"), identifier(hash, { full: true, what: "the hash of the name" }));
  return { title: "Secret", node: h("div", {}, title, box) };
}

function secretPanel(account, secret) {
  const state = secret.is_paused ? badge("wait", "paused") : badge("good", "released to whom its policy names");
  return panel({ title: "Facts" }, facts(["Owner", who(account)], ["State", state], ["Newest version", count(secret.latest)]));
}

function versionsPanel(versions) {
  const columns = [
    { name: "Version", end: true, cell: (row) => count(row.version) },
    { name: "Policy", cell: (row) => identifier(row.policy, { what: "the policy" }) },
    { name: "Sealed", end: true, cell: (row) => bytes((row.sealed.length - 2) / 2) },
    { name: "To key", end: true, class: "optional", cell: (row) => count(row.key_id) },
    { name: "Released", end: true, cell: (row) => count(row.released) },
    { name: "Deposit", end: true, class: "optional", cell: (row) => money(row.deposit) },
    { name: "Stored at", end: true, cell: (row) => heightLink(row.stored_at) },
  ];
  return panel({ title: "Versions", aside: count(versions.length), flush: true }, table(columns, versions, { caption: "Versions" }));
}
