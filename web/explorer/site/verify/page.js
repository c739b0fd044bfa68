// The page: asks, checks, and ticks each step.

import { readBounded } from "../bounded.js";
import { sameHex } from "../bytes.js";
import { clip } from "../format.js";
import { warning } from "./age.js";
import { checker } from "./checker.js";
import { factsOf } from "./facts.js";
import { ASK_MS, CHECK_MS, MAX_SIGNATURE, MAX_WITNESS_BYTES, SHOWN } from "./limits.js";
import { asking, unhex } from "./verifier.js";

const NO_ANSWER = "Nobody answers there.";

const part = (id) => document.querySelector(`#${id}`);
const steps = [...document.querySelectorAll("#steps li")];

/** The verifier, while it comes; asked for again when it did not. */
let loading;
let config = "";

/** The address that was asked last. */
let asked = "";

/** Ends what was asked before: its verdict must not stand beside another address. */
let leave = new AbortController();

function loaded() {
  const began = performance.now();
  loading ??= fetch("verifier.wasm").then(async (file) => {
    if (!file.ok) throw new Error(await file.text());
    const verifier = await checker(await file.arrayBuffer());
    document.body.dataset.loaded = (performance.now() - began).toFixed(1);
    return verifier;
  });
  loading.catch(() => (loading = undefined));
  return loading;
}

/** Fills in whom this node trusts. */
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

/** What the gateway answers: the bytes of a witness, and what it signed. It may send so much, and take so long. */
async function ask(url, leaving) {
  const late = AbortSignal.timeout(ASK_MS);
  const signal = AbortSignal.any([leaving, late]);
  const refuse = (problem) => {
    if (late.aborted) throw new Error(`The gateway did not answer within ${ASK_MS / 1_000} seconds.`);
    throw new Error(problem);
  };
  const response = await fetch(asking(url), { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", signal }).catch(() => refuse(NO_ANSWER));
  if (!response.ok) throw new Error(`The gateway gives no proof: ${response.status}.`);
  const signature = response.headers.get("x-cowboy-signature") ?? "";
  if (signature.length > MAX_SIGNATURE) throw new Error(`The gateway's signature has more than ${MAX_SIGNATURE} letters, which is the limit.`);
  const witness = await readBounded(response, MAX_WITNESS_BYTES).catch(({ message }) => refuse(message));
  return { witness, signature };
}

/** What the verifier finds. One that takes too long, or whose answer nobody waits for, is ended, and another one comes in its place. */
async function check(asked, leaving) {
  const verifier = await loaded();
  leaving.throwIfAborted();
  const late = AbortSignal.timeout(CHECK_MS);
  const signal = AbortSignal.any([leaving, late]);
  try {
    return await verifier.check(asked, signal);
  } catch (problem) {
    verifier.end();
    loading = undefined;
    throw new Error(late.aborted ? `The check takes longer than ${CHECK_MS / 1_000} seconds, so it was ended.` : problem.message);
  }
}

/** The address as the browser writes it, and sends it. */
function addressOf(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["http:", "https:"].includes(url.protocol)) throw new Error("An address begins with http:// or https://.");
  return url.href;
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
  else line.textContent = `A false signature: ${clip(signature.why, SHOWN.reason)}`;
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
  say("busy", "Asking …");
  // The step that the page is at: it is the one that fails where the check does not come to a verdict.
  let step = "";
  try {
    const trusted = { genesis: unhex(config), groupKey: unhex(part("key").value) };
    const url = addressOf(text);
    await loaded();
    step = "fetch";
    const { witness, signature } = await ask(url, signal);
    if (signal.aborted) return;
    step = "";
    show(["fetch"], "");
    say("busy", "Checking …");
    const began = performance.now();
    const result = await check({ ...trusted, url, witness, signature }, signal);
    if (signal.aborted) return;
    if (result.is_undecided) throw new Error(result.why);
    const took = performance.now() - began;
    if (result.verified && !sameHex(result.genesis, part("genesis").value.trim())) {
      show(["fetch", "request"], "certificate");
      return say("failed", `Not verified: the chain is ${result.genesis}, which is not the one that you trust.`);
    }
    show(["fetch", ...result.held], result.failed);
    await showSignature(result.signature, signal);
    if (signal.aborted) return;
    if (!result.verified) return say("failed", `False: ${clip(result.why, SHOWN.reason)}. Do not use this answer.`);
    document.body.dataset.milliseconds = took.toFixed(1);
    say("held", `Verified in ${took.toFixed(0)} ms: the answer is what the actor's code makes of the state of block ${result.height}.`);
    part("age").textContent = warning(result.height, result.timestamp_ms, Date.now());
    tell(factsOf(result, witness.length));
    part("body").textContent = clip(result.body, SHOWN.body);
    part("body").hidden = false;
  } catch (error) {
    if (signal.aborted) return;
    if (step) show([], step);
    const why = clip(String(error.message), SHOWN.reason);
    say("undecided", `Not verified: ${why}${/[.!?]$/.test(why) ? "" : "."} This says nothing about the answer.`);
  }
}

part("form").addEventListener("submit", (event) => {
  event.preventDefault();
  asked = part("url").value;
  location.hash = encodeURIComponent(asked);
  verify(asked);
});

// Back and forth in the history.
window.addEventListener("hashchange", () => {
  if (linked() === asked) return;
  asked = linked();
  part("url").value = asked;
  if (asked && config) verify(asked);
});

/** The address that a link to this page names. */
function linked() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

await trust().catch(() => say("undecided", "The node does not answer. Load the page again when it does."));
// Ready by the time that somebody has typed an address; what is wrong with it is said then.
loaded().catch(() => {});
// Without a genesis nothing is verified.
if (linked() && config) {
  asked = linked();
  part("url").value = asked;
  verify(asked);
}
