// How old an answer is: its proof stays as good as on its day, of the block that it is about.

import { relative } from "../format.js";

/** The age in milliseconds from which an answer is shown with a warning. */
export const OLD = 60_000;

/** What to warn of, by this computer's clock; nothing where the block is new. */
export function warning(height, timestamp, now) {
  if (now - timestamp <= OLD) return "";
  return `True at block ${height}, ${relative(timestamp, now)}: it may have changed since. Ask another gateway, or look whether the chain has newer blocks.`;
}
