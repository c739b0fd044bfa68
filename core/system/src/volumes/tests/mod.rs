//! Volumes and relays: who keeps what, who may write it, who is paid, and who loses money (decisions 149 to 161).

pub(crate) mod adversaries;
pub(crate) mod contents;
mod directory;
pub(crate) mod keys;
pub(crate) mod money;
mod mounts;
pub(crate) mod of_actors;
mod pauses;
pub(crate) mod proofs;
mod registry;
mod simulation;

use bao::encode::{SliceExtractor, encode};
use commonware_codec::Encode as _;
use cowboy_params::Params;
use cowboy_system::storage::NUMBER;
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Partition, Relay, Round, Slot, Status, Volume};
use cowboy_testkit::chain::{Chain, address, execution, parameters};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, List, Receipt, actors, error};
use cowboy_volumes::relay::{PointProof, Succession, key_message};
use cowboy_volumes::{Code, Leaf, Name, Page, Route, Top, slice};
use ed25519_consensus::SigningKey;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read as _};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![a_relay_registers_and_leaves, a_volume_has_relays_of_its_own, a_volume_has_its_limits];

const STORAGE: Address = Address::system(NUMBER);
const RELAYS: Address = Address::system(actors::RELAYS);
const CBY: u64 = 1_000_000_000;
const STAKE: u64 = 5_000 * CBY;
const MIB: u64 = 1 << 20;
const OWNER: u8 = 1;
/// Accounts that are relays.
const KEEPERS: std::ops::RangeInclusive<u8> = 2..=8;
/// An account that is nothing.
const STRANGER: u8 = 9;

fn ask<const N: usize>(
    chain: &mut Chain,
    from: u8,
    to: Address,
    method: &str,
    argument: [(&'static str, Value); N],
    value: u64,
) -> Receipt {
    chain.send(from, execution(to, method, &Value::dict(argument).encode(), value))
}

fn view<const N: usize>(chain: &mut Chain, to: Address, method: &str, argument: [(&'static str, Value); N]) -> Value {
    let receipt = ask(chain, STRANGER, to, method, argument, 0);
    assert_eq!(receipt.abort, None);
    cbor::decode(&receipt.return_data).expect("CBOR")
}

fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

fn events(receipts: &[Receipt]) -> Vec<String> {
    receipts.iter().flat_map(|receipt| receipt.events.iter().map(|event| event.name.to_string())).collect()
}

fn has(receipts: &[Receipt], event: &str) -> bool {
    events(receipts).iter().any(|name| name == event)
}

/// What an account lost in a call beside its fee.
fn without_fee(before: u64, after: u64, receipt: &Receipt) -> i128 {
    i128::from(after) + i128::from(receipt.fee.burned.0 + receipt.fee.tip.0) - i128::from(before)
}

fn signer(number: u8) -> SigningKey {
    SigningKey::from([number; 32])
}

fn signing_key(number: u8) -> Fixed<32> {
    Fixed(signer(number).verification_key().to_bytes())
}

fn number_of(of: Address) -> u8 {
    (1..=9).find(|number| address(*number) == of).expect("one of the nine")
}

/// Short epochs, rounds and times.
fn quick_rows() -> [(&'static str, u64); 11] {
    [
        ("volumes.epoch", 50),
        ("volumes.alive", 400),
        ("volumes.fill", 12),
        ("volumes.retry", 3),
        ("volumes.undelete", 20),
        ("volumes.proof_period", 40),
        ("volumes.proof_window", 8),
        ("volumes.demand_window", 5),
        ("volumes.revert", 10),
        ("volumes.room_share", 0),
        ("volumes.region_relays", 3),
    ]
}

fn quick() -> Chain {
    Chain::with(|genesis| genesis.parameters = parameters(&quick_rows()))
}

fn registration(chain: &Chain, from: u8) -> [(&'static str, Value); 8] {
    let key = signing_key(from);
    let proof = signer(from).sign(&key_message(&chain.config.genesis, address(from), &key)).to_bytes();
    [
        ("endpoint", Value::text("relay.example.com")),
        ("port", Value::uint(443)),
        ("certificate", bytes(&[7; 32])),
        ("key", bytes(&key.0)),
        ("proof", bytes(&proof)),
        ("region", Value::text(if from.is_multiple_of(2) { "eu" } else { "us" })),
        ("capacity", Value::uint(100 * MIB)),
        ("ask", Value::uint(450)),
    ]
}

fn register(chain: &mut Chain, from: u8) {
    let argument = registration(chain, from);
    assert_eq!(ask(chain, from, RELAYS, "register_relay", argument, STAKE).abort, None);
}

/// A chain with relays.
fn kept() -> Chain {
    kept_with(&[])
}

/// The same where some rows are others.
fn kept_with(rows: &[(&'static str, u64)]) -> Chain {
    let mut all: Vec<_> = quick_rows().into_iter().filter(|(name, _)| rows.iter().all(|(row, _)| row != name)).collect();
    all.extend(rows);
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&all));
    KEEPERS.for_each(|number| register(&mut chain, number));
    chain
}

fn creation(name: &str, keys: &str, quota: u64) -> [(&'static str, Value); 6] {
    [
        ("name", Value::text(name)),
        ("keys", Value::text(keys)),
        ("data", Value::uint(4)),
        ("parity", Value::uint(2)),
        ("quota", Value::uint(quota)),
        ("max_price", Value::uint(450)),
    ]
}

fn id(name: &str) -> Hash {
    Name::new(name).expect("a name").volume(address(OWNER))
}

fn partition(name: &str) -> Hash {
    Name::new(name).expect("a name").partition()
}

fn create(chain: &mut Chain, name: &str, keys: &str) -> Hash {
    let receipt = ask(chain, OWNER, STORAGE, "create_volume", creation(name, keys, 8 * MIB), 2 * CBY);
    assert_eq!(receipt.abort, None);
    id(name)
}

fn volume(chain: &Chain, id: &Hash) -> Option<Volume> {
    chain.record(&state::volume_key(id))
}

fn relay(chain: &Chain, number: u8) -> Relay {
    chain.record(&state::relay_key(address(number))).expect("it is registered")
}

fn holder(volume: &Volume, slot: usize) -> u8 {
    number_of(volume.slots[slot].relay.expect("the slot has a relay"))
}

/// Files of one partition, in one page, with the shards of each.
#[derive(Clone, Default)]
struct Files(BTreeMap<u16, (Leaf, Vec<Vec<u8>>)>);

impl Files {
    fn put(&mut self, tag: u16, length: u64) {
        let code = Code::new(4, 2).expect("a code");
        let shard_bytes = code.shard_bytes(length);
        let shards: Vec<Vec<u8>> = (0..6_u64)
            .map(|slot| (0..shard_bytes).map(|at| (at.wrapping_mul(31) ^ slot ^ u64::from(tag)).to_le_bytes()[0]).collect())
            .collect();
        let mut name = [0; 32];
        name[..2].copy_from_slice(&tag.to_be_bytes());
        let leaf = Leaf {
            tag: Fixed(name),
            write_id: Fixed([3; 16]),
            ciphertext_bytes: length,
            shard_bytes,
            shards: List::new(shards.iter().map(|shard| Hash(*encode(shard).1.as_bytes())).collect()).expect("six"),
            meta: Blob::default(),
        };
        self.0.insert(tag, (leaf, shards));
    }

    fn page(&self) -> Page {
        Page { leaves: List::new(self.0.values().map(|(leaf, _)| leaf.clone()).collect()).expect("few") }
    }

    fn top(&self) -> Top {
        Top::of(0, u32::try_from(self.0.len()).expect("few"), vec![self.page().node().expect("small")]).expect("a tree")
    }

    /// The proof of a byte of a slot.
    fn prove(&self, slot: usize, at: u64) -> PointProof {
        let page = self.page();
        let (place, rest) = page.find(at).expect("a leaf has the byte");
        let (leaf, shards) = self.0.values().nth(place).expect("as many as leaves");
        let (start, length) = slice::chunk(rest, leaf.shard_bytes);
        let slice = if rest < leaf.shard_bytes { part(&shards[slot], start, length) } else { Vec::new() };
        PointProof {
            leaf: Blob::new(leaf.encode()).expect("short"),
            route: Route::new(&page, place, &[page.node().expect("small")], 0).expect("a leaf of the page"),
            slice: Blob::new(slice).expect("short"),
        }
    }
}

/// The slice of a part of a shard.
fn part(shard: &[u8], start: u64, length: u64) -> Vec<u8> {
    let mut slice = Vec::new();
    SliceExtractor::new(Cursor::new(encode(shard).0), start, length).read_to_end(&mut slice).expect("in memory");
    slice
}

/// What a commit names.
#[derive(Clone)]
struct Change {
    volume: Hash,
    partition: Hash,
    old: Hash,
    top: Top,
    slots: Vec<usize>,
    capability: Option<Fixed<16>>,
    generation: u64,
    sequence: u64,
    until: u64,
    key_version: u64,
}

impl Change {
    fn of(chain: &Chain, volume: Hash, name: &str, files: &Files) -> Self {
        let partition = partition(name);
        let found: Option<Partition> = chain.record(&state::partition_key(&volume, &partition));
        let old = found.as_ref().map_or(Hash::ZERO, |found| found.root.top.root());
        let generation = self::volume(chain, &volume).map_or(1, |volume| volume.generation.0);
        let sequence = found.as_ref().map_or(0, |found| found.sequence.0) + 1;
        let key_version = found.map_or((generation << 16) + 1, |found| found.root.key_version);
        let (top, slots, until) = (files.top(), (0..6).collect(), chain.height.0 + 600);
        Self { volume, partition, old, top, slots, capability: None, generation, sequence, until, key_version }
    }

    fn succession(&self) -> Succession {
        let Self { volume, partition, old, generation, sequence, until, .. } = *self;
        Succession { volume, generation, partition, sequence, old, new: self.top.root(), until }
    }

    /// The acknowledgements of its slots, by the relays that have them.
    fn acks(&self, chain: &Chain) -> Vec<Value> {
        let record = volume(chain, &self.volume).expect("it is there");
        let succession = self.succession();
        let ack = |slot: &usize| {
            let place = u8::try_from(*slot).expect("few");
            let message = succession.message(&chain.config.genesis, place, self.top.node.sum);
            let signature = signer(holder(&record, *slot)).sign(&message).to_bytes();
            Value::dict([("slot", Value::uint(u64::from(place))), ("signature", bytes(&signature))])
        };
        self.slots.iter().map(ack).collect()
    }

    fn send(&self, chain: &mut Chain, from: u8) -> Receipt {
        let acks = self.acks(chain);
        self.send_with(chain, from, acks)
    }

    fn send_with(&self, chain: &mut Chain, from: u8, acks: Vec<Value>) -> Receipt {
        chain.send(from, self.instruction(acks))
    }

    fn instruction(&self, acks: Vec<Value>) -> cowboy_types::Instruction {
        let capability = self.capability.map_or(Value::Null, |id| bytes(&id.0));
        let argument = [
            ("volume", bytes(&self.volume.0)),
            ("partition", bytes(&self.partition.0)),
            ("old", bytes(&self.old.0)),
            ("depth", Value::uint(u64::from(self.top.depth))),
            ("leaves", Value::uint(u64::from(self.top.leaves))),
            ("node", bytes(&self.top.node.hash.0)),
            ("sum", Value::uint(self.top.node.sum)),
            ("acks", Value::Array(acks)),
            ("until", Value::uint(self.until)),
            ("key_version", Value::uint(self.key_version)),
            ("capability", capability),
        ];
        execution(STORAGE, "commit", &Value::dict(argument).encode(), 0)
    }
}

/// Commits files, acknowledged by all.
fn commit(chain: &mut Chain, volume: Hash, name: &str, files: &Files) {
    let receipt = Change::of(chain, volume, name, files).send(chain, OWNER);
    assert_eq!(receipt.abort, None);
}

/// A chain with a volume of a few files.
fn filled() -> (Chain, Hash, Files) {
    filled_with(&[])
}

/// The same where some rows are others.
fn filled_with(rows: &[(&'static str, u64)]) -> (Chain, Hash, Files) {
    let mut chain = kept_with(rows);
    let volume = create(&mut chain, "memory", "owner");
    let mut files = Files::default();
    (1..=5).for_each(|tag| files.put(tag * 1_000, u64::from(tag) * 50_000));
    commit(&mut chain, volume, "notes", &files);
    (chain, volume, files)
}

/// A chain with everything that 0x0A and 0x0B can have: for tests of the invariants.
pub(crate) fn everything() -> Chain {
    let (mut chain, volume, files) = filled();
    let argument = [
        ("volume", bytes(&volume.0)),
        ("partition", bytes(&partition("notes").0)),
        ("holder", bytes(&address(STRANGER).0)),
        ("mode", Value::text("rw")),
        ("until", Value::uint(10_000)),
    ];
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "issue_cap", argument, 0).abort, None);
    proofs::demand(&mut chain, OWNER, volume, &files, 0, (0, 100));
    commit(&mut chain, volume, "more", &Files::default());
    chain
}

fn heartbeat(chain: &mut Chain, numbers: impl IntoIterator<Item = u8>) {
    for number in numbers {
        assert_eq!(ask(chain, number, RELAYS, "heartbeat", [], 0).abort, None);
    }
}

/// 5,000 CBY, or half a CBY a GiB; a key of its own; a heartbeat; the stake comes back seven days after it left.
#[test]
fn a_relay_registers_and_leaves() {
    let rows = &Params::GENESIS.volumes;
    assert_eq!((rows.relay_stake, rows.stake_per_gib, rows.unbonding, rows.alive), (STAKE, CBY / 2, 604_800, 3_600));
    let mut chain = Chain::new();
    let good = registration(&chain, 2);
    let with = |place: usize, value: Value| {
        let mut argument = good.clone();
        argument[place].1 = value;
        argument
    };
    let rows = [
        (2, with(0, Value::text("Relay.example.com")), STAKE, Some(error::RELAY_ENDPOINT)),
        (2, with(1, Value::uint(0)), STAKE, Some(error::RELAY_ENDPOINT)),
        (2, with(5, Value::text("EU")), STAKE, Some(error::RELAY_ENDPOINT)),
        (2, with(5, Value::text("")), STAKE, Some(error::RELAY_ENDPOINT)),
        (2, good.clone(), STAKE - 1, Some(error::RELAY_STAKE)),
        (2, with(6, Value::uint(10_001 << 30)), STAKE, Some(error::RELAY_STAKE)),
        (3, good.clone(), STAKE, Some(error::RELAY_KEY)),
        (2, with(3, bytes(&[0; 32])), STAKE, Some(error::RELAY_KEY)),
        (2, good.clone(), STAKE, None),
        (2, good.clone(), STAKE, Some(error::RELAY_EXISTS)),
    ];
    for (from, argument, value, abort) in rows {
        assert_eq!(ask(&mut chain, from, RELAYS, "register_relay", argument, value).abort, abort);
    }
    let taken = with(3, bytes(&signing_key(2).0));
    assert_eq!(ask(&mut chain, 3, RELAYS, "register_relay", taken, STAKE).abort, Some(error::RELAY_EXISTS), "the key is another's");
    assert_eq!(ask(&mut chain, 3, RELAYS, "heartbeat", [], 0).abort, Some(error::RELAY_UNKNOWN));
    chain.idle(3);
    let early = ask(&mut chain, 2, RELAYS, "heartbeat", [], 0);
    assert!(early.abort.is_none() && early.fee.burned.0 > 0, "one that is not due costs what every call does");
    assert_eq!(relay(&chain, 2).last_heartbeat, chain.height);
    chain.height = Height(chain.height.0 + 600);
    let due = ask(&mut chain, 2, RELAYS, "heartbeat", [], 0);
    assert_eq!((due.abort, due.fee.burned.0), (None, 0));

    let changed = |capacity: u64| {
        [
            ("endpoint", Value::text("::1")),
            ("port", Value::uint(444)),
            ("certificate", bytes(&[8; 32])),
            ("capacity", Value::uint(capacity)),
            ("ask", Value::uint(500)),
        ]
    };
    assert_eq!(ask(&mut chain, 2, RELAYS, "update_relay", changed(10_001 << 30), 0).abort, Some(error::RELAY_STAKE));
    assert_eq!(ask(&mut chain, 2, RELAYS, "add_stake", [], 0).abort, Some(error::RELAY_STATE));
    assert_eq!(ask(&mut chain, 2, RELAYS, "add_stake", [], CBY).abort, None);
    assert_eq!(ask(&mut chain, 2, RELAYS, "update_relay", changed(10_001 << 30), 0).abort, None);
    assert_eq!((relay(&chain, 2).port, relay(&chain, 2).ask.0, relay(&chain, 2).stake.0), (444, 500, STAKE + CBY));

    assert_eq!(ask(&mut chain, 2, RELAYS, "withdraw", [], 0).abort, Some(error::RELAY_STATE));
    assert_eq!(ask(&mut chain, 2, RELAYS, "leave", [], 0).abort, None);
    assert_eq!(ask(&mut chain, 2, RELAYS, "leave", [], 0).abort, Some(error::RELAY_STATE));
    assert_eq!(ask(&mut chain, 2, RELAYS, "add_stake", [], CBY).abort, Some(error::RELAY_STATE));
    let left_at = relay(&chain, 2).left_at.expect("it left");
    chain.height = Height(left_at.0 + 604_798);
    assert_eq!(ask(&mut chain, 2, RELAYS, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    let before = chain.balance(address(2));
    let receipt = ask(&mut chain, 2, RELAYS, "withdraw", [], 0);
    assert_eq!(receipt.abort, None);
    assert_eq!(without_fee(before, chain.balance(address(2)), &receipt), i128::from(STAKE + CBY));
    let argument = registration(&chain, 3);
    let again = ask(&mut chain, 3, RELAYS, "register_relay", argument, STAKE);
    assert_eq!(again.abort, None);
}

/// Each slot has a relay of its own, regions are spread, and the escrow covers ten epochs at the relays' asks.
#[test]
fn a_volume_has_relays_of_its_own() {
    let mut chain = quick();
    (2..=6).for_each(|number| register(&mut chain, number));
    let few = ask(&mut chain, OWNER, STORAGE, "create_volume", creation("memory", "public", 8 * MIB), 2 * CBY);
    assert_eq!(few.abort, Some(error::VOLUME_RELAYS), "five relays for six slots");
    (7..=8).for_each(|number| register(&mut chain, number));
    // 2 MiB a slot, six slots, 450 base units, ten epochs; and 1 CBY that is burned.
    let needed = 2 * 6 * 450 * 10 + CBY;
    let quote = view(&mut chain, STORAGE, "quote", [("quota", Value::uint(8 * MIB))]);
    let of = |name: &str| quote.get(name).and_then(Value::as_u64).expect("a number");
    assert_eq!((of("escrow") + of("fee"), of("per_epoch")), (needed, 2 * 6 * 450));
    let short = ask(&mut chain, OWNER, STORAGE, "create_volume", creation("memory", "public", 8 * MIB), needed - 1);
    assert_eq!(short.abort, Some(error::VOLUME_ESCROW));
    let before = chain.balance(address(OWNER));
    let receipt = ask(&mut chain, OWNER, STORAGE, "create_volume", creation("memory", "public", 8 * MIB), needed);
    assert_eq!((receipt.abort.clone(), events(std::slice::from_ref(&receipt))), (None, vec!["volume.created".to_owned()]));
    assert_eq!(without_fee(before, chain.balance(address(OWNER)), &receipt), -i128::from(needed));

    let record = volume(&chain, &id("memory")).expect("it was created");
    let holders: BTreeSet<u8> = (0..6).map(|slot| holder(&record, slot)).collect();
    assert_eq!((holders.len(), record.escrow.0, record.status), (6, needed - CBY, Status::Active));
    let even = holders.iter().filter(|number| number.is_multiple_of(2)).count();
    assert_eq!(even, 3, "as many in each region: {holders:?}");
    for number in &holders {
        assert_eq!((relay(&chain, *number).slots, relay(&chain, *number).reserved), (1, 2 * MIB));
    }
    let again = ask(&mut chain, OWNER, STORAGE, "create_volume", creation("memory", "public", 8 * MIB), needed);
    assert_eq!(again.abort, Some(error::VOLUME_EXISTS));
    let listed = view(&mut chain, STORAGE, "list_volumes", [("account", bytes(&address(OWNER).0))]);
    assert_eq!(listed, Value::Array(vec![bytes(&id("memory").0)]));
}

/// What a volume cannot be, and how many an account has.
#[test]
fn a_volume_has_its_limits() {
    let mut chain = kept();
    let good = creation("memory", "public", 8 * MIB);
    let with = |place: usize, value: Value| {
        let mut argument = good.clone();
        argument[place].1 = value;
        argument
    };
    let rows = [
        (with(0, Value::text("a/b")), error::VOLUME_INVALID),
        (with(1, Value::text("secret")), error::VOLUME_INVALID),
        (with(2, Value::uint(0)), error::VOLUME_INVALID),
        (with(3, Value::uint(9)), error::VOLUME_INVALID),
        (with(4, Value::uint(0)), error::VOLUME_INVALID),
        (with(4, Value::uint((100 << 30) + 1)), error::VOLUME_INVALID),
        (with(4, Value::uint(500 * MIB)), error::VOLUME_RELAYS),
        (with(5, Value::uint(449)), error::VOLUME_RELAYS),
    ];
    for (argument, abort) in rows {
        let receipt = ask(&mut chain, OWNER, STORAGE, "create_volume", argument, 2 * CBY);
        assert_eq!(receipt.abort, Some(abort));
    }
    let first = create(&mut chain, "one", "owner");
    create(&mut chain, "two", "public");
    let hand = |chain: &mut Chain, from: u8, to: u8| {
        ask(chain, from, STORAGE, "transfer_volume", [("volume", bytes(&first.0)), ("to", bytes(&address(to).0))], 0).abort
    };
    assert_eq!(hand(&mut chain, STRANGER, STRANGER), Some(error::VOLUME_FOREIGN));
    assert_eq!(hand(&mut chain, OWNER, STRANGER), None);
    assert_eq!(hand(&mut chain, OWNER, STRANGER), Some(error::VOLUME_FOREIGN));
    let set = |chain: &mut Chain, quota: u64, value: u64| {
        ask(chain, STRANGER, STORAGE, "set_volume_quota", [("volume", bytes(&first.0)), ("quota", Value::uint(quota))], value).abort
    };
    assert_eq!(set(&mut chain, 800 * MIB, CBY), Some(error::VOLUME_RELAYS), "no relay has as much room");
    assert_eq!(set(&mut chain, 80 * MIB, 0), None, "what was sent at first is enough");
    let record = volume(&chain, &first).expect("it is there");
    assert_eq!(
        (record.quota, relay(&chain, holder(&record, 0)).reserved % (20 * MIB)),
        (80 * MIB, 2 * MIB * u64::from(relay(&chain, holder(&record, 0)).slots > 1))
    );
}
