// Python's tokens, as far as colours need them.

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if " +
    "import in is lambda match case nonlocal not or pass raise return try while with yield"
  ).split(" "),
);
const BUILTINS = new Set(
  (
    "abs all any bool bytearray bytes callable chr dict dir divmod enumerate filter float format frozenset getattr hasattr " +
    "hash hex id int isinstance issubclass iter len list map max min next object oct ord pow print property range repr " +
    "reversed round set setattr slice sorted staticmethod classmethod str sum super tuple type vars zip Exception ValueError " +
    "TypeError KeyError IndexError RuntimeError AssertionError ZeroDivisionError StopIteration"
  ).split(" "),
);
const SOFT = new Set(["match", "case"]);

const PATTERN = new RegExp(
  [
    /(?<comment>#[^\n]*)/,
    /(?<triple>(?:[rRbBfFuU]{1,2})?(?:"""(?:\\[\s\S]|(?!""")[\s\S])*(?:"""|$)|'''(?:\\[\s\S]|(?!''')[\s\S])*(?:'''|$)))/,
    /(?<string>(?:[rRbBfFuU]{1,2})?(?:"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?))/,
    /(?<decorator>(?<=^[ \t]*)@[\p{L}_][\p{L}\p{N}_.]*)/,
    /(?<number>0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?)/,
    /(?<name>[\p{L}_][\p{L}\p{N}_]*)/,
    /(?<space>[ \t\r\f]+)/,
    /(?<line>\n)/,
    /(?<other>[\s\S])/,
  ]
    .map((part) => part.source)
    .join("|"),
  "gmu",
);

/** The most characters that are coloured; a longer source comes back plain. */
const MAX_CHARACTERS = 200_000;

/**
 * The lines of a Python source, each a list of { kind, text }. Kinds: comment, string, number, keyword, builtin,
 * decorator, definition (the name after def or class), self, plain.
 */
export function highlight(source) {
  if (source.length > MAX_CHARACTERS) return source.split("\n").map((text) => [{ kind: "plain", text }]);
  const lines = [[]];
  for (const token of tokens(source)) {
    const pieces = token.text.split("\n");
    pieces.forEach((text, index) => {
      if (index > 0) lines.push([]);
      if (text) add(lines[lines.length - 1], token.kind, text);
    });
  }
  return lines;
}

function add(line, kind, text) {
  const last = line[line.length - 1];
  if (last?.kind === kind) last.text += text;
  else line.push({ kind, text });
}

/** The tokens of a Python source, in order and without a gap. */
export function* tokens(source) {
  let before = "";
  for (const match of source.matchAll(PATTERN)) {
    const text = match[0];
    const groups = match.groups;
    if (groups.name !== undefined) {
      const kind = nameKind(text, before, source.slice(match.index + text.length, match.index + text.length + 40));
      before = text;
      yield { kind, text };
    } else {
      if (groups.space === undefined) before = text;
      yield { kind: otherKind(groups), text };
    }
  }
}

function otherKind(groups) {
  if (groups.comment !== undefined) return "comment";
  if (groups.triple !== undefined || groups.string !== undefined) return "string";
  if (groups.number !== undefined) return "number";
  return groups.decorator !== undefined ? "decorator" : "plain";
}

function nameKind(text, before, after) {
  if (before === "def" || before === "class") return "definition";
  if (before === ".") return "plain";
  if (SOFT.has(text)) return before === "\n" || before === "" ? (/^\s+[^=.,)\s]/.test(after) ? "keyword" : "plain") : "plain";
  if (KEYWORDS.has(text)) return "keyword";
  if (text === "self" || text === "cls") return "self";
  return BUILTINS.has(text) ? "builtin" : "plain";
}
