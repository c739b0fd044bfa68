//! An aggregator that drops, changes or delays what others report.

use super::*;

/// What the aggregator of a committee of five does.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Puts together what all said.
    Assembles,
    /// Only its own report.
    OwnAlone,
    /// All but this many.
    Drops(usize),
    /// All, with another usage for the others.
    ChangesUsage,
    /// All, with a fault for the others.
    ChangesFault,
    Waits,
}

/// What it says for all, in the order in which they committed, its own report first.
fn assembled(does: Does, said: &[Said]) -> Vec<Said> {
    let changed = |said: &Said| match does {
        Does::ChangesUsage => said.clone().using(0, 0),
        _ => said.clone().failing(2, 0),
    };
    match does {
        Does::Assembles | Does::Waits => said.to_vec(),
        Does::OwnAlone => said[..1].to_vec(),
        Does::Drops(count) => said[..said.len() - count].to_vec(),
        Does::ChangesUsage | Does::ChangesFault => {
            said.iter().enumerate().map(|(place, said)| if place == 0 { said.clone() } else { changed(said) }).collect()
        }
    }
}

fn play(does: Does) -> Came {
    let mut market = market(5);
    let ledger = Ledger::open(&market);
    let id = market.submit(&job_of("majority_vote", 5));
    let mut committee = market.draw(&id);
    let aggregator = market.number(market.job(&id).aggregator.expect("one of five"));
    committee.sort_by_key(|number| *number != aggregator);
    let said: Vec<Said> = committee.iter().map(|number| report(&market, *number, Act::Honest)).collect();
    market.commit(&id, &said);
    if !matches!(does, Does::Waits) {
        let together = together(&id, &assembled(does, &said));
        let receipt = market.chain.send(aggregator, ask(VERIFIER, "submit_verified_result", &together, 0));
        assert_eq!(receipt.is_success(), !matches!(does, Does::ChangesUsage | Does::ChangesFault), "what others signed stays: {does:?}");
    }
    market.wait_for_members(&id);
    let is_open =
        |said: &Said| market.job(&id).members.iter().any(|member| member.runner == address(said.number) && member.output == Hash::ZERO);
    let left: Vec<Said> = said.into_iter().filter(is_open).collect();
    if market.job(&id).status == JobStatus::Revealing {
        assert!(market.reveal(&id, &left).iter().all(Receipt::is_success));
    }
    market.chain.idle(15);
    let answers = if is_right(&market, &id) { worth(5) } else { 0 };
    ledger.close(&market, &[aggregator], answers)
}

pub(super) fn attacks() -> Vec<Attack> {
    let all = [Does::OwnAlone, Does::Drops(1), Does::Drops(2), Does::Drops(4), Does::ChangesUsage, Does::ChangesFault, Does::Waits];
    let choices = all.iter().map(|does| (format!("{does:?}"), play(*does))).collect();
    vec![Attack { name: "an aggregator that drops, changes or waits", honest: play(Does::Assembles), choices, reason: None }]
}
