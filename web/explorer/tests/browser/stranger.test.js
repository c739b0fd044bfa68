// What a stranger makes of the page: huge lists, hidden windows, addresses that are none, the keyboard, the history, paper; and what an attacker does.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { toHex } from "../../site/bytes.js";
import { HEARTBEAT_ADDRESS, addressOf, hashOf } from "../fixture/chain.js";
import { HOSTILE_TOKEN } from "../fixture/lists.js";
import { JOB } from "../fixture/market.js";
import { begin, checkNames, close, open, visit } from "./browser.js";

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

/** Changes the JSON of what the node answers to addresses like this one. */
async function change(page, pattern, edit) {
  await page.route(pattern, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: edit(await response.json()) });
  });
}

/** The next answer to an address like this one, all of it. */
async function answered(page, pattern) {
  const response = await page.waitForResponse(pattern);
  await response.finished();
}

test("a table that is drawn anew leaves the focus where it is", async () => {
  const { page, problems } = await open(browser);
  for (const [hash, asked] of [
    ["#/jobs", /\/jobs\?/],
    ["#/blocks", /\/blocks\?/],
    ["#/runners", /\/runners\?/],
  ]) {
    await visit(page, base, hash);
    await page.locator(".pulse[data-state=live]").waitFor();
    await page.locator("tbody tr").nth(1).locator("a").first().focus();
    const focused = () => page.evaluate(() => document.activeElement.getAttribute("href"));
    const before = await focused();
    assert.match(before, /^#\//, hash);
    for (let blocks = 0; blocks < 2; blocks += 1) {
      const answer = answered(page, asked);
      node.say(chain.mine());
      await answer;
    }
    assert.equal(await focused(), before, hash);
  }
  assert.deepEqual(problems, []);
  await close(page);
});

test("thousands of validators are a page of them at first, and a picture of none", async () => {
  const { page, problems } = await open(browser);
  await change(page, /\/validators\?/, (answer) => {
    const [first] = answer.validators;
    const validators = Array.from({ length: 1_000 }, (_, at) => ({ ...first, address: addressOf(`many ${at}`), consensus_key: hashOf("many", at) }));
    return { ...answer, validators, total_count: 10_000 };
  });
  await visit(page, base, "#/validators");
  const rows = page.getByRole("table", { name: "Validators", exact: true }).locator("tbody tr");
  assert.equal(await rows.count(), 100);
  await page.getByText("1,000 of 10,000").waitFor();
  assert.equal(await page.locator(".map").count(), 0);
  assert.equal(await page.getByRole("table", { name: "Connections of the validators" }).locator("tbody tr").count(), 100);
  const longest = await page.locator("main td").evaluateAll((cells) => Math.max(...cells.map((cell) => cell.textContent.length)));
  assert.ok(longest < 300, `a cell of ${longest} letters`);
  const more = page.getByRole("button", { name: "Show more" }).first();
  await more.press("Enter");
  await rows.nth(199).waitFor();
  // Who pressed it continues from there, also after the page has drawn the newest state.
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Show more");
  const answer = answered(page, /\/validators\?/);
  node.say(chain.mine());
  await answer;
  assert.equal(await rows.count(), 200);
  assert.deepEqual(problems, []);
  await close(page);
});

test("ten thousand deliveries of a block are a page of them at first", async () => {
  const { page, problems } = await open(browser);
  await change(page, /\/block\/118$/, (block) => {
    const delivery = block.receipts.find(({ kind }) => kind !== "transaction");
    return { ...block, receipts: [...block.receipts, ...Array.from({ length: 10_000 }, (_, at) => ({ ...delivery, tx_hash: hashOf("many", at) }))] };
  });
  await visit(page, base, "#/block/118");
  await page.getByText(/^10,00\d$/).first().waitFor();
  assert.equal(await page.getByRole("table", { name: "Messages, timers and callbacks" }).locator("tbody tr").count(), 100);
  assert.deepEqual(problems, []);
  await close(page);
});

test("a list that is open for long keeps a bounded number of rows", async () => {
  const { page, problems } = await open(browser);
  await visit(page, base, "#/blocks");
  await page.locator(".pulse[data-state=live]").waitFor();
  const rows = page.locator("tbody tr");
  for (let round = 0; round < 9; round += 1) {
    const { height } = chain.grow(chain.height + 45);
    node.say();
    await rows.first().getByRole("link", { name: height.toLocaleString("en"), exact: true }).waitFor();
  }
  assert.ok((await rows.count()) <= 350, `${await rows.count()} rows`);
  // And continues where its last row ends.
  const last = Number((await rows.last().locator("a").first().textContent()).replaceAll(",", ""));
  const before = await rows.count();
  await page.getByRole("button", { name: "Show more" }).click();
  await rows.nth(before).getByRole("link", { name: (last - 1).toLocaleString("en"), exact: true }).waitFor();
  assert.deepEqual(problems, []);
  await close(page);
});

test("a window that nobody sees asks nothing, and is right once it is seen", async () => {
  const { page, problems } = await open(browser);
  await page.addInitScript(() => {
    window.isHidden = false;
    window.frames_asked = 0;
    Object.defineProperty(document, "hidden", { get: () => window.isHidden });
    const { requestAnimationFrame: ask } = window;
    window.requestAnimationFrame = (draw) => ((window.frames_asked += 1), ask.call(window, draw));
  });
  await visit(page, base, "#/jobs");
  await page.locator(".pulse[data-state=live]").waitFor();
  const settled = answered(page, /\/jobs\?/);
  node.say(chain.mine());
  await settled;
  const frames = await page.evaluate(() => ((window.isHidden = true), window.frames_asked));
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  for (let blocks = 0; blocks < 50; blocks += 1) node.say(chain.mine());
  await page.locator(".pulse", { hasText: chain.height.toLocaleString("en") }).waitFor();
  assert.deepEqual([asked, await page.evaluate(() => window.frames_asked)], [[], frames]);
  const caughtUp = answered(page, /\/jobs\?/);
  await page.evaluate(() => {
    window.isHidden = false;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await caughtUp;
  assert.equal(asked.filter((url) => /\/jobs\?/.test(url)).length, 1);
  assert.deepEqual(problems, []);
  await close(page);
});

test("addresses that are none say so, and how they look", async () => {
  const { page, problems } = await open(browser);
  for (const [hash, heading, text] of [
    ["#/actor/..", "Nothing here", "has 40 hexadecimal digits"],
    ["#/actor/0x12/source", "Nothing here", "has 40 hexadecimal digits"],
    ["#/actor/", "Nothing here", "an empty text"],
    ["#/block/..", "Nothing here", "is its height, or its hash of 64 hexadecimal digits"],
    ["#/block/-1", "Nothing here", "is its height"],
    ["#/block/999999", "Nothing here", "There is no such thing."],
    ["#/proposal/x", "Nothing here", "has decimal digits"],
    ["#/proposal/99", "Nothing here", "There is no such thing."],
    ["#/tx/..", "That is no hash", "64 hexadecimal digits"],
    [`#/tx/${"0".repeat(64)}`, "Not found, or not yet", ""],
    ["#/account/..", "Nothing found", ".."],
    [`#/job/${"\u202e".repeat(3)}`, "Nothing here", "has 64 hexadecimal digits"],
    [`#/actor/${HEARTBEAT_ADDRESS}/no-such-tab`, "Heartbeat", "About"],
    [`#/actor/${HEARTBEAT_ADDRESS}/source/99999999`, "Heartbeat", "Source"],
    ["#/__proto__", "Nothing found", "__proto__"],
    ["#//", "The chain now", ""],
  ]) {
    assert.equal(await visit(page, base, hash), heading, hash);
    await page.locator("main").getByText(text).first().waitFor({ state: "attached" });
    await checkNames(page, hash);
  }
  assert.deepEqual(problems, []);
  await close(page);
});

test("going back leads to where the reader was, and so does a reload", async () => {
  const { page, problems } = await open(browser);
  await visit(page, base, "#/blocks");
  const link = page.locator("tbody tr").nth(40).locator("a").first();
  await link.scrollIntoViewIfNeeded();
  const top = await page.evaluate(() => window.scrollY);
  assert.ok(top > 300, String(top));
  await link.click();
  await page.getByRole("heading", { name: "Commitments" }).waitFor();
  assert.equal(await page.evaluate(() => window.scrollY), 0);
  await page.goBack();
  await page.getByRole("heading", { name: "Newest first" }).waitFor();
  assert.equal(await page.evaluate(() => window.scrollY), top);
  await page.reload();
  await page.locator("tbody tr").nth(40).waitFor();
  assert.equal(await page.evaluate(() => window.scrollY), top);
  await page.goForward();
  await page.getByRole("heading", { name: "Commitments" }).waitFor();
  assert.deepEqual(problems, []);
  await close(page);
});

test("a result that is a list in a list in a list does not stop the page", async () => {
  const { page, problems } = await open(browser);
  const deep = toHex(new TextEncoder().encode("[".repeat(50_000) + "]".repeat(50_000)));
  await change(page, /\/job\/0x\w+$/, (job) => ({ ...job, result: deep }));
  assert.equal(await visit(page, base, `#/job/${JOB}`), "Http, majority vote");
  await page.getByRole("heading", { name: "Accepted result" }).waitFor();
  assert.deepEqual(problems, []);
  await close(page);
});

test("the title of the window and the node's own errors hide no direction of reading", async () => {
  const { page, problems } = await open(browser);
  await visit(page, base, `#/token/${HOSTILE_TOKEN}`);
  const title = await page.title();
  assert.match(title, /· Cowboy$/);
  assert.ok(!/[\u202e\u200b]/.test(title) && title.length < 150, title);
  const reversed = "a\u202eb\u200b";
  await page.route(/\/tokens\?/, (route) => route.fulfill({ status: 400, json: { code: 2001, slug: reversed, what: reversed, why: reversed, fix: reversed } }));
  await visit(page, base, "#/tokens");
  await page.locator(".panel.trouble").waitFor();
  assert.ok(!/[\u202e\u200b]/.test(await page.locator("main").textContent()));
  assert.deepEqual(problems, []);
  await close(page);
});

test("paper has what the page says, in full, and no controls", async () => {
  const { page, problems } = await open(browser, { scheme: "dark" });
  await visit(page, base, `#/actor/${HEARTBEAT_ADDRESS}/source`);
  await page.emulateMedia({ media: "print" });
  for (const part of [".top", ".copy", ".tabs"]) assert.equal(await page.locator(part).first().isVisible(), false, part);
  const code = await page.locator(".code").evaluate((box) => [box.scrollWidth <= box.clientWidth, box.scrollHeight <= box.clientHeight + 1]);
  assert.deepEqual(code, [true, true]);
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), "rgb(250, 246, 239)");
  assert.deepEqual(problems, []);
  await close(page);
});

test("a text that was copied says so by its button's name", async () => {
  const { page, problems } = await open(browser);
  await visit(page, base, "#/block/118");
  await page.getByRole("button", { name: "Copy the hash" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.deepEqual(problems, []);
  await close(page);
});

test("a class with the name of a system actor is not taken for it", async () => {
  const { page, problems } = await open(browser);
  await change(page, /\/actor\/0x\w+\/code$/, (code) => ({ ...code, source: "@actor\nclass ResultVerifier:\n    pass\n" }));
  assert.equal(await visit(page, base, `#/actor/${HEARTBEAT_ADDRESS}`), "ResultVerifier");
  await page.getByText("Not the system actor of this name").waitFor();
  await visit(page, base, "#/jobs");
  await page.locator(".who", { hasText: `${HEARTBEAT_ADDRESS.slice(0, 6)}…` }).first().waitFor();
  assert.equal(await page.getByText("ResultVerifier").count(), 0);
  assert.deepEqual(problems, []);
  await close(page);
});

test("a name that is read from the right, or is blank, stays beside its symbol", async () => {
  const { page, problems } = await open(browser);
  const names = ["\u05e9\u05dc\u05d5\u05dd", " \u2003 "];
  await page.route(/\/tokens\?/, async (route) => {
    const response = await route.fetch();
    const answer = JSON.parse((await response.text()).replace(/:(\d{16,})/g, ':"$1"'));
    await route.fulfill({ response, json: { ...answer, tokens: answer.tokens.map((token, at) => ({ ...token, name: names[at], symbol: "123" })) } });
  });
  await visit(page, base, "#/tokens");
  const links = page.getByRole("table", { name: "Tokens" }).locator("tbody td:first-child a");
  assert.match(await links.nth(1).textContent(), /^\(a blank name\) 123$/);
  const [name, symbol] = await links.first().locator("bdi").evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().left));
  assert.ok(name < symbol, `${name} and ${symbol}`);
  assert.deepEqual(problems, []);
  await close(page);
});

test("a result with a hundred thousand values is drawn in part", async () => {
  const { page, problems } = await open(browser);
  const wide = (depth) => (depth === 0 ? 1 : Array.from({ length: 46 }, () => wide(depth - 1)));
  await change(page, /\/job\/0x\w+$/, (job) => ({ ...job, result: toHex(new TextEncoder().encode(JSON.stringify(wide(3)))) }));
  await visit(page, base, `#/job/${JOB}`);
  const result = page.locator(".panel", { has: page.getByRole("heading", { name: "Accepted result" }) });
  const drawn = await result.locator("li").count();
  assert.ok(drawn > 46 && drawn < 2_200, String(drawn));
  // What is folded opens.
  await result.locator("details:not([open]) > summary").first().click();
  await result.locator("li").nth(drawn + 45).waitFor({ state: "attached" });
  assert.deepEqual(problems, []);
  await close(page);
});

test("the picture of the latest blocks is one stop for the keyboard", async () => {
  const { page, problems } = await open(browser);
  await visit(page, base, "#/");
  assert.equal(await page.locator('.strip a[tabindex="0"]').count(), 1);
  assert.equal(await page.locator(".strip a").count(), 48);
  assert.deepEqual(problems, []);
  await close(page);
});

test("a node that was away when the page was loaded is named once it is back", async () => {
  const { page } = await open(browser);
  // A route that ends by itself would take with it a module that is loaded at that moment.
  let isBack = false;
  await page.route(/\/health\/detailed$/, (route) => {
    if (isBack) return route.fallback();
    isBack = true;
    return route.abort();
  });
  await visit(page, base, "#/parameters");
  await page.locator(".pulse[data-state=live]").waitFor();
  node.say(chain.mine());
  await page.locator("#bottom", { hasText: "Chain 100, a dev chain · cowboyd 0.1.0" }).waitFor();
  await close(page);
});

test("Escape closes the list of sections and leaves the keyboard at its button", async () => {
  const { page, problems } = await open(browser);
  await visit(page, base, "#/parameters");
  const more = page.locator(".more-sections");
  await more.locator("summary").press("Enter");
  await more.getByRole("link", { name: "Timers" }).focus();
  await page.keyboard.press("Escape");
  assert.equal(await more.evaluate((menu) => menu.open), false);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "More");
  assert.deepEqual(problems, []);
  await close(page);
});

test("an empty list says that there is nothing yet, and a filtered one that nothing matches", async () => {
  const { page, problems } = await open(browser);
  await change(page, /\/(accounts|transactions)\?/, (answer) => ({ ...answer, accounts: [], entries: [], next_cursor: undefined }));
  await visit(page, base, "#/accounts");
  await page.getByText("No account has sent or received anything yet.").waitFor();
  await page.getByLabel("Begins with 0x…").fill("ab");
  await page.getByLabel("Begins with 0x…").press("Enter");
  await page.getByText("No account begins with these digits.").waitFor();
  await visit(page, base, "#/transactions");
  await page.getByText("Nothing yet.").waitFor();
  await page.getByLabel("Status").selectOption("failed");
  await page.getByText("Nothing matches.").waitFor();
  assert.deepEqual(problems, []);
  await close(page);
});
