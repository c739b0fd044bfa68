// One account: what it holds and what it did. An address with code leads on to the actor's page.

import { find } from "../api.js";
import { brandMark } from "../charts.js";
import { h, replace } from "../dom.js";
import { follow } from "../follow.js";
import { count } from "../format.js";
import { badge, copier, facts, money, panel, route } from "../parts.js";
import { systemActors } from "../system.js";
import { receiptList } from "./receipts.js";
import { heldPanel } from "./tokens.js";

/** See VIEWS in main.js. */
export async function accountView([address = ""], { live, signal }) {
  const [account, actor, system] = await Promise.all([
    find(`/account/${encodeURIComponent(address)}`, signal),
    find(`/actor/${encodeURIComponent(address)}`, signal),
    systemActors(),
  ]);
  if (actor) return { next: route.actor(actor.address) };
  if (!account && !/^(0x)?[0-9a-f]{40}$/i.test(address)) return { next: route.search(address) };
  const shown = account ?? { address: `0x${address.replace(/^0x/, "").toLowerCase()}`, nonce: 0, balance: 0 };
  const name = system.get(shown.address)?.name;
  const state = h("div", {});
  const drawState = (now) =>
    replace(
      state,
      panel(
        {},
        facts(
          ["Balance", money(now.balance)],
          ["Transactions sent", count(now.nonce)],
          !account && ["", h("span", { class: "soft" }, "The chain has not seen this account yet.")],
        ),
      ),
    );
  drawState(shown);
  const [past, held] = await Promise.all([historyPanel(shown.address, signal), heldPanel(shown.address, signal)]);
  follow(live, signal, async () => {
    const now = await find(`/account/${shown.address}`, signal);
    if (now && (String(now.balance) !== String(shown.balance) || now.nonce !== shown.nonce)) {
      Object.assign(shown, now);
      drawState(now);
    }
    await past.refresh();
  });
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "title" },
      brandMark(shown.address),
      h(
        "div",
        {},
        h("span", { class: "kicker" }, name ? "System actor" : "Account"),
        h("h1", { class: name ? null : "address" }, name ?? shown.address, copier(shown.address, "the address")),
      ),
      name && badge("accent", "part of the protocol"),
    ),
    state,
    held,
    past.node,
  );
  return { title: name ?? `Account ${shown.address.slice(0, 8)}`, node };
}

/** What an address sent and received, newest first. `refresh` brings the list up to date. */
export async function historyPanel(address, signal) {
  const history = receiptList(`/account/${address}/history`, { title: "History", file: `history-${address.slice(0, 10)}`, address, signal });
  await history.reload();
  return history;
}
