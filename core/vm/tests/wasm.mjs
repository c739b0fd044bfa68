// The corpus in WebAssembly: node runs every program in the VM and compares with golden_cycles.txt.
// node core/vm/tests/wasm.mjs target/wasm32-unknown-unknown/debug/examples/wasm.wasm
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const { memory, reserve, run, place, trap, trap_place } = instance.exports;

function report(source) {
  const bytes = Buffer.from(source, "utf8");
  const start = reserve(bytes.length);
  new Uint8Array(memory.buffer).set(bytes, start);
  try {
    const length = run();
    return Buffer.from(memory.buffer, place(), length).toString("utf8");
  } catch (error) {
    throw new Error(Buffer.from(memory.buffer, trap_place(), trap()).toString("utf8"), { cause: error });
  }
}

const rows = readFileSync(join(here, "golden_cycles.txt"), "utf8").trimEnd().split("\n");
let wrong = 0;
for (const row of rows) {
  const [name] = row.split(" ", 1);
  const expected = row.slice(name.length + 1);
  const found = report(readFileSync(join(here, "corpus", name), "utf8"));
  if (found !== expected) {
    console.log(`${name}: ${found}, and the table says ${expected}`);
    wrong += 1;
  }
}
console.log(`${rows.length} programs in WebAssembly, ${wrong} differ from the table`);
process.exitCode = wrong > 0 ? 1 : 0;
