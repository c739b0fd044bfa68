import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseJson } from "../site/json.js";
import { ALICE, BOB, COUNTER_ADDRESS, Chain, HEARTBEAT_ADDRESS, HOSTILE_ADDRESS, hashOf } from "./fixture/chain.js";
import { HOSTILE_TOKEN, TOKEN, proposals } from "./fixture/lists.js";
import { RUNNERS, jobs } from "./fixture/market.js";
import { OPENAPI, systemAddress } from "./fixture/node.js";
import { component, mismatches, schemaOf } from "./fixture/schema.js";
import { ROUTES, ScriptedNode } from "./fixture/server.js";
import { EMITTERS, VIEW_PATHS } from "./fixture/storage.js";

const chain = new Chain(0);
const node = new ScriptedNode(chain);
let base;

before(async () => {
  chain.grow(120);
  base = await node.listen();
});

after(() => node.stop());

/** Every path that the scripted node has an answer to. */
function paths() {
  const accounts = [ALICE, BOB];
  const actors = [COUNTER_ADDRESS, HEARTBEAT_ADDRESS, HOSTILE_ADDRESS];
  const emitters = [...actors, ...["Result Verifier", "Job Dispatcher"].map(systemAddress)];
  const tokens = [TOKEN, HOSTILE_TOKEN];
  const receipts = chain.blocks.flatMap((block) => block.receipts);
  const transactions = chain.blocks.flatMap((block) => block.transactions);
  return [
    ..."height health/detailed basefee supply params methods validators epoch blocks transactions accounts actors tokens names gateways".split(" "),
    ..."governance/proposals governance/council governance/upgrades search?text=he jobs runners timers".split(" "),
    ...["latest", ...chain.blocks.map(({ height }) => height)].map((id) => `block/${id}`),
    ...receipts.map((receipt) => `transaction/${receipt.tx_hash}/receipt`),
    ...transactions.flatMap(({ hash }) => [`transaction/${hash}`, `transaction/${hash}/changes`]),
    ...accounts.flatMap((address) => ["", "/tokens", "/history?limit=1000"].map((part) => `account/${address}${part}`)),
    ...actors.flatMap((address) => ["", "/names", "/rent", "/code"].map((part) => `actor/${address}${part}`)),
    ...actors.flatMap((address) => [`actors/${address}/storage`, `timers/${address}`, `permissions/${address}`]),
    ...emitters.map((address) => `actor/${address}/logs`),
    ...tokens.flatMap((id) => ["", "/holders", "/events"].map((part) => `token/${id}${part}`)),
    ...proposals().map(({ id }) => `governance/proposals/${id}`),
    ...jobs().flatMap((job) => [`job/${job.job_id}`, `job/${job.job_id}/candidates`]),
    ...RUNNERS.flatMap((address) => [`runner/${address}`, `runner/${address}/jobs`]),
  ].map((path) => `/${path}`);
}

const QUERIES = [...VIEW_PATHS, `/actor/${systemAddress("Governance")}/read_handler`, `/actor/${HEARTBEAT_ADDRESS}/read_handler`];

async function ask(path, method = "GET") {
  const answer = await fetch(base + path, { method });
  return { isSuccess: answer.ok, value: parseJson(await answer.text()) };
}

test("every answer of the scripted node has the form that the OpenAPI document gives it", async () => {
  const asked = [...paths().map((path) => ["GET", path]), ...QUERIES.map((path) => ["POST", path])];
  const wrong = [];
  for (const [method, path] of asked) {
    const { pathname } = new URL(path, base);
    const { isSuccess, value } = await ask(path, method);
    assert.ok(isSuccess, path);
    wrong.push(...mismatches(value, schemaOf(method, pathname)).map((line) => `${path} ${line}`));
  }
  assert.deepEqual(wrong, []);
  const unasked = ROUTES.filter(([pattern]) => !asked.some(([, path]) => pattern.test(new URL(path, base).pathname)));
  assert.deepEqual(unasked.map(String), [], "every route is asked");
});

test("events of system actors have the fields that the document gives them", async () => {
  for (const emitter of [...["Result Verifier", "Job Dispatcher"].map(systemAddress), ...EMITTERS]) {
    const { logs } = (await ask(`/actor/${emitter}/logs`)).value;
    assert.ok(logs.length > 0, emitter);
    for (const { name, value } of logs) assert.deepEqual(mismatches(value, component(`Event.${name}`)), [], name);
  }
});

test("what there is not, and a notice, have their forms as well", async () => {
  const path = `/transaction/${hashOf("nothing")}`;
  const { isSuccess, value } = await ask(path);
  assert.equal(isSuccess, false);
  assert.deepEqual(mismatches(value, schemaOf("GET", path, false)), []);
  const { blocks } = (await ask("/blocks")).value;
  assert.deepEqual(mismatches({ type: "block", block: blocks[0] }, component("Notice")), []);
});

// An answer with the right form, and what each change to it is told.
test("the form of an answer is checked to the last field", () => {
  const schema = component("JobChallenge");
  const claim = { challenger: ALICE, runner: BOB, claim: "no", bond: 10n ** 18n, at: 9 };
  assert.deepEqual(mismatches(claim, schema), []);
  const rows = [
    [{ ...claim, runner: null }, []],
    [{ ...claim, note: 1 }, [".note: no such field"]],
    [{ ...claim, bond: undefined }, [".bond: undefined, not integer"]],
    [{ ...claim, bond: -1 }, [".bond: -1 is less than 0"]],
    [{ ...claim, at: "9" }, [".at: string, not integer"]],
    [{ ...claim, challenger: "0x12" }, [`.challenger: 0x12 is not ${OPENAPI.components.schemas.Address.pattern}`]],
    [[], [": array, not object"]],
  ];
  for (const [value, expected] of rows) assert.deepEqual(mismatches(value, schema), expected);
  assert.deepEqual(mismatches({ state: "open" }, component("Finality")), [".state: open, not one of finalized, committed"]);
  const flattened = { block_height: 1, timestamp_ms: 0, receipt: hashOf("receipt"), index: 0, emitter: ALICE, name: "beat", data: "0x" };
  assert.deepEqual(mismatches(flattened, component("Log")), [".value: missing"]);
});
