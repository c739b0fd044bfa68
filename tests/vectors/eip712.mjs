// Makes eip712.json: typed data hashed and signed by ethers, the reference that wallets agree with.
//
//     npm install ethers@6.17.0 && node eip712.mjs > eip712.json
//
// Everything is fixed (keys, data), and ethers signs deterministically, so the output never changes.
import { TypedDataEncoder, Wallet, keccak256, toUtf8Bytes } from "ethers";

const key = (name) => new Wallet(keccak256(toUtf8Bytes(`cowboy eip712 ${name}`)));

const mailTypes = {
  Person: [{ name: "name", type: "string" }, { name: "wallet", type: "address" }],
  Mail: [{ name: "from", type: "Person" }, { name: "to", type: "Person" }, { name: "contents", type: "string" }],
};
const mailDomain = {
  name: "Ether Mail", version: "1", chainId: 1, verifyingContract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
};
const mail = {
  from: { name: "Cow", wallet: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826" },
  to: { name: "Bob", wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" },
  contents: "Hello, Bob!",
};

const cases = [
  { about: "the example of the EIP", domain: mailDomain, types: mailTypes, message: mail },
  {
    about: "a permit (ERC-2612) with the largest numbers",
    domain: { name: "Token", version: "2", chainId: 31337, verifyingContract: "0x00000000000000000000000000000000000000ff" },
    types: {
      Permit: [
        { name: "owner", type: "address" }, { name: "spender", type: "address" }, { name: "value", type: "uint256" },
        { name: "nonce", type: "uint256" }, { name: "deadline", type: "uint256" },
      ],
    },
    message: {
      owner: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826", spender: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB",
      value: ((1n << 256n) - 1n).toString(), nonce: "0", deadline: "1893456000",
    },
  },
  {
    about: "every kind of atom",
    domain: { name: "Atoms" },
    types: {
      Atoms: [
        { name: "flag", type: "bool" }, { name: "small", type: "uint8" }, { name: "signed", type: "int16" },
        { name: "lowest", type: "int256" }, { name: "four", type: "bytes4" }, { name: "word", type: "bytes32" },
        { name: "blob", type: "bytes" }, { name: "empty", type: "bytes" }, { name: "text", type: "string" },
      ],
    },
    message: {
      flag: true, small: 255, signed: -2, lowest: (-(1n << 255n)).toString(), four: "0xdeadbeef",
      word: "0x" + "ab".repeat(32), blob: "0x00010203", empty: "0x", text: "héllo 🤠",
    },
  },
  {
    about: "lists of atoms, of records and of lists",
    domain: { name: "Lists", version: "1", salt: "0x" + "11".repeat(32) },
    types: {
      Group: [
        { name: "title", type: "string" }, { name: "numbers", type: "uint256[]" }, { name: "pair", type: "address[2]" },
        { name: "members", type: "Member[]" }, { name: "table", type: "uint8[3][]" },
      ],
      Member: [{ name: "name", type: "string" }, { name: "tags", type: "string[]" }],
    },
    message: {
      title: "", numbers: [1, 2, "340282366920938463463374607431768211456"],
      pair: ["0x0000000000000000000000000000000000000001", "0x0000000000000000000000000000000000000002"],
      members: [{ name: "a", tags: [] }, { name: "b", tags: ["x", "y"] }],
      table: [[1, 2, 3], [4, 5, 6]],
    },
  },
  {
    about: "records that name each other in any order",
    domain: { chainId: "115792089237316195423570985008687907853269984665640564039457584007913129639935" },
    types: {
      Zebra: [{ name: "stripes", type: "uint32" }],
      Ark: [{ name: "first", type: "Zebra" }, { name: "second", type: "Bear" }],
      Bear: [{ name: "den", type: "Den" }],
      Den: [{ name: "depth", type: "int64" }, { name: "open", type: "bool" }],
    },
    message: { first: { stripes: 80 }, second: { den: { depth: "-9223372036854775808", open: false } } },
  },
  { about: "an empty domain", domain: {}, types: { Note: [{ name: "text", type: "string" }] }, message: { text: "bare" } },
];

const out = [];
for (const [index, item] of cases.entries()) {
  const wallet = key(index);
  const encoder = TypedDataEncoder.from(item.types);
  out.push({
    ...item,
    primary_type: encoder.primaryType,
    encoded_type: encoder.encodeType(encoder.primaryType),
    domain_separator: TypedDataEncoder.hashDomain(item.domain),
    struct_hash: encoder.hash(item.message),
    digest: TypedDataEncoder.hash(item.domain, item.types, item.message),
    address: wallet.address,
    signature: await wallet.signTypedData(item.domain, item.types, item.message),
  });
}
console.log(JSON.stringify(out, null, 1));
