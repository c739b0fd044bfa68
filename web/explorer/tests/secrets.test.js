import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import test from "node:test";
import { direction } from "../site/views/receipts.js";
import { slashesOf } from "../site/views/runners.js";
import { indices, isVolumeKey, proxiesIn, releasesOf, releasesOfSecret } from "../site/views/secrets.js";
import { allRelays } from "../site/views/storage.js";

test("releases stand as their last event says", () => {
  const opened = (id, height) => ({ name: "release.opened", block_height: height, value: { release_id: id, account: "0xa", version: 1 } });
  const logs = [
    { name: "release.lapsed", block_height: 90, value: { release_id: "0x2", amount: 5 } },
    { name: "release.closed", block_height: 50, value: { release_id: "0x1", served: 0b1011 } },
    { name: "release.closed", block_height: 49, value: { release_id: "0x0", served: 1 } },
    opened("0x3", 41),
    { name: "secret.stored", block_height: 40, value: {} },
    opened("0x2", 31),
    opened("0x1", 30),
  ];
  const rows = releasesOf(logs).map(({ release_id, state, served, opened_at }) => [release_id, state, served, opened_at]);
  assert.deepEqual(rows, [
    ["0x3", "open", null, 41],
    ["0x2", "lapsed", null, 31],
    ["0x1", "closed", 0b1011, 30],
  ]);
  assert.deepEqual([indices(0b1011), indices(0), indices(1 << 15)], [[0, 1, 3], [], [15]]);
});

test("proxies are known from seats and events", () => {
  const [one, two, three] = ["0x01", "0xab", "0xcd"];
  const key = { members: [{ address: "0xAB" }, { address: one }] };
  const round = { dealers: [{ address: two }], players: [{ address: three, joined: null }] };
  assert.deepEqual(proxiesIn([key, round, { proxy: two, amount: 7 }, { release_id: "0x9" }]), [one, two, three]);
  assert.deepEqual(proxiesIn([null, null]), []);
});

test("relays of a full registry are all listed", async () => {
  const addresses = Array.from({ length: 150 }, (_, at) => `0x${String(at).padStart(40, "0")}`);
  const asked = [];
  const page = async ({ first }) => {
    asked.push(first);
    return addresses.slice(first === undefined ? 0 : addresses.indexOf(first)).slice(0, 64).map((address) => ({ address }));
  };
  assert.deepEqual((await allRelays(page)).map(({ address }) => address), addresses);
  assert.deepEqual(asked.map((first) => first && Number(first.slice(2))), [undefined, 63, 126, 149]);
  assert.deepEqual(await allRelays(async () => []), []);
});

test("the key of a volume's partition is no version of a secret", () => {
  // The first version of a partition's key is 65,536 times the volume's generation, and one more.
  assert.deepEqual([1, 65_536, 65_537, 131_073n].map((version) => isVolumeKey({ version })), [false, false, true, true]);
});

test("a link with capitals shows the same rows", () => {
  const [account, hash, other] = [`0x${"ab".repeat(20)}`, `0x${"cd".repeat(32)}`, `0x${"ef".repeat(20)}`];
  const capitals = (text) => `0x${text.slice(2).toUpperCase()}`;
  const opened = { name: "release.opened", block_height: 7, value: { release_id: "0x1", account, name_hash: hash } };
  for (const of of [account, capitals(account)]) {
    assert.equal(releasesOfSecret(of, capitals(hash), [opened]).length, 1, of);
    assert.equal(releasesOfSecret(of, capitals(account), [opened]).length, 0, of);
    const rows = [
      [account, other, "to"],
      [other, account, "from"],
      [account, account, "itself"],
    ];
    for (const [sender, target, expected] of rows) assert.equal(direction({ sender, target }, of), expected, of);
    const data = `0xa16672756e6e657254${account.slice(2)}`;
    assert.deepEqual(slashesOf(of, [{ name: "NonRevealSlash", block_height: 5, data }]).map(({ height }) => height), [5], of);
  }
});

test("no page compares the address in its link letter by letter", async () => {
  const site = new URL("../site/", import.meta.url);
  const files = (await readdir(site, { recursive: true })).filter((name) => name.endsWith(".js"));
  assert.ok(files.length > 20);
  for (const name of files) {
    const text = await readFile(new URL(name, site), "utf8");
    assert.doesNotMatch(text, /[!=]== (?:address|account|hash|id)\b(?!\.)|\b(?<!\.)(?:address|account|hash) [!=]==/, name);
  }
});
