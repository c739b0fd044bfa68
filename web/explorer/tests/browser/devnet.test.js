// The page over a real devnet: what a newcomer does, watched in the explorer.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { checkNames, checkWidth, launch, open, visit } from "./browser.js";
import { Devnet } from "./devnet.js";

const FAULTY = `"""Divides by what it is told to."""

from cowboy_sdk import actor, public


@actor
class Divider:
    @public
    def init(self):
        self.storage["calls"] = 0

    @public
    def divide(self, by: int) -> int:
        """Divides a hundred."""
        return self._part(by)

    def _part(self, by):
        return 100 // by
`;

let browser;
let devnet;
let heartbeat;

before(async () => {
  browser = await launch();
  devnet = await Devnet.start("--block-time", "200ms", "--example", "heartbeat");
  [, heartbeat] = await devnet.say(/heartbeat is at (0x[0-9a-f]{40})/);
});

after(async () => {
  await browser.close();
  await devnet.stop();
});

test("the chain moves by itself, and the heartbeat beats", async () => {
  const { page, problems } = await open(browser);
  await visit(page, devnet.page, "#/");
  await page.locator(".pulse[data-state=live]").waitFor();
  await page.getByRole("heading", { name: "Latest blocks" }).waitFor();
  await page.locator(".who", { hasText: "Heartbeat" }).first().waitFor();
  assert.equal(await visit(page, devnet.page, `#/actor/${heartbeat}`), "Heartbeat");
  await page.locator(".log li").nth(1).waitFor();
  await page.locator(".next li", { hasText: "beat every 5 blocks" }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("an actor that fails shows the line where it did", async () => {
  await writeFile(join(devnet.folder, "divider.py"), FAULTY);
  const deployed = await devnet.cowboy(1, "actor", "deploy", "--code", "divider.py");
  const address = deployed.address ?? deployed.actor;
  const { page, problems } = await open(browser);
  assert.equal(await visit(page, devnet.page, `#/actor/${address}/query/divide`), "Divider");
  await page.getByLabel("Argument").fill("7");
  await page.getByRole("button", { name: "Run query" }).click();
  await page.locator(".value .int", { hasText: /^14$/ }).waitFor();
  await page.getByLabel("Argument").fill("0");
  await page.getByRole("button", { name: "Run query" }).click();
  await page.getByText("ZeroDivisionError").first().waitFor();
  // The account's own page leads to what it did.
  await devnet.cowboy(1, "actor", "execute", address, "divide", "--payload", "0", "--force").catch(() => {});
  await visit(page, devnet.page, `#/actor/${address}/history`);
  await page.locator("tbody tr", { hasText: "Failed" }).getByRole("link", { name: "divide" }).click();
  await page.locator(".exception", { hasText: "ZeroDivisionError" }).waitFor();
  assert.match(await page.locator(".code li.marked").textContent(), /return 100 \/\/ by/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a volume shows its slots, its partitions and who may use it", async () => {
  const { volume } = await devnet.cowboy(1, "volume", "create", "memory", "--quota", "10MiB", "--public");
  await writeFile(join(devnet.folder, "a.txt"), "a file");
  await devnet.cowboy(1, "volume", "put", "memory", "a.txt", "notes/");
  await devnet.cowboy(1, "volume", "grant", "memory", "notes", "0x00000000000000000000000000000000000000aa", "--mode", "rw", "--max-bytes", "1MiB");
  const { page, problems } = await open(browser);
  assert.equal(await visit(page, devnet.page, "#/storage"), "Storage");
  await page.getByRole("table", { name: "Relays" }).locator("tbody tr", { hasText: "up" }).nth(2).waitFor();
  await checkWidth(page, "#/storage");
  await checkNames(page, "#/storage");
  await page.getByRole("table", { name: "Volumes" }).getByRole("link", { name: volume.slice(0, 6) }).click();
  await page.getByText("2+1: any 1 of 3 relays may be lost").waitFor();
  await page.getByRole("table", { name: "Slots" }).locator("tbody tr", { hasText: "serves" }).nth(2).waitFor();
  await page.getByRole("table", { name: "Partitions" }).locator("tbody tr").first().waitFor();
  await page.getByRole("table", { name: "Capabilities" }).locator("tbody tr", { hasText: "read and write" }).waitFor();
  await checkWidth(page, "#/volume");
  await checkNames(page, "#/volume");
  assert.deepEqual(problems, []);
  await page.close();
});

test("a secret shows its versions and releases, and never its value or name", async () => {
  await writeFile(join(devnet.folder, "value.txt"), "sk-of-the-page");
  const kept = await devnet.cowboy(1, "secret", "set", "PAGE_KEY", "--value-file", "value.txt", "--jobs", "http", "--hosts", "api.weather.test", "--any-runner");
  await devnet.cowboy(1, "secret", "get", "PAGE_KEY");
  const { page, problems } = await open(browser);
  assert.equal(await visit(page, devnet.page, "#/secrets"), "Secrets");
  await page.getByText("3 of 4 have to answer").waitFor();
  await page.getByRole("table", { name: "Releases" }).locator("tbody tr", { hasText: "closed" }).waitFor();
  await checkWidth(page, "#/secrets");
  await checkNames(page, "#/secrets");
  await page.getByRole("table", { name: "Secrets" }).getByRole("link", { name: kept.name_hash.slice(0, 6) }).click();
  await page.getByRole("table", { name: "Versions" }).locator("tbody tr").first().waitFor();
  await page.getByRole("table", { name: "Releases" }).locator("tbody tr", { hasText: "closed" }).waitFor();
  await checkWidth(page, "#/secret");
  await checkNames(page, "#/secret");
  const shown = await page.content();
  assert.ok(!shown.includes("PAGE_KEY") && !shown.includes("sk-of-the-page"));
  assert.deepEqual(problems, []);
  await page.close();
});

test("a transfer is found by its hash", async () => {
  const sent = await devnet.cowboy(2, "transfer", heartbeat, "2.5cby");
  const { page } = await open(browser);
  await visit(page, devnet.page, "#/");
  await page.keyboard.press("/");
  await page.keyboard.type(sent.tx_hash);
  await page.keyboard.press("Enter");
  await page.locator("main h1", { hasText: "Transfer" }).waitFor();
  await page.locator("main").getByText("2.5").first().waitFor();
  await page.close();
});

test("every view draws what the node really says", async () => {
  const { page, problems } = await open(browser, { size: "phone", scheme: "dark" });
  const rows = [
    ["#/", "The chain now"],
    ["#/block/1", "1"],
    ["#/timers", "Timers"],
    ["#/validators", "Validators"],
    ["#/parameters", "Parameters"],
    [`#/actor/${heartbeat}/source`, "Heartbeat"],
    [`#/actor/${heartbeat}/storage`, "Heartbeat"],
    [`#/actor/${heartbeat}/timers`, "Heartbeat"],
    [`#/actor/${heartbeat}/log`, "Heartbeat"],
    [`#/actor/${heartbeat}/history`, "Heartbeat"],
  ];
  for (const [hash, heading] of rows) {
    assert.equal(await visit(page, devnet.page, hash), heading, hash);
    await checkWidth(page, hash);
    await checkNames(page, hash);
  }
  assert.deepEqual(problems, []);
  await page.close();
});

test("a revert and a restart heal", async () => {
  const { page } = await open(browser);
  const snapshot = await devnet.post("/dev/snapshot", {});
  await visit(page, devnet.page, "#/");
  await page.locator(".pulse[data-state=live]").waitFor();
  await devnet.post("/dev/mine", { blocks: 5 });
  await devnet.post("/dev/revert", { id: snapshot.id });
  await page.getByText(/The chain went back to block/).waitFor();
  await devnet.halt();
  await page.locator("#notice", { hasText: "The node does not answer." }).waitFor();
  await devnet.run();
  await page.locator(".pulse[data-state=live]").waitFor();
  const { height } = await devnet.get("/height");
  const later = Array.from({ length: 100 }, (_, more) => height + 2 + more);
  await page.locator(".pulse", { hasText: new RegExp(`^(${later.join("|")})$`) }).waitFor();
  await page.close();
});
