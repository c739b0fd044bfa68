// What an actor offers, read off its source: the public methods of its class, or its module's functions.

const DECORATOR = /^(\s*)@([A-Za-z_][\w.]*)\s*(\(.*)?$/;
const FUNCTION = /^(\s*)(?:async\s+)?def\s+([A-Za-z_]\w*)\s*\(/;
const CLASS = /^class\s+([A-Za-z_]\w*)/;
// What the chain calls with bytes of its own making.
const RAW_BY_NAME = ["init", "handle_timer", "on_fork"];
const MAX_HANDLERS = 200;
const MAX_SIGNATURE_LINES = 20;

/**
 * The handlers of a Python source, in its order: { name, line, parameters, access, format, deferred, about }.
 * `access` is "public", "restricted" or "private"; `format` is how the payload is read: "cbor", "json" or "raw".
 * A reading of the text, not a run of it: what the source does at run time may differ.
 */
export function handlers(source) {
  const lines = source.split("\n");
  const inText = insideText(lines);
  const found = { methods: [], functions: [] };
  let decorators = [];
  let actorClass = null;
  for (let at = 0; at < lines.length && found.methods.length + found.functions.length < MAX_HANDLERS; at += 1) {
    const line = lines[at];
    if (inText[at] || line.trim() === "" || line.trim().startsWith("#")) continue;
    const decorator = DECORATOR.exec(line);
    if (decorator) {
      decorators.push({ name: decorator[2].split(".").pop(), text: line.trim() });
      continue;
    }
    const top = CLASS.exec(line);
    if (top) actorClass = decorators.some(({ name }) => name === "actor") || top[1] === "Actor" ? top[1] : null;
    const definition = FUNCTION.exec(line);
    if (definition && !definition[2].startsWith("_")) {
      const handler = describe(lines, at, definition, decorators);
      if (definition[1] === "") found.functions.push(handler);
      else if (actorClass !== null && definition[1].length <= 4) found.methods.push(handler);
    } else if (!top && /^\S/.test(line)) {
      actorClass = null;
    }
    if (definition && definition[1] === "") actorClass = null;
    decorators = [];
  }
  if (found.methods.length > 0) return found.methods;
  // A module without an actor class offers all its functions; without a decorator they read raw bytes.
  return found.functions.map((handler) => (handler.access === "private" ? { ...handler, access: "public", format: "raw" } : handler));
}

function describe(lines, at, definition, decorators) {
  const signature = gather(lines, at);
  const parameters = signature.parameters.filter((name) => name !== "self");
  const access = decorators.some(({ name }) => name === "public")
    ? "public"
    : decorators.some(({ name }) => name === "callable_by")
      ? "restricted"
      : "private";
  const format =
    decorators.map(({ text }) => /decode\s*=\s*["'](cbor|json|raw)["']/.exec(text)?.[1]).find(Boolean) ??
    (RAW_BY_NAME.includes(definition[2]) ? "raw" : "cbor");
  const deferred = decorators.some(({ name }) => name === "deferred");
  return { name: definition[2], line: at + 1, parameters, access, format, deferred, about: docstring(lines, signature.end + 1) };
}

/** The parameters' names, and the line where the signature ends. */
function gather(lines, start) {
  const parameters = [];
  let depth = 0;
  let current = "";
  const take = () => {
    const name = current.trim().split(/[:=\s]/)[0];
    if (/^\**[A-Za-z_]\w*$/.test(name)) parameters.push(name);
    current = "";
  };
  for (let at = start; at < Math.min(lines.length, start + MAX_SIGNATURE_LINES); at += 1) {
    const text = at === start ? lines[at].slice(lines[at].indexOf("(") + 1) : lines[at];
    for (const letter of text) {
      if (letter === "#") break;
      if (depth === 0 && (letter === "," || letter === ")")) {
        take();
        if (letter === ")") return { parameters, end: at };
        continue;
      }
      if ("([{".includes(letter)) depth += 1;
      if (")]}".includes(letter)) depth -= 1;
      current += letter;
    }
    current += " ";
  }
  return { parameters, end: start };
}

function docstring(lines, at) {
  const found = /^\s*[rR]?("""|'''|"|')(.*)$/.exec(lines[at] ?? "");
  if (!found) return "";
  const end = found[2].indexOf(found[1]);
  const first = end < 0 ? found[2] : found[2].slice(0, end);
  return (first.trim() || (found[1].length === 3 ? (lines[at + 1] ?? "").trim().replace(found[1], "") : "")).slice(0, 200);
}

/** For each line, whether it begins inside a triple-quoted text. */
function insideText(lines) {
  let open = null;
  return lines.map((line) => {
    const began = open !== null;
    for (let at = 0; at < line.length; at += 1) {
      if (open !== null) {
        if (line.startsWith(open, at)) {
          open = null;
          at += 2;
        } else if (line[at] === "\\") at += 1;
      } else if (line[at] === "#") break;
      else if (line.startsWith('"""', at) || line.startsWith("'''", at)) {
        open = line.slice(at, at + 3);
        at += 2;
      } else if (line[at] === '"' || line[at] === "'") {
        const close = new RegExp(`(?:\\\\.|[^\\\\${line[at]}])*${line[at]}`, "y");
        close.lastIndex = at + 1;
        at = close.test(line) ? close.lastIndex - 1 : line.length;
      }
    }
    return began;
  });
}
