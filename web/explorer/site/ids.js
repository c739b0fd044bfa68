// What stands in the place of an id in the page's address: hexadecimal digits, as many as its kind has. 0x may be left out.

/** First word of the address → what follows it: a name of each id, and its digits. Views that are not here take any text, or look at it themselves. */
const IDS = {
  job: [["id of a job", 64]],
  token: [["id of a token", 64]],
  volume: [["id of a volume", 64]],
  runner: [["address of a runner", 40]],
  secret: [
    ["address of a secret's owner", 40],
    ["hash of a secret's name", 64],
  ],
};

/** The first part of an address that is no id: { text, what, digits }. Null where there is none. */
export function malformed(name, parameters) {
  const kinds = Object.hasOwn(IDS, name) ? IDS[name] : [];
  for (const [place, [what, digits]] of kinds.entries()) {
    const text = parameters[place] ?? "";
    if (!new RegExp(`^(?:0x)?[0-9a-f]{${digits}}$`, "i").test(text)) return { text, what, digits };
  }
  return null;
}
