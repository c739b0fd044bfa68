//! Times a block whose one transaction submits a job that a thousand runners can do, signatures already recovered, without the store, and the draw by
//! itself: `cargo run --release -p cowboy-chain --example jobs`.

mod timing;

use cowboy_chain::SignedTransaction;
use cowboy_chain::engine::NoImages;
use cowboy_system::dispatcher::selection;
use cowboy_types::cbor::Value;
use cowboy_types::instruction::{Actor, Instruction};
use cowboy_types::job::{Candidate, Candidates};
use cowboy_types::units::Amount;
use cowboy_types::{Address, Blob, Hash, List, Text};
use std::sync::Arc;
use timing::{Chain, account, transaction};

const RUNNERS: u64 = 1_000;
const COMMITTEE: usize = 9;
const DRAWS: u32 = 1_000;

fn ask(number: u8, method: &str, argument: Value, value: u64) -> Instruction {
    let handler = Text::new(method).expect("short");
    let payload = Blob::new(argument.encode()).expect("fits");
    Instruction::Actor(Actor::Execute { target: Address::system(number), handler, payload, value: Amount(value) })
}

fn registration() -> Instruction {
    let rates = Value::dict([("http_request_base", Value::uint(1_000)), ("max_job_value", Value::uint(1_000_000))]);
    let argument = Value::dict([
        ("result_key", Value::Bytes(vec![1; 32])),
        ("kinds", Value::Array(vec![Value::text("http")])),
        ("rates", rates),
        ("max_concurrent", Value::uint(8)),
    ]);
    ask(1, "register", argument, Amount::from_cby(10_000).expect("fits").0)
}

fn job() -> Instruction {
    let argument = Value::dict([
        ("job_type", Value::dict([("type", Value::text("Http")), ("url", Value::text("https://example.com"))])),
        ("bounds", Value::dict([("max_wall_time_ms", Value::uint(30_000))])),
        (
            "result_schema",
            Value::dict([
                ("max_return_bytes", Value::uint(1_024)),
                ("expected_execution_ms", Value::uint(1_000)),
                ("data_format", Value::text("")),
            ]),
        ),
        ("verification", Value::dict([("mode", Value::text("majority_vote")), ("runners", Value::uint(9))])),
        ("max_price", Value::uint(900_000)),
        ("timeout_blocks", Value::uint(35)),
    ]);
    ask(2, "submit_job", argument, 0)
}

#[expect(clippy::print_stdout, clippy::disallowed_types, reason = "an example that measures and prints")]
fn main() {
    let parameters =
        [("execution.block_weight", 4_000_000_000), ("fees.block_cycles", 2_000_000_000), ("lanes.user_cycles", 1_000_000_000)];
    let mut chain = Chain::new(RUNNERS + 1, 11_000, &parameters, Arc::new(NoImages));
    for first in (0..RUNNERS).step_by(200) {
        let batch = (first..first + 200).map(|number| transaction(number, 0, registration(), 1_000_000, 100_000));
        let outcome = chain.block(batch.collect());
        assert!(outcome.receipts.len() == 200 && outcome.receipts.iter().all(|receipt| receipt.is_success()), "they register");
    }
    let submission: Vec<SignedTransaction> = vec![transaction(RUNNERS, 0, job(), 1_000_000, 100_000)];
    let cycles = chain.propose(submission.clone()).receipts[0].cycles_used;
    let (propose, verify) = chain.times(&submission);
    let (empty, _) = chain.times(&[]);
    println!(
        "a job for {RUNNERS} runners: propose {propose:?}, verify {verify:?}, an empty block {empty:?} (medians of 9), {} cycles",
        cycles.0
    );

    let all = (0..RUNNERS).map(|number| Candidate { runner: account(number), weight: 7_070_000 + number }).collect();
    let candidates = Candidates { candidates: List::new(all).expect("they fit") };
    let started = std::time::Instant::now();
    let drawn: usize = (0..DRAWS)
        .map(|draw| selection::select(&candidates.candidates, &selection::draw_seed(&Hash([1; 32]), u64::from(draw)), COMMITTEE).len())
        .sum();
    let draw = started.elapsed() / DRAWS;
    assert_eq!(drawn, COMMITTEE * 1_000, "every draw gives a committee");
    println!("a draw of {COMMITTEE} out of {RUNNERS}: {draw:?} (mean of {DRAWS})");
}
