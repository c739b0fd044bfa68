// Python tracebacks: where in the actor's own source an exception came from.

/**
 * The frames of a traceback, outermost first: { file, line, name }. Reads CPython's form,
 * `  File "actor.py", line 12, in increment`.
 */
export function frames(trace) {
  if (typeof trace !== "string") return [];
  return [...trace.slice(0, 50_000).matchAll(/File "([^"\n]{1,300})", line (\d{1,7})(?:, in ([^\n]{1,200}))?/g)].map(
    ([, file, line, name]) => ({ file, line: Number(line), name: name ?? "" }),
  );
}

/** The lines of the actor's source that a traceback passes through, innermost last: what the SDK's files add is left out. */
export function ownLines(trace, lineCount) {
  const own = frames(trace).filter(({ file, line }) => !/cowboy_sdk|pvm_host|<frozen/.test(file) && line >= 1 && line <= lineCount);
  return [...new Set(own.map(({ line }) => line))];
}

/** The exception's name and words: what follows the frames of the last traceback, before notes and what a group holds. */
export function exceptionLine(trace) {
  if (typeof trace !== "string") return null;
  const lines = trace.trimEnd().split("\n");
  const start = lines.findLastIndex((line) => /^(  \+ Exception Group )?Traceback \(most recent/.test(line));
  const frame = start >= 0 && lines[start].startsWith("  +") ? "  | " : "";
  const rest = lines.slice(start + 1).filter((line) => line.startsWith(frame)).map((line) => line.slice(frame.length));
  const said = start < 0 ? rest.at(-1).trim() : (rest.find((line) => /^\S/.test(line)) ?? "");
  return /^[A-Za-z_][\w.]*(:|$)/.test(said) ? said : null;
}
