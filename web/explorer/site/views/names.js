// Names of actors, and the gateways that serve them.

import { get } from "../api.js";
import { Clock } from "../clock.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { count } from "../format.js";
import { empty, panel, table, who } from "../parts.js";

const MAX_ROWS = 300;

const POLICIES = ["its owner", "its actor", "anybody"];

/** See VIEWS in main.js. */
export async function namesView(_, { live, signal }) {
  const clock = await Clock.read(live, signal);
  const box = h("div", {});
  const draw = async () => {
    const [names, gateways] = await Promise.all([get(`/names?limit=${MAX_ROWS}`, signal), get(`/gateways?limit=${MAX_ROWS}`, signal)]);
    replace(box, namesPanel(names, clock), gatewaysPanel(gateways));
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
        "Names lead to actors; gateways answer web requests with them. ",
        h("a", { href: "/explorer/verify/index.html" }, "Verify an answer"),
      ),
    ),
    box,
  );
  return { title: "Names", node };
}

function namesPanel({ names, total_count: total }, clock) {
  if (names.length === 0) return panel({ title: "Registered" }, empty("Nobody has registered a name."));
  const columns = [
    { name: "Name", cell: (row) => h("strong", {}, row.name) },
    { name: "Actor", cell: (row) => who(row.actor_address, { actor: true }) },
    { name: "Owner", class: "optional", cell: (row) => who(row.owner) },
    { name: "Stage", cell: (row) => row.stage },
    { name: "Expires", end: true, cell: (row) => (row.stage === "live" ? clock.until(row.expires_at) : count(row.expires_at)) },
    { name: "Requests", end: true, class: "optional", cell: (row) => (row.requests_served == null ? "" : count(row.requests_served)) },
    { name: "Below it", class: "optional", cell: (row) => POLICIES[Number(row.subdomain_policy)] },
  ];
  return panel({ title: "Registered", aside: count(total), flush: true }, table(columns, names, { caption: "Names" }));
}

function gatewaysPanel({ gateways, total_count: total }) {
  if (gateways.length === 0) return panel({ title: "Gateways" }, empty("No gateway is registered."));
  const columns = [
    { name: "Gateway", cell: (row) => who(row.address) },
    { name: "Reached at", cell: (row) => `${row.endpoint}:${row.http_port}` },
    { name: "State", cell: (row) => (row.is_active ? "active" : "inactive") },
    { name: "Health", end: true, cell: (row) => count(row.health) },
    { name: "Heard of", end: true, class: "optional", cell: (row) => count(row.last_heartbeat) },
  ];
  return panel({ title: "Gateways", aside: count(total), flush: true }, table(columns, gateways, { caption: "Gateways" }));
}
