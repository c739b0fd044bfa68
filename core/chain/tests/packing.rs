//! How often a proposal runs what it proposes, and what it does when its time is over.

use cowboy_chain::{BlockInput, Execution, Mode, Need, Outcome, SignedTransaction, input::Limits};
use cowboy_testkit::chain::{Chain, address, parameters, sign, unsigned};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::{Amount, Cells, Cycles};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![a_proposal_that_begins_again_runs_at_most_twice, a_proposal_whose_time_is_over_keeps_what_ran,];

/// A chain whose lanes together hold 3.1M cycles.
fn small() -> Chain {
    let rows = [
        ("lanes.system_cycles", 1_000_000),
        ("lanes.timer_cycles", 550_000),
        ("lanes.runner_cycles", 550_000),
        ("lanes.user_cycles", 1_000_000),
    ];
    Chain::with(|genesis| genesis.parameters = parameters(&rows))
}

/// Transfers that ask for far more than they use, so that most of them do not fit at their turn: many of each sender.
fn generous(each: u64) -> Vec<SignedTransaction> {
    let transfer = |from: u8, nonce: u64| {
        let mut transaction = unsigned(from, nonce, Instruction::System(System::Transfer { to: address(7), amount: Amount(1) }));
        (transaction.cycles_limit, transaction.cells_limit) = (Cycles(1_000_000), Cells(0));
        sign(from, transaction)
    };
    (1..=9).flat_map(|from| (0..each).map(move |nonce| transfer(from, nonce))).collect()
}

/// Runs an execution step by step, and shows it after each. Answers how many deliveries ran in all attempts.
fn drive(chain: &Chain, input: BlockInput, mut after: impl FnMut(&mut Execution, usize)) -> (Outcome, usize) {
    let mut execution = Execution::new(input);
    let (mut runs, mut was_under_way) = (0, None);
    loop {
        let need = execution.proceed();
        let under_way = execution.under_way();
        if under_way.is_some() && under_way != was_under_way {
            runs += 1;
            after(&mut execution, runs);
        }
        was_under_way = under_way;
        match need {
            None => {}
            Some(Need::Keys(keys)) => execution.fill(keys.into_iter().map(|key| (key, chain.state.get(&key).cloned())).collect()),
            Some(Need::Done(done)) => return (*done.expect("a proposal is never invalid"), runs),
        }
    }
}

fn proposal(candidates: Vec<SignedTransaction>) -> Mode {
    Mode::Propose { candidates, limits: Limits::default() }
}

fn is_valid(chain: &Chain, outcome: &Outcome) -> bool {
    let transactions = outcome.included.iter().cloned().map(SignedTransaction::unchecked).collect();
    chain.run(chain.input(Mode::Verify { transactions })).is_ok_and(|(verified, _)| verified.receipt_root == outcome.receipt_root)
}

/// A full block whose transactions ask for more than they use is run twice at most, and stays full.
#[test]
fn a_proposal_that_begins_again_runs_at_most_twice() {
    let chain = small();
    let (outcome, runs) = drive(&chain, chain.input(proposal(generous(20))), |_, _| {});
    let fit = (3_100_000 - 1_000_000) / 21_000;
    assert!(outcome.included.len() * 10 >= fit * 9, "{} of {fit} are in", outcome.included.len());
    assert!(runs <= 2 * (fit + 2), "{runs} runs for {} transactions", outcome.included.len());
    assert!(is_valid(&chain, &outcome));
}

/// A proposal whose time is over takes what it has tried, and nothing that it has not.
#[test]
fn a_proposal_whose_time_is_over_keeps_what_ran() {
    let chain = small();
    let (outcome, runs) = drive(&chain, chain.input(proposal(generous(9))), |execution, run| {
        if run == 30 {
            execution.hurry();
        }
    });
    assert!((15..=30).contains(&outcome.included.len()), "{} are in", outcome.included.len());
    assert!(runs <= 61, "{runs} runs");
    assert!(is_valid(&chain, &outcome));
    let (outcome, runs) = drive(&chain, chain.input(proposal(generous(1))), |execution, _| execution.hurry());
    assert_eq!((outcome.included.len(), runs), (1, 1), "where nobody has another, nothing moves");
    assert!(is_valid(&chain, &outcome));
}
