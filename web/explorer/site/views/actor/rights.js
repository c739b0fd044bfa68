// What an actor may do: the grants of its manifest, those it had before, and what it holds in the Entitlement Registry.

import { find } from "../../api.js";
import { h, replace } from "../../dom.js";
import { clip, count } from "../../format.js";
import { badge, empty, heightLink, identifier, longTable, nodeOf, panel, who } from "../../parts.js";
import { valueLine } from "../../value.js";

/** See TABS in ../actor.js. */
export async function rightsTab({ actor, signal }) {
  const box = h("div", {});
  const refresh = async () => {
    const [manifest, held] = await Promise.all([
      find(`/actor/${actor.address}/entitlements`, signal),
      find(`/permissions/${actor.address}`, signal),
    ]);
    replace(box, grantsPanel(manifest?.entitlements ?? actor.entitlements), permissionsPanel(held?.permissions ?? []), rolesPanel(held?.roles ?? []));
  };
  await refresh();
  return { node: box, refresh };
}

function grantsPanel(grants) {
  if (grants.length === 0) return panel({ title: "Manifest" }, empty("Nothing: an actor without grants computes, and no more."));
  const columns = [
    { name: "Entitlement", cell: ({ id }) => h("code", {}, clip(id, 100)) },
    { name: "Within", cell: ({ params }) => (params && Object.keys(params).length > 0 ? valueLine(nodeOf(params), 240) : h("span", { class: "faint" }, "no bounds of its own")) },
    { name: "Standing", cell: ({ deprecated }) => (deprecated ? badge("wait", "deprecated") : badge("good", "current")) },
  ];
  return panel({ title: "Manifest", aside: count(grants.length), flush: true }, longTable(columns, grants, { caption: "Grants of the manifest" }));
}

function permissionsPanel(permissions) {
  if (permissions.length === 0) return panel({ title: "Permissions" }, empty("The Entitlement Registry holds none for it."));
  const columns = [
    { name: "May", cell: ({ action }) => h("code", {}, clip(action, 80)) },
    { name: "About", cell: ({ scope }) => h("code", {}, clip(scope, 80)) },
    { name: "Under", class: "optional", cell: ({ constraints }) => valueLine(nodeOf(constraints), 200) },
    { name: "From", cell: ({ issuer }) => who(issuer, { actor: true }) },
    { name: "Since", end: true, class: "optional", cell: ({ granted_at: height }) => heightLink(height) },
    { name: "Passed on", end: true, class: "optional", cell: ({ depth }) => count(depth) },
  ];
  return panel({ title: "Permissions", aside: count(permissions.length), flush: true }, longTable(columns, permissions, { caption: "Permissions" }));
}

function rolesPanel(roles) {
  if (roles.length === 0) return null;
  const columns = [
    { name: "Role", cell: (role) => [clip(role.name, 60), " ", identifier(role.role_id)] },
    { name: "May", cell: (role) => h("code", {}, clip(role.actions.join(", "), 160)) },
    { name: "About", cell: (role) => h("code", {}, clip(role.scopes.join(", "), 160)) },
    { name: "Made by", class: "optional", cell: (role) => who(role.creator, { actor: true }) },
    { name: "Since", end: true, class: "optional", cell: (role) => heightLink(role.assigned_at) },
  ];
  return panel({ title: "Roles", aside: count(roles.length), flush: true }, longTable(columns, roles, { caption: "Roles" }));
}
