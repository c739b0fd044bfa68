// A page of the explorer in headless chromium, with everything it complains about.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { Chain } from "../fixture/chain.js";
import { ScriptedNode } from "../fixture/server.js";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long a page may take for what it must show: far longer than on a free machine, for nothing here is about speed. */
const PATIENCE_MS = 60_000;

const WIDTHS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** Starts the machine's own chromium; CHROMIUM names another one. */
export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}

/** What tests over a scripted node begin with: a browser, a chain of 120 blocks, its node, and the explorer's address there. */
export async function begin() {
  const chain = new Chain();
  chain.grow(120);
  const node = new ScriptedNode(chain);
  return { browser: await launch(), chain, node, base: `${await node.listen()}/explorer/` };
}

/** A new page. `problems` fills with what the page logs as an error, missing things aside: asking is how it learns. */
export async function open(browser, { size = "desktop", scheme = "light", touch = false } = {}) {
  const page = await browser.newPage({ viewport: WIDTHS[size], colorScheme: scheme, isMobile: touch, hasTouch: touch });
  page.setDefaultTimeout(PATIENCE_MS);
  const problems = [];
  page.on("pageerror", (problem) => problems.push(String(problem.stack)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource|WebSocket connection/.test(message.text())) problems.push(message.text());
  });
  return { page, problems };
}

/** Closes a page. Answers that its routes are still at are dropped. */
export async function close(page) {
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.close();
}

/** Goes to an address of the page and waits until its heading is there. Answers the heading's text. */
export async function visit(page, base, hash) {
  await page.goto("about:blank");
  await page.goto(base + hash);
  return (await page.locator("main h1").first().textContent()).trim();
}

/** That the page is no wider than the window, and no table wider than its box in a window that is narrow. A phone widens its window to the page, so that is no measure. */
export async function checkWidth(page, what) {
  const { excess, wide } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const boxes = clientWidth > 640 ? [] : [...document.querySelectorAll(".scroll:has(> table)")];
    const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => `${box.querySelector("caption")?.textContent}: ${box.scrollWidth - box.clientWidth}`);
    return { excess: scrollWidth - clientWidth, wide };
  });
  assert.ok(excess <= 0, `${what} is ${excess} pixels wider than the window`);
  assert.deepEqual(wide, [], `${what} has tables that are wider than the window`);
}

/** That everything that can be pressed has a name, and every picture says what it is or stays out of the way. */
export async function checkNames(page, what) {
  const nameless = await page.evaluate(() => {
    const name = (element) => element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.[0]?.textContent;
    const controls = [...document.querySelectorAll("a, button, input, select, textarea")].filter(
      (element) => !element.closest("[aria-hidden=true]") && element.getAttribute("aria-hidden") !== "true" && !name(element),
    );
    const pictures = [...document.querySelectorAll("svg")].filter(
      (svg) => !svg.closest("[aria-hidden=true]") && !svg.getAttribute("aria-label"),
    );
    return [...controls, ...pictures].map((element) => element.outerHTML.slice(0, 200));
  });
  assert.deepEqual(nameless, [], what);
}
