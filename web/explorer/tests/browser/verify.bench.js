// How long the page that verifies answers takes, in a real browser over a real devnet: one JSON object on stdout. BIN_DIR is the
// folder with the programs and the verifier.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open } from "./browser.js";
import { Devnet } from "./devnet.js";

const EXAMPLE = fileURLToPath(new URL("../../../../examples/site/", import.meta.url));
const CHECKS = 21;

const devnet = await Devnet.start("--block-time", "1s", "--gateway-port", "0");
const browser = await launch();
try {
  const [, port] = await devnet.say(/<name>\.localhost:(\d+)/);
  const file = (name) => join(EXAMPLE, name);
  const made = await devnet.cowboy(
    1, "actor", "deploy", "--code", file("actor.py"), "--manifest-json", file("manifest.json"), "--fund", "50cby",
  );
  await devnet.cowboy(1, "name", "register", "mysite", "--actor", made.address);
  const firsts = [];
  const loads = [];
  const laters = [];
  // A page of its own each time, so that nothing is compiled already but what the browser keeps of the file.
  for (let round = 0; round < 3; round += 1) {
    const { page, problems } = await open(browser);
    await page.goto(`${devnet.page}verify/index.html`);
    await page.locator("body[data-loaded]").waitFor();
    loads.push(Number(await page.evaluate(() => document.body.dataset.loaded)));
    const times = [];
    for (let check = 0; check < CHECKS; check += 1) {
      await page.evaluate(() => delete document.querySelector("#verdict").dataset.state);
      await page.getByLabel("Address").fill(`http://mysite.localhost:${port}/`);
      await page.getByRole("button", { name: "Verify" }).click();
      await page.locator("#verdict[data-state=held]").waitFor();
      times.push(Number(await page.evaluate(() => document.body.dataset.milliseconds)));
    }
    if (problems.length > 0) throw new Error(problems.join("\n"));
    firsts.push(times[0]);
    laters.push(...times.slice(1));
    await page.close();
  }
  const median = (times) => times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
  console.log(JSON.stringify({ browser: browser.version(), load: median(loads), first: median(firsts), later: median(laters) }));
} finally {
  await browser.close();
  await devnet.stop();
}
