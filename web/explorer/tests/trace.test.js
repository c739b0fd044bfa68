import assert from "node:assert/strict";
import test from "node:test";
import { exceptionLine, frames, ownLines } from "../site/trace.js";

const TRACE = `Traceback (most recent call last):
  File "cowboy_sdk/dispatch.py", line 61, in _run
    return handler.run(actor_class(), payload)
  File "actor.py", line 9, in divide
    return self._part(by)
  File "actor.py", line 30, in _part
    return self.storage["count"] // by
ZeroDivisionError: integer division or modulo by zero
`;

test("frames stand in order", () => {
  assert.deepEqual(frames(TRACE), [
    { file: "cowboy_sdk/dispatch.py", line: 61, name: "_run" },
    { file: "actor.py", line: 9, name: "divide" },
    { file: "actor.py", line: 30, name: "_part" },
  ]);
});

test("the actor's own lines lead to the fault", () => {
  const rows = [
    [TRACE, 40, [9, 30]],
    [TRACE, 20, [9]],
    ["", 40, []],
    [null, 40, []],
    [{}, 40, []],
    ['File "actor.py", line 0', 40, []],
  ];
  for (const [trace, lines, expected] of rows) assert.deepEqual(ownLines(trace, lines), expected);
});

test("the exception is the last line", () => {
  const rows = [
    [TRACE, "ZeroDivisionError: integer division or modulo by zero"],
    ["KeyError", "KeyError"],
    [TRACE + "a note\nwhy: so\n", "ZeroDivisionError: integer division or modulo by zero"],
    [
      '  + Exception Group Traceback (most recent call last):\n  |   File "actor.py", line 1, in f\n  |     g()\n  | ExceptionGroup: all (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | ValueError: 1\n    +------------------------------------\n',
      "ExceptionGroup: all (1 sub-exception)",
    ],
    ["a b", null],
    ["", null],
    [undefined, null],
  ];
  for (const [trace, expected] of rows) assert.equal(exceptionLine(trace), expected);
});
