import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import test from "node:test";
import * as format from "../site/format.js";

const check = (call, rows) => {
  for (const [input, expected] of rows) assert.equal(call(...[input].flat()), expected, `${call.name} of ${String(input)}`);
};

test("counts have commas and lose nothing", () => {
  check(format.count, [
    [0, "0"],
    [999, "999"],
    [1000, "1,000"],
    [-1234567, "-1,234,567"],
    [18446744073709551615n, "18,446,744,073,709,551,615"],
    ["1000", "1,000"],
    [null, "–"],
  ]);
});

test("amounts are exact", () => {
  check(format.cby, [
    [0, "0"],
    [1, "0.000000001"],
    [1_500_000_000, "1.5"],
    [1000000000000000001n, "1,000,000,000.000000001"],
    [[1, 4], "<0.0001"],
    [[123_456_789, 4], "0.1234"],
    [[-2_000_000_000], "−2"],
    [undefined, "–"],
  ]);
  assert.equal(format.amount(5_000_000_000_000), "5,000\u202fCBY");
});

test("bytes have the largest unit of which there is one", () => {
  check(format.bytes, [
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1 KiB"],
    [10_485_760, "10 MiB"],
    [1_073_741_824n, "1 GiB"],
    [68_719_476_736, "64 GiB"],
    [2 ** 42, "4 TiB"],
    [2 ** 54, "16384 TiB"],
  ]);
});

test("large numbers are short", () => {
  check(format.compact, [
    [0, "0"],
    [999, "999"],
    [1500, "1.5k"],
    [22_222_222, "22.2M"],
    [80_000_000, "80M"],
    [999_999, "1M"],
    [0.25, "0.25"],
    [10n ** 18n, "1000000T"],
  ]);
});

test("shares are honest about little", () => {
  check(format.percent, [
    [[0, 100], "0%"],
    [[1, 100_000], "<0.1%"],
    [[5, 100], "5%"],
    [[1, 8], "13%"],
    [[1, 3], "33%"],
    [[1, 40], "2.5%"],
    [[1, 0], "0%"],
  ]);
});

test("spans of time have two units at most", () => {
  check(format.duration, [
    [350, "350 ms"],
    [59_000, "59 s"],
    [61_000, "1 min 1 s"],
    [3_600_000, "1 h"],
    [5_400_000, "1 h 30 min"],
    [172_800_000, "2 d"],
    [900_000, "15 min"],
  ]);
  assert.equal(format.relative(1000, 5000), "4 s ago");
  assert.equal(format.relative(9000, 5000), "in 4 s");
  assert.equal(format.relative(5200, 5000), "now");
});

test("moments are UTC", () => {
  check(format.timestamp, [
    [0, "1970-01-01 00:00:00 UTC"],
    [1_795_246_863_123, "2026-11-21 07:41:03 UTC"],
    [Infinity, "–"],
  ]);
});

test("parameters carry their unit", () => {
  check(format.parameter, [
    [[2500, "basis points"], "25%"],
    [[10_485_760, "bytes"], "10 MiB"],
    [[300_000_000, "ns"], "300 ms"],
    [[5_000_000_000, "base units"], "5\u202fCBY"],
    [[96, "count"], "96"],
    [[600, "blocks"], "600 blocks"],
  ]);
});

test("long identifiers show their ends", () => {
  assert.equal(format.ends("0x1234567890abcdef1234"), "0x1234…1234");
  assert.equal(format.ends("0x12"), "0x12");
  assert.equal(format.clip("abcdef", 3), "abc… (3 more characters)");
});

test("an address of IPv6 has brackets before its port", () => {
  assert.equal(format.authority("relay.example.com", 7400), "relay.example.com:7400");
  assert.equal(format.authority("192.0.2.1", 7400), "192.0.2.1:7400");
  assert.equal(format.authority("2001:db8::1", 7400), "[2001:db8::1]:7400");
});

test("no text looks like another", () => {
  assert.equal(format.visible("a\u202eb\u200b\u0007\tc\nü"), "a\ufffdb\ufffd\ufffd\tc\nü");
  for (const unseen of ["\u00ad", "\u061c", "\u115f", "\u180e", "\u206f", "\u3164", "\uffa0", "\u{e0041}"]) {
    assert.equal(format.visible(`a${unseen}b`), "a\ufffdb", `U+${unseen.codePointAt(0).toString(16)}`);
  }
  // Accents that cover other lines are cut; those of a script are not.
  assert.equal(format.visible(`a${"\u0335".repeat(50)}b`), `a${"\u0335".repeat(4)}\ufffdb`);
  assert.equal(format.visible("\u0e19\u0e49\u0e33 \u0915\u094d\u0937\u094d"), "\u0e19\u0e49\u0e33 \u0915\u094d\u0937\u094d");
  assert.equal(format.visible("日本語 😀 עברית"), "日本語 😀 עברית");
});

test("a range names its unit once", () => {
  check(format.range, [
    [[1, 2000, "cycles"], "1 to 2,000 cycles"],
    [[0, 10_000, "basis points"], "0% to 100%"],
    [[1024, 2_097_152, "bytes"], "1 KiB to 2 MiB"],
    [[1, 100, "blocks"], "1 to 100 blocks"],
    [[1, 1, "blocks"], "1 to 1 block"],
  ]);
  check(format.plural, [
    [[1, "byte"], "1 byte"],
    [[0, "byte"], "0 bytes"],
    [[1200, "byte"], "1,200 bytes"],
  ]);
});

test("numbers have their nouns from one function", async () => {
  assert.deepEqual([1, 2].map((value) => format.parameter(value, "blocks")), ["1 block", "2 blocks"]);
  const site = new URL("../site/", import.meta.url);
  const files = (await readdir(site, { recursive: true })).filter((name) => name.endsWith(".js"));
  const found = [];
  for (const name of files) {
    const text = await readFile(new URL(name, site), "utf8");
    found.push(...[...text.matchAll(/\$\{count\([^}]*\)\} ([a-z]+s)\b/g)].map(([, word]) => `${name}: ${word}`));
  }
  assert.deepEqual(found, ["views/governance.js: applies"]);
});

test("a list in a sentence names the first of many", () => {
  const texts = Array.from({ length: 40 }, (_, at) => String(at));
  assert.equal(format.shortList(texts.slice(0, 3)), "0, 1, 2");
  assert.equal(format.shortList(texts), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 28 more");
});
