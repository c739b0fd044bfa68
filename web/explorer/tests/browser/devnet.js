// A devnet of the real programs for one test: its own folder and port, ended by its own process.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const READY_MS = 60_000;

/** Where a built program is: BIN_DIR, else the newest of the usual folders. */
function program(name) {
  const folders = process.env.BIN_DIR ? [process.env.BIN_DIR] : [join(ROOT, "target/release"), join(ROOT, "target/debug")];
  const found = folders.map((folder) => join(folder, name)).find(existsSync);
  assert.ok(found, `${name} is not built: cargo build -p cowboy-cli, or name its folder in BIN_DIR`);
  return found;
}

/** A port that nobody listens on now, nor on the next one, which a node takes for its metrics. */
async function freePort() {
  for (;;) {
    const first = await listening(0);
    const { port } = first.address();
    const second = await listening(port + 1).catch(() => null);
    for (const probe of [first, second]) await new Promise((resume) => (probe ? probe.close(resume) : resume()));
    if (second) return port;
  }
}

/** A server at a port of the loopback; 0 takes any. Fails where the port is taken. */
function listening(port) {
  const server = createServer();
  return new Promise((resume, refuse) => server.once("error", refuse).listen(port, "127.0.0.1", () => resume(server)));
}

export class Devnet {
  /** Starts `cowboyd dev` with these options, and answers once it is ready. */
  static async start(...options) {
    const devnet = new Devnet();
    devnet.folder = await mkdtemp(join(tmpdir(), "cowboy-explorer-"));
    devnet.port = await freePort();
    devnet.options = options;
    await devnet.run();
    return devnet;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get page() {
    return `${this.url}/explorer/`;
  }

  /** Starts the process on its folder and port. */
  async run() {
    const state = join(this.folder, "state");
    const runners = this.options.includes("--runners") ? [] : ["--runners", "0"];
    this.process = spawn(program("cowboyd"), ["dev", "--port", String(this.port), "--state", state, ...runners, ...this.options], {
      cwd: this.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.log = "";
    this.process.stdout.on("data", (text) => (this.log += text));
    this.process.stderr.on("data", (text) => (this.log += text));
    await this.say(/ready: /);
  }

  /** Waits until the process has printed something. Answers the match. */
  async say(pattern) {
    const deadline = AbortSignal.timeout(READY_MS);
    while (!pattern.test(this.log)) {
      assert.ok(!deadline.aborted && this.process.exitCode === null, `no ${pattern} in:\n${this.log}`);
      await Promise.race([once(this.process.stdout, "data"), once(this.process, "exit"), once(deadline, "abort")]);
    }
    return pattern.exec(this.log);
  }

  /** Ends the process and waits for it. */
  async halt() {
    if (this.process.exitCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.kill("SIGTERM");
    await ended;
  }

  /** Ends the process and removes its folder. */
  async stop() {
    await this.halt();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The addresses of its funded accounts. */
  accounts() {
    return this.keys().map(({ address }) => address);
  }

  keys() {
    return [...this.log.matchAll(/^\((\d+)\) (0x[0-9a-f]{40}) +(\S+)$/gm)].map(([, , address, key]) => ({ address, key }));
  }

  /** Runs `cowboy` against the devnet with the key of its account `from`, and answers its JSON. */
  async cowboy(from, ...words) {
    const environment = { ...process.env, COWBOY_RPC_URL: this.url, COWBOY_PRIVATE_KEY: this.keys()[from].key };
    const { stdout } = await promisify(execFile)(program("cowboy"), [...words, "--json"], { cwd: this.folder, env: environment });
    return JSON.parse(stdout);
  }

  /** POST to the API; answers its JSON. */
  async post(path, body) {
    const response = await fetch(this.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    assert.ok(response.ok, `${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** GET of the API; answers its JSON. */
  async get(path) {
    return (await fetch(this.url + path)).json();
  }
}

function once(source, name) {
  return new Promise((resume) => (source.once ? source.once(name, resume) : source.addEventListener(name, resume, { once: true })));
}
