// Lists, search, tokens, governance, rent, failures and state changes, over a real devnet that has all of them.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { checkNames, checkWidth, launch, open, visit } from "./browser.js";
import { settled } from "./traffic.js";

let browser;
let chain;

before(async () => {
  browser = await launch();
  chain = await settled();
});

after(async () => {
  await browser.close();
  await chain?.devnet.stop();
});

test("an actor is found by its class, its handler and its name", async () => {
  const { page, problems } = await open(browser);
  const search = async (text) => {
    await visit(page, chain.devnet.page, "#/parameters");
    await page.keyboard.press("/");
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
    await page.locator("main h1", { hasText: "Search results" }).waitFor();
  };
  await search("tol");
  await page.locator("tbody tr", { hasText: "Class" }).getByRole("link", { name: "Toll", exact: true }).first().click();
  await page.locator("main h1", { hasText: "Toll" }).waitFor();
  assert.match(page.url(), new RegExp(chain.toll));
  await search("coll");
  await page.getByRole("link", { name: "collect", exact: true }).click();
  await page.waitForURL(/query\/collect$/);
  await search("mysi");
  await page.locator("tbody tr", { hasText: "Name" }).getByRole("link", { name: "mysite" }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("a timer that failed is red on its actor's page, and leads to the line", async () => {
  const { page, problems } = await open(browser);
  for (const tab of ["", "/timers"]) {
    assert.equal(await visit(page, chain.devnet.page, `#/actor/${chain.toll}${tab}`), "Toll");
    const failed = page.locator(".panel.trouble", { hasText: "Failed timers" });
    await failed.getByRole("link", { name: "sweep" }).first().waitFor();
  }
  await page.locator("tr.failing", { hasText: "in a row" }).waitFor();
  await page.locator(".panel.trouble").getByRole("link", { name: "sweep" }).first().click();
  await page.locator(".exception", { hasText: "ValueError" }).waitFor();
  assert.match(await page.locator(".code li.marked").textContent(), /nobody swept the bridge/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a token has its holders and its transfers, and its holder has the token", async () => {
  const { page, problems } = await open(browser);
  assert.equal(await visit(page, chain.devnet.page, `#/token/${chain.token}`), "Prairie gold");
  const events = page.locator(".panel", { hasText: "Transfers" }).locator("tbody tr");
  assert.equal(await events.filter({ hasText: "Transfer" }).count(), 4);
  assert.equal(await events.filter({ hasText: "Created" }).count(), 1);
  const holders = page.locator(".panel", { hasText: "Holders" }).locator("tbody tr");
  assert.equal(await holders.count(), 4);
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".panel", { hasText: "Holders" }).getByRole("button", { name: "CSV" }).click()]);
  const rows = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
  assert.equal(rows.length, 5);
  const units = rows.slice(1).reduce((sum, row) => sum + BigInt(row.split(",")[1]), 0n);
  const { supply } = await chain.devnet.get(`/token/${chain.token}`);
  assert.equal(units, BigInt(supply), "the holders have all of it");
  await visit(page, chain.devnet.page, `#/account/${chain.devnet.accounts()[5]}`);
  await page.getByRole("link", { name: "Prairie gold" }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("a proposal shows what it would do now", async () => {
  const { page, problems } = await open(browser);
  await visit(page, chain.devnet.page, "#/governance");
  await page.getByRole("link", { name: "Set economics.faucet to 7" }).click();
  await page.getByText("Succeeds").waitFor();
  await page.locator("td", { hasText: "parameter.moved" }).waitFor();
  await page.getByText("Nobody has voted yet.").waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("a transaction shows the balances that it changed", async () => {
  const { page } = await open(browser);
  const { entries } = await chain.devnet.get("/transactions?kind=transaction&limit=100");
  const transfer = entries.find(({ instruction }) => instruction === "Transfer");
  await visit(page, chain.devnet.page, `#/tx/${transfer.id}`);
  const changes = page.locator(".panel", { hasText: "State changes" });
  assert.equal(await changes.locator("tbody tr", { hasText: "Balance" }).count(), 2);
  await page.close();
});

test("a delivery shows what its handler printed", async () => {
  const { page } = await open(browser);
  await visit(page, chain.devnet.page, `#/tx/${chain.failed}`);
  await page.locator(".panel", { hasText: "Printed" }).getByText("settling with nobody").waitFor();
  await page.close();
});

test("lists are filtered by the node", async () => {
  const { page, problems } = await open(browser);
  await visit(page, chain.devnet.page, "#/transactions");
  const rows = page.locator("tbody tr");
  await page.getByLabel("Handler", { exact: true }).fill("collect");
  await page.getByLabel("Handler", { exact: true }).press("Enter");
  // The page's policy forbids what `waitForFunction` evaluates.
  await rows.filter({ hasNotText: "collect" }).first().waitFor({ state: "detached" });
  assert.match(await rows.textContent(), /collect/);
  await visit(page, chain.devnet.page, "#/blocks");
  await page.getByLabel("Blocks", { exact: true }).selectOption("true");
  await rows.filter({ has: page.locator(":nth-child(4)", { hasText: /^0$/ }) }).first().waitFor({ state: "detached" });
  await rows.first().waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("a name's site opens from the explorer", async () => {
  const { page } = await open(browser);
  await visit(page, chain.devnet.page, "#/names");
  const link = page.locator("a.external");
  assert.equal(await link.getAttribute("href"), chain.site);
  const [site] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  await site.getByText("entries").waitFor();
  await page.close();
});

test("every new page fits a phone and names its controls", async () => {
  const { page, problems } = await open(browser, { size: "phone", scheme: "dark" });
  const rows = [
    ["#/blocks", "Blocks"],
    ["#/transactions", "Transactions"],
    ["#/actors", "Actors"],
    ["#/accounts", "Accounts"],
    ["#/tokens", "Tokens"],
    [`#/token/${chain.token}`, "Prairie gold"],
    ["#/governance", "Governance"],
    ["#/proposal/0", "Set economics.faucet to 7"],
    [`#/actor/${chain.toll}`, "Toll"],
    [`#/actor/${chain.toll}/rent`, "Toll"],
    [`#/actor/${chain.toll}/timers`, "Toll"],
    [`#/tx/${chain.failed}`, "settle"],
    ["#/search/he", "Search results"],
  ];
  for (const [hash, heading] of rows) {
    assert.equal(await visit(page, chain.devnet.page, hash), heading, hash);
    await checkWidth(page, hash);
    await checkNames(page, hash);
  }
  assert.deepEqual(problems, []);
  await page.close();
});
