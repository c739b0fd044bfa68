import assert from "node:assert/strict";
import test from "node:test";
import { edgePath, growTree, layoutTree } from "../site/tree.js";

const delivery = (id, height, sender, target) => ({ id, block_height: height, sender, target });
const outline = ({ item, children }) => (children.length ? [item.id, children.map(outline)] : item.id);

test("a delivery hangs below the latest run of its sender", () => {
  const root = delivery("tx", 10, "alice", "A");
  const rows = [
    ["none", [], "tx"],
    ["one level", [delivery("1", 11, "A", "B"), delivery("2", 11, "A", "C")], ["tx", ["1", "2"]]],
    ["two levels", [delivery("1", 11, "A", "B"), delivery("2", 12, "B", "C")], ["tx", [["1", ["2"]]]]],
    [
      "back and forth",
      [delivery("1", 11, "A", "B"), delivery("2", 12, "B", "A"), delivery("3", 13, "A", "B")],
      ["tx", [["1", [["2", ["3"]]]]]],
    ],
    ["not in the same block", [delivery("1", 11, "A", "B"), delivery("2", 11, "B", "C")], ["tx", ["1", "2"]]],
  ];
  for (const [name, deliveries, expected] of rows) assert.deepEqual(outline(growTree(root, deliveries)), expected, name);
});

test("a delivery hangs below the parent that the node names", () => {
  const named = (id, height, parent) => ({ ...delivery(id, height, "A", "A"), tx_hash: id, parent });
  const root = { ...delivery("tx", 10, "alice", "A"), tx_hash: "tx" };
  const deliveries = [named("1", 11, "tx"), named("2", 12, "tx"), named("3", 13, "1"), named("4", 14, "gone")];
  assert.deepEqual(outline(growTree(root, deliveries)), ["tx", [["1", [["3", ["4"]]]], "2"]]);
});

test("rows go down, depth goes right", () => {
  const tree = growTree(delivery("tx", 1, "x", "A"), [delivery("1", 2, "A", "B"), delivery("2", 2, "A", "C"), delivery("3", 3, "B", "D")]);
  const { rows, edges, left } = layoutTree(tree);
  assert.deepEqual(
    rows.map(({ node, depth }) => [node.item.id, depth]),
    [
      ["tx", 0],
      ["1", 1],
      ["3", 2],
      ["2", 1],
    ],
  );
  assert.deepEqual(edges, [
    { from: 0, to: 1 },
    { from: 1, to: 2 },
    { from: 0, to: 3 },
  ]);
  assert.equal(left, 0);
  assert.equal(edgePath(rows[0], rows[1], 40, 20), "M10 20V52Q10 60 18 60H30");
});

test("a large tree is cut, and says so", () => {
  const tree = { item: {}, children: Array.from({ length: 1024 }, () => ({ item: {}, children: [] })) };
  const { rows, left } = layoutTree(tree);
  assert.equal(rows.length, 400);
  assert.equal(left, 625);
});
