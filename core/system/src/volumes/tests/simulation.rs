//! Seeds in which owners and relays do everything wrong, beside some that do everything right, and beside traffic of secrets, containers and other jobs: no
//! base unit is lost or made, who is honest loses nothing, and a relay that lost bytes is found (decisions 153 to 161).
//!
//! The harness checks supply, escrows, stakes, bonds, slots and lists after every block.

use super::*;
use crate::secrets::traffic::{self, Traffic};
use cowboy_system::records::{Broken, Records};
use cowboy_system::volumes::types::Demand;
use cowboy_system::{secrets, volumes};
use cowboy_testkit::chain::signed;
use cowboy_testkit::dice::{Dice, seeds};
use cowboy_types::Instruction;

/// Owners: who creates all volumes, and who is handed some.
const OWNERS: [u8; 2] = [OWNER, STRANGER];

const NAMES: [&str; 3] = ["a", "b", "c"];

const PARTITIONS: [&str; 2] = ["notes", "more"];

/// What an actor owes to others.
type Owed = fn(&Records<'_>) -> Result<u128, Broken>;

/// Blocks of a seed.
const BLOCKS: u64 = 300;

/// What a relay does beside its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Does {
    Right,
    /// Lets every second round pass.
    Forgets,
    /// Answers with bytes of another slot.
    Swaps,
    /// Is not heard of any more, from some block on.
    Vanishes,
    /// Publishes nothing that is demanded.
    Refuses,
    /// Rebuilds nothing that it is given.
    Idles,
    /// Signs two sums for one root.
    Contradicts,
    /// Leaves now and then, and comes back.
    Leaves,
}

const HABITS: [Does; 7] = [Does::Forgets, Does::Swaps, Does::Vanishes, Does::Refuses, Does::Idles, Does::Contradicts, Does::Leaves];

/// What went into 0x0A and 0x0B, and what came out, as values of calls and events say it.
#[derive(Debug, Default)]
struct Flows {
    /// Values of calls of 0x0A, less what their failure gave back.
    escrowed: u64,
    /// Burned at creation.
    created: u64,
    /// To relays.
    relays: u64,
    /// Burned when relays were paid.
    burned: u64,
    /// To the pool, of what relays were paid and of what demands cost.
    pool: u64,
    /// Back to owners.
    returned: u64,
    /// Stakes and bonds: values of calls of 0x0B.
    staked: u64,
    /// Stake that was burned.
    slashed: u64,
    /// Stakes that were paid back.
    unstaked: u64,
    /// Bonds that were paid back: of demands that were answered, and of those that were not.
    bonds: u64,
    /// How often each event was emitted.
    events: BTreeMap<String, u64>,
}

fn field(event: &cowboy_types::Event, name: &str) -> u64 {
    cbor::decode(&event.data).expect("CBOR").get(name).and_then(Value::as_u64).expect("the event has it")
}

impl Flows {
    fn note(&mut self, receipts: &[Receipt]) {
        let rows = &Params::GENESIS.volumes;
        for receipt in receipts {
            let handler: &str = &receipt.handler;
            let value = if receipt.abort.is_none() { receipt.value.0 } else { 0 };
            match (receipt.target, handler) {
                (STORAGE, "create_volume" | "fund_volume" | "set_volume_quota" | "undelete_volume") => self.escrowed += value,
                (RELAYS, "register_relay" | "add_stake" | "demand") => self.staked += value,
                _ => {}
            }
            for event in receipt.events.iter() {
                match &*event.name {
                    "volume.created" => self.created += value - field(event, "amount"),
                    "volume.settled" => {
                        self.relays += field(event, "relays");
                        self.burned += field(event, "burned");
                        self.pool += field(event, "pool");
                    }
                    "volume.removed" => self.returned += field(event, "amount"),
                    "proof.missed" | "relay.evicted" | "relay.accused" => self.slashed += field(event, "amount"),
                    "demand.refused" => {
                        self.slashed += field(event, "amount");
                        self.bonds += rows.demand_bond;
                    }
                    "demand.answered" => {
                        self.bonds += rows.demand_bond - rows.demand_fee;
                    }
                    "relay.left" => self.unstaked += field(event, "amount"),
                    _ => {}
                }
                *self.events.entry(event.name.to_string()).or_default() += 1;
            }
        }
    }
}

struct Simulation {
    seed: u64,
    chain: Chain,
    /// Secrets, containers and other jobs. It has dice of its own.
    traffic: Traffic,
    dice: Dice,
    habits: BTreeMap<u8, Does>,
    /// What each root names that was ever signed.
    files: BTreeMap<Hash, Files>,
    flows: Flows,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let mut rows = quick_rows().to_vec();
        rows.retain(|(name, _)| *name != "volumes.room_share");
        rows.extend([("volumes.unbonding", 60), ("volumes.room_share", 500), ("jobs.heartbeat_timeout", 5_000)]);
        let market = traffic::open(&rows);
        let (mut chain, traffic) = (market.chain, Traffic::new(market.runners, seed));
        KEEPERS.for_each(|number| register(&mut chain, number));
        let mut dice = Dice::new("volumes", seed);
        // Four do what is right, so that no volume is without enough of them for long.
        let habits = KEEPERS.map(|number| (number, if number > 4 { Does::Right } else { *dice.pick(&HABITS) })).collect();
        // The relays are there already.
        let staked = STAKE * u64::try_from(KEEPERS.count()).expect("few");
        Self { seed, chain, traffic, dice, habits, files: BTreeMap::new(), flows: Flows { staked, ..Flows::default() } }
    }

    fn volumes(&self) -> Vec<(Hash, Volume)> {
        NAMES.iter().filter_map(|name| Some((id(name), volume(&self.chain, &id(name))?))).collect()
    }

    /// The standing files of a partition.
    fn standing(&self, volume: &Hash, name: &str) -> Files {
        let found: Option<Partition> = self.chain.record(&state::partition_key(volume, &partition(name)));
        found.map(|found| self.files[&found.root.top.root()].clone()).unwrap_or_default()
    }

    /// Files come and go; some of the relays do not sign, and sometimes too few.
    fn change(&mut self, volume: Hash) -> Instruction {
        let name = *self.dice.pick(&PARTITIONS);
        let mut files = self.standing(&volume, name);
        for _ in 0..=self.dice.roll(3) {
            let tag = u16::try_from(self.dice.roll(6)).expect("small");
            match self.dice.roll(4) {
                0 => {
                    files.0.remove(&tag);
                }
                _ => files.put(tag, self.dice.roll(40_000)),
            }
        }
        let mut change = Change::of(&self.chain, volume, name, &files);
        match self.dice.roll(8) {
            // More than there is.
            0 => {
                change.slots.truncate(4);
                change.top.node.sum += 1;
            }
            1..=3 => {
                change.slots.remove(usize::try_from(self.dice.roll(6)).expect("small"));
            }
            _ => {}
        }
        // Only who serves a slot signs for it.
        let record = self::volume(&self.chain, &volume).expect("it is there");
        change.slots.retain(|slot| record.slots[*slot].serving().is_some());
        self.files.insert(change.top.root(), files);
        change.instruction(change.acks(&self.chain))
    }

    /// What owners do in a block.
    fn owners(&mut self) -> Vec<(u8, Instruction)> {
        let call = |method: &str, argument: Vec<(&'static str, Value)>, value: u64| {
            execution(STORAGE, method, &Value::dict(argument).encode(), value)
        };
        let name = *self.dice.pick(&NAMES);
        let (volume_id, choice) = (id(name), self.dice.roll(24));
        let Some(record) = volume(&self.chain, &volume_id) else {
            let keys = *self.dice.pick(&["public", "owner"]);
            let value = CBY + 1_000 + self.dice.roll(20_000);
            return vec![(OWNER, call("create_volume", creation(name, keys, 2 * MIB).into(), value))];
        };
        let (owner, of) = (number_of(record.owner), ("volume", bytes(&volume_id.0)));
        let instruction = match choice {
            0..=8 => self.change(volume_id),
            9 => {
                let name = *self.dice.pick(&PARTITIONS);
                call("revert", vec![of, ("partition", bytes(&partition(name).0))], 0)
            }
            10 => call("delete_volume", vec![of], 0),
            11 | 12 => call("undelete_volume", vec![of], self.dice.roll(10_000)),
            13 | 14 => call("fund_volume", vec![of], 1 + self.dice.roll(5_000)),
            15 => call("set_volume_quota", vec![of, ("quota", Value::uint(MIB * (1 + self.dice.roll(4))))], self.dice.roll(5_000)),
            16 => {
                let to = address(*self.dice.pick(&OWNERS));
                call("transfer_volume", vec![of, ("to", bytes(&to.0))], 0)
            }
            17..=19 => {
                let files = self.standing(&volume_id, "notes");
                let slot = self.dice.roll(6);
                let has_bytes = files.0.values().next().is_some_and(|(leaf, _)| leaf.shard_bytes > 0);
                if !has_bytes {
                    return Vec::new();
                }
                let argument = proofs::part_of(volume_id, &files, slot, (0, 1));
                execution(RELAYS, "demand", &Value::dict(argument).encode(), Params::GENESIS.volumes.demand_bond)
            }
            _ => return Vec::new(),
        };
        vec![(owner, instruction)]
    }

    /// The proofs of a round, or those of the next slot.
    fn proofs(&self, round: &Round, swapped: usize) -> Value {
        let prove = |point: &cowboy_system::volumes::types::Point| {
            let slot = (usize::from(point.slot) + swapped) % 6;
            bytes(&self.files[&point.top.root()].prove(slot, point.at).encode())
        };
        Value::Array(round.points.iter().map(prove).collect())
    }

    /// The part that is demanded.
    fn demanded(&self, demand: &Demand) -> Vec<u8> {
        let slot = usize::from(demand.slot);
        let mut shards = self.files.values().flat_map(|files| files.0.values());
        let (_, shards) = shards.find(|(leaf, _)| leaf.shards[slot] == demand.shard).expect("it was signed");
        part(&shards[slot], demand.start, demand.length)
    }

    /// What the chain asks of a relay, and what it does of it.
    fn duties(&self, number: u8, record: &Relay, does: Does) -> Vec<Instruction> {
        let call = |method: &str, argument: Vec<(&'static str, Value)>| execution(RELAYS, method, &Value::dict(argument).encode(), 0);
        let mut calls = Vec::new();
        let due: Option<Round> = self.chain.record(&state::round_key(address(number)));
        if let Some(round) =
            due.filter(|round| round.until > self.chain.height && !(does == Does::Forgets && round.height.0.is_multiple_of(2)))
        {
            let swapped = usize::from(does == Does::Swaps);
            calls.push(call("prove", vec![("height", Value::uint(round.height.0)), ("proofs", self.proofs(&round, swapped))]));
        }
        for id in record.demands.iter().filter(|_| does != Does::Refuses) {
            let demand: Demand = self.chain.record(&state::demand_key(id)).expect("a demand of the record");
            calls.push(call("answer", vec![("demand", bytes(&id.0)), ("slice", bytes(&self.demanded(&demand)))]));
        }
        for (volume_id, volume) in self.volumes() {
            let Some(slot) = volume.slots.iter().position(|slot| slot.relay == Some(address(number))) else { continue };
            let standing = |listed: &cowboy_system::volumes::types::Listed| -> Partition {
                self.chain.record(&state::partition_key(&volume_id, &listed.partition)).expect("a listed partition")
            };
            let of = ("volume", bytes(&volume_id.0));
            if volume.slots[slot].place.is_none() {
                let roots = volume.partitions.iter().map(|listed| bytes(&standing(listed).root.top.root().0)).collect();
                let slot = ("slot", Value::uint(u64::try_from(slot).expect("few")));
                calls.extend((does != Does::Idles).then(|| call("take_slot", vec![of, slot, ("roots", Value::Array(roots))])));
                continue;
            }
            for listed in volume.partitions.iter() {
                let root = standing(listed).root;
                if root.behind & (1 << slot) != 0 && does != Does::Idles {
                    let argument = vec![of.clone(), ("partition", bytes(&listed.partition.0)), ("root", bytes(&root.top.root().0))];
                    calls.push(call("late_ack", argument));
                }
            }
        }
        if record.left_at.is_none() && record.is_heartbeat_due(400, self.chain.height.0) {
            calls.push(call("heartbeat", Vec::new()));
        }
        calls
    }

    /// What a relay does in a block.
    fn relay(&mut self, number: u8) -> Vec<Instruction> {
        let does = self.habits[&number];
        let record: Option<Relay> = self.chain.record(&state::relay_key(address(number)));
        let Some(record) = record else {
            let argument = registration(&self.chain, number);
            let comes = self.dice.roll(10) == 0;
            return comes.then(|| execution(RELAYS, "register_relay", &Value::dict(argument).encode(), STAKE)).into_iter().collect();
        };
        if does == Does::Vanishes && self.chain.height.0 > 100 {
            return Vec::new();
        }
        let mut calls = self.duties(number, &record, does);
        let bare = |method: &str| execution(RELAYS, method, &Value::dict([]).encode(), 0);
        if record.left_at.is_some() && self.dice.roll(8) == 0 {
            calls.push(bare("withdraw"));
        }
        if does == Does::Leaves && record.left_at.is_none() && self.dice.roll(60) == 0 {
            calls.push(bare("leave"));
        }
        calls
    }

    /// Somebody shows two acknowledgements of a relay that signs whatever it is asked to.
    fn accuser(&mut self) -> Option<(u8, Instruction)> {
        let found = self.habits.iter().find(|(_, does)| **does == Does::Contradicts).map(|(number, _)| *number);
        let keeper = found.filter(|_| self.dice.roll(100) == 0)?;
        let sequence = self.chain.height.0;
        let (old, new) = (Hash([1; 32]), Hash([2; 32]));
        let succession = Succession { volume: id("a"), generation: 1, partition: partition("notes"), sequence, old, new, until: 9_999 };
        let call = proofs::accusation(&self.chain, keeper, &succession, [7, 8], [keeper, keeper]);
        Some((*self.dice.pick(&OWNERS), call))
    }

    /// One block in which everybody does something.
    fn turn(&mut self) {
        let mut calls: Vec<(u8, Instruction)> = Vec::new();
        for number in KEEPERS {
            calls.extend(self.relay(number).into_iter().map(|call| (number, call)));
        }
        calls.extend(self.owners());
        calls.extend(self.accuser());
        calls.extend(self.traffic.calls(&self.chain));
        let mut nonces = BTreeMap::new();
        let mut sign = |(number, call): (u8, Instruction)| {
            let nonce = nonces.entry(number).or_insert_with(|| self.chain.nonce(number));
            *nonce += 1;
            signed(number, *nonce - 1, call)
        };
        let transactions = calls.into_iter().map(&mut sign).collect();
        let receipts = self.chain.block(transactions).receipts;
        self.flows.note(&receipts);
    }

    /// What came in is what went out and what is there, and no actor has a base unit that it owes to nobody. The harness looks at those of the market.
    fn balance(&self) {
        let (seed, records) = (self.seed, Records::open(&self.chain.state, self.chain.height).expect("records are sealed"));
        let owed: [(u8, Owed); 2] = [(secrets::NUMBER, secrets::invariants::owed), (actors::RELAYS, volumes::invariants::owed)];
        for (number, owed) in owed {
            let balance = u128::from(self.chain.balance(Address::system(number)));
            assert_eq!(Ok(balance), owed(&records), "seed {seed}, block {}: actor {number:#04x}", self.chain.height.0);
        }
        let flows = &self.flows;
        let escrows: u64 = self.volumes().iter().map(|(_, volume)| volume.escrow.0).sum();
        let out = flows.created + flows.relays + flows.burned + flows.pool + flows.returned;
        assert_eq!(flows.escrowed, out + escrows, "seed {seed}: escrow in = payments, burns, pool, refunds and what is left: {flows:?}");
        let there = self.chain.balance(RELAYS);
        let out = flows.slashed + flows.unstaked + flows.bonds + there;
        let bounties = (flows.staked + flows.pool).checked_sub(out).expect("0x0B pays nothing that it was not given");
        let refused = flows.events.get("demand.refused").copied().unwrap_or_default();
        assert!(bounties <= refused * Params::GENESIS.volumes.demand_bounty, "{bounties} for {refused} demands: {flows:?}");
    }
}

/// Money conservation over 200 seeds with every adversary, and with secrets, containers and other jobs on the same chain: what owners put down is paid,
/// burned, in the pool, given back, or there; so are stakes, deposits, fees and bonds; and a relay that does what it is asked keeps its whole stake. Three
/// seeds of 300 blocks; `COWBOY_SEEDS=200` plays as many.
#[test]
fn many_seeds() {
    let (mut events, mut habits) = (BTreeMap::<String, u64>::new(), BTreeSet::new());
    let played = seeds(3);
    let count = played.end - played.start;
    for seed in played {
        let mut world = Simulation::new(seed);
        habits.extend(world.habits.values().copied());
        for _ in 0..BLOCKS {
            world.turn();
            world.balance();
        }
        for (number, does) in &world.habits {
            if *does == Does::Right {
                assert_eq!(relay(&world.chain, *number).stake.0, STAKE, "seed {seed}: relay {number} is honest");
            }
        }
        for (name, count) in world.flows.events {
            *events.entry(name).or_default() += count;
        }
    }
    if count < 3 {
        return;
    }
    let seen = [
        "ManifestCommitted",
        "volume.settled",
        "volume.removed",
        "volume.transferred",
        "proof.given",
        "proof.missed",
        "slot.lost",
        "slot.filled",
        "demand.answered",
        "demand.refused",
        "secret.stored",
        "secret.deleted",
        "release.opened",
        "release.closed",
        "release.lapsed",
        "release.demanded",
        "JobSubmitted",
        "JobSettled",
        "JobFailed",
    ];
    assert!(seen.iter().all(|name| events.get(*name).is_some_and(|count| *count > 2)), "each happens: {events:?}");
    assert!(habits.len() > 3, "{habits:?}");
}

/// A relay that lost a twentieth of its chunks is caught within a day in nine of ten runs: 0.95 to the power of 48 is 0.085. A day has twelve rounds of
/// four points, and the points are those that the chain draws. One that lost nothing answers each of them.
#[test]
fn who_lost_bytes_is_caught() {
    let rows = &Params::GENESIS.volumes;
    let in_a_day = usize::try_from(86_400 / rows.proof_period).expect("few") * cowboy_system::volumes::types::POINTS;
    assert_eq!(in_a_day, 48);
    let (mut chain, mut files) = (kept(), Files::default());
    let volume_id = create(&mut chain, "memory", "owner");
    (1..=5).for_each(|tag| files.put(tag, 1_400_000));
    commit(&mut chain, volume_id, "notes", &files);
    let (mut rounds, mut points) = (BTreeSet::new(), Vec::new());
    while points.len() < 4 * in_a_day {
        chain.idle(1);
        for number in KEEPERS {
            if let Some(due) = proofs::round(&chain, number).filter(|round| rounds.insert((number, round.height))) {
                points.extend(due.points.iter().map(|point| point.at));
            }
        }
        proofs::answer_but(&mut chain, 0, &[(volume_id, &files)]);
    }
    let is_lost = |run: u64, at: u64| {
        let chunk = slice::chunk(at, u64::MAX).0;
        Dice::new("detection", run.wrapping_mul(1 << 32).wrapping_add(chunk)).roll(20) == 0
    };
    let days = points.chunks_exact(in_a_day).zip(0_u64..).flat_map(|(day, number)| (0..2_500).map(move |run| (day, number * 2_500 + run)));
    let caught = days.filter(|(day, run)| day.iter().any(|at| is_lost(*run, *at))).count();
    assert!((9_000..=9_300).contains(&caught), "{caught} of 10,000 runs, and 9,147 by the formula");
    assert!(KEEPERS.into_iter().all(|number| relay(&chain, number).misses.0 == 0));
}
