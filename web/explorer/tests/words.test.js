import assert from "node:assert/strict";
import test from "node:test";
import { KINDS, nodeOf } from "../site/parts.js";
import { withParameters } from "../site/parameters.js";
import { ENDINGS, STATUSES, VERDICTS } from "../site/verdicts.js";
import { STATES as RENT } from "../site/views/actor/rent.js";
import { STAGES } from "../site/views/governance.js";
import { HEALTH, SLASHES, delegationSentence, reputationMax } from "../site/views/runners.js";
import { KINDS as RESULTS } from "../site/views/search.js";
import { RELEASE_EVENTS, STORED, SYSTEM_VIEWS as OF_SECRETS } from "../site/views/secrets.js";
import { CREATED, SYSTEM_VIEWS } from "../site/views/storage.js";
import { OPENAPI, PARAMETERS, SYSTEM_ACTORS } from "./fixture/node.js";
import { wordsIn, wordsOf } from "./fixture/schema.js";

const rows = new Map(PARAMETERS.map((row) => [row.name, row]));

test("tables of words have the words that the OpenAPI document lists, and no others", () => {
  const kinds = OPENAPI.paths["/transactions"].get.parameters.find(({ name }) => name === "kind");
  const tables = [
    [STATUSES, wordsOf("JobSummary", "status")],
    [VERDICTS, wordsOf("JobMember", "verdict")],
    [HEALTH, wordsOf("Runner", "health")],
    [STAGES, wordsOf("Proposal", "stage")],
    [RENT, wordsOf("Rent", "state")],
    [RESULTS, wordsOf("SearchResult", "kind")],
    [KINDS, wordsIn(kinds)],
  ];
  for (const [table, words] of tables) {
    assert.ok(words.length > 1, Object.keys(table).join());
    assert.deepEqual(Object.keys(table).sort(), words.sort());
  }
});

test("what the page looks for by name is of one system actor", () => {
  const having = (part, name) => SYSTEM_ACTORS.filter((actor) => actor[part].some((row) => row.name === name)).map((actor) => actor.name);
  for (const name of [...SYSTEM_VIEWS, "preview"]) assert.equal(having("methods", name).length, 1, name);
  assert.equal(having("events", CREATED).length, 1);
  const [secrets, ...others] = having("events", STORED);
  assert.deepEqual(others, []);
  // Other actors have views of these names, too.
  for (const name of OF_SECRETS) assert.ok(having("methods", name).includes(secrets), name);
  // The page reads each of these groups among the events of one actor.
  for (const group of [ENDINGS, Object.keys(SLASHES), Object.keys(RELEASE_EVENTS)]) {
    const emitters = group.flatMap((name) => having("events", name));
    assert.equal(emitters.length, group.length, group.join());
    assert.equal(new Set(emitters).size, 1, group.join());
  }
});

test("sentences about verdicts have the numbers of the parameters", () => {
  const moved = new Map(rows);
  const set = (name, value) => moved.set(name, { ...rows.get(name), value });
  set("jobs.reputation_timeout", 7);
  set("jobs.non_reveal_slash", 1_250);
  const sentence = (verdict, of) => withParameters(VERDICTS[verdict][2], of);
  assert.match(sentence("timedout", rows), /no pay, −5 reputation$/);
  assert.match(sentence("timedout", moved), /no pay, −7 reputation$/);
  assert.match(sentence("unrevealed", moved), /: 12\.5% of the stake is slashed/);
  for (const [verdict, [, , text]] of Object.entries(VERDICTS)) {
    for (const [, name] of text.matchAll(/\{(.+?)\}/g)) assert.ok(rows.has(name), `${verdict}: ${name}`);
    assert.ok(!/\d/.test(text), `${verdict} has a number of its own`);
  }
  assert.equal(reputationMax(rows), 200);
  assert.equal(reputationMax(new Map()), null);
});

test("a runner's page says how much of what others delegate counts, by the parameter", () => {
  const moved = (value) => new Map(rows).set("jobs.self_bond", { ...rows.get("jobs.self_bond"), value });
  assert.match(delegationSentence(rows), /jobs up to 9 times the runner's own stake, /);
  assert.match(delegationSentence(moved(3_000)), /jobs up to 2\.33 times the runner's own stake, /);
  assert.match(delegationSentence(moved(10_000)), /jobs up to 0 times the runner's own stake, /);
  assert.match(delegationSentence(moved(0)), /jobs without a limit, /);
});

test("values that are too deep to draw become nodes all the same", () => {
  let deep = [];
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  let node = nodeOf(deep);
  let levels = 0;
  for (; node.type === "list"; levels += 1) [node] = node.value;
  assert.deepEqual([node.value, levels], ["…", 65]);
});
