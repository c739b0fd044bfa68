import assert from "node:assert/strict";
import test from "node:test";
import { highlight, tokens } from "../site/highlight.js";
import { handlers } from "../site/handlers.js";
import { classNameOf } from "../site/names.js";

const kinds = (source) =>
  highlight(source)
    .flat()
    .filter(({ text }) => text.trim())
    .map(({ kind, text }) => `${kind}:${text.trim()}`);

test("tokens have their kinds", () => {
  const rows = [
    ["def go(self):", ["keyword:def", "definition:go", "plain:(", "self:self", "plain:):"]],
    ["@public\n", ["decorator:@public"]],
    ["a @ b", ["plain:a @ b"]],
    ["x = 0x1F + 1_000.5e3 # sum", ["plain:x =", "number:0x1F", "plain:+", "number:1_000.5e3", "comment:# sum"]],
    ["f\"{a!r}\" + rb'\\x00'", ['string:f"{a!r}"', "plain:+", "string:rb'\\x00'"]],
    ["print(len(x))", ["builtin:print", "plain:(", "builtin:len", "plain:(x))"]],
    ["self.print", ["self:self", "plain:.print"]],
    [
      "match x:\n  case 1: pass\nmatch = 3",
      ["keyword:match", "plain:x:", "keyword:case", "number:1", "plain::", "keyword:pass", "plain:match =", "number:3"],
    ],
    ["'open", ["string:'open"]],
    ["# <script>", ["comment:# <script>"]],
  ];
  for (const [source, expected] of rows) assert.deepEqual(kinds(source), expected, source);
});

test("texts over several lines keep their colour and their lines", () => {
  const lines = highlight('"""one\ntwo"""\nx');
  assert.deepEqual(lines, [[{ kind: "string", text: '"""one' }], [{ kind: "string", text: 'two"""' }], [{ kind: "plain", text: "x" }]]);
});

test("nothing is lost", () => {
  const source = 'class A:\r\n\t"""unfinished\n\u0000\ud800 "x\n\\';
  assert.equal([...tokens(source)].map(({ text }) => text).join(""), source);
});

const SOURCE = `"""An actor.

def not_me(): pass
"""
from cowboy_sdk import actor, public

def helper(x):
    return x

@actor
class Counter:
    @public
    def init(self): pass

    @public
    def increment(self, by=1):
        """Adds to the counter."""
        return by

    @callable_by(OWNER, decode="json")
    @deferred
    def drain(
        self,
        to: bytes,
        amount: dict[str, int] = {},
    ) -> None:
        '''
        Sends it all.
        '''

    @public(decode="raw")
    def raw(self, data): return data

    def tick(self): pass

    def _hidden(self): pass
`;

test("handlers are read off the class", () => {
  assert.deepEqual(handlers(SOURCE), [
    { name: "init", line: 13, parameters: [], access: "public", format: "raw", deferred: false, about: "" },
    { name: "increment", line: 16, parameters: ["by"], access: "public", format: "cbor", deferred: false, about: "Adds to the counter." },
    { name: "drain", line: 22, parameters: ["to", "amount"], access: "restricted", format: "json", deferred: true, about: "Sends it all." },
    { name: "raw", line: 32, parameters: ["data"], access: "public", format: "raw", deferred: false, about: "" },
    { name: "tick", line: 34, parameters: [], access: "private", format: "cbor", deferred: false, about: "" },
  ]);
});

test("a module without a class offers its functions", () => {
  assert.deepEqual(
    handlers("def hello(payload):\n    return payload\n\ndef _no(): pass\n").map(({ name, format, access }) => [name, format, access]),
    [["hello", "raw", "public"]],
  );
});

test("an actor's class is named where few lines stand between it and its decorator", () => {
  const source = (lines) => `@actor\n${"@other\n".repeat(lines)}class Shop:\n`;
  assert.equal(classNameOf(source(0)), "Shop");
  assert.equal(classNameOf(source(20)), "Shop");
  // Without a limit, each of many such lines would be looked at again for each before it.
  assert.equal(classNameOf(source(21)), null);
});
