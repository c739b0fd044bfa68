// What the chain will do by itself: timers by height, with their countdown.

import { get } from "../api.js";
import { fromHex } from "../bytes.js";
import { timeline } from "../charts.js";
import { Clock, countdown } from "../clock.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { clip, count, plural } from "../format.js";
import { empty, identifier, panel, payload, table, who } from "../parts.js";
import { wakeOf } from "../wake.js";

const MAX_TIMERS = 300;

/** See VIEWS in main.js. */
export async function timersView(_, { live, signal }) {
  const clock = await Clock.read(live, signal);
  const box = h("div", {});
  const draw = async () => {
    const { timers, total_count: total } = await get(`/timers?limit=${MAX_TIMERS}`, signal);
    replace(box, timersPanel(timers, clock, { withActor: true, total }));
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
      h("p", { class: "soft" }, "Actors wake themselves up. This is what the chain will do without being asked, the next first."),
    ),
    box,
  );
  return { title: "Timers", node };
}

/** When a timer fires; "paused" for an interval that failed too often, until its actor resumes it. */
export function fires(timer, clock) {
  if (!timer.is_paused) return countdown(timer.height, clock);
  return h("span", { class: "soft", title: `${plural(timer.failures, "fire")} failed in a row; its actor can resume it` }, "paused");
}

/** Timers as a table, the next to fire first. */
export function timersPanel(timers, clock, { withActor = false, total = timers.length } = {}) {
  if (timers.length === 0) return panel({ title: "Waiting" }, empty(withActor ? "No timer waits." : "This actor has no timer."));
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
    { title: "Waiting", aside: count(total), flush: true },
    running.length > 0 &&
      h(
        "div",
        { class: "picture" },
        timeline(marksOf(running, clock), `${plural(running.length, "timer")}, the next ${clock.until(running[0].height)}`),
      ),
    table(columns, shown, { caption: "Timers" }),
    Number(total) > shown.length && empty(`and ${count(Number(total) - shown.length)} more`),
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
