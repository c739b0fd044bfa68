// An actor's source, with the line that a link points to.

import { codeView } from "../../code.js";
import { bytes, plural } from "../../format.js";
import { copier, empty, panel, route } from "../../parts.js";

/** See TABS in ../actor.js. */
export async function sourceTab({ actor, source, detail }) {
  if (!source) return { node: empty("The node has no source for this actor.") };
  const view = codeView(source, { whole: true, href: (line) => route.actor(actor.address, `source/${line}`) });
  const node = panel(
    {
      title: "Source",
      aside: [`${plural(source.split("\n").length, "line")}, ${bytes(source.length)}`, copier(source, "the source")],
      flush: true,
    },
    view,
  );
  const ready = () => {
    const line = view.querySelector(`[data-line="${Number(detail) || 0}"]`);
    line?.classList.add("pointed");
    line?.scrollIntoView({ block: "center" });
  };
  return { node, ready };
}
