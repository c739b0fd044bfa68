// The market's pages over a real devnet: an actor asks, real runners answer, one of them lies, and the page says who was drawn and why,
// what each of them said, how it was judged, and who is paid.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { checkNames, checkWidth, launch, open, visit } from "./browser.js";
import { Devnet } from "./devnet.js";

// Under this seed the first job has one liar in its committee of five; another seed may have none, or two.
const SEED = "3";
const LIES = ["--lie", "0.2", "--seed", SEED];

const ASKER = `"""Asks five runners for a price, and keeps what four of them say."""

from cowboy_sdk import actor, public, runner


@actor
class Asker:
    @public
    @runner.continuation
    async def ask(self, url):
        """Asks for the price at an address."""
        answer = await runner.http(url, verification={"mode": "majority_vote", "runners": 5}, result_schema={"data_format": "json"})
        self.storage["price"] = answer.json()["price"]

    @public
    def price(self) -> int:
        """The price, once it is there."""
        return self.storage.get("price", 0)
`;

const MANIFEST = {
  entitlements: [
    { id: "econ.hold_balance" },
    { id: "http.fetch", params: { allowlist_domains: ["127.0.0.1"], max_requests: 1 } },
    { id: "storage.kv" },
  ],
};

let browser;
let devnet;
let prices;
let asker;
let job;

/** Asks until there is an answer, a minute at most. */
async function until(what, ask) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await ask();
    if (found) return found;
    assert.ok(Date.now() < deadline, `${what} does not happen`);
    await new Promise((resume) => setTimeout(resume, 100));
  }
}

before(async () => {
  browser = await launch();
  prices = createServer((_, answer) => answer.setHeader("content-type", "application/json").end('{"price": 4210}'));
  await new Promise((resume) => prices.listen(0, "127.0.0.1", resume));
  devnet = await Devnet.start("--block-time", "200ms", "--runners", "7", "--allow-private", ...LIES);
  await until("seven runners", async () => (await devnet.get("/runners")).runners.filter(({ health }) => health === "healthy").length === 7);
  await writeFile(join(devnet.folder, "asker.py"), ASKER);
  await writeFile(join(devnet.folder, "manifest.json"), JSON.stringify(MANIFEST));
  asker = (await devnet.cowboy(1, "actor", "deploy", "--code", "asker.py", "--manifest-json", "manifest.json")).address;
  await devnet.post("/faucet", { address: asker });
  await devnet.cowboy(1, "actor", "execute", asker, "ask", "--payload", JSON.stringify(`http://127.0.0.1:${prices.address().port}/`));
  await until("the price", async () => (await devnet.cowboy(1, "actor", "query", asker, "price")).result === 4210);
  [job] = (await devnet.get("/jobs")).jobs;
});

after(async () => {
  await browser.close();
  await devnet.stop();
  prices.close();
});

// SDK, cowboyd, simulated runners, faucet, explorer, all at once.
test("a job says who was drawn and why, what they said, and how it was judged", async () => {
  const { page, problems } = await open(browser);
  assert.equal(await visit(page, devnet.page, `#/job/${job.job_id}`), "Http, majority vote");
  for (const text of [
    "Selection verified",
    "The candidates are in order, and match the root that the chain stored at submission",
    "The seed follows from a round's seed in a block header",
    "The draw with that seed gives these runners, in this order",
    "5 results of 5 received, 4 must agree.",
    "1 differs",
    "4 agree, so a result was accepted in block",
    "Gross price",
    "the rest refunded",
    "Runners",
    "Asker",
    "ask__resume",
  ])
    await page.locator("main").getByText(text).first().waitFor();
  assert.equal(await page.getByText("Fails", { exact: true }).count(), 0, "the draw comes out the same");
  const members = page.locator("table", { hasText: "Verdict" }).locator("tbody tr");
  assert.equal(await members.count(), 5);
  assert.equal(await members.filter({ hasText: "Accepted" }).count(), 4);
  const liar = members.filter({ hasText: "Differs" });
  assert.equal(await liar.count(), 1);
  assert.match(await liar.textContent(), /0/, "who lied is paid nothing");
  assert.equal(await members.filter({ hasText: "aggregator" }).count(), 1);
  assert.equal(await page.getByText(/^Result of 0x[0-9a-f]+$/).count(), 5);
  await page.locator("main").getByText("4210").first().waitFor({ state: "attached" });
  assert.deepEqual(problems, []);
  await page.close();
});

test("the market's pages fit a phone", async () => {
  const { page, problems } = await open(browser, { size: "phone", scheme: "dark" });
  const { runner } = (await devnet.get(`/job/${job.job_id}`)).members[0];
  const rows = [
    ["#/jobs", "Jobs"],
    [`#/job/${job.job_id}`, "Http, majority vote"],
    ["#/runners", "Runners"],
    [`#/runner/${runner}`, runner],
  ];
  for (const [hash, heading] of rows) {
    assert.equal((await visit(page, devnet.page, hash)).toLowerCase(), heading.toLowerCase(), hash);
    await checkWidth(page, hash);
    await checkNames(page, hash);
  }
  assert.deepEqual(problems, []);
  await page.close();
});
