// The page that verifies answers, in a real browser: the truth and every lie that the gateway's test tells. CASES is the folder
// that `COWBOY_WITNESS_CASES=… cargo test --workspace --test web` wrote; BIN_DIR has the verifier of web/verifier/build.sh.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { launch, open } from "./browser.js";

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

/** A page on which the node answers with its files and the genesis, and the gateway with `answer()`: its bytes, and what it signed. */
async function opened(url, genesis, answer, verifier = { body: gunzipSync(readFileSync(VERIFIER)), contentType: "application/wasm" }) {
  const { page, problems } = await open(browser);
  await page.setViewportSize({ width: 820, height: 900 });
  await page.route(`${NODE}/**`, (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/genesis") return route.fulfill({ json: genesis });
    if (path.endsWith("/verifier.wasm")) return route.fulfill(verifier);
    const file = join(SITE, path.replace("/explorer/", ""));
    const headers = { "content-type": KINDS[extname(file)], "content-security-policy": POLICY };
    return existsSync(file) ? route.fulfill({ body: readFileSync(file), headers }) : route.fulfill({ status: 404 });
  });
  await page.route(`${url}**`, (route) => {
    assert.match(route.request().url(), /_cowboy_proof$/);
    const headers = {
      "content-type": "application/vnd.cowboy.witness",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "x-cowboy-signature",
    };
    const { body, signature } = answer();
    return route.fulfill({ body, headers: signature ? { ...headers, "x-cowboy-signature": signature } : headers });
  });
  // The page asks for it once it has filled in whom to believe.
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
  await page.close();
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
  await page.close();
});

test("a node without the verifier says how to get one", async () => {
  const said = "This node has no verifier.";
  const genesis = { hash: "0x00", config: "0x00", group_key: "0x00" };
  const { page, problems } = await opened("http://a.localhost/", genesis, () => ({ body: "" }), { status: 404, body: said });
  await page.getByLabel("Address").fill("http://a.localhost/");
  await page.getByRole("button", { name: "Verify" }).click();
  await page.locator("#verdict[data-state=failed]", { hasText: said }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});
