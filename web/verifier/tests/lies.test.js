// Every lie that the gateway's test tells, told to the verifier in WebAssembly, and to `cowboy verify-response` where it is
// built. CASES is the folder that `COWBOY_WITNESS_CASES=… cargo test -p cowboy-gateway --test web` wrote.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { asking, load, unhex } from "../../explorer/site/verify/verifier.js";

const WASM = fileURLToPath(new URL("../../explorer/site/verify/verifier.wasm", import.meta.url));
const folder = process.env.CASES;
const program = join(process.env.BIN_DIR ?? "", "cowboy");

test("the URL asks for a witness and keeps its own question", () => {
  assert.equal(asking("http://a.localhost:8080"), "http://a.localhost:8080/?_cowboy_proof");
  assert.equal(asking("http://a.localhost/b?c=d#e"), "http://a.localhost/b?c=d&_cowboy_proof");
  assert.throws(() => unhex("0x1"), /no hex/);
});

test("every lie is found", { skip: !folder && "CASES names no folder" }, async () => {
  const { url, genesis, cases } = JSON.parse(await readFile(join(folder, "cases.json"), "utf8"));
  const verifier = await load(await readFile(WASM));
  const times = [];
  for (const { what, fails, file } of cases) {
    const witness = await readFile(join(folder, file));
    const began = performance.now();
    const result = verifier.check({ genesis: unhex(genesis.config), groupKey: unhex(genesis.group_key), url, witness });
    times.push(performance.now() - began);
    assert.equal(result.verified, fails === null, `${what}: ${result.why}`);
    assert.equal(result.failed ?? null, fails, `${what}: ${result.why}`);
    if (result.verified) assert.match(result.body, /Guest book/);
  }
  console.log(`the truth took ${times[0].toFixed(1)} ms`);
});

test("the command finds every lie too", { skip: !(folder && existsSync(program)) && "no cowboy in BIN_DIR" }, async () => {
  const { url, genesis, cases } = JSON.parse(await readFile(join(folder, "cases.json"), "utf8"));
  const believed = join(folder, "genesis.json");
  await writeFile(believed, JSON.stringify(genesis));
  for (const { what, fails, file } of cases) {
    const words = ["verify-response", join(folder, file), "--url", url, "--genesis-file", believed];
    const [code, said] = await new Promise((resume) => {
      execFile(program, words, { cwd: folder }, (error, out, problems) => resume([error ? error.code : 0, out + problems]));
    });
    assert.equal(code, fails === null ? 0 : 1, `${what}: ${said}`);
    if (fails) assert.match(said, new RegExp(`failed: ${fails}`), what);
  }
});
