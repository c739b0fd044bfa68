// Makes the pictures of docs/images anew: real chromium, over a real devnet with traffic. `npm run pictures`, or `npm run pictures --
// NAME …` for some of them. Each has a fixed size in pixels; what it shows depends on the devnet's keys and hashes.

import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open, visit } from "./browser.js";
import { settled } from "./traffic.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const IMAGES = join(ROOT, "docs/images");
/** Name → how wide and high, and what leads there: (page, chain) → the address of the explorer, or nothing where it went itself. */
const PICTURES = {
  "explorer-chain": [1200, 800, () => "#/"],
  "explorer-actor": [1200, 800, (_, { heartbeat }) => `#/actor/${heartbeat}`],
  "explorer-failure": [1280, 1270, (_, { failed }) => `#/tx/${failed}`],
  "explorer-token": [1200, 800, (_, { token }) => `#/token/${token}`],
  "explorer-governance": [1200, 800, () => "#/proposal/0"],
  "explorer-timers": [1200, 800, (_, { toll }) => `#/actor/${toll}/timers`],
  site: [760, 520, signSite],
  verified: [820, 812, verifySite],
};

async function signSite(page, { site }) {
  await page.goto(site);
  await page.locator("input").fill("Hello from a browser");
  await page.getByRole("button").click();
  await page.locator("#said", { hasText: "You are number" }).waitFor();
  await page.locator("li", { hasText: "Hello from a browser" }).waitFor();
}

async function verifySite(page, { devnet, site }) {
  const verifier = page.waitForResponse(/verifier\.wasm$/);
  await page.goto(`${devnet.page}verify/index.html`);
  await verifier;
  await page.getByLabel("Address").fill(site);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.locator("#verdict[data-state=held]").waitFor();
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PICTURES);
const folder = await mkdtemp(join(tmpdir(), "cowboy-pictures-"));
const browser = await launch();
const chain = await settled();
try {
  await mkdir(IMAGES, { recursive: true });
  for (const name of names) {
    const [width, height, lead] = PICTURES[name] ?? [];
    if (!lead) throw new Error(`There is no picture ${name}. Pictures: ${Object.keys(PICTURES).join(" ")}`);
    const { page } = await open(browser);
    await page.setViewportSize({ width, height });
    const hash = await lead(page, chain);
    if (hash) {
      await visit(page, chain.devnet.page, hash);
      await page.locator(".pulse[data-state=live]").waitFor();
    }
    const made = join(folder, `${name}.png`);
    await page.screenshot({ path: made, animations: "disabled", caret: "hide" });
    // Smaller where the tool is there; the picture is the same.
    spawnSync("optipng", ["-quiet", made]);
    await copyFile(made, join(IMAGES, `${name}.png`));
    console.log(`docs/images/${name}.png ${width} × ${height}`);
    await page.close();
  }
} finally {
  await browser.close();
  await chain.devnet.stop();
  await rm(folder, { recursive: true, force: true });
}
