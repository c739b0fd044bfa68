// What the chain will do by itself: timers by height, with their countdown.

import { each, find, get } from "../api.js";
import { fromHex } from "../bytes.js";
import { timeline } from "../charts.js";
import { Clock, countdown } from "../clock.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { clip, count, plural } from "../format.js";
import { empty, identifier, panel, payload, table, who } from "../parts.js";
import { wakeOf } from "../wake.js";

const RECENT_BLOCKS = 60;
const MAX_ACTORS = 40;
const MAX_TIMERS = 300;

/** See VIEWS in main.js. */
export async function timersView(_, { live, signal }) {
  const clock = await Clock.read(live, signal);
  const box = h("div", {});
  const actors = new Set();
  const draw = async () => {
    await gather(actors, signal);
    const lists = await each([...actors], (actor) => find(`/timers/${actor}?limit=100`, signal));
    const timers = lists.flatMap((list) => list?.timers ?? []).sort((left, right) => Number(left.height) - Number(right.height));
    replace(box, timersPanel(timers, clock, { withActor: true }));
  };
  await draw();
  follow(live, signal, draw);
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("h1", {}, "Timers"),
      h(
        "p",
        { class: "soft" },
        `Actors wake themselves up. These are the timers of the actors that were active in the last ${RECENT_BLOCKS} blocks.`,
      ),
    ),
    box,
  );
  return { title: "Timers", node };
}

/** Adds the actors that the newest blocks mention. */
async function gather(actors, signal) {
  const { blocks } = await get(`/blocks?limit=${RECENT_BLOCKS}`, signal);
  const busy = blocks.filter(({ receipt_count: size }) => Number(size) > 0 && Number(size) <= 300);
  await each(busy, async ({ hash }) => {
    if (gathered.has(hash)) return;
    const block = await find(`/block/${hash}`, signal);
    gathered.add(hash);
    for (const receipt of block?.receipts ?? []) {
      if (receipt.handler || receipt.created) seen.add(receipt.created ?? receipt.target);
    }
  });
  for (const actor of [...seen].slice(-MAX_ACTORS)) actors.add(actor);
}

// Blocks never change, so what was read of them stays read while the page lives.
const gathered = new Set();
const seen = new Set();

/** Timers as a table, the next to fire first. */
export function timersPanel(timers, clock, { withActor = false } = {}) {
  if (timers.length === 0) return panel({ title: "Waiting" }, empty(withActor ? "No timer waits." : "This actor has no timer."));
  const shown = timers.slice(0, MAX_TIMERS);
  const columns = [
    { name: "Fires", cell: (timer) => countdown(timer.height, clock) },
    { name: "At height", end: true, class: "optional", cell: (timer) => count(timer.height) },
    withActor && { name: "Actor", cell: (timer) => who(timer.actor, { actor: true }) },
    { name: "Handler", cell: wakes },
    {
      name: "Paid by",
      class: "optional",
      cell: (timer) => (timer.fee_payer === timer.actor ? h("span", { class: "soft" }, "the actor") : who(timer.fee_payer)),
    },
    { name: "Cycles", end: true, class: "optional", cell: (timer) => count(timer.gas_limit) },
    {
      name: "Expires",
      end: true,
      class: "optional",
      cell: (timer) => (Number(timer.expires_at) === 0 ? h("span", { class: "faint" }, "never") : count(timer.expires_at)),
    },
    { name: "Timer", class: "optional", cell: (timer) => identifier(timer.id) },
    { name: "Data", class: "optional", cell: (timer) => folded(wake(timer).data) },
  ].filter(Boolean);
  return panel(
    { title: "Waiting", aside: count(timers.length), flush: true },
    h(
      "div",
      { class: "picture" },
      timeline(marksOf(timers, clock), `${plural(timers.length, "timer")}, the next ${clock.until(timers[0].height)}`),
    ),
    table(columns, shown, { caption: "Timers" }),
    timers.length > shown.length && empty(`and ${count(timers.length - shown.length)} more`),
  );
}

function marksOf(timers, clock) {
  return timers.map((timer) => {
    const ahead = Math.max(1, Number(timer.height) - clock.height);
    return { ahead, name: `${clip(wake(timer).handler ?? timer.handler, 80)} at ${count(timer.height)}`, address: timer.actor };
  });
}

function wake(timer) {
  return wakeOf(fromHex(timer.payload) ?? new Uint8Array());
}

/** What a timer runs, and how often. */
export function wakes(timer) {
  const { handler, every } = wake(timer);
  return [
    h("code", {}, clip(handler ?? timer.handler, 80)),
    every !== null && h("span", { class: "faint nowrap" }, every === 1n ? " every block" : ` every ${count(every)} blocks`),
  ];
}

function folded(data) {
  if (data.length === 0) return h("span", { class: "faint" }, "none");
  const fold = h("details", {}, h("summary", {}, plural(data.length, "byte")));
  fold.addEventListener("toggle", () => fold.append(payload(data)), { once: true });
  return fold;
}
