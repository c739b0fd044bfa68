// What stands in the place of an id in the page's address.

const hex = (digits) => ({ pattern: new RegExp(`^(?:0x)?[0-9a-f]{${digits}}$`, "i"), form: `has ${digits} hexadecimal digits` });

/** First word of the address → what follows it: a name of each id, and its form. Views that are not here take any text, or look at it themselves. */
const IDS = {
  actor: [["address of an actor", hex(40)]],
  block: [["name of a block", { pattern: /^(?:\d{1,18}|latest|(?:0x)?[0-9a-f]{64})$/i, form: "is its height, or its hash of 64 hexadecimal digits" }]],
  job: [["id of a job", hex(64)]],
  proposal: [["number of a proposal", { pattern: /^\d{1,18}$/, form: "has decimal digits" }]],
  token: [["id of a token", hex(64)]],
  volume: [["id of a volume", hex(64)]],
  runner: [["address of a runner", hex(40)]],
  secret: [
    ["address of a secret's owner", hex(40)],
    ["hash of a secret's name", hex(64)],
  ],
};

/** The first part of an address that is no id: { text, what, form }. Null where there is none. */
export function malformed(name, parameters) {
  const kinds = Object.hasOwn(IDS, name) ? IDS[name] : [];
  for (const [place, [what, { pattern, form }]] of kinds.entries()) {
    const text = parameters[place] ?? "";
    if (!pattern.test(text)) return { text, what, form };
  }
  return null;
}
