// The page: asks, checks, and ticks each step.

import { visible } from "../format.js";
import { warning } from "./age.js";
import { factsOf } from "./facts.js";
import { asking, load, unhex } from "./verifier.js";

const NO_ANSWER = "Nobody answers there.";

const part = (id) => document.querySelector(`#${id}`);
const steps = [...document.querySelectorAll("#steps li")];

/** The verifier, while it comes; asked for again when it did not. */
let loading;
let config = "";

/** Ends what was asked before: its verdict must not stand beside another address. */
let leave = new AbortController();

function loaded() {
  const began = performance.now();
  loading ??= fetch("verifier.wasm").then(async (file) => {
    if (!file.ok) {
      loading = undefined;
      throw new Error(await file.text());
    }
    const verifier = await load(file);
    document.body.dataset.loaded = (performance.now() - began).toFixed(1);
    return verifier;
  });
  return loading;
}

/** Fills in whom this node believes. */
async function trust() {
  const answer = await fetch("../../genesis");
  if (!answer.ok) throw new Error(`The node answers ${answer.status}.`);
  const genesis = await answer.json();
  config = genesis.config;
  part("genesis").value = genesis.hash;
  part("key").value = genesis.group_key;
}

function show(held, failed) {
  for (const step of steps) {
    const { step: name } = step.dataset;
    step.dataset.state = name === failed ? "failed" : held.includes(name) ? "held" : "";
  }
}

function say(state, text) {
  part("verdict").dataset.state = state;
  part("verdict").textContent = text;
}

function tell(facts) {
  const rows = facts.flatMap(([name, value]) => {
    const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    detail.textContent = value;
    return [term, detail];
  });
  part("facts").replaceChildren(...rows);
}

/** What the gateway answers: the bytes of a witness, and what it signed. */
async function ask(url, signal) {
  const response = await fetch(asking(url), { credentials: "omit", cache: "no-store", signal }).catch(() => null);
  if (!response) throw new Error(NO_ANSWER);
  if (!response.ok) throw new Error(`The gateway gives no proof: ${response.status}.`);
  const witness = new Uint8Array(await response.arrayBuffer());
  return { witness, signature: response.headers.get("x-cowboy-signature") ?? "" };
}

/** Who signed, as far as this node knows: a registered gateway has a stake to lose. */
async function signer({ by, is_evidence }) {
  if (!is_evidence) return `${by}, on a dev chain: no evidence`;
  const gateway = await fetch(`../../gateways/${by}`).then((found) => (found.ok ? found.json() : null), () => null);
  if (!gateway) return `${by}, no gateway that this node knows`;
  return `${by}, ${gateway.is_active ? "an active gateway" : "a gateway that is not active"}`;
}

/** Shows what the gateway signed: it may have signed a lie, and may have sent a true answer with a false signature. */
async function showSignature(signature, signal) {
  const line = part("signature");
  const by = signature?.by && (await signer(signature));
  if (signal.aborted) return;
  line.dataset.state = signature ? (signature.by ? "held" : "failed") : "";
  if (!signature) line.textContent = "The gateway signed nothing";
  else if (signature.by) line.textContent = `Signed by ${by}`;
  else line.textContent = `A false signature: ${signature.why}`;
}

async function verify(text) {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  show([], "");
  say("", "");
  tell([]);
  part("body").hidden = true;
  part("signature").textContent = "";
  part("signature").dataset.state = "";
  part("age").textContent = "";
  try {
    const verifier = await loaded();
    // As the browser writes it, and sends it.
    const url = new URL(text).href;
    const { witness, signature } = await ask(url, signal);
    if (signal.aborted) return;
    const began = performance.now();
    const result = verifier.check({ genesis: unhex(config), groupKey: unhex(part("key").value), url, witness, signature });
    const took = performance.now() - began;
    if (result.verified && result.genesis !== part("genesis").value.trim()) {
      throw new Error(`The chain is ${result.genesis}, which is not the one to believe.`);
    }
    show(["fetch", ...result.held], result.failed);
    await showSignature(result.signature, signal);
    if (signal.aborted) return;
    if (!result.verified) return say("failed", `Not to be believed: ${result.why}.`);
    document.body.dataset.milliseconds = took.toFixed(1);
    say("held", `Verified in ${took.toFixed(0)} ms: the answer is what the actor's code makes of the state of block ${result.height}.`);
    part("age").textContent = warning(result.height, result.timestamp_ms, Date.now());
    tell(factsOf(result, witness.length));
    part("body").textContent = visible(result.body);
    part("body").hidden = false;
  } catch (error) {
    if (signal.aborted) return;
    show([], "fetch");
    say("failed", String(error.message));
  }
}

part("form").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = encodeURIComponent(part("url").value);
  verify(part("url").value);
});

/** The address that a link to this page names. */
function linked() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

await trust().catch(() => say("failed", "The node does not answer. Load the page again when it does."));
// Ready by the time that somebody has typed an address; what is wrong with it is said then.
loaded().catch(() => {});
// Without a genesis nothing is verified.
if (linked() && config) {
  part("url").value = linked();
  verify(part("url").value);
}
