// Which validators are connected: a vote travels from its validator to a proposer directly, so a header that names it proves a connection.

import { names, withVotes } from "./consensus.js";
import { s } from "./dom.js";
import { count, ends, plural, shortList } from "./format.js";

/** The most validators that have their names in the picture. */
const MOST_NAMED = 24;

/**
 * Pairs of places in `keys`, the signers' keys in order, of which one has counted a vote of the other. Only blocks of the newest one's
 * epoch count: others have other signers. Answers the pairs, lower place first, and how many blocks counted.
 */
export function connections(keys, blocks) {
  const counted = withVotes(blocks);
  const found = new Set();
  for (const { proposer, voters } of counted) {
    const to = keys.indexOf(proposer);
    if (to < 0) continue;
    keys.forEach((_, from) => {
      if (from !== to && names(voters, from)) found.add(Math.min(from, to) * keys.length + Math.max(from, to));
    });
  }
  const pairs = [...found].sort((one, other) => one - other).map((pair) => [Math.floor(pair / keys.length), pair % keys.length]);
  return { pairs, blocks: counted.length };
}

/** For each place, the places that it is connected to. */
export function neighbours(size, pairs) {
  const all = Array.from({ length: size }, () => []);
  for (const [one, other] of pairs) {
    all[one].push(other);
    all[other].push(one);
  }
  return all;
}

/** What the picture shows, in a sentence. `labels` are of the validators, in order. */
export function mapSentence(labels, pairs) {
  const all = (labels.length * (labels.length - 1)) / 2;
  const lonely = neighbours(labels.length, pairs).flatMap((others, place) => (others.length === 0 ? [labels[place]] : []));
  const most = `${plural(labels.length, "validator")}, ${count(pairs.length)} of ${plural(all, "connection")} seen`;
  if (pairs.length === all) return `${most}: each is connected to every other.`;
  return lonely.length === 0 ? `${most}.` : `${most}; none of ${shortList(lonely)}.`;
}

/** Validators in a ring, with a line between two that are connected. `validators` are { address, label }, in order. */
export function networkMap(validators, pairs) {
  const size = 420;
  const radius = 150;
  const at = (place) => {
    const angle = (place / validators.length) * 2 * Math.PI - Math.PI / 2;
    return [size / 2 + radius * Math.cos(angle), size / 2 + radius * Math.sin(angle)].map((value) => value.toFixed(1));
  };
  const degrees = neighbours(validators.length, pairs).map((others) => others.length);
  const lines = pairs.map(([one, other]) => s("path", { class: "map-line", d: `M${at(one).join(" ")}L${at(other).join(" ")}` }));
  const nodes = validators.map(({ address, label }, place) => {
    const [x, y] = at(place);
    const side = Number(x) > size / 2 + 1 ? "start" : Number(x) < size / 2 - 1 ? "end" : "middle";
    const away = 18 * (side === "start" ? 1 : side === "end" ? -1 : 0);
    return s(
      "g",
      {},
      s("title", {}, `${label}: connected to ${count(degrees[place])}`),
      s("ellipse", { class: degrees[place] === 0 ? "map-node lonely" : "map-node", cx: x, cy: y, rx: 9, ry: 9 }),
      validators.length <= MOST_NAMED &&
        s("text", { class: "map-text", x: Number(x) + away, y: Number(y) + (side === "middle" ? (Number(y) < size / 2 ? -18 : 28) : 4), "text-anchor": side }, ends(address)),
    );
  });
  const sentence = mapSentence(validators.map(({ label }) => label), pairs);
  return s("svg", { class: "map", viewBox: `-60 0 ${size + 120} ${size}`, role: "img", "aria-label": sentence }, lines, nodes);
}
