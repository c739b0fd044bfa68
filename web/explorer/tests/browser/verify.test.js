// The page that verifies answers, in a real browser: the truth and every lie that the gateway's test tells. CASES is the folder
// that `COWBOY_WITNESS_CASES=… cargo test --workspace --test web` wrote; BIN_DIR has the verifier of web/verifier/build.sh.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { close, launch, open } from "./browser.js";
import { stub } from "./stub.js";

const SITE = fileURLToPath(new URL("../../site/", import.meta.url));
const KINDS = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const NODE = "http://127.0.0.1:4000";
// As the node sends it with this page.
const POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http: https:; base-uri 'none'; frame-ancestors 'none'";

const VERIFIER = join(process.env.BIN_DIR ?? fileURLToPath(new URL("../../../../target/release", import.meta.url)), "verifier.wasm.gz");

const folder = process.env.CASES;
const isReady = folder && existsSync(VERIFIER);

let browser;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser.close();
});

/**
 * A page on which the node answers with its files and the genesis, and the gateway with `answer()`: its bytes, and what it signed. `limits` take the
 * place of those in the page's limits.js.
 */
async function opened(url, genesis, answer, verifier = { body: gunzipSync(readFileSync(VERIFIER)), contentType: "application/wasm" }, limits = {}) {
  const { page, problems } = await open(browser);
  await page.setViewportSize({ width: 820, height: 900 });
  await page.route(`${NODE}/**`, (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/genesis") return route.fulfill({ json: genesis });
    if (path.endsWith("/verifier.wasm")) return route.fulfill(verifier);
    const file = join(SITE, path.replace("/explorer/", ""));
    const headers = { "content-type": KINDS[extname(file)], "content-security-policy": POLICY };
    if (path.endsWith("/limits.js")) {
      const given = readFileSync(file, "utf8").replace(/^(export const (\w+) =) [^;]+;/gm, (line, start, name) => (name in limits ? `${start} ${limits[name]};` : line));
      return route.fulfill({ body: given, headers });
    }
    return existsSync(file) ? route.fulfill({ body: readFileSync(file), headers }) : route.fulfill({ status: 404 });
  });
  await page.route(`${url}**`, async (route) => {
    assert.match(route.request().url(), /_cowboy_proof$/);
    const headers = {
      "content-type": "application/vnd.cowboy.witness",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "x-cowboy-signature",
    };
    const { body, signature } = await answer();
    return route.fulfill({ body, headers: signature ? { ...headers, "x-cowboy-signature": signature } : headers });
  });
  // The page asks for it once it has filled in whom to trust.
  const asked = page.waitForResponse(/verifier\.wasm$/);
  await page.goto(`${NODE}/explorer/verify/index.html`);
  await asked;
  return { page, problems };
}

test("the page ticks what holds, and finds every lie", { skip: !isReady && "no CASES, or no verifier" }, async () => {
  const { url, genesis, cases } = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
  let told;
  const { page, problems } = await opened(url, genesis, () => ({ body: readFileSync(join(folder, told.file)) }));
  await page.getByLabel("Address").fill(url);
  const times = [];
  for (const one of [cases[0], cases[0], cases[0], ...cases]) {
    told = one;
    await page.evaluate(() => delete document.querySelector("#verdict").dataset.state);
    await page.getByRole("button", { name: "Verify" }).click();
    const verdict = page.locator("#verdict[data-state=held], #verdict[data-state=failed]");
    await verdict.waitFor();
    const failed = page.locator("#steps li[data-state=failed]");
    const step = (await failed.count()) ? await failed.getAttribute("data-step") : null;
    assert.equal(step, one.fails, `${one.what}: ${await verdict.textContent()}`);
    if (one.fails === null) {
      assert.equal(await page.locator("#steps li[data-state=held]").count(), 6);
      times.push(await page.evaluate(() => document.body.dataset.milliseconds));
      if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, "verified.png") });
    }
    if (one.what === "one byte of the body" && process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, "refused.png") });
  }
  console.log(`verified in ${times.join(", ")} ms`);
  assert.deepEqual(problems, []);
  await close(page);
});

test("the page says who signed, and shows a false signature", { skip: !isReady && "no CASES, or no verifier" }, async () => {
  const { url, genesis, cases, signature, gateway } = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
  let signed;
  const { page, problems } = await opened(url, genesis, () => ({ body: readFileSync(join(folder, cases[0].file)), signature: signed }));
  await page.getByLabel("Address").fill(url);
  const other = (signature[0] === "0" ? "1" : "0") + signature.slice(1);
  for (const [given, said] of [
    ["", "The gateway signed nothing"],
    [signature, `Signed by ${gateway}, on a dev chain: no evidence`],
    [other, "A false signature"],
  ]) {
    signed = given;
    await page.getByRole("button", { name: "Verify" }).click();
    await page.locator("#signature", { hasText: said }).waitFor();
    // The proof stands for itself: who signed changes nothing about it.
    await page.locator("#verdict[data-state=held]").waitFor();
  }
  assert.equal(await page.locator("#signature[data-state=failed]").count(), 1);
  assert.deepEqual(problems, []);
  await close(page);
});

test("a node without the verifier says how to get one", async () => {
  const said = "This node has no verifier.";
  const genesis = { hash: "0x00", config: "0x00", group_key: "0x00" };
  const { page, problems } = await opened("http://a.localhost/", genesis, () => ({ body: "" }), { status: 404, body: said });
  await page.getByLabel("Address").fill("http://a.localhost/");
  await page.getByRole("button", { name: "Verify" }).click();
  await page.locator("#verdict[data-state=undecided]", { hasText: said }).waitFor();
  assert.deepEqual(problems, []);
  await close(page);
});

const URL_OF_SITE = "http://a.localhost/";
const NO_GENESIS = { hash: "0x00", config: "0x00", group_key: "0x00" };
const STUB = (result) => ({ body: stub(result), contentType: "application/wasm" });

/** What the page says of an answer, once it has come to an end. */
async function verdictOn(page, address = URL_OF_SITE) {
  await page.evaluate(() => delete document.querySelector("#verdict").dataset.state);
  await page.getByLabel("Address").fill(address);
  await page.getByRole("button", { name: "Verify" }).click();
  const verdict = page.locator("#verdict:is([data-state=held], [data-state=failed], [data-state=undecided])");
  await verdict.waitFor();
  return `${await verdict.getAttribute("data-state")}: ${await verdict.textContent()}`;
}

/** A result of the verifier; every text that the gateway or the actor chose is hostile, and long. */
const EVIL = `<img src=x onerror="window.pwned=1">\u202e${"W".repeat(200_000)}`;
const held = {
  ...{ verified: true, held: ["request", "certificate", "state", "replay", "answer"], genesis: "0x00", height: 7, timestamp_ms: 0, block: "0x01", epoch: 1, view: 2 },
  ...{ name: "a", actor: null, records: 3, cycles: 4, status: 200, failure: EVIL, bytes: EVIL.length, body: EVIL, signature: null },
  headers: Array.from({ length: 300 }, (_, at) => [`x-${at}`, EVIL.slice(0, 2_000)]),
  seen: [["accept", EVIL]],
};

test("what a gateway sends too much of, or too late, is cut off, and the page says that nothing is decided", async () => {
  let told = { body: Buffer.alloc(1_001) };
  const limits = { MAX_WITNESS_BYTES: 1_000, MAX_SIGNATURE: 100, ASK_MS: 2_000, CHECK_MS: 2_000 };
  const { page, problems } = await opened(URL_OF_SITE, NO_GENESIS, () => told, STUB(null), limits);
  assert.match(await verdictOn(page), /^undecided: Not verified: The answer has more than 1,000 bytes, which is the limit\. This says nothing/);
  assert.equal(await page.locator("#steps li[data-state=failed]").getAttribute("data-step"), "fetch");
  told = { body: "", signature: "0".repeat(101) };
  assert.match(await verdictOn(page), /^undecided: .*signature has more than 100 letters/);
  told = new Promise(() => {});
  assert.match(await verdictOn(page), /^undecided: .*The gateway did not answer within 2 seconds/);
  // A check that never ends is ended, and does not stop the page meanwhile.
  told = { body: Buffer.alloc(1_000) };
  assert.match(await verdictOn(page), /^undecided: .*The check takes longer than 2 seconds, so it was ended/);
  assert.match(await verdictOn(page, "data:text/html,hello"), /^undecided: .*begins with http/);
  assert.deepEqual(problems, []);
  await close(page);
});

test("a reader who asks anew does not wait for a check that never ends", async () => {
  const { page } = await opened(URL_OF_SITE, NO_GENESIS, () => ({ body: "" }), STUB(null));
  await page.getByLabel("Address").fill(URL_OF_SITE);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.locator("#verdict", { hasText: "Checking" }).waitFor();
  assert.match(await verdictOn(page, "ftp://a.localhost/"), /^undecided: .*begins with http/);
  await close(page);
});

test("texts of a gateway stay texts, and the page shows so much of them", async () => {
  const { page, problems } = await opened(URL_OF_SITE, NO_GENESIS, () => ({ body: "" }), STUB(held));
  await page.setViewportSize({ width: 390, height: 844 });
  assert.match(await verdictOn(page), /^held: Verified in/);
  const shown = await page.evaluate(() => [window.pwned, document.querySelectorAll("main img").length, document.body.textContent.includes("\u202e")]);
  assert.deepEqual(shown, [undefined, 0, false]);
  assert.ok((await page.locator("#body").textContent()).length < 110_000);
  assert.equal(await page.locator("#facts dt", { hasText: /^Header/ }).count(), 100);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), true);
  assert.deepEqual(problems, []);
  await close(page);
});

test("a lie, another chain and a question that is none are told apart", async () => {
  const rows = [
    [{ verified: false, held: ["request"], failed: "certificate", why: "the validators did not sign it", signature: null }, /^failed: False: the validators did not sign it\. Do not use/],
    [{ ...held, genesis: "0x01" }, /^failed: Not verified: the chain is 0x01, which is not the one that you trust/],
    [{ verified: false, held: [], failed: "request", why: "not a genesis", is_undecided: true }, /^undecided: Not verified: not a genesis\. This says nothing about the answer/],
  ];
  for (const [result, said] of rows) {
    const { page, problems } = await opened(URL_OF_SITE, NO_GENESIS, () => ({ body: "" }), STUB(result));
    assert.match(await verdictOn(page), said);
    assert.deepEqual(problems, []);
    await close(page);
  }
});

test("the page that verifies follows the history", async () => {
  const { page } = await opened(URL_OF_SITE, NO_GENESIS, () => ({ body: "" }), STUB(held));
  await verdictOn(page, `${URL_OF_SITE}one`);
  await verdictOn(page, `${URL_OF_SITE}two`);
  await page.goBack();
  await page.locator("#verdict[data-state=held]").waitFor();
  assert.equal(await page.getByLabel("Address").inputValue(), `${URL_OF_SITE}one`);
  await close(page);
});
