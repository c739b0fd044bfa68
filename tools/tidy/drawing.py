"""An acyclic graph as a picture: boxes in layers, each above all that it uses, and an arrow from each box to what it uses.

Whole numbers and sorted names only: the same graph is the same file everywhere."""

from html import escape

WIDTH, HEIGHT, GAP, RISE, MARGIN, TITLE = 112, 34, 26, 74, 24, 30
STYLE = """<style>
  svg { background: #fff; font: 14px system-ui, sans-serif; }
  rect { fill: #eef3fb; stroke: #456; }
  text { text-anchor: middle; fill: #123; }
  path { fill: none; stroke: #89a; }
  @media (prefers-color-scheme: dark) {
    svg { background: #14181f; } rect { fill: #223044; stroke: #9ab; } text { fill: #dde6f0; } path { stroke: #678; }
  }
</style>"""


def layers(graph: dict[str, set[str]]) -> list[list[str]]:
    """The names by the longest way down from each, the lowest layer first. Within a layer, names stand near what they use."""
    depth: dict[str, int] = {}

    def depth_of(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((depth_of(used) for used in graph[name]), default=-1)
        return depth[name]

    rows: list[list[str]] = [[] for _ in range(1 + max(map(depth_of, graph), default=-1))]
    for name in sorted(graph):
        rows[depth[name]].append(name)
    place: dict[str, int] = {}
    for row in rows:
        # Thousandths of a row's length, so that rows of any length compare.
        row.sort(key=lambda name: (sum(place[used] for used in graph[name]) // max(len(graph[name]), 1), name))
        place |= {name: (2 * at + 1) * 500 // len(row) for at, name in enumerate(row)}
    return rows


def svg(title: str, graph: dict[str, set[str]]) -> str:
    """The picture. The graph has a key for every name that occurs, and no cycle."""
    rows = layers(graph)
    width = 2 * MARGIN + max(len(row) for row in rows) * (WIDTH + GAP) - GAP
    height = 2 * MARGIN + TITLE + len(rows) * RISE - (RISE - HEIGHT)
    middle, top, boxes, arrows = {}, {}, [], []
    for at, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + GAP) + GAP) // 2
        for name in row:
            middle[name], top[name] = left + WIDTH // 2, height - MARGIN - HEIGHT - at * RISE
            boxes.append(f'<rect x="{left}" y="{top[name]}" width="{WIDTH}" height="{HEIGHT}" rx="5"/><text x="{middle[name]}" y="{top[name] + 22}">{escape(name)}</text>')
            left += WIDTH + GAP
    for name in sorted(graph):
        for used in sorted(graph[name]):
            start, end = top[name] + HEIGHT, top[used] - 3
            bend = (end - start) // 2
            arrows.append(f'<path d="M{middle[name]} {start}C{middle[name]} {start + bend} {middle[used]} {end - bend} {middle[used]} {end}" marker-end="url(#tip)"/>')
    tip = '<marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6"/></marker>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{escape(title)}">'
    heading = f'<text x="{width // 2}" y="{MARGIN + 8}">{escape(title)}</text>'
    return "\n".join([head, STYLE, tip, heading, *arrows, *boxes, "</svg>"]) + "\n"
