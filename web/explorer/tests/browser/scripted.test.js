// The page over a scripted node: every view, hostile texts, reverts, restarts, the keyboard, phones.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { HOSTILE_TOKEN } from "../fixture/lists.js";
import { ALICE, COUNTER_ADDRESS, HEARTBEAT_ADDRESS, HOSTILE_ADDRESS, hashOf } from "../fixture/chain.js";
import { HOSTILE_JOB, RUNNERS } from "../fixture/market.js";
import { systemAddress } from "../fixture/node.js";
import { ScriptedNode } from "../fixture/server.js";
import { begin, checkNames, checkWidth, open, visit } from "./browser.js";
import { VIEWS } from "./views.js";

let browser;
let chain;
let node;
let base;

before(async () => {
  ({ browser, chain, node, base } = await begin());
});

after(async () => {
  await browser.close();
  await node.stop();
});

// A-353, among others.
test("every view shows what the node says, on desktops and phones, light and dark", async () => {
  for (const [size, scheme] of [
    ["desktop", "light"],
    ["phone", "dark"],
  ]) {
    const { page, problems } = await open(browser, { size, scheme });
    for (const [hash, heading, texts] of VIEWS) {
      assert.equal(await visit(page, base, hash), heading, hash);
      for (const text of texts) await page.getByText(text).first().waitFor({ state: "attached" });
      await checkWidth(page, `${hash} (${size})`);
      await checkNames(page, `${hash} (${size})`);
    }
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("validators are a map of who is connected to whom, told in words as well", async () => {
  const { page, problems } = await open(browser);
  await visit(page, base, "#/validators");
  const map = page.getByRole("img", { name: "4 validators, 5 of 6 connections seen." });
  await map.waitFor();
  assert.deepEqual([await map.locator(".map-node").count(), await map.locator(".map-line").count(), await map.locator(".lonely").count()], [4, 5, 0]);
  const rows = page.getByRole("table", { name: "Connections of the validators" }).locator("tbody tr");
  const cell = async (row, column) => (await rows.nth(row).locator("td").nth(column).textContent()).trim();
  assert.deepEqual([await cell(0, 1), await cell(0, 2)], ["all others", "none"]);
  // The two that are not connected name each other.
  assert.deepEqual([await cell(2, 2), await cell(3, 2)], [await cell(3, 0), await cell(2, 0)]);
  // The page follows the chain.
  await page.locator(".pulse[data-state=live]").waitFor();
  node.say(chain.mine());
  await page.locator("dl").getByText(String(chain.height), { exact: true }).first().waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("a failed dealing is told, and who is left out because of it", async () => {
  const { page, problems } = await open(browser);
  await page.route(/\/validators\?/, async (request) => {
    const response = await request.fetch();
    const answer = await response.json();
    answer.is_dealt = false;
    answer.validators[0].left_out = "dealing_failed";
    await request.fulfill({ response, json: answer });
  });
  await visit(page, base, "#/validators");
  await page.getByText("The signers of the epoch before continue.").waitFor();
  const rows = page.getByRole("table", { name: "Validators", exact: true }).locator("tbody tr");
  const told = rows.filter({ hasText: "the next set leaves it out: it was to receive a share when a dealing failed" });
  assert.equal(await told.count(), 1);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a link to a system actor shows its address until the node has named it", async () => {
  const { page, problems } = await open(browser);
  let hold;
  const held = new Promise((resolve) => (hold = resolve));
  await page.route(/\/methods$/, (route) => hold(route), { times: 1 });
  await visit(page, base, "#/names");
  const link = page.locator(`main a[title="${systemAddress("Governance")}"]`);
  assert.equal(await link.textContent(), "0x0000…0009");
  await (await held).continue();
  await link.filter({ hasText: "Governance" }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("the failing line of Python stands out", async () => {
  const { page } = await open(browser);
  await visit(page, base, `#/tx/${hashOf("failure", 116)}`);
  assert.equal((await page.locator(".code li.marked").textContent()).trim(), '30        return self.storage["count"] // by');
  await page.locator(".code li.marked a").click();
  assert.match(await page.locator(".code li.pointed").textContent(), /return self\.storage/);
  await page.close();
});

test("hostile texts stay texts", async () => {
  const { page, problems } = await open(browser);
  const tabs = ["", "/source", "/storage", "/log", "/query", "/history"].map((tab) => `#/actor/${HOSTILE_ADDRESS}${tab}`);
  const lists = ["actors", "tokens", `token/${HOSTILE_TOKEN}`, `account/${ALICE}`, "names", "governance", "proposal/2", "search/he", "timers"].map((one) => `#/${one}`);
  const changed = `#/tx/${hashOf("relay", 112)}`;
  for (const tab of [...tabs, ...lists, changed, `#/actor/${HOSTILE_ADDRESS}/rent`, "#/jobs", `#/job/${HOSTILE_JOB}`, `#/runner/${RUNNERS[4]}`]) {
    await visit(page, base, tab);
    await page.locator("details").evaluateAll((folds) => folds.forEach((fold) => (fold.open = true)));
    const harm = await page.evaluate(() => [
      window.pwned,
      document.querySelectorAll("main img, main script, main b.bold").length,
      document.querySelector("main").textContent.includes("\u202e"),
      [...document.querySelectorAll("main a[href]")].filter((link) => !/^https?:$/.test(link.protocol)).length,
    ]);
    assert.deepEqual(harm, [undefined, 0, false, 0], tab);
  }
  await visit(page, base, "#/search/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E");
  await visit(page, base, "#/block/%2e%2e%2f%2e%2e");
  await visit(page, base, "#/%E0%A4%A");
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(problems, []);
  await page.close();
});

test("lists have filters, pages and a CSV file that no spreadsheet runs", async () => {
  const { page, problems } = await open(browser);
  const rows = page.locator("tbody tr");
  const text = async (name) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
    assert.equal(file.suggestedFilename(), name);
    return readFile(await file.path(), "utf8");
  };
  await visit(page, base, "#/transactions");
  const all = await rows.count();
  await page.getByLabel("Status").selectOption("failed");
  await rows.first().filter({ hasText: "Failed" }).waitFor();
  assert.ok((await rows.count()) < all && (await rows.filter({ hasText: "Success" }).count()) === 0);
  await page.getByLabel("Handler", { exact: true }).fill("no_such_handler");
  await page.getByLabel("Handler", { exact: true }).press("Enter");
  await page.getByText("Nothing matches.").waitFor();

  await visit(page, base, "#/blocks");
  assert.equal(await rows.count(), 50);
  await page.getByRole("button", { name: "Show more" }).click();
  await rows.nth(99).waitFor();
  const blocks = await text("blocks.csv");
  assert.equal(blocks.trim().split("\r\n").length, chain.height + 1);
  await page.getByLabel("Below height").fill("11");
  await page.getByLabel("Below height").press("Enter");
  await rows.first().getByRole("link", { name: "10", exact: true }).waitFor();

  await visit(page, base, "#/tokens");
  const [, , hostile] = (await text("tokens.csv")).split("\r\n");
  assert.match(hostile, /,'=1\+1,/);
  assert.match(hostile, /^"<img src=x onerror=""window/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("what waits below More is reached by mouse, keyboard and phone", async () => {
  for (const size of ["desktop", "phone"]) {
    const { page } = await open(browser, { size });
    await visit(page, base, "#/");
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("link", { name: "Governance" }).click();
    await page.locator("main h1", { hasText: "Governance" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Validators" }).isVisible(), false, "a choice closes the list");
    for (const name of ["Chain", "Transactions", "Actors", "Tokens", "Jobs", "Names"])
      await page.locator(".sections").getByRole("link", { name, exact: true }).click({ trial: true });
    await checkWidth(page, size);
    await page.close();
  }
});

test("a name leads to its site only where a host serves it", async () => {
  const { page } = await open(browser);
  await visit(page, base, "#/names");
  const links = page.locator("a.external");
  assert.deepEqual(await links.evaluateAll((all) => all.map(({ href, rel }) => [href, rel])), [
    ["https://heartbeat.gw.example.com/", "noopener noreferrer"],
    ["http://heart.localhost:8080/", "noopener noreferrer"],
  ]);
  await page.close();
});

test("a timer that failed is red", async () => {
  const { page } = await open(browser);
  await visit(page, base, `#/actor/${HEARTBEAT_ADDRESS}/timers`);
  const failing = page.locator("tr.failing");
  assert.match(await failing.textContent(), /8 in a row/);
  assert.equal(await failing.getByText("Paused").count(), 1);
  const [red, plain] = await Promise.all([failing, page.locator("tbody tr:not(.failing)").first()].map((row) => row.locator("td").first().evaluate((cell) => getComputedStyle(cell).backgroundColor)));
  assert.notEqual(red, plain);
  await page.close();
});

test("new blocks appear by themselves, and countdowns go on", async () => {
  const { page } = await open(browser);
  await visit(page, base, "#/");
  await page.locator(".pulse[data-state=live]").waitFor();
  const { height } = chain.mine();
  node.say();
  await page.locator(".hero-height a", { hasText: String(height) }).waitFor();
  await page.locator(".pulse", { hasText: String(height) }).waitFor();
  await page.close();
});

test("a revert brings the page back to what is", async () => {
  const { page } = await open(browser);
  await visit(page, base, "#/");
  await page.locator(".pulse[data-state=live]").waitFor();
  chain.revert(100);
  chain.mine();
  node.say();
  await page.getByText("The chain went back to block 101.").waitFor();
  await page.locator(".hero-height a", { hasText: "101" }).waitFor();
  chain.grow(120);
  node.say();
  await page.locator(".hero-height a", { hasText: "120" }).waitFor();
  await page.close();
});

test("an answer to what was asked before a filter does not undo it", async () => {
  const { page } = await open(browser);
  await visit(page, base, "#/blocks");
  await page.locator(".pulse[data-state=live]").waitFor();
  let hold;
  const held = new Promise((resolve) => (hold = resolve));
  await page.route(/\/blocks\?limit=50$/, (route) => hold(route), { times: 1 });
  node.say(chain.mine());
  const late = await held;
  const rows = page.locator("tbody tr");
  const idle = rows.filter({ has: page.locator(":nth-child(4)", { hasText: /^0$/ }) });
  await page.getByLabel("Blocks", { exact: true }).selectOption("true");
  await idle.first().waitFor({ state: "detached" });
  const answer = page.waitForResponse(/\/blocks\?limit=50$/);
  await late.continue();
  await (await answer).finished();
  // The page asks again only after it has handled the late answer.
  const next = page.waitForResponse(/\/blocks\?.*busy=true/);
  node.say(chain.mine());
  await next;
  assert.equal(await idle.count(), 0);
  await page.close();
});

test("a slow notice is no revert", async () => {
  const { page } = await open(browser);
  await visit(page, base, "#/");
  await page.locator(".pulse[data-state=live]").waitFor();
  const slow = chain.mine();
  const newest = chain.mine();
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await page.locator(".pulse", { hasText: String(newest.height) }).waitFor();
  const asked = page.waitForResponse((response) => response.url().endsWith("/height"));
  node.say(slow);
  await asked;
  node.say(chain.mine());
  await page.locator(".pulse", { hasText: String(newest.height + 1) }).waitFor();
  assert.equal(await page.locator("#notice > div").count(), 0);
  await page.close();
});

test("a restart of the node shows, and heals", async () => {
  const { page } = await open(browser);
  await visit(page, base, `#/actor/${HEARTBEAT_ADDRESS}`);
  await page.locator(".pulse[data-state=live]").waitFor();
  const { port } = node;
  await node.stop();
  await page.locator("#notice", { hasText: "The node does not answer." }).waitFor();
  node = new ScriptedNode(chain);
  await node.listen(port);
  await page.locator(".pulse[data-state=live]").waitFor();
  await page.locator("#notice > div").waitFor({ state: "detached" });
  await page.close();
});

test("the keyboard searches", async () => {
  const { page } = await open(browser);
  const rows = [
    ["118", "118"],
    ["1,18", "118"],
    [hashOf("block", 0, 90), "90"],
    [hashOf("relay", 97).slice(2), "announce"],
    [ALICE.toUpperCase().replace("0X", "0x"), ALICE],
    [COUNTER_ADDRESS, "Counter"],
    ["latest", String(chain.height)],
  ];
  for (const [text, heading] of rows) {
    await visit(page, base, "#/parameters");
    await page.keyboard.press("/");
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
    await page.locator("main h1", { hasText: heading }).waitFor();
  }
  await page.close();
});

test("an address of an actor leads on, but not away from where the reader went meanwhile", async () => {
  const { page } = await open(browser);
  assert.equal(await visit(page, base, `#/account/${COUNTER_ADDRESS}`), "Counter");
  // The reader leaves in the moment in which the last answer arrives: of what the account has, and of whether it is an actor.
  await page.addInitScript((address) => {
    const { text } = Response.prototype;
    let answers = 0;
    Response.prototype.text = async function () {
      const answer = await text.call(this);
      if (this.url.endsWith(address) && ++answers === 2) location.hash = "#/parameters";
      return answer;
    };
  }, COUNTER_ADDRESS);
  await page.goto("about:blank");
  await page.goto(`${base}#/account/${COUNTER_ADDRESS}`);
  await page.locator("main h1", { hasText: "Parameters" }).waitFor();
  assert.equal(new URL(page.url()).hash, "#/parameters");
  await page.close();
});

test("the link to the content leaves the reader on the page", async () => {
  const { page } = await open(browser);
  await visit(page, base, "#/parameters");
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  assert.equal(new URL(page.url()).hash, "#/parameters");
  await page.close();
});

test("storage has pages and prefixes", async () => {
  const { page } = await open(browser);
  await visit(page, base, `#/actor/${COUNTER_ADDRESS}/storage`);
  const rows = page.locator("tbody tr");
  assert.equal(await rows.count(), 50);
  await page.getByRole("button", { name: "Show more" }).click();
  await rows.nth(99).waitFor();
  await page.getByLabel("Only keys that begin with").fill("by/11");
  await page.locator("tbody tr").first().filter({ hasText: "by/110" }).waitFor();
  assert.equal(await rows.count(), 10);
  await page.close();
});

test("a handler is asked and answers", async () => {
  const { page } = await open(browser);
  await visit(page, base, `#/actor/${HEARTBEAT_ADDRESS}/query/beats`);
  await page.getByLabel("Argument").fill('{"since": 1');
  await page.getByRole("button", { name: "Run query" }).click();
  await page.getByText("The argument cannot be sent.").waitFor();
  await page.getByLabel("Argument").fill('{"since": 1}');
  await page.getByRole("button", { name: "Run query" }).click();
  await page.getByText("12,345 cycles").waitFor();
  await page.getByText("beats:").waitFor();
  await page.close();
});

test("payloads can be read in every way they make sense", async () => {
  const { page } = await open(browser);
  await visit(page, base, `#/tx/${hashOf("relay", 112)}`);
  await page.getByRole("button", { name: "Hex" }).click();
  await page.getByText("0xa2626f").or(page.getByText("0xa262746f")).waitFor();
  await page.getByText("All data of the events").click();
  await page.getByText("listeners:").first().waitFor();
  await page.close();
});
