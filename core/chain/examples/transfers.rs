//! Times a block of 3,800 transfers, signatures already recovered, without the store:
//! `cargo run --release -p cowboy-chain --example transfers`.

mod timing;

use cowboy_chain::SignedTransaction;
use cowboy_chain::engine::NoImages;
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::Amount;
use std::sync::Arc;
use timing::{Chain, account, transaction};

const TRANSFERS: u64 = 3_800;

#[expect(clippy::print_stdout, reason = "an example that measures and prints")]
fn main() {
    for accounts in [1_000, TRANSFERS] {
        let chain = Chain::new(accounts, 1_000, &[], Arc::new(NoImages));
        let transfer = |number: u64| {
            let to = account((number * 7 + 1) % accounts);
            transaction(number % accounts, number / accounts, Instruction::System(System::Transfer { to, amount: Amount(1) }), 21_000, 0)
        };
        let candidates: Vec<SignedTransaction> = (0..TRANSFERS).map(transfer).collect();
        let (propose, verify) = chain.times(&candidates);
        println!("{TRANSFERS} transfers over {accounts} accounts: propose {propose:?}, verify {verify:?} (medians of 9)");
    }
}
