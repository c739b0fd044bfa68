// The market of off-chain work: the newest jobs, and how each of them is.

import { get } from "../api.js";
import { h, replace } from "../dom.js";
import { clip, count } from "../format.js";
import { follow } from "../follow.js";
import { badge, empty, heightLink, identifier, money, moreButton, panel, route, table, who } from "../parts.js";
import { MODES, STATUSES } from "../verdicts.js";

const PAGE_ROWS = 50;

/** See VIEWS in main.js. */
export async function jobsView(_, { live, signal }) {
  const box = h("div", {});
  let shown = PAGE_ROWS;
  const draw = async () => {
    const { jobs, total_count: total } = await get(`/jobs?limit=${shown}`, signal);
    const more = async () => {
      shown = Math.min(1_000, shown + PAGE_ROWS);
      await draw();
      return false;
    };
    replace(
      box,
      jobsPanel(jobs, { title: "Jobs", total }),
      ...(jobs.length < Number(total) && shown < 1_000 ? [moreButton(more)] : []),
    );
  };
  await draw();
  follow(live, signal, draw);
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("h1", {}, "Jobs"),
      h("p", { class: "soft" }, "Work that cannot run on chain (model inference, web requests, tool calls) goes to staked ", h("a", { href: "#/runners" }, "runners"), "."),
    ),
    box,
  );
  return { title: "Jobs", node };
}

/** How a job is, as a badge. */
export function jobStatus(status) {
  const [kind, word] = STATUSES[status] ?? ["plain", clip(String(status), 40)];
  return badge(kind, word);
}

/** Jobs as a table. */
export function jobsPanel(jobs, { title, total = jobs.length, none = "No job was submitted yet." }) {
  if (jobs.length === 0) return panel({ title }, empty(none));
  const columns = [
    { name: "Job", cell: (job) => identifier(job.job_id, { href: route.job(job.job_id) }) },
    { name: "Status", cell: (job) => jobStatus(job.status) },
    { name: "Kind", cell: (job) => clip(job.kind, 20) },
    { name: "Verification", class: "optional", cell: (job) => (MODES[job.mode] ?? [clip(job.mode, 40)])[0] },
    { name: "Requester", cell: (job) => who(job.submitter, { actor: true }) },
    { name: "In block", end: true, class: "optional", cell: (job) => heightLink(job.submitted_at) },
    { name: "Maximum price", end: true, cell: (job) => money(job.max_price) },
  ];
  return panel({ title, aside: count(total), flush: true }, table(columns, jobs, { caption: title }));
}
