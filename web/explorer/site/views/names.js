// Names of actors, and the gateways that serve them.

import { get } from "../api.js";
import { Clock } from "../clock.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { authority, clip, count } from "../format.js";
import { PAGE_ROWS, empty, longTable, panel, tally, who } from "../parts.js";
import { gatewayUrl, siteLink } from "../sites.js";

const MAX_ROWS = 300;

/** Letters of a name that fit into one line of a narrow window beside the other columns. */
const SHORT = 20;

const POLICIES = ["owner", "actor", "anybody"];

/** See VIEWS in main.js. */
export async function namesView(_, { live, signal }) {
  const clock = await Clock.read(live, signal);
  const box = h("div", {});
  const shown = [{ shown: PAGE_ROWS }, { shown: PAGE_ROWS }];
  const draw = async () => {
    const [names, gateways, gateway] = await Promise.all([
      get(`/names?limit=${MAX_ROWS}`, signal),
      get(`/gateways?limit=${MAX_ROWS}`, signal),
      gatewayUrl(signal),
    ]);
    replace(box, namesPanel(names, clock, gateway, shown[0]), gatewaysPanel(gateways, shown[1]));
  };
  await draw();
  follow(live, signal, draw);
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      h("h1", {}, "Names"),
      h(
        "p",
        { class: "soft" },
        "Names lead to actors, and gateways serve the actors to browsers. ",
        h("a", { href: "/explorer/verify/index.html" }, "Verify an answer"),
      ),
    ),
    box,
  );
  return { title: "Names", node };
}

function namesPanel({ names, total_count: total }, clock, gateway, view) {
  if (names.length === 0) return panel({ title: "Registered names" }, empty("No name is registered."));
  const columns = [
    { name: "Name", cell: (row) => h("strong", { class: row.name.length > SHORT ? "breakable" : "nowrap" }, clip(row.name, 256)) },
    { name: "Site", cell: (row) => siteLink(row, gateway) ?? h("span", { class: "faint" }, "–") },
    { name: "Actor", cell: (row) => who(row.actor_address, { actor: true }) },
    { name: "Owner", class: "optional", cell: (row) => who(row.owner) },
    { name: "Stage", class: "optional", cell: (row) => clip(row.stage, 20) },
    { name: "Expires", end: true, cell: (row) => (row.stage === "live" ? clock.until(row.expires_at) : count(row.expires_at)) },
    { name: "Requests", end: true, class: "optional", cell: (row) => (row.requests_served == null ? "" : count(row.requests_served)) },
    { name: "Who may register below it", class: "optional", cell: (row) => POLICIES[Number(row.subdomain_policy)] ?? "–" },
  ];
  return panel({ title: "Registered names", aside: tally(names.length, total), flush: true }, longTable(columns, names, { caption: "Names", view }));
}

function gatewaysPanel({ gateways, total_count: total }, view) {
  if (gateways.length === 0) return panel({ title: "Gateways" }, empty("No gateway is registered."));
  const columns = [
    { name: "Gateway", cell: (row) => who(row.address) },
    { name: "Address", cell: (row) => h("span", { class: "breakable host" }, clip(authority(row.endpoint, row.http_port), 256)) },
    { name: "State", cell: (row) => (row.is_active ? "active" : "inactive") },
    { name: "Health", end: true, cell: (row) => count(row.health) },
    { name: "Last heartbeat", end: true, class: "optional", cell: (row) => count(row.last_heartbeat) },
  ];
  return panel({ title: "Gateways", aside: tally(gateways.length, total), flush: true }, longTable(columns, gateways, { caption: "Gateways", view }));
}
