//! A storm of timers: how late the timers of others fire while 100,000 timers of 1,000 actors are due, first in, first out and in the
//! auction: `cargo run --release -p cowboy-chain --example storm`.

mod timing;

use cowboy_chain::engine::Images;
use cowboy_chain::{Image, Outcome, SignedTransaction};
use cowboy_system::bidding;
use cowboy_types::cbor::Value;
use cowboy_types::instruction::{Actor, Instruction};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::Amount;
use cowboy_types::{Address, Blob, Hash, Text};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use timing::{Chain, transaction};

const ACTORS: u64 = 1_000;
const TIMERS: u64 = 100;
const OTHERS: u64 = 40;

/// The height at which the storm is due, after all of it is scheduled.
const DUE: u64 = 1_000;

/// Blocks between the timers of others, the first one block after the storm.
const APART: u64 = 2;

const SOURCE: &str = "from cowboy_sdk import actor, public, runtime, set_timer


@actor
class Sleeper:
    @public
    def start(self, height, count, tip, has_agent):
        bid = {'max_fee_per_cycle': 10_000_000, 'max_priority_fee_per_cycle': tip} if tip else {}
        if has_agent:
            bid = {'bidding_agent': runtime.get_actor_address()}
        for number in range(count):
            set_timer(height, 'tick', number, gas_limit=100_000, cells_limit=2_000, **bid)

    def tick(self, number):
        total = 0
        for each in range(4_000):
            total += each

    @public
    def get_gas_bid(self, context):
        base = context['basefee_lane_timer']
        waited = context['current_block_height'] - context['trigger_block_height']
        tip = (context['previous_block_p50_priority_tip_per_cycle'] + 100) * (1 + waited)
        most = context['owner_actor_balance'] // (2 * context['cycles_limit'])
        tip = max(0, min(tip, most - base))
        return {'max_fee_per_cycle': base + tip, 'max_priority_fee_per_cycle': tip}
";

/// How the others bid.
#[derive(Clone, Copy)]
enum Bidding {
    /// As the default agent does.
    Default,
    /// With this tip for a cycle.
    Tip(u64),
    /// By an agent of their own, in Python.
    Agent,
}

/// Keeps every image.
#[derive(Default)]
struct Kept(Mutex<BTreeMap<Hash, Image>>);

impl Images for Kept {
    fn get(&self, code_hash: &Hash) -> Option<Image> {
        self.0.lock().ok()?.get(code_hash).cloned()
    }
    fn put(&self, code_hash: Hash, image: Image) {
        if let Ok(mut kept) = self.0.lock() {
            kept.insert(code_hash, image);
        }
    }
}

fn deployment(number: u64) -> Instruction {
    let grants = ["econ.hold_balance", "storage.kv", "timer.schedule"].map(|id| Value::map([("id", Value::text(id))]));
    let manifest = Value::map([("entitlements", Value::Array(grants.to_vec()))]);
    Instruction::Actor(Actor::Deploy {
        code: Blob::new(SOURCE.as_bytes().to_vec()).expect("fits"),
        salt: Blob::new(number.to_be_bytes().to_vec()).expect("fits"),
        init: None,
        manifest: Blob::new(manifest.encode()),
        endowment: Amount::from_cby(10_000).expect("fits"),
    })
}

fn start(target: Address, height: u64, count: u64, bidding: Bidding) -> Instruction {
    let (tip, has_agent) = match bidding {
        Bidding::Default => (0, false),
        Bidding::Tip(tip) => (tip, false),
        Bidding::Agent => (0, true),
    };
    let argument = Value::Array(vec![Value::uint(height), Value::uint(count), Value::uint(tip), Value::Bool(has_agent)]);
    let payload = Blob::new(argument.encode()).expect("fits");
    Instruction::Actor(Actor::Execute { target, handler: Text::new("start").expect("fits"), payload, value: Amount(0) })
}

/// A chain where the storm is scheduled, and the actors of the others.
fn storm(version: u8, bidding: Bidding) -> (Chain, Vec<Address>) {
    let room = [
        ("execution.block_weight", 4_000_000_000),
        ("fees.base_fee_max", 10_000_000),
        ("fees.block_cells", 400_000_000),
        ("fees.block_cycles", 2_000_000_000),
        ("lanes.user_cycles", 1_000_000_000),
    ];
    let mut chain = Chain::new(1, 20_000_000, &room, Arc::new(Kept::default()));
    chain.version = Some(version);
    let mut nonce = 0;
    let mut send = |chain: &mut Chain, instructions: Vec<Instruction>, cycles: u64| -> Outcome {
        let signed = instructions.into_iter().map(|instruction| {
            nonce += 1;
            transaction(0, nonce - 1, instruction, cycles, 200_000)
        });
        let outcome = chain.block(signed.collect::<Vec<SignedTransaction>>());
        assert!(outcome.receipts.iter().all(|receipt| receipt.is_success()), "{:?}", outcome.receipts.first().map(|one| one.abort.clone()));
        outcome
    };
    let mut actors = Vec::new();
    for first in (0..ACTORS + OTHERS).step_by(40) {
        let outcome = send(&mut chain, (first..first + 40).map(deployment).collect(), 5_000_000);
        actors.extend(outcome.receipts.iter().filter_map(|receipt| receipt.created));
    }
    let others = actors.split_off(usize::try_from(ACTORS).expect("small"));
    for batch in actors.chunks(40) {
        send(&mut chain, batch.iter().map(|actor| start(*actor, DUE, TIMERS, Bidding::Default)).collect(), 10_000_000);
    }
    let theirs = others.iter().zip((DUE + 1..).step_by(usize::try_from(APART).expect("small")));
    send(&mut chain, theirs.map(|(actor, due)| start(*actor, due, 1, bidding)).collect(), 1_000_000);
    (chain, others)
}

#[expect(clippy::print_stdout, reason = "an example that measures and prints")]
fn measure(what: &str, version: u8, bidding: Bidding) {
    let (mut chain, others) = storm(version, bidding);
    chain.jump(DUE - 1);
    let due: BTreeMap<Address, u64> = others.iter().copied().zip((DUE + 1..).step_by(usize::try_from(APART).expect("small"))).collect();
    let (mut delays, mut fires, mut height, mut burned) = (Vec::new(), 0_u64, DUE, 0_u64);
    while delays.len() < others.len() {
        for receipt in chain.block(Vec::new()).receipts {
            if receipt.kind != ReceiptKind::Timer || &receipt.handler[..] == bidding::HANDLER {
                continue;
            }
            match due.get(&receipt.target) {
                Some(due) => delays.push(height - due),
                None => {
                    fires += 1;
                    burned += receipt.fee.burned.0;
                }
            }
        }
        height += 1;
    }
    delays.sort_unstable();
    let mean = burned / fires.max(1);
    println!(
        "{what}: median {} worst {} blocks late; {fires} of the storm fired in {} blocks, for {} base units each",
        delays[delays.len() / 2],
        delays[delays.len() - 1],
        height - DUE,
        mean
    );
}

fn main() {
    measure("first in, first out", 1, Bidding::Default);
    measure("auction, nobody tips", 2, Bidding::Default);
    measure("auction, the others tip", 2, Bidding::Tip(1_000));
    measure("auction, Python agents of the others bid", 2, Bidding::Agent);
}
