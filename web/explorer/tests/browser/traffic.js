// A devnet with something of everything: an agent, a timer and a message that fail, a token, a proposal, a site, payments.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Devnet } from "./devnet.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const PAYERS = [2, 3, 4];
const TRANSFERS = 12;

const FAILING = `"""A toll that asks its ledger who has paid."""

from cowboy_sdk import Actor, actor, deferred, public, send, set_interval


@actor
class Toll(Actor):
    """Keeps what each traveller has paid."""

    @public
    def init(self) -> None:
        self.storage["paid"] = {"ada": 12, "grace": 7}
        set_interval(20, "sweep", gas_limit=200_000, cells_limit=20_000)

    @public
    @deferred
    def collect(self, traveller: str) -> None:
        """Asks the ledger, in a message of its own."""
        send(self.address, {"traveller": traveller}, handler="settle")

    @public
    @deferred
    def settle(self, payload) -> None:
        print("settling with", payload["traveller"])
        due = self.storage["paid"]
        due[payload["traveller"]] -= 5
        self.storage["paid"] = due

    @public
    def sweep(self) -> None:
        raise ValueError("nobody swept the bridge")
`;

/** Starts the devnet and answers it with the addresses of what lives there. */
export async function settled() {
  const devnet = await Devnet.start("--block-time", "500ms", "--gateway-port", "0", "--example", "heartbeat");
  const [, heartbeat] = await devnet.say(/heartbeat is at (0x[0-9a-f]{40})/);
  const [, port] = await devnet.say(/<name>\.localhost:(\d+)/);
  await writeFile(join(devnet.folder, "toll.py"), FAILING);
  const toll = (await devnet.cowboy(1, "actor", "deploy", "--code", "toll.py", "--fund", "20cby")).address;
  await devnet.cowboy(1, "actor", "execute", toll, "collect", "--payload", '"nobody"');
  const example = (file) => join(ROOT, "examples/site", file);
  const site = await devnet.cowboy(1, "actor", "deploy", "--code", example("actor.py"), "--manifest-json", example("manifest.json"), "--fund", "50cby");
  await devnet.cowboy(1, "name", "register", "mysite", "--actor", site.address);
  await devnet.cowboy(2, "token", "create", "--name", "Prairie gold", "--symbol", "GOLD", "--decimals", "0", "--supply", "1000000");
  const [{ token_id: token }] = (await devnet.get("/tokens")).tokens;
  const accounts = devnet.accounts();
  for (let sent = 0; sent < TRANSFERS; sent += 1) {
    const from = PAYERS[sent % PAYERS.length];
    await devnet.cowboy(from, "transfer", accounts[(from + 3) % accounts.length], `${sent + 1}.25cby`);
    if (sent < 4) await devnet.cowboy(2, "token", "transfer", token, accounts[5 + (sent % 3)], String(1_000 * (sent + 1)));
  }
  await devnet.cowboy(3, "gov", "propose", JSON.stringify({ action: "set_parameter", name: "economics.faucet", value: 7 }));
  const failed = await failureOf(devnet, "message", "settle");
  await failureOf(devnet, "timer", "sweep");
  return { devnet, heartbeat, toll, token, failed, site: `http://mysite.localhost:${port}/` };
}

/** The name of the newest delivery of this kind to this handler that failed, once there is one; a minute at most. */
async function failureOf(devnet, kind, handler) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { entries } = await devnet.get(`/transactions?status=failed&kind=${kind}&handler=${handler}`);
    if (entries.length > 0) return entries[0].id;
    if (Date.now() > deadline) throw new Error(`no ${kind} of ${handler} fails`);
    await new Promise((resume) => setTimeout(resume, 200));
  }
}
