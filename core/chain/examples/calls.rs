//! Times a block of 1,000 calls of the counter example, signatures already recovered, without the store:
//! `cargo run --release -p cowboy-chain --example calls`.

mod timing;

use cowboy_chain::engine::Images;
use cowboy_chain::{Image, SignedTransaction};
use cowboy_types::cbor::Value;
use cowboy_types::instruction::{Actor, Init, Instruction};
use cowboy_types::units::Amount;
use cowboy_types::{Blob, Hash, Text};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use timing::{Chain, transaction};

const ACCOUNTS: u64 = 100;
const CALLS: u64 = 1_000;

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

fn deployment() -> Instruction {
    let source = include_str!("../../../examples/counter/actor.py");
    let manifest = Value::map([("entitlements", Value::Array(vec![Value::map([("id", Value::text("storage.kv"))])]))]);
    Instruction::Actor(Actor::Deploy {
        code: Blob::new(source.as_bytes().to_vec()).expect("fits"),
        salt: Blob::default(),
        init: Some(Init { handler: Text::new("init").expect("fits"), payload: Blob::default() }),
        manifest: Blob::new(manifest.encode()),
        endowment: Amount(0),
    })
}

#[expect(clippy::print_stdout, reason = "an example that measures and prints")]
fn main() {
    // Room for all calls in one block, of one actor.
    let parameters = [
        ("execution.block_weight", 4_000_000_000),
        ("fees.block_cells", 400_000_000),
        ("fees.block_cycles", 2_000_000_000),
        ("lanes.user_cycles", 1_000_000_000),
    ];
    let mut chain = Chain::new(ACCOUNTS + 1, 100_000, &parameters, Arc::new(Kept::default()));
    let deployed = chain.block(vec![transaction(ACCOUNTS, 0, deployment(), 20_000_000, 10_000)]);
    assert!(deployed.receipts[0].is_success(), "{:?}", deployed.traces);
    let target = deployed.receipts[0].created.expect("created");
    let call = |number: u64| {
        let handler = Text::new("increment").expect("fits");
        let instruction = Instruction::Actor(Actor::Execute { target, handler, payload: Blob::default(), value: Amount(0) });
        transaction(number % ACCOUNTS, number / ACCOUNTS, instruction, 200_000, 10_000)
    };
    let candidates: Vec<SignedTransaction> = (0..CALLS).map(call).collect();
    let cycles = chain.propose(candidates.clone()).receipts[0].cycles_used;
    let (propose, verify) = chain.times(&candidates);
    println!("{CALLS} counter calls: propose {propose:?}, verify {verify:?} (medians of 9), {} cycles each", cycles.0);
}
