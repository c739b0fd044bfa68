// Every page in a window of 390 pixels, as phones have: nothing scrolls sideways but what has a box of its own for it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { begin, checkWidth, close, open, visit } from "./browser.js";
import { OTHERS, VIEWS } from "./views.js";

const ADDRESSES = [...VIEWS.map(([hash]) => hash), ...OTHERS];

/** What anybody may make as long as the chain lets them: names, texts, places on the network. */
const TEXTS = /"(about|class_name|endpoint|handler|kind|metadata_uri|mode|name|region|source|status|symbol|text)":"[^"]*"/g;
const LONG = "W".repeat(250);

/** Amounts, as large as their type. */
const AMOUNTS = /"(amount|balance|bond|burned|circulating|deposit|escrow|gross|max_price|minted|owed|paid|per_epoch|prepaid|refunded|reserved|stake|supply|tip|total|value)":"?\d+"?/g;
const LARGE = "18446744073709551615";

let browser;
let node;
let base;

before(async () => {
  ({ browser, node, base } = await begin());
});

after(async () => {
  await browser.close();
  await node.stop();
});

test("every page of the explorer is among those that are measured", async () => {
  const main = await readFile(new URL("../../site/main.js", import.meta.url), "utf8");
  const views = [...main.matchAll(/^ {2}(?:"(\w*)"|(\w+)): \w+View,$/gm)].map(([, quoted, plain]) => quoted ?? plain);
  const measured = new Set(ADDRESSES.map((hash) => hash.slice(2).split("/")[0]));
  assert.ok(views.length > 20, views.join());
  assert.deepEqual(views.filter((view) => !measured.has(view)), []);
});

for (const touch of [false, true]) {
  test(`no page is wider than a ${touch ? "phone" : "narrow window"}`, async () => {
    const { page, problems } = await open(browser, { size: "phone", touch });
    for (const hash of ADDRESSES) {
      await visit(page, base, hash);
      await page.locator("main details").evaluateAll((folds) => folds.forEach((fold) => (fold.open = true)));
      await checkWidth(page, hash);
    }
    await page.goto(`${base}verify/index.html`);
    await page.getByText("Whom to trust").click();
    await checkWidth(page, "the page that verifies");
    assert.deepEqual(problems, []);
    await close(page);
  });
}

test("no page is wider than a phone with the longest names and the largest amounts", async () => {
  const { page, problems } = await open(browser, { size: "phone", touch: true });
  await page.route(/:\d+\/(?!explorer\/|methods$|params|ws$)/, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    // Events are found by their names.
    const longer = /\/logs/.test(route.request().url()) ? text : text.replace(TEXTS, `"$1":"${LONG}"`);
    await route.fulfill({ response, body: longer.replace(AMOUNTS, (found, name) => `"${name}":${found.endsWith('"') ? `"${LARGE}${LARGE}"` : LARGE}`) });
  });
  for (const hash of ADDRESSES) {
    await visit(page, base, hash);
    await page.locator("main details").evaluateAll((folds) => folds.forEach((fold) => (fold.open = true)));
    await checkWidth(page, hash);
  }
  assert.deepEqual(problems, []);
  await close(page);
});

test("a card of a narrow window says what each value is, and stays a row of a table", async () => {
  const { page } = await open(browser, { size: "phone", touch: true });
  await visit(page, base, "#/jobs");
  const row = page.getByRole("table", { name: "Jobs" }).getByRole("row").nth(1);
  assert.equal(await row.getByRole("cell").count(), 5);
  assert.equal(await page.getByRole("table", { name: "Jobs" }).getByRole("columnheader").first().textContent(), "Job");
  const said = await row.locator("td").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, "::before").content));
  assert.ok(said.includes('"Maximum price " / ""'), said.join());
  await close(page);
});
