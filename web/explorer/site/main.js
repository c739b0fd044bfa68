// The page: the bar at the top, the address in the hash, and the view it leads to.

import { get } from "./api.js";
import { h, replace, s } from "./dom.js";
import { clip, count } from "./format.js";
import { malformed } from "./ids.js";
import { Live } from "./live.js";
import { forgetClock, panel, refreshMoments, route, trouble } from "./parts.js";
import { accountView } from "./views/account.js";
import { actorView } from "./views/actor.js";
import { accountsView, actorsView } from "./views/addresses.js";
import { blockView } from "./views/block.js";
import { blocksView } from "./views/blocks.js";
import { governanceView, proposalView } from "./views/governance.js";
import { homeView } from "./views/home.js";
import { jobView } from "./views/job.js";
import { jobsView } from "./views/jobs.js";
import { namesView } from "./views/names.js";
import { parametersView } from "./views/parameters.js";
import { transactionsView } from "./views/receipts.js";
import { runnerView, runnersView } from "./views/runners.js";
import { searchView } from "./views/search.js";
import { secretsView, secretView } from "./views/secrets.js";
import { storageView, volumeView } from "./views/storage.js";
import { timersView } from "./views/timers.js";
import { tokensView, tokenView } from "./views/tokens.js";
import { transactionView } from "./views/transaction.js";
import { validatorsView } from "./views/validators.js";

/**
 * First word of the address → the view: (parameters, context) → { title, node }, or { next } with the address where it leads on, possibly
 * later. The context is { live, signal, redraw }: the signal aborts when the reader leaves.
 */
const VIEWS = {
  "": homeView,
  blocks: blocksView,
  block: blockView,
  transactions: transactionsView,
  tx: transactionView,
  accounts: accountsView,
  account: accountView,
  actors: actorsView,
  actor: actorView,
  tokens: tokensView,
  token: tokenView,
  jobs: jobsView,
  job: jobView,
  runners: runnersView,
  runner: runnerView,
  names: namesView,
  secrets: secretsView,
  secret: secretView,
  storage: storageView,
  volume: volumeView,
  timers: timersView,
  governance: governanceView,
  proposal: proposalView,
  validators: validatorsView,
  parameters: parametersView,
  search: searchView,
};

const RETRY_MS = 1_500;

/** Letters of a view in the title of the window. */
const MAX_TITLE = 100;

const SECTIONS = [
  ["", "Chain"],
  ["transactions", "Transactions"],
  ["actors", "Actors"],
  ["tokens", "Tokens"],
  ["jobs", "Jobs"],
  ["names", "Names"],
];

/** Sections below "More". */
const MORE = [
  ["blocks", "Blocks"],
  ["accounts", "Accounts"],
  ["timers", "Timers"],
  ["runners", "Runners"],
  ["storage", "Storage"],
  ["secrets", "Secrets"],
  ["governance", "Governance"],
  ["validators", "Validators"],
  ["parameters", "Parameters"],
];

/** Pages of one thing → the section that lists its kind. */
const SECTION_OF = { tx: "transactions", block: "blocks", actor: "actors", account: "accounts", token: "tokens", job: "jobs", runner: "runners", volume: "storage", secret: "secrets", proposal: "governance" };

const live = new Live();
const content = document.getElementById("content");
let leave = new AbortController();
let shown = null;

function start() {
  drawTop();
  drawBottom();
  history.scrollRestoration = "manual";
  window.addEventListener("hashchange", move);
  window.addEventListener("pagehide", () => keepTop());
  document.addEventListener("keydown", focusSearch);
  document.querySelector(".skip").addEventListener("click", skip);
  document.addEventListener("click", ({ target }) => more.contains(target) || (more.open = false));
  setInterval(() => document.hidden || refreshMoments(), 1_000);
  live.addEventListener("state", drawState);
  live.addEventListener("block", drawHeight);
  live.addEventListener("revert", onRevert);
  live.start();
  const kept = keptTop();
  here = history.state?.place ?? here;
  history.replaceState({ place: here }, "");
  show(false, kept?.place === here ? kept.top : undefined);
}

// The view

/** Place in the history → how far down its page was read. The browser knows it as well, but not when the page is there again. */
const tops = new Map();
let moves = 0;
const newPlace = () => `${performance.timeOrigin}/${(moves += 1)}`;
let here = newPlace();

/** Keeps how far down the page is read for when it is loaded again. A browser without storage begins at the top then. */
function keepTop() {
  try {
    sessionStorage.setItem("top", JSON.stringify({ place: here, top: window.scrollY }));
  } catch {
    return;
  }
}

function keptTop() {
  try {
    return JSON.parse(sessionStorage.getItem("top"));
  } catch {
    return null;
  }
}

/** The address has changed: by a link, or back or forth in the history. */
function move() {
  tops.set(here, window.scrollY);
  const { place } = history.state ?? {};
  here = place ?? newPlace();
  if (place === undefined) history.replaceState({ place: here }, "");
  show(false, tops.get(here));
}

function address() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  return { name, parameters: rest.map(unescaped) };
}

function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Draws what the address says. `top`: how far down the reader was there before. */
async function show(isRedraw, top) {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const { name, parameters } = address();
  const asked = location.hash;
  markSection(name);
  const loading = isRedraw
    ? undefined
    : setTimeout(() => replace(content, h("div", { class: "loading", "aria-busy": "true" }, h("i"), h("i"), h("i"))), 120);
  let view;
  try {
    const draw = Object.hasOwn(VIEWS, name) ? VIEWS[name] : searchView;
    const wrong = malformed(name, parameters);
    view = wrong ? noId(wrong) : await draw(draw === searchView && name !== "search" ? [name] : parameters, { live, signal, redraw: () => show(true) });
  } catch (problem) {
    if (signal.aborted) return;
    if (isAway(problem)) setTimeout(() => !signal.aborted && show(true), RETRY_MS);
    // What is on the page is better than that it cannot be drawn anew just now.
    if (isAway(problem) && isRedraw && shown === location.hash) return;
    const heading = problem.isMissing ? "Nothing here" : "That did not work";
    view = {
      title: heading,
      node: h(
        "div",
        {},
        h("div", { class: "title" }, h("h1", {}, heading)),
        trouble(problem, () => show(true)),
      ),
    };
  } finally {
    clearTimeout(loading);
  }
  // The address changes at once, and its event, which draws what it says now, comes later.
  if (signal.aborted || location.hash !== asked) return;
  if (view.next) return location.replace(view.next);
  document.title = view.title ? `${clip(view.title, MAX_TITLE)} · Cowboy` : "Cowboy explorer";
  replace(content, view.node);
  // Following a link moves the reader to the new heading, going back to where they were; a redraw leaves everything where it is.
  if (!isRedraw && top !== undefined) window.scrollTo(0, top);
  if (!isRedraw && shown !== null && shown !== asked) {
    if (!view.stay && top === undefined) window.scrollTo(0, 0);
    const heading = content.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    if (!view.stay) heading?.focus({ preventScroll: true });
  }
  shown = asked;
  view.ready?.();
}

/** What is shown in the place of a view whose id is none: the node would only say that the request is wrong. */
function noId({ text, what, form }) {
  return {
    title: "Nothing here",
    node: h(
      "div",
      {},
      h("div", { class: "title" }, h("h1", {}, "Nothing here")),
      panel(
        {},
        h("p", { class: "breakable" }, h("code", {}, clip(text, 200) || "an empty text")),
        h("p", { class: "soft" }, `The ${what} ${form}. Copy the whole of it, or search for its beginning.`),
      ),
    ),
  };
}

/** Whether a node that is away, or busy with a snapshot, is what is wrong. */
function isAway(problem) {
  return problem.status === 0 || problem.status === 503;
}

function onRevert({ detail }) {
  forgetClock();
  drawHeight();
  say("news", `The chain went back to block ${count(detail.height)}.`);
  setTimeout(() => live.state !== "offline" && say(), 6_000);
  show(true);
}

// The bar

const pulse = h("a", { class: "pulse", href: "#/", dataset: { state: "connecting" } }, h("i"), h("span", {}, "…"));
const sectionLink = ([name, title]) => h("a", { href: `#/${name}`, dataset: { name } }, title);
const more = h("details", { class: "more-sections" }, h("summary", {}, "More"), h("div", {}, MORE.map(sectionLink)));
const sections = h("nav", { class: "sections", "aria-label": "Sections" }, SECTIONS.map(sectionLink), more);
const searchField = h("input", {
  type: "search",
  name: "q",
  placeholder: "Name, actor, handler, address, hash …",
  "aria-label": "Search by name, actor, handler, address, hash or height",
  autocomplete: "off",
  spellcheck: "false",
  maxlength: 200,
});

function drawTop() {
  const form = h(
    "form",
    { class: "search", role: "search", onSubmit: search },
    searchField,
    s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, s("circle", { cx: 7, cy: 7, r: 4.6 }), s("path", { d: "M10.5 10.5 14 14" })),
    h("kbd", { "aria-hidden": "true" }, "/"),
  );
  const brand = h("a", { class: "brand", href: "#/" }, h("img", { src: "icon.svg", alt: "", width: 30, height: 30 }), "Cowboy");
  document.getElementById("top").append(h("div", { class: "top-row" }, brand, sections, form, pulse));
}

function drawBottom() {
  const chain = h("span", {});
  document
    .getElementById("bottom")
    .append(
      h(
        "div",
        {},
        chain,
        h("a", { href: "/swagger-ui" }, "API"),
        h("a", { href: "/api-docs/openapi.json" }, "OpenAPI"),
        h("span", {}, "Press / to search"),
      ),
    );
  const ask = () =>
    get("/health/detailed").then(
      (health) => replace(chain, `Chain ${health.chain_id}${health.dev ? ", a dev chain" : ""} · cowboyd ${clip(String(health.version), 40)}`),
      // A node that is away is asked again when it has a block.
      () => live.addEventListener("block", ask, { once: true }),
    );
  ask();
}

function markSection(name) {
  const section = SECTION_OF[name] ?? name;
  for (const link of sections.querySelectorAll("a")) {
    if (link.dataset.name === section) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  more.open = false;
  more.firstChild.classList.toggle("current", MORE.some(([one]) => one === section));
}

function drawHeight() {
  pulse.lastChild.textContent = live.tip ? count(live.tip.height) : "…";
  pulse.title = `The newest block${live.state === "polling" ? " (polled every two seconds)" : ""}`;
  pulse.classList.remove("beat");
  // In the background no frame is drawn, and what waits for one would pile up.
  if (!document.hidden) requestAnimationFrame(() => pulse.classList.add("beat"));
}

function drawState() {
  pulse.dataset.state = live.state;
  if (live.state === "offline") say("waiting", "The node does not answer. Waiting for it …");
  else say();
}

function say(kind, text) {
  replace(document.getElementById("notice"), ...(text ? [h("div", { dataset: { kind } }, text)] : []));
}

function search(event) {
  event.preventDefault();
  const text = searchField.value.trim();
  if (!text) return;
  searchField.value = "";
  searchField.blur();
  location.hash = route.search(text);
}

/** Moves to the content without an address of its own, which would hide where the reader is. */
function skip(event) {
  event.preventDefault();
  content.focus();
}

function focusSearch(event) {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    searchField.focus();
  }
  if (event.key === "Escape" && event.target === searchField) searchField.blur();
  if (event.key !== "Escape" || !more.open) return;
  if (more.contains(document.activeElement)) more.firstChild.focus();
  more.open = false;
}

start();
