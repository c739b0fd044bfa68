// The colours of base.css can be told apart by people who see little: WCAG 2.2 asks for a contrast of 4.5 between a text and what it stands on.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const css = readFileSync(new URL("../site/base.css", import.meta.url), "utf8");
const [light, dark] = css.split("@media screen and (prefers-color-scheme: dark)");
const colours = (text) => Object.fromEntries([...text.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));

const TEXTS = ["ink", "ink-soft", "ink-faint", "accent", "good", "bad", "wait"];
const CODE = ["comment", "string", "number", "keyword", "builtin", "decorator", "definition"].map((kind) => `code-${kind}`);
const PAIRS = [
  ...TEXTS.flatMap((text) => ["paper", "panel", "sunken", "pill"].map((ground) => [text, ground])),
  ...CODE.flatMap((text) => ["paper", "panel", "sunken", "bad-soft", "accent-soft"].map((ground) => [text, ground])),
  ...["good", "bad", "wait", "accent"].map((text) => [text, `${text}-soft`]),
  ...["accent", "bad"].map((ground) => ["ink-faint", `${ground}-soft`]),
  ["panel", "accent"],
  ["paper", "accent"],
];

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test("every text stands out from what it stands on, by day and by night", () => {
  for (const [scheme, values] of [
    ["light", colours(light)],
    ["dark", { ...colours(light), ...colours(dark) }],
  ]) {
    const poor = PAIRS.filter(([text, ground]) => contrast(values[text], values[ground]) < 4.5);
    assert.deepEqual(poor.map(([text, ground]) => `${text} on ${ground}: ${contrast(values[text], values[ground]).toFixed(2)}`), [], scheme);
  }
});
