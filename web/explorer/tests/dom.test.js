import assert from "node:assert/strict";
import test from "node:test";
import { staysHere } from "../site/dom.js";

test("links lead to this host only, as a browser reads them", () => {
  for (const link of ["#/", "#/name/a", "/explorer/verify/index.html", "/a//b"]) assert.ok(staysHere(link), link);
  const hosts = ["//evil.example", "/\\evil.example", "/\t/evil.example", "/\n/evil.example", " //evil.example", "http://a.example/"];
  for (const link of ["", "a", "javascript:alert(1)", ...hosts]) assert.ok(!staysHere(link), JSON.stringify(link));
});
