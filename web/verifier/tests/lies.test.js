// Every lie that the gateway's test tells, told to the verifier in WebAssembly and to `cowboy verify-response`. CASES is the folder
// that `COWBOY_WITNESS_CASES=… cargo test --workspace --test web` wrote, BIN_DIR the one with the programs and the verifier.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { asking, load, unhex } from "../../explorer/site/verify/verifier.js";

const folder = process.env.CASES;
const programs = process.env.BIN_DIR ?? "";
const program = join(programs, "cowboy");
const built = join(programs, "verifier.wasm.gz");
const isBuilt = existsSync(built);
const noVerifier = "no verifier in BIN_DIR: web/verifier/build.sh";

const verifierOf = async () => load(gunzipSync(await readFile(built)));

test("the URL asks for a witness and keeps its own question", () => {
  assert.equal(asking("http://a.localhost:8080"), "http://a.localhost:8080/?_cowboy_proof");
  assert.equal(asking("http://a.localhost/b?c=d#e"), "http://a.localhost/b?c=d&_cowboy_proof");
  assert.throws(() => unhex("0x1"), /not hex/);
});

test("whatever comes in, an answer comes out, and all room goes back", { skip: !isBuilt && noVerifier }, async () => {
  const verifier = await verifierOf();
  const url = "http://a.localhost/";
  const sizes = [0, 1, 15, 16, 17, 255, 4_096, 1_000_000];
  const round = () => {
    for (const size of sizes) {
      const witness = new Uint8Array(size).fill(size);
      const result = verifier.check({ genesis: witness, groupKey: new Uint8Array(96), url, witness });
      assert.deepEqual([result.verified, result.failed, result.is_undecided], [false, "request", true], `${size} bytes`);
    }
    return verifier.exports.memory.buffer.byteLength;
  };
  const before = round();
  for (let times = 0; times < 20; times += 1) assert.equal(round(), before, "memory grows");
});

test("every lie is found", { skip: (!folder && "CASES names no folder") || (!isBuilt && noVerifier) }, async () => {
  const { url, genesis, cases } = JSON.parse(await readFile(join(folder, "cases.json"), "utf8"));
  const verifier = await verifierOf();
  const times = [];
  for (const { what, fails, file } of cases) {
    const witness = await readFile(join(folder, file));
    const began = performance.now();
    const result = verifier.check({ genesis: unhex(genesis.config), groupKey: unhex(genesis.group_key), url, witness });
    times.push(performance.now() - began);
    assert.equal(result.verified, fails === null, `${what}: ${result.why}`);
    assert.equal(result.failed ?? null, fails, `${what}: ${result.why}`);
    assert.equal(result.is_undecided, undefined, "a lie is a verdict");
    if (result.verified) assert.match(result.body, /Guest book/);
  }
  console.log(`the truth took ${times[0].toFixed(1)} ms`);
});

test("what the gateway signed is read", { skip: (!folder && "CASES names no folder") || (!isBuilt && noVerifier) }, async () => {
  const { url, genesis, cases, signature, gateway } = JSON.parse(await readFile(join(folder, "cases.json"), "utf8"));
  const verifier = await verifierOf();
  const [truth, changed] = await Promise.all(cases.slice(0, 2).map(({ file }) => readFile(join(folder, file))));
  const check = (witness, text) =>
    verifier.check({ genesis: unhex(genesis.config), groupKey: unhex(genesis.group_key), url, witness, signature: text });
  assert.equal(check(truth, "").signature, null);
  assert.deepEqual(check(truth, signature), { ...check(truth, ""), signature: { by: gateway, is_evidence: false } });
  // A true answer with a false signature, and a lie that nobody signed: each is told apart.
  const other = (signature[0] === "0" ? "1" : "0") + signature.slice(1);
  for (const text of [other, signature.slice(2), "zz", `${signature}00`]) {
    const { verified, signature: found } = check(truth, text);
    assert.deepEqual([verified, found.by], [true, null], text);
    assert.match(found.why, /signed/);
  }
  const lie = check(changed, signature);
  assert.deepEqual([lie.verified, lie.signature.by, lie.signature.why], [false, null, "the gateway signed another body than it sent"]);
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
