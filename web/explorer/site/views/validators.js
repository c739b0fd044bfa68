// Who agrees on blocks, and where the chain is in its epoch.

import { find, get } from "../api.js";
import { givenUp, longestRuns, shareText } from "../consensus.js";
import { h } from "../dom.js";
import { count, ends, percent, plural } from "../format.js";
import { connections, mapSentence, neighbours, networkMap } from "../map.js";
import { empty, facts, identifier, money, panel, table, who } from "../parts.js";

/** See VIEWS in main.js. */
export async function validatorsView(_, { signal }) {
  const [{ validators }, epoch, blocks] = await Promise.all([
    get("/validators?limit=1000", signal),
    find("/epoch", signal),
    find("/blocks?limit=200", signal),
  ]);
  const stakes = validators.reduce((sum, validator) => sum + BigInt(validator.stake), 0n);
  const recent = blocks?.blocks ?? [];
  const runs = longestRuns(recent);
  const skipped = recent.reduce((sum, block) => sum + givenUp(block.messages ?? []), 0);
  const columns = [
    { name: "Validator", cell: (validator) => who(validator.address) },
    { name: "Stake", end: true, cell: (validator) => money(validator.stake, 2) },
    { name: "Share", end: true, cell: (validator) => (stakes > 0n ? percent(validator.stake, stakes) : "–") },
    {
      name: `Led of the last ${count(recent.length)} blocks`,
      end: true,
      cell: (validator) => count(recent.filter(({ proposer }) => proposer === validator.consensus_key).length),
    },
    { name: "Most in a row", end: true, cell: (validator) => count(runs.get(validator.consensus_key) ?? 0) },
    { name: "Key share", cell: (validator) => shareText(validator.share) },
    { name: "Consensus key", class: "optional", cell: (validator) => identifier(validator.consensus_key) },
    { name: "BLS key", class: "optional", cell: (validator) => identifier(validator.bls_key) },
  ];
  const node = h(
    "div",
    {},
    h("div", { class: "title" }, h("h1", {}, "Validators")),
    epoch &&
      panel(
        { title: "Epoch" },
        facts(
          ["Epoch", count(epoch.epoch)],
          ["View", count(epoch.view)],
          Number(epoch.length) > 0 && ["Length", `${count(epoch.length)} blocks`],
          ["Block number", count(epoch.number)],
          ["Rounds without a block", `${count(skipped)} beside the last ${count(recent.length)} blocks`],
        ),
      ),
    validators.length === 0
      ? panel({ title: "Validators" }, empty("No validator."))
      : panel({ title: "Validators", aside: count(validators.length), flush: true }, table(columns, validators, { caption: "Validators" })),
    mapPanel(validators, recent),
  );
  return { title: "Validators", node };
}

/** Who is connected to whom, as a picture and as a table. Nothing where a validator signs alone. */
function mapPanel(validators, recent) {
  // A bitmap of voters has the order of the keys, as the list of validators has.
  const signing = validators.filter((validator) => validator.is_signing).map((validator) => ({ ...validator, label: ends(validator.address) }));
  if (signing.length < 2) return null;
  const { pairs, blocks } = connections(signing.map(({ consensus_key }) => consensus_key), recent);
  const others = neighbours(signing.length, pairs);
  const listed = (places) => (places.length === 0 ? "none" : places.length === signing.length - 1 ? "all others" : places.map((place) => signing[place].label).join(", "));
  const rows = signing.map((validator, place) => ({ validator, others: others[place], missing: signing.map((_, at) => at).filter((at) => at !== place && !others[place].includes(at)) }));
  const columns = [
    { name: "Validator", cell: ({ validator }) => who(validator.address) },
    { name: "Connected to", cell: (row) => listed(row.others) },
    { name: "Not seen connected to", cell: (row) => listed(row.missing) },
  ];
  const sentence = mapSentence(signing.map(({ label }) => label), pairs);
  return panel(
    { title: "Who is connected to whom", aside: `by the votes in ${plural(blocks, "block")}` },
    networkMap(signing, pairs),
    h("p", { class: "map-says" }, sentence, " Two validators are connected if one of them has counted a vote of the other in this epoch."),
    table(columns, rows, { caption: "Connections of the validators" }),
  );
}
