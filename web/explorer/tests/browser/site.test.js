// A web site that lives on the chain, from its deployment to a visitor's form.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, open, visit } from "./browser.js";
import { Devnet } from "./devnet.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

const isVerifierBuilt = existsSync(join(process.env.BIN_DIR ?? join(ROOT, "target/release"), "verifier.wasm.gz"));

let browser;
let devnet;
let site;

before(async () => {
  browser = await launch();
  devnet = await Devnet.start("--block-time", "300ms", "--gateway-port", "0");
  const [, port] = await devnet.say(/<name>\.localhost:(\d+)/);
  site = `http://mysite.localhost:${port}/`;
  const example = (file) => join(ROOT, "examples/site", file);
  const deployed = await devnet.cowboy(
    1, "actor", "deploy", "--code", example("actor.py"), "--manifest-json", example("manifest.json"), "--fund", "50cby",
  );
  await devnet.cowboy(1, "name", "register", "mysite", "--actor", deployed.address ?? deployed.actor);
});

after(async () => {
  await browser.close();
  await devnet.stop();
});

test("a registered name, or its host, leads to its actor in the explorer", async () => {
  const { page } = await open(browser);
  for (const text of ["mysite", "MySite.localhost"]) {
    await page.goto(`${devnet.url}/explorer/#/search/${text}`);
    await page.waitForURL(/#\/(?:account|actor)\/0x[0-9a-f]{40}/);
  }
  await page.goto(`${devnet.url}/explorer/#/search/nosuchname`);
  await page.getByText("Nothing found").waitFor();
  await page.close();
});

test("a visitor reads, signs, and sees the result", async () => {
  const { page, problems } = await open(browser);
  await page.setViewportSize({ width: 760, height: 520 });
  await page.goto(site);
  await page.getByText("0 entries").waitFor();
  await page.locator("input").fill("Hello from a browser");
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await page.getByRole("button").click();
  const accepted = await answered;
  assert.equal(accepted.status(), 202);
  await page.locator("#said", { hasText: "waiting for a block" }).waitFor();
  await page.locator("#said", { hasText: "You are number 1." }).waitFor();
  await page.locator("li", { hasText: "Hello from a browser" }).waitFor();
  await page.reload();
  await page.getByText("1 entries").waitFor();
  const info = await page.evaluate(async () => (await fetch("/_cowboy/info")).json());
  assert.ok(info.requests_served >= 3, JSON.stringify(info));
  // A site that has no picture for its tab is no problem of the page.
  assert.deepEqual(problems, []);
  await page.close();
});

test("the explorer knows the name", async () => {
  const { page, problems } = await open(browser);
  assert.equal(await visit(page, devnet.page, "#/names"), "Names");
  const row = page.locator("tbody tr", { hasText: "mysite" });
  await row.waitFor();
  assert.match(await row.textContent(), /live/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("the explorer checks the page that the gateway gave", { skip: !isVerifierBuilt && "no verifier: web/verifier/build.sh" }, async () => {
  const { page, problems } = await open(browser);
  await page.setViewportSize({ width: 820, height: 812 });
  await visit(page, devnet.page, "#/names");
  // The page asks for it once it has filled in whom to trust.
  const verifier = page.waitForResponse(/verifier\.wasm$/);
  await page.getByRole("link", { name: "Verify an answer" }).click();
  await verifier;
  await page.getByLabel("Address").fill(site);
  await page.getByRole("button", { name: "Verify" }).click();
  const verdict = page.locator("#verdict[data-state=held], #verdict[data-state=failed]");
  await verdict.waitFor();
  assert.match(await verdict.textContent(), /^Verified/);
  assert.equal(await page.locator("#steps li[data-state=held]").count(), 6);
  assert.match(await page.locator("#body").textContent(), /Hello from a browser/);
  // A page of another chain's validators proves nothing.
  await page.getByText("Whom to trust").click();
  const key = await page.locator("#key").inputValue();
  await page.locator("#key").fill(key.replace(/.$/, (last) => (last === "0" ? "1" : "0")));
  await page.getByRole("button", { name: "Verify" }).click();
  await page.locator("#verdict[data-state=failed], #verdict[data-state=undecided]").waitFor();
  await page.locator("#key").fill(key);
  await page.locator("#genesis").fill(`0x${"00".repeat(32)}`);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.locator("#verdict[data-state=failed]", { hasText: "not the one that you trust" }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});
