// What an actor pays for its space, until when it is paid, and how an evicted one is brought back.

import { find } from "../../api.js";
import { h, replace } from "../../dom.js";
import { bytes, clip, count, percent, plural } from "../../format.js";
import { badge, empty, facts, money, panel } from "../../parts.js";

/** State → [badge, word, what it means]. */
export const STATES = {
  paid: ["good", "Paid", "Nothing is owed."],
  overdue: ["wait", "Overdue", "Rent was not paid. The actor runs until the grace period ends."],
  eviction_imminent: ["bad", "Eviction imminent", "The grace period is over: the next collection that fails evicts the actor."],
  dormant: ["bad", "Dormant", "The actor was evicted: it does not run, and its storage was pruned."],
  exempt: ["plain", "Exempt", "The protocol's own actors pay no rent."],
};

/** See TABS in ../actor.js. */
export async function rentTab({ actor, signal }) {
  const box = h("div", {});
  const refresh = async () => {
    const rent = await find(`/actor/${actor.address}/rent`, signal);
    replace(box, ...(rent ? parts(rent) : [panel({ title: "Rent" }, empty("The node does not know the rent of this actor."))]));
  };
  await refresh();
  return { node: box, refresh };
}

function parts(rent) {
  const [kind, word, meaning] = STATES[rent.state] ?? ["plain", clip(String(rent.state), 40), ""];
  return [
    panel(
      { title: "Rent", aside: badge(kind, word) },
      h("p", { class: "soft" }, meaning),
      facts(
        ["Paid until", until(rent)],
        ["Rent per epoch", money(rent.per_epoch)],
        ["Prepaid", money(rent.prepaid)],
        ["Reserve", money(rent.reserve), h("span", { class: "soft" }, " that the actor may not spend")],
        BigInt(rent.debt) > 0n && ["Debt", money(rent.debt), h("span", { class: "soft" }, ` of ${plural(rent.unpaid, "unpaid epoch")}`)],
        BigInt(rent.bond) > 0n && ["Bond for a larger quota", money(rent.bond)],
        ["Space", `${bytes(Number(rent.size))} of ${bytes(Number(rent.quota))}, ${percent(rent.size, rent.quota)}`],
        Number(rent.missing) > 0 && ["Pruned pieces missing", count(rent.missing)],
      ),
    ),
    hints(rent),
  ];
}

/** The last epoch that the prepaid rent covers. */
function until(rent) {
  if (rent.next_epoch === null || rent.next_epoch === undefined) return "no rent account yet";
  const perEpoch = BigInt(rent.per_epoch);
  const covered = perEpoch > 0n ? BigInt(rent.prepaid) / perEpoch : 0n;
  const last = BigInt(rent.next_epoch) - 1n + covered;
  return [`the end of epoch ${count(last)}`, h("span", { class: "soft" }, `; this is epoch ${count(rent.epoch)}`)];
}

function hints(rent) {
  const command = (...words) => h("li", {}, ["cowboy", "rent", ...words].join(" "));
  const lists = {
    paid: [command("pay", rent.actor, "10cby"), command("archive", rent.actor, "--out", "archive.json")],
    overdue: [command("pay", rent.actor), command("archive", rent.actor, "--out", "archive.json")],
    eviction_imminent: [command("archive", rent.actor, "--out", "archive.json"), command("pay", rent.actor)],
    dormant: [command("restore", rent.actor, "--from", "archive.json"), command("pay", rent.actor)],
  };
  const about = {
    paid: "Anybody can pay ahead, and keep an archive of the storage:",
    overdue: "Anybody can pay the debt, and keep an archive of the storage:",
    eviction_imminent: "Save the storage first, then pay the debt:",
    dormant: "Whoever has an archive of the storage can put it back; then the debt is paid:",
  };
  if (!lists[rent.state]) return null;
  const title = rent.state === "dormant" ? "How to restore it" : "How to pay and to archive";
  return panel({ title }, h("p", { class: "small soft" }, about[rent.state]), h("ul", { class: "commands mono" }, lists[rent.state]));
}
