// What the chain will do by itself: timers by height, with their countdown.

import { find, get } from "../api.js";
import { fromHex, sameHex } from "../bytes.js";
import { timeline } from "../charts.js";
import { Clock, countdown } from "../clock.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { clip, count, plural } from "../format.js";
import { PAGE_ROWS, badge, empty, heightLink, identifier, longTable, moment, panel, payload, route, table, who } from "../parts.js";
import { wakeOf } from "../wake.js";

const MAX_TIMERS = 300;
const MAX_FAILED = 20;

/** See VIEWS in main.js. */
export async function timersView(_, { live, signal }) {
  const clock = await Clock.read(live, signal);
  const box = h("div", {});
  const view = { shown: PAGE_ROWS };
  const draw = async () => {
    const { timers, total_count: total } = await get(`/timers?limit=${MAX_TIMERS}`, signal);
    // A fold that is open is being read.
    if (box.querySelector("details[open]")) return;
    replace(box, timersPanel(timers, clock, { withActor: true, total, view }));
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
      h("p", { class: "soft" }, "Handlers that the chain will run at a height, the next first. Their actors, or accounts, pay for them."),
    ),
    box,
  );
  return { title: "Timers", node };
}

/** When a timer fires; "paused" for an interval that failed too often, until its actor resumes it. */
export function fires(timer, clock) {
  if (!timer.is_paused) return countdown(timer.height, clock);
  return badge("bad", "Paused");
}

/** How the last fires of an interval went, where they failed. */
function failures(timer) {
  const failed = Number(timer.failures ?? 0);
  if (failed === 0) return h("span", { class: "faint" }, "none");
  const advice = timer.is_paused ? "The chain paused it; its actor can resume it." : "The next fire tries again.";
  return h("span", { title: advice }, badge("bad", `${count(failed)} in a row`));
}

/** Timers as a table, the next to fire first. */
export function timersPanel(timers, clock, { withActor = false, total = timers.length, view } = {}) {
  if (timers.length === 0) return panel({ title: "Scheduled" }, empty(withActor ? "No timer is scheduled." : "This actor has no timer."));
  const shown = timers.slice(0, MAX_TIMERS);
  const running = timers.filter((timer) => !timer.is_paused);
  const columns = [
    { name: "Fires", cell: (timer) => fires(timer, clock) },
    {
      name: "At height",
      end: true,
      class: "optional",
      cell: (timer) => (timer.is_paused ? h("span", { class: "faint" }, "none") : count(timer.height)),
    },
    withActor && { name: "Actor", cell: (timer) => who(timer.actor, { actor: true }) },
    { name: "Handler", cell: wakes },
    { name: "Failed fires", cell: failures },
    {
      name: "Fee payer",
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
    { title: "Scheduled", aside: count(total), flush: true },
    running.length > 0 &&
      h(
        "div",
        { class: "picture" },
        timeline(marksOf(running, clock), `${plural(running.length, "timer")}, the next ${clock.until(running[0].height)}`),
      ),
    longTable(columns, shown, { caption: "Timers", view, rowClass: (timer) => (Number(timer.failures ?? 0) > 0 ? "failing" : null) }),
    Number(total) > shown.length && empty(`and ${count(Number(total) - shown.length)} more`),
  );
}

/** The newest fires of an actor's timers that failed, in a red panel; null where there is none. */
export async function failedPanel(address, signal) {
  const { entries } = (await find(`/account/${address}/history?kind=timer&status=failed&limit=${MAX_FAILED}`, signal)) ?? { entries: [] };
  const failed = entries.filter((row) => sameHex(row.target, address));
  if (failed.length === 0) return null;
  const columns = [
    { name: "Handler", cell: (row) => h("a", { class: "mono", href: route.transaction(row.id) }, clip(row.handler, 80)) },
    { name: "Block", end: true, cell: (row) => heightLink(row.block_height) },
    { name: "Time", end: true, class: "optional", cell: (row) => moment(row.timestamp_ms) },
    { name: "", says: "Status", end: true, cell: () => badge("bad", "Failed") },
  ];
  const about = failed.length === MAX_FAILED ? `the newest ${MAX_FAILED}` : count(failed.length);
  return panel({ title: "Failed timers", aside: about, flush: true, kind: "trouble" }, table(columns, failed, { caption: "Failed timers" }));
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
    every !== null && h("span", { class: "faint nowrap" }, every === 1n ? " every block" : ` every ${plural(every, "block")}`),
  ];
}

function folded(data) {
  if (data.length === 0) return h("span", { class: "faint" }, "none");
  const fold = h("details", {}, h("summary", {}, plural(data.length, "byte")));
  fold.addEventListener("toggle", () => fold.append(payload(data)), { once: true });
  return fold;
}
