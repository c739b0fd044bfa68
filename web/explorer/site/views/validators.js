// Who agrees on blocks, and where the chain is in its epoch.

import { find, get } from "../api.js";
import { givenUp, leftOutText, longestRuns, shareText, statusOf, votes } from "../consensus.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { count, ends, percent, plural, shortList } from "../format.js";
import { connections, mapSentence, neighbours, networkMap } from "../map.js";
import { PAGE_ROWS, badge, empty, facts, identifier, longTable, money, panel, tally, who } from "../parts.js";

/** Between two reads of the newest blocks, which are many. */
const PAUSE_MS = 3_000;

/** Signers of which a picture shows every connection. */
const MAX_DRAWN = 64;

/** See VIEWS in main.js. */
export async function validatorsView(_, { live, signal }) {
  const body = h("div", {});
  const views = [{ shown: PAGE_ROWS }, { shown: PAGE_ROWS }];
  const draw = async () => replace(body, ...(await parts(signal, views)));
  await draw();
  follow(live, signal, draw, { pause: PAUSE_MS });
  return { title: "Validators", node: h("div", {}, h("div", { class: "title" }, h("h1", {}, "Validators")), body) };
}

async function parts(signal, [view, viewOfMap]) {
  const [{ validators, total_count: total, is_dealt: isDealt }, epoch, blocks] = await Promise.all([
    get("/validators?limit=1000", signal),
    find("/epoch", signal),
    find("/blocks?limit=200", signal),
  ]);
  const stakes = validators.reduce((sum, validator) => sum + BigInt(validator.stake), 0n);
  const recent = blocks?.blocks ?? [];
  const runs = longestRuns(recent);
  const skipped = recent.reduce((sum, block) => sum + givenUp(block.messages ?? []), 0);
  const signing = validators.filter((validator) => validator.is_signing);
  const seen = votes(signing.map(({ consensus_key }) => consensus_key), recent);
  // Only who signs has votes.
  const ofVotes = (show) => (validator) => {
    const found = seen[signing.indexOf(validator)];
    return found && found.voted + found.missed > 0 ? show(found) : "–";
  };
  const columns = [
    { name: "Validator", cell: (validator) => who(validator.address) },
    { name: "Status", cell: statusCell },
    { name: "Stake", end: true, cell: (validator) => money(validator.stake, 2) },
    { name: "Share", end: true, cell: (validator) => (stakes > 0n ? percent(validator.stake, stakes) : "–") },
    {
      name: `Proposed of the last ${plural(recent.length, "block")}`,
      end: true,
      cell: (validator) => count(recent.filter(({ proposer }) => proposer === validator.consensus_key).length),
    },
    { name: "Most in a row", end: true, cell: (validator) => count(runs.get(validator.consensus_key) ?? 0) },
    { name: "Votes seen", end: true, cell: ofVotes(({ voted }) => count(voted)) },
    { name: "Missed", end: true, cell: ofVotes(({ missed }) => count(missed)) },
    { name: "Uptime", end: true, cell: ofVotes(({ voted, missed }) => percent(voted, voted + missed)) },
    { name: "Key share", cell: (validator) => [shareText(validator.share), leftOutText(validator.left_out)].filter(Boolean).join("; ") },
    { name: "Consensus key", class: "optional", cell: (validator) => identifier(validator.consensus_key) },
    { name: "BLS key", class: "optional", cell: (validator) => identifier(validator.bls_key) },
  ];
  return [
    epoch &&
      panel(
        { title: "Epoch" },
        facts(
          ["Epoch", count(epoch.epoch)],
          ["View", count(epoch.view)],
          Number(epoch.length) > 0 && ["Length", plural(epoch.length, "block")],
          ["Block number", count(epoch.number)],
          isDealt === false && ["Last dealing", badge("bad", "Failed"), " The signers of the epoch before continue."],
          ["Rounds without a block", `${count(skipped)} beside the last ${plural(recent.length, "block")}`],
        ),
      ),
    validators.length === 0
      ? panel({ title: "Validators" }, empty("No validator."))
      : panel({ title: "Validators", aside: tally(validators.length, total), flush: true }, longTable(columns, validators, { caption: "Validators", view })),
    mapPanel(signing, recent, viewOfMap),
  ];
}

/** The status of a validator: in jail or not, until when, how often. */
function statusCell(validator) {
  const { kind, word, more } = statusOf(validator);
  return h("span", {}, badge(kind, word), more && ` ${more}`);
}

/** Who is connected to whom, as a picture and as a table. Nothing where a validator signs alone. */
function mapPanel(signers, recent, view) {
  // A bitmap of voters has the order of the keys, as the list of validators has.
  const signing = signers.map((validator) => ({ ...validator, label: ends(validator.address) }));
  if (signing.length < 2) return null;
  const { pairs, blocks } = connections(signing.map(({ consensus_key }) => consensus_key), recent);
  const others = neighbours(signing.length, pairs);
  const labelled = (places) => shortList(places.map((place) => signing[place].label));
  const listed = (places) => (places.length === 0 ? "none" : places.length === signing.length - 1 ? "all others" : labelled(places));
  const missing = (place) => {
    const known = new Set(others[place]).add(place);
    return signing.map((_, at) => at).filter((at) => !known.has(at));
  };
  const rows = signing.map((validator, place) => ({ validator, place }));
  const columns = [
    { name: "Validator", cell: ({ validator }) => who(validator.address) },
    { name: "Connected to", cell: ({ place }) => listed(others[place]) },
    { name: "Not seen connected to", cell: ({ place }) => listed(missing(place)) },
  ];
  const sentence = mapSentence(signing.map(({ label }) => label), pairs);
  return panel(
    { title: "Who is connected to whom", aside: `by the votes in ${plural(blocks, "block")}` },
    signing.length <= MAX_DRAWN && networkMap(signing, pairs),
    h("p", { class: "map-says" }, sentence, " Two validators are connected if one of them has counted a vote of the other in this epoch."),
    longTable(columns, rows, { caption: "Connections of the validators", view }),
  );
}
