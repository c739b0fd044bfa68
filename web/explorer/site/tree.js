// What a transaction set off, as a tree, and where each node of it goes in a picture.

const MAX_ROWS = 400;

/**
 * The tree of deliveries below `root`. A delivery hangs below its parent, where the node knows it; else below the latest one
 * before it in which its sender ran, since only a running actor sends. `root` and `deliveries` are receipts, the deliveries in
 * chain order.
 * Answers { item, children }.
 */
export function growTree(root, deliveries) {
  const nodes = [{ item: root, children: [] }];
  for (const item of deliveries) {
    const node = { item, children: [] };
    parentOf(item, nodes).children.push(node);
    nodes.push(node);
  }
  return nodes[0];
}

function parentOf(item, nodes) {
  const named = item.parent ? nodes.find((node) => node.item.tx_hash === item.parent) : undefined;
  if (named) return named;
  for (let at = nodes.length - 1; at > 0; at -= 1) {
    const candidate = nodes[at].item;
    if (candidate.target === item.sender && candidate.block_height < item.block_height) return nodes[at];
  }
  return nodes[0];
}

/**
 * Rows from top to bottom, each { node, row, depth }, and edges { from, to } by row. `children(node)` gives what hangs below.
 * At most MAX_ROWS rows; `left` says how many nodes found no room.
 */
export function layoutTree(root, children = (node) => node.children) {
  const rows = [];
  const edges = [];
  let left = 0;
  const place = (node, depth, parent) => {
    if (rows.length >= MAX_ROWS) {
      left += 1;
      return;
    }
    const row = rows.length;
    rows.push({ node, row, depth });
    if (parent !== null) edges.push({ from: parent, to: row });
    for (const child of children(node)) place(child, depth + 1, row);
  };
  place(root, 0, null);
  return { rows, edges, left };
}

/** The path of an edge from one row's dot down and over to another's, with a round corner. */
export function edgePath(from, to, rowHeight, indent) {
  const x = (from.depth + 0.5) * indent;
  const end = { x: (to.depth + 0.5) * indent, y: (to.row + 0.5) * rowHeight };
  const radius = Math.min(8, end.x - x);
  const y = (from.row + 0.5) * rowHeight;
  return `M${x} ${y}V${end.y - radius}Q${x} ${end.y} ${x + radius} ${end.y}H${end.x}`;
}
