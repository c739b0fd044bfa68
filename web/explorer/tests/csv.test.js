import assert from "node:assert/strict";
import { test } from "node:test";
import { toCsv } from "../site/csv.js";
import { siteOf, urlOfGateway } from "../site/sites.js";
import { tokenAmount } from "../site/views/tokens.js";

test("a table as a file", () => {
  const columns = [
    { name: "Name", text: (row) => row[0] },
    { name: "Amount, CBY", text: (row) => row[1] },
  ];
  const rows = [
    ["plain", 12n],
    ['a "quoted", text', "line\nbreak"],
    [null, undefined],
  ];
  assert.equal(toCsv(columns, rows), 'Name,"Amount, CBY"\r\nplain,12\r\n"a ""quoted"", text","line\nbreak"\r\n,\r\n');
});

test("no text is a formula, and a negative number stays one", () => {
  const column = [{ name: "Text", text: (row) => row }];
  for (const text of ["=1+1", "+cmd", "-cmd", "@sum", "\tx"]) assert.equal(toCsv(column, [text]).split("\r\n")[1], `'${text}`);
  for (const text of ["-1", "-12.5", "a=b"]) assert.equal(toCsv(column, [text]).split("\r\n")[1], text);
});

test("amounts of tokens keep every digit", () => {
  assert.equal(tokenAmount("1234567890123456789012", 2), "12,345,678,901,234,567,890.12");
  assert.equal(tokenAmount("5", 9), "0.000000005");
  assert.equal(tokenAmount("5000", 3), "5");
  assert.equal(tokenAmount("0", 0), "0");
  assert.equal(tokenAmount(undefined, 2), "–");
});

test("a gateway's URL is that of a host, or none", () => {
  const rows = [
    ["localhost:5080", 5080, "http://localhost:5080"],
    ["localhost", 5080, "http://localhost:5080"],
    ["gw.example.com", 443, "https://gw.example.com"],
    ["https://gw.example.com", 443, "https://gw.example.com"],
    ["javascript:alert(1)", 80, null],
    ["evil.example/<script>", 80, null],
    ["user@host", 80, null],
    ["192.0.2.1", 5080, null],
    ["2001:db8::1", 443, null],
  ];
  for (const [endpoint, http_port, url] of rows) assert.equal(urlOfGateway({ endpoint, http_port }), url, endpoint);
});

test("only a live name that DNS carries has a site", () => {
  const name = { name: "shop", stage: "live", is_dns: true, url: null };
  assert.equal(siteOf(name, "https://gw.example.com"), "https://shop.gw.example.com");
  assert.equal(siteOf({ ...name, url: "http://shop.localhost:1" }, "https://gw.example.com"), "http://shop.localhost:1");
  assert.equal(siteOf({ ...name, stage: "grace" }, "https://gw.example.com"), null);
  assert.equal(siteOf({ ...name, is_dns: false }, "https://gw.example.com"), null);
  assert.equal(siteOf(name, null), null);
});
