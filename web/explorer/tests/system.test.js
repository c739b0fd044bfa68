import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemActors, systemName, withEvent, withMethod } from "../site/system.js";
import { ALICE, Chain } from "./fixture/chain.js";
import { SYSTEM_ACTORS, systemAddress } from "./fixture/node.js";
import { ScriptedNode } from "./fixture/server.js";

const { fetch } = globalThis;
const chain = new Chain(0);
const node = new ScriptedNode(chain);
let asked = 0;
let isAway = true;

before(async () => {
  chain.grow(1);
  const base = await node.listen();
  globalThis.fetch = (path, options) => {
    asked += 1;
    return isAway ? Promise.reject(new TypeError("the node is away")) : fetch(base + path, options);
  };
});

after(() => node.stop());

/** What `systemName` says at once, and later. */
function named(address) {
  let later;
  const told = new Promise((resume) => (later = resume));
  return { now: systemName(address, later), told };
}

test("names of system actors are the node's, which is asked once", async () => {
  const governance = systemAddress("Governance");
  const early = named(governance);
  assert.equal(early.now, undefined, "the page shows the address until the node has answered");
  assert.equal(await early.told, null, "and keeps to it where it does not answer");
  isAway = false;
  const [first, second, other] = [governance, systemAddress("BankActor"), ALICE].map(named);
  assert.deepEqual([first.now, second.now, other.now], [undefined, undefined, undefined]);
  assert.deepEqual(await Promise.all([first.told, second.told, other.told]), ["Governance", "BankActor", null]);
  for (const { address, name } of SYSTEM_ACTORS) assert.equal(systemName(address), name);
  assert.equal(systemName(ALICE), null);
  assert.equal((await systemActors()).size, SYSTEM_ACTORS.length);
  assert.equal(asked, 2, "once in vain, and once");
});

test("a system actor is found by what it offers", async () => {
  assert.equal(await withMethod("preview"), systemAddress("Governance"));
  assert.equal(await withMethod("list_relays"), systemAddress("Relay Registry"));
  assert.equal(await withEvent("volume.created"), systemAddress("Storage Manager"));
  assert.equal(await withEvent("JobSettled"), systemAddress("Job Dispatcher"));
  await assert.rejects(withMethod("no_such_method"), /no system actor with no_such_method/);
});
