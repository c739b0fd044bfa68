// Tables as files: comma-separated values (RFC 4180) that a spreadsheet opens without running anything in them.

/** The text of a table. A column is { name, text(row) }. */
export function toCsv(columns, rows) {
  const lines = [columns.map(({ name }) => cell(name)), ...rows.map((row) => columns.map(({ text }) => cell(text(row))))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** One cell. A text that a spreadsheet would take for a formula begins with an apostrophe. */
function cell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  const harmless = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Hands a text to the reader as a file. */
export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
