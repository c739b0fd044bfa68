// Small pictures: every one has a sentence for those who do not see it.

import { h, s } from "./dom.js";
import { compact, count, percent, plural } from "./format.js";

export const LANES = ["system", "timer", "runner", "user"];

/** A mark that tells one address from another at a glance, as a brand does on cattle: a few mirrored strokes. */
export function brandMark(address) {
  const hash = hash32(address);
  const strokes = [];
  const draw = (path) => strokes.push(path(16, 1), path(16, -1));
  // Each part of the brand is one of four shapes, drawn from the middle outward on both sides.
  draw(
    [
      (x, side) => `M${x} 6L${x + side * 8} 12`,
      (x, side) => `M${x} 7H${x + side * 8}`,
      (x, side) => `M${x} 10Q${x + side * 7} 10 ${x + side * 8} 5`,
      (x, side) => `M${x} 11A6 5 0 0 ${side > 0 ? 0 : 1} ${x + side * 6} 6`,
    ][hash & 3],
  );
  draw(
    [
      (x) => `M${x} 8V25`,
      (x, side) => `M${x} 12L${x + side * 5} 17L${x} 22`,
      (x, side) => `M${x} 12A4.5 4.5 0 0 ${side > 0 ? 1 : 0} ${x} 21`,
      (x, side) => `M${x + side * 3.5} 11V22`,
    ][(hash >>> 2) & 3],
  );
  draw(
    [
      (x, side) => `M${x} 26L${x + side * 8} 20`,
      (x, side) => `M${x} 26H${x + side * 7}`,
      (x, side) => `M${x} 21Q${x + side * 8} 21 ${x + side * 8} 27`,
      (x, side) => `M${x + side * 8} 15V24`,
    ][(hash >>> 4) & 3],
  );
  if ((hash >>> 6) & 1) strokes.push("M24.5 15.5v.01M7.5 15.5v.01");
  return s(
    "svg",
    { class: "mark", viewBox: "0 0 32 32", "aria-hidden": "true", style: { "--hue": (hash >>> 8) % 360 } },
    s("path", { d: strokes.join(""), "stroke-width": 2.6, "stroke-linecap": "round", "stroke-linejoin": "round" }),
  );
}

/** FNV-1a with a final mix. */
function hash32(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}

/** A line through values, oldest first, with a dot on the newest. */
export function sparkline(values, sentence) {
  const width = 160;
  const height = 36;
  const low = Math.min(...values);
  const high = Math.max(...values);
  const x = (at) => 2 + (at / Math.max(1, values.length - 1)) * (width - 6);
  const y = (value) => (high === low ? height / 2 : height - 4 - ((value - low) / (high - low)) * (height - 8));
  const path = values.map((value, at) => `${at === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const last = values.length - 1;
  return s(
    "svg",
    { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": sentence, preserveAspectRatio: "none" },
    s("path", { class: "spark-area", d: `${path}V${height}H2Z` }),
    s("path", { class: "spark-line", d: path, "vector-effect": "non-scaling-stroke" }),
    last >= 0 && s("circle", { class: "spark-dot", cx: x(last), cy: y(values[last]), r: 2.5 }),
  );
}

/** Blocks as a strip of columns, as tall as they are full beside each other, newest to the right. `href(block)` is where one leads. */
export function blockStrip(blocks, href) {
  const step = 14;
  const height = 84;
  const most = Math.max(1, ...blocks.map((block) => Number(block.cycles_used)));
  const columns = blocks.map((block, at) => {
    // The square root keeps a block of one transfer visible beside a full one.
    const tall = Number(block.cycles_used) > 0 ? Math.max(5, Math.sqrt(Number(block.cycles_used) / most) * (height - 8)) : 2.5;
    const label = `Block ${count(block.height)}: ${plural(block.transaction_count, "transaction")}, ${compact(block.cycles_used)} cycles`;
    return s(
      "a",
      // One stop for the keyboard: the table beside it has the others.
      { href: href(block), "aria-label": label, tabindex: at === blocks.length - 1 ? 0 : -1, class: `strip-block${at === blocks.length - 1 ? " newest" : ""}` },
      s("title", {}, label),
      s("rect", { class: "strip-hit", x: at * step, y: 0, width: step, height }),
      s("rect", {
        class: Number(block.cycles_used) > 0 ? "strip-full" : "strip-idle",
        x: at * step + 2,
        y: height - tall,
        width: step - 4,
        height: tall,
        rx: 1.5,
      }),
    );
  });
  return s(
    "svg",
    {
      class: "strip",
      preserveAspectRatio: "xMaxYMax",
      viewBox: `0 0 ${Math.max(1, blocks.length) * step} ${height}`,
      role: "group",
      "aria-label": "Latest blocks by the compute they used",
    },
    columns,
  );
}

/** What each lane used of its budget: a bar a lane. `fees` are the lanes of /basefee, or null. */
export function laneBars(usage, fees) {
  return h(
    "ul",
    { class: "lanes" },
    LANES.map((lane) => {
      const used = usage[lane];
      const budget = fees?.[lane]?.budget.cycles;
      const share = budget ? Math.min(1, Number(used.cycles) / Number(budget)) : 0;
      return h(
        "li",
        { class: `lane-${lane}` },
        h("span", { class: "lane-name" }, h("i", { class: "lane" }), capital(lane)),
        meter(share, budget ? `${capital(lane)} lane: ${percent(used.cycles, budget)} of its cycles` : `${capital(lane)} lane`),
        h(
          "span",
          { class: "lane-used number" },
          count(used.cycles),
          h("span", { class: "faint" }, ` / ${budget ? compact(budget) : "–"} cycles`),
        ),
        h("span", { class: "lane-cells number faint" }, plural(used.cells, "cell")),
      );
    }),
  );
}

function meter(share, sentence) {
  return s(
    "svg",
    { class: "meter", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": sentence },
    s("rect", { class: "meter-all", width: 100, height: 8 }),
    share > 0 && s("rect", { class: "meter-used", width: Math.max(0.8, share * 100), height: 8 }),
  );
}

/** One bar cut into parts: [{ name, value, kind, text }], with a legend below. */
export function partsBar(parts, sentence) {
  const all = parts.reduce((sum, part) => sum + Number(part.value), 0);
  let x = 0;
  const pieces = parts
    .filter((part) => Number(part.value) > 0)
    .map((part) => {
      const width = (Number(part.value) / all) * 100;
      const rect = s("rect", { class: `part-${part.kind}`, x, width: Math.max(0.4, width - 0.3), height: 10 });
      x += width;
      return rect;
    });
  return h(
    "figure",
    { class: "parts" },
    s(
      "svg",
      { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": sentence },
      s("rect", { class: "meter-all", width: 100, height: 10 }),
      pieces,
    ),
    h(
      "ul",
      {},
      parts.map((part) =>
        h("li", {}, h("i", { class: `part-${part.kind}` }), h("span", {}, part.name), h("b", { class: "number" }, part.text)),
      ),
    ),
  );
}

/**
 * Timers by how far they are ahead, from one block at the left to the farthest at the right; each ten times as far is as
 * wide as the one before. `marks` are { ahead, name, address }.
 */
export function timeline(marks, sentence) {
  const width = 1000;
  const height = 74;
  const decades = Math.max(2, Math.ceil(Math.log10(Math.max(10, ...marks.map(({ ahead }) => ahead)))));
  const x = (ahead) => 14 + (Math.log10(Math.max(1, ahead)) / decades) * (width - 60);
  const ticks = Array.from({ length: decades + 1 }, (_, decade) => 10 ** decade);
  // Marks that would lie on each other rise a step.
  const steps = new Map();
  const dots = marks.slice(0, 300).map(({ ahead, name, address }) => {
    const column = Math.round(x(ahead) / 9);
    const step = steps.get(column) ?? 0;
    steps.set(column, step + 1);
    const hue = hash32(address) >>> 8;
    return s(
      "circle",
      { class: "timeline-dot", cx: x(ahead), cy: 44 - Math.min(4, step) * 9, r: 5, style: { "--hue": hue % 360 } },
      s("title", {}, name),
    );
  });
  return s(
    "svg",
    { class: "timeline", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": sentence },
    s("path", { class: "timeline-axis", d: `M6 52H${width - 6}` }),
    ticks.map((tick) => [
      s("path", { class: "timeline-axis", d: `M${x(tick)} 52v5` }),
      s("text", { class: "timeline-text", x: x(tick), y: 70 }, `${compact(tick)}${tick === 1 ? " block ahead" : ""}`),
    ]),
    dots,
  );
}

/** "user" → "User" */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
