import assert from "node:assert/strict";
import test from "node:test";
import { parseJson, printJson } from "../site/json.js";

test("agrees with JSON.parse on what needs no care", () => {
  for (const text of ['{"a":[1,2.5,-3e2,true,false,null,"x\\u0041\\n"]}', "[]", "{}", ' { "a" : { } } ', '"1234567890123456 \\" y"']) {
    assert.deepEqual(parseJson(text), JSON.parse(text));
    const forced = `[${text},1234567890123456]`;
    assert.deepEqual(parseJson(forced)[0], JSON.parse(text));
  }
});

test("keeps large integers whole", () => {
  assert.deepEqual(parseJson("[1000000000000000001,-9007199254740993,9007199254740991,0.1234567890123456]"), [
    1000000000000000001n,
    -9007199254740993n,
    9007199254740991,
    0.1234567890123456,
  ]);
  assert.equal(printJson({ a: 18446744073709551615n, b: [1] }), '{"a":18446744073709551615,"b":[1]}');
});

test("refuses what is not JSON", () => {
  const long = "1234567890123456";
  for (const text of [
    `[${long}`,
    `[${long} "a"]`,
    `{"a" ${long}}`,
    `[${long},]`,
    `${long} x`,
    `["\n",${long}]`,
    `[0${long}]`,
    "[".repeat(300) + long,
  ]) {
    assert.throws(() => parseJson(text), SyntaxError, text);
  }
});

test("a key named __proto__ stays a key", () => {
  const object = parseJson('{"__proto__":{"polluted":1234567890123456}}');
  assert.equal({}.polluted, undefined);
  assert.deepEqual(Object.keys(object), ["__proto__"]);
});

test("the longest texts are read beside large integers", () => {
  const long = "a\\\"b".repeat(4_000_000);
  assert.deepEqual(parseJson(`["${long}\\\\",12345678901234567890]`), [`${JSON.parse(`"${long}"`)}\\`, 12345678901234567890n]);
});
