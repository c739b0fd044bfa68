// How long until a height: measured from the pace of the latest blocks.

import { find } from "./api.js";
import { h } from "./dom.js";
import { duration, plural } from "./format.js";

const NEVER = 1n << 62n;

/** The chain's pace: the newest height and time, and milliseconds between blocks; 0 where blocks come only with work. */
export class Clock {
  constructor(live) {
    this.live = live;
    this.height = 0;
    this.at = Date.now();
    this.blockTime = 1_000;
  }

  static async read(live, signal) {
    const clock = new Clock(live);
    const [health, blocks] = await Promise.all([find("/health/detailed", signal), find("/blocks?limit=20", signal)]);
    const rows = blocks?.blocks ?? [];
    clock.beat(Number(health?.height ?? rows[0]?.height ?? 0));
    clock.blockTime = health ? Number(health.block_time_ms) : measured(rows);
    live.addEventListener("block", ({ detail }) => clock.beat(Number(detail.height)), { signal });
    const timer = setInterval(() => refreshCountdowns(clock), 500);
    signal.addEventListener("abort", () => clearInterval(timer));
    return clock;
  }

  beat(height) {
    this.height = height;
    this.at = Date.now();
    if (!document.hidden) refreshCountdowns(this);
  }

  /** In words, how far a height is ahead. */
  until(height) {
    const blocks = Number(height) - this.height;
    if (BigInt(height) > NEVER) return "never";
    if (blocks <= 0) return "due";
    const inBlocks = `in ${plural(blocks, "block")}`;
    if (this.blockTime === 0) return inBlocks;
    const rest = Math.max(0, blocks * this.blockTime - (Date.now() - this.at));
    return rest < 1_000 ? "in a moment" : `in ${duration(Math.ceil(rest / 1_000) * 1_000)}`;
  }
}

function measured(rows) {
  if (rows.length < 2) return 1_000;
  return Math.max(
    1,
    (Number(rows[0].timestamp_ms) - Number(rows[rows.length - 1].timestamp_ms)) /
      (Number(rows[0].height) - Number(rows[rows.length - 1].height)),
  );
}

/** The time until a height, counting down while the page is open. */
export function countdown(height, clock) {
  const blocks = Number(height) - clock.height;
  return h(
    "span",
    { class: "countdown number nowrap", dataset: { height: String(height) }, title: blocks > 0 ? `in ${plural(blocks, "block")}` : null },
    clock.until(height),
  );
}

function refreshCountdowns(clock) {
  for (const element of document.querySelectorAll("[data-height]")) {
    const text = clock.until(element.dataset.height);
    if (element.textContent !== text) element.textContent = text;
  }
}
