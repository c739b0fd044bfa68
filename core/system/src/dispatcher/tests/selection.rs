//! The draw as anybody can check it: vectors, statistics, and what gains nothing (002 §5; 003 §5.3; decisions 36, 37).

use super::*;
use cowboy_system::dispatcher::selection::{self, Draw, SelectionError};
use cowboy_testkit::chain::address;
use cowboy_types::List;
use cowboy_types::job::{Candidate, Candidates};
use cowboy_types::units::Height;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    weights,
    published_vectors,
    draws_match_the_weights,
    stake_counts_and_splitting_it_gains_nothing,
    members_are_distinct,
    committees_adapt,
    committees_are_made_each_epoch,
    committees_follow_the_stake,
    anybody_can_draw_again,
    a_round_of_an_epoch_that_ended,
    a_thousand_candidates_are_few,
    a_draw_is_not_seen_in_its_block,
];

fn runner(number: u64) -> Address {
    let mut bytes = [0; 20];
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    Address(bytes)
}

fn candidates(weights: &[u64]) -> Candidates {
    let all = (1u64..).zip(weights).map(|(number, weight)| Candidate { runner: runner(number), weight: *weight });
    Candidates { candidates: List::new(all.collect()).expect("fits") }
}

/// The n-th seed of a test.
fn nth_seed(number: u64) -> Hash {
    keccak256(&[b"draw", &number.to_le_bytes()])
}

/// Decision 37: whole CBY × max(⌊√(reputation · 10⁴)⌋, 100).
#[test]
fn weights() {
    let rows = [
        (cby(10_000), 100, 10_000_000),
        (cby(10_000), 50, 7_070_000),
        (cby(10_000), 200, 14_140_000),
        (cby(10_000), 0, 1_000_000),
        (cby(10_000), 1, 1_000_000),
        (cby(10_000) + 999_999_999, 100, 10_000_000),
        (cby(1_000_000_000), 200, 1_414_000_000_000),
        (0, 100, 0),
    ];
    for (stake, reputation, expected) in rows {
        assert_eq!(selection::weight(Amount(stake), reputation), expected, "{stake} at {reputation}");
    }
}

/// the published vectors, from which another implementation can be checked.
#[test]
fn published_vectors() {
    let file: serde_json::Value = serde_json::from_str(include_str!("../../../../../tests/vectors/selection.json")).expect("JSON");
    let rows = file["draws"].as_array().expect("a list");
    assert!(rows.len() >= 8);
    for row in rows {
        let bytes = |name: &str| hex_bytes(row[name].as_str().expect("hex").trim_start_matches("0x")).expect("hex");
        let all = row["candidates"].as_array().expect("a list").iter().map(|entry| Candidate {
            runner: entry["runner"].as_str().expect("hex").parse().expect("an address"),
            weight: entry["weight"].as_u64().expect("a number"),
        });
        let candidates = Candidates { candidates: List::new(all.collect()).expect("fits") };
        let addresses = |name: &str| -> Vec<Address> {
            row[name].as_array().expect("a list").iter().map(|text| text.as_str().expect("hex").parse().expect("an address")).collect()
        };
        let job = Hash(bytes("job_id").try_into().expect("an id"));
        let (round_seed, excluded, selected) = (bytes("round_seed"), addresses("excluded"), addresses("selected"));
        let submitted_at = Height(row["submitted_at"].as_u64().expect("a number"));
        let attempt = row["attempt"].as_u64().expect("a number");
        assert_eq!(hex(&candidates.root().0), row["candidates_root"].as_str().expect("hex"));
        assert_eq!(hex(&selection::seed(&round_seed, &job, submitted_at).0), row["seed"].as_str().expect("hex"));
        let root = candidates.root();
        let draw =
            Draw { candidates: &candidates, root, round_seed: &round_seed, job, submitted_at, attempt, excluded: &excluded, passed: &[] };
        assert_eq!(selection::verify_selection(&draw, &selected), Ok(()), "{row}");
        let mut other = selected.clone();
        other.reverse();
        if other != selected {
            assert_eq!(selection::verify_selection(&draw, &other), Err(SelectionError::Runners));
        }
        let wrong_root = Draw { root: Hash::ZERO, ..draw.clone() };
        assert_eq!(selection::verify_selection(&wrong_root, &selected), Err(SelectionError::Root));
    }
}

/// 10,000 draws of one out of ten match the weights: χ² below the 99.9% quantile for nine degrees of freedom, 27.88.
#[test]
fn draws_match_the_weights() {
    let weights = [1, 1, 2, 3, 5, 8, 13, 21, 34, 55].map(|weight| weight * 1_000);
    let pool = candidates(&weights);
    let total: u64 = weights.iter().sum();
    let mut counts = [0u64; 10];
    for number in 0..10_000 {
        let drawn = selection::select(&pool.candidates, &nth_seed(number), 1)[0];
        let place = pool.candidates.iter().position(|candidate| candidate.runner == drawn).expect("a candidate");
        counts[place] += 1;
    }
    // χ² in thousandths: Σ (observed − expected)² / expected.
    let chi: u64 = counts
        .iter()
        .zip(weights)
        .map(|(count, weight)| {
            let expected = 10_000 * weight / total;
            let away = count.abs_diff(expected);
            away * away * 1_000 / expected
        })
        .sum();
    assert!(chi < 27_880, "χ² = {chi}/1000, counts {counts:?}");
}

/// Decision 37: a runner with five times the stake is drawn five times as often; split into a thousand identities of the same
/// stake together, it is drawn no more often than whole.
#[test]
fn stake_counts_and_splitting_it_gains_nothing() {
    let share = |mine: &[u64], others: &[u64]| {
        let weights: Vec<u64> = mine.iter().chain(others).map(|stake| selection::weight(Amount(cby(*stake)), 100)).collect();
        let pool = candidates(&weights);
        let limit = runner(u64::try_from(mine.len()).expect("fits"));
        (0..10_000).filter(|number| selection::select(&pool.candidates, &nth_seed(*number), 1)[0] <= limit).count()
    };
    let others = [10_000; 10];
    let (one, five) = (share(&[10_000], &others), share(&[50_000], &others));
    // One of eleven is 909 of 10,000; five of fifteen are 3,333. Four standard deviations are 115 and 189.
    assert!(one.abs_diff(909) < 115, "{one}");
    assert!(five.abs_diff(3_333) < 189, "{five}");
    let thousand = vec![10_000; 1_000];
    let (whole, split) = (share(&[10_000_000], &[1_000_000; 10]), share(&thousand, &[1_000_000; 10]));
    assert!(whole.abs_diff(5_000) < 200 && split.abs_diff(5_000) < 200, "whole {whole}, split {split}");
}

/// The members of a committee are different runners, and every order of drawing is as likely: pairs match their weights.
#[test]
fn members_are_distinct() {
    let pool = candidates(&[7; 20]);
    for number in 0..500 {
        let drawn = selection::select(&pool.candidates, &nth_seed(number), 9);
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!((drawn.len(), sorted.len()), (9, 9));
    }
    assert_eq!(selection::select(&pool.candidates, &nth_seed(0), 50).len(), 20, "no more than there are");
    assert_eq!(selection::select(&[], &nth_seed(0), 3), Vec::<Address>::new());
}

/// M = clip(⌈2·log₂(N)/max(HHI, 0.01)⌉, 3, 9), N = ⌈2M/3⌉.
#[test]
fn committees_adapt() {
    let rows = [
        // runners, stakes of each, committee, threshold
        (1, vec![cby(10_000)], 3, 2),
        (2, vec![cby(10_000); 2], 4, 3),
        (3, vec![cby(10_000); 3], 9, 6),
        (5, vec![cby(10_000); 5], 9, 6),
        (1_000, vec![cby(10_000); 1_000], 9, 6),
        (4, vec![cby(997_000), cby(1_000), cby(1_000), cby(1_000)], 5, 4),
    ];
    for (runners, stakes, committee, threshold) in rows {
        let stakes: Vec<Amount> = stakes.into_iter().map(Amount).collect();
        let found = selection::adaptive_size(runners, selection::concentration(&stakes), 3, 9);
        assert_eq!((found.committee, found.threshold), (committee, threshold), "{runners} runners");
    }
    assert_eq!(selection::concentration(&[]), selection::ONE);
    assert_eq!(selection::concentration(&[Amount(5), Amount(5)]), selection::ONE / 2);
    // An average with an eighth of the new.
    assert_eq!(selection::smooth(800, 1_600, 1_250), 900);
}

/// Decision 176: nothing of the block in which a job of one runner is submitted sees whom it draws: not the submission's own
/// events, not another delivery of the block. With `draw = "delayed"` nobody knows it before the named seed.
#[test]
fn a_draw_is_not_seen_in_its_block() {
    let mut market = Market::new(5);
    let nonce = market.chain.nonce(1);
    let submission = signed(1, nonce, ask(DISPATCHER, "submit_job", &simple_job(), 0));
    let height = market.chain.height.next();
    let id = dispatcher::handlers::job_id(submission.digest(), height, 0);
    let about = serde_json::json!({ "job_id": hex(&id.0) });
    let looks = (1..=3).map(|more| signed(1, nonce + more, ask(DISPATCHER, "get_job", &about, 0)));
    let outcome = market.chain.block(std::iter::once(submission).chain(looks).collect());
    let deliveries: Vec<&Receipt> = outcome.receipts.iter().take(4).collect();
    for receipt in &deliveries[1..] {
        let seen = cowboy_types::cbor::decode(&receipt.return_data).expect("canonical CBOR");
        assert_eq!(seen.get("status").and_then(Value::as_text), Some("Drawing"), "{seen:?}");
        assert_eq!(seen.get("members"), Some(&Value::Array(vec![])));
    }
    let drawn = |receipts: &[Receipt]| announced(receipts).iter().filter(|name| *name == "CommitteeDrawn").count();
    assert_eq!((drawn(&outcome.receipts[..4]), drawn(&outcome.receipts[4..])), (0, 1), "after all of them");
    assert_eq!(market.committee(&id).len(), 1, "and still in the same block (A-194)");
    let mut delayed = simple_job();
    delayed["draw"] = "delayed".into();
    let id = market.submit(&delayed);
    assert!(market.committee(&id).is_empty() && market.job(&id).draw_view.0 > market.chain.height.0);
    assert_eq!(market.draw(&id).len(), 1);
    delayed["draw"] = "mine".into();
    assert_eq!(market.refused(&delayed), "job_invalid");
}

/// Decision 326: jobs of one block share the free slots that there are. Who has none left by then is passed over, which everybody can draw
/// again; where too few are free the job waits for as long as it can pay, then fails, and nobody is blamed. Committees do not get smaller by it.
#[test]
fn runners_without_a_free_slot_are_passed_over() {
    for (runners, mode, committee, drawn) in [(8, "none", 1, 8), (5, "majority_vote", 3, 1)] {
        let mut market = Market::new(runners);
        for number in market.runners.clone() {
            let mut one = declaration(number);
            one["max_concurrent"] = 1.into();
            assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &one, 0))), "");
        }
        let nonce = market.chain.nonce(1);
        let job = committee_job(mode, committee);
        let submissions = (0..10).map(|more| signed(1, nonce + more, ask(DISPATCHER, "submit_job", &job, 0)));
        let outcome = market.chain.block(submissions.collect());
        let ids: Vec<Hash> = outcome.receipts[..10].iter().map(id_of).collect();
        market.chain.idle(6);
        let jobs: Vec<Job> = ids.iter().map(|id| market.job(id)).collect();
        let busy = jobs.iter().filter(|job| &job.reason[..] == "runners_busy" && job.escrow == Amount(0)).count();
        assert_eq!(
            (jobs.iter().filter(|job| u64::try_from(job.members.len()) == Ok(committee)).count(), busy),
            (drawn, 10 - drawn),
            "{mode}"
        );
        let records = runners_of(&market.chain);
        assert!(records.values().all(|runner| runner.active_jobs <= runner.max_concurrent && runner.jobs_failed == Count(0)), "{mode}");
        let mut passed = 0;
        for job in jobs.iter().filter(|job| !job.members.is_empty()) {
            let candidates = market.chain.record(&dispatcher::state::candidates_key(&job.id)).expect("kept");
            let left = selection::left(&candidates, &[]);
            let is_free = |runner| Ok::<_, ()>(!job.passed.contains(&runner));
            let again = selection::select_free(selection::Picks::new(&left, &job.seed), job.members.len(), is_free).expect("nothing fails");
            assert!(again.selected.iter().eq(job.members.iter().map(|member| &member.runner)), "{mode}");
            assert!(again.passed.iter().eq(job.passed.iter()), "{mode}");
            passed += job.passed.len();
        }
        assert!(passed > 0 || drawn == 1, "{mode}: some were passed over");
    }
}

/// the first job of an epoch makes its committees; before anything was measured they are 5 and 3.
#[test]
fn committees_are_made_each_epoch() {
    let mut market = Market::with(6, |genesis| genesis.parameters = cowboy_testkit::chain::parameters(&[("consensus.epoch", 20)]));
    let mut job = committee_job("majority_vote", 0);
    job["timeout_blocks"] = 6.into();
    let first = market.submit(&job);
    assert_eq!((market.job(&first).committee.0, market.job(&first).threshold.0), (5, 3), "the fallback of 003 §13.1");
    market.chain.idle(20);
    let second = market.submit(&job);
    assert_eq!((market.job(&second).committee.0, market.job(&second).threshold.0), (6, 4), "nine, of which there are six (decision 103)");
}

/// 003 §5.3: where one runner has nine tenths of all stake, committees are smaller, in the epoch after it has them only by a little.
#[test]
fn committees_follow_the_stake() {
    for (is_concentrated_before, size) in [(true, (8, 6)), (false, (9, 6))] {
        let mut market = Market::with(10, |genesis| genesis.parameters = cowboy_testkit::chain::parameters(&[("consensus.epoch", 20)]));
        let mut job = committee_job("majority_vote", 0);
        job["timeout_blocks"] = 6.into();
        if is_concentrated_before {
            concentrate(&mut market);
        }
        market.submit(&job);
        if !is_concentrated_before {
            concentrate(&mut market);
        }
        market.chain.idle(20);
        let id = market.submit(&job);
        assert_eq!((market.job(&id).committee.0, market.job(&id).threshold.0), size);
    }
}

/// Puts a million CBY behind the first of ten runners.
fn concentrate(market: &mut Market) {
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "stake", &serde_json::json!({}), cby(90_000)))), "");
    let runner = serde_json::json!({ "runner": hex(&address(10).0) });
    assert_eq!(slug(&market.chain.send(2, ask(REGISTRY, "delegate", &runner, cby(900_000)))), "");
}

/// the candidates stand by address under the stored root; the committee is that of the named round's seed; runners
/// that come later do not matter.
#[test]
fn anybody_can_draw_again() {
    let mut market = Market::new(6);
    let id = market.submit(&committee_job("majority_vote", 3));
    let job = market.job(&id);
    let named = job.draw_view.0;
    assert_eq!(named, market.chain.height.0 + 1 + 2, "two rounds after the proposal's (decision 36)");
    let receipt = market.chain.send(40, ask(REGISTRY, "register", &declaration(40), cby(50_000)));
    assert_eq!(receipt.abort, None);
    market.draw(&id);
    assert_eq!(market.chain.height.0, named, "the first block whose header carries that seed");
    let job = market.job(&id);
    let stored: Candidates = market.chain.record(&dispatcher::state::candidates_key(&id)).expect("the snapshot");
    assert_eq!(stored.candidates.len(), 6);
    let half = keccak256(&[b"beacon", &named.to_be_bytes()]);
    let mut seed = [0; 48];
    seed[..32].copy_from_slice(&half.0);
    let selected: Vec<Address> = job.members.iter().map(|member| member.runner).collect();
    let draw = Draw {
        candidates: &stored,
        root: job.candidates_root,
        round_seed: &seed,
        job: id,
        submitted_at: job.submitted_at,
        attempt: 0,
        excluded: &[],
        passed: &[],
    };
    assert_eq!(selection::verify_selection(&draw, &selected), Ok(()));
}

/// A round that never came, because its epoch ended before it: the first seed of the next epoch draws.
#[test]
fn a_round_of_an_epoch_that_ended() {
    let mut market = Market::new(4);
    let id = market.submit(&committee_job("majority_vote", 3));
    let chain = &mut market.chain;
    let input = chain.input(cowboy_chain::Mode::Verify { transactions: vec![] });
    let seed = cowboy_types::wire::Fixed([9; 48]);
    let seeds = vec![cowboy_chain::input::RoundSeed { epoch: 2, view: 1, seed }];
    let (outcome, _) = chain.run(cowboy_chain::BlockInput { seeds, round: (2, 2), ..input }).expect("a block");
    chain.apply(&outcome);
    let job = market.job(&id);
    assert_eq!(job.seed, selection::seed(&[9; 48], &id, job.submitted_at));
    assert_eq!(job.members.len(), 3);
}

/// Figures of the market: a draw of nine out of a thousand is a few passes over them.
#[test]
fn a_thousand_candidates_are_few() {
    let weights: Vec<u64> = (1..=1_000).map(|number| number * 7_070_000).collect();
    let pool = candidates(&weights);
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..200 {
        seen.extend(selection::select(&pool.candidates, &nth_seed(number), 9));
    }
    assert!(seen.len() > 600, "{} of a thousand were drawn in 1,800 picks", seen.len());
}

/// From now on a runner asks this much for a request.
fn ask_for(market: &mut Market, number: u8, price: u64) {
    let mut declared = declaration(number);
    declared["rates"]["http_request_base"] = price.into();
    assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &declared, 0))), "");
}

/// Whoever raises its prices between the submission of a job and the draw is paid as it said when the job counted with it.
#[test]
fn a_job_has_the_rates_of_its_submission() {
    let mut market = Market::new(1);
    let mut job = simple_job();
    job["draw"] = "delayed".into();
    let drawn = |market: &mut Market, id: &Hash| {
        market.draw(id);
        market.job(id).members[0].rates.http_request_base.0
    };
    let first = market.submit(&job);
    assert!(market.job(&first).members.is_empty(), "it is drawn later");
    ask_for(&mut market, 10, 50_000);
    assert_eq!(drawn(&mut market, &first), 1_000);
    let second = market.submit(&job);
    assert_eq!(drawn(&mut market, &second), 50_000, "the next one is asked for more");
    let third = market.submit(&job);
    ask_for(&mut market, 10, 10);
    assert_eq!(drawn(&mut market, &third), 10, "lower ones hold at once");
}

/// So it is in its last draw too, which comes long after the submission: who raises its prices twice, with time in between, gets no more for it.
#[test]
fn a_late_draw_has_the_rates_of_the_submission() {
    let mut market = Market::new(3);
    let mut job = simple_job();
    job["timeout_blocks"] = 14_000.into();
    let id = market.submit(&job);
    let runners = market.runners.clone();
    let all_ask_for = |market: &mut Market, price: u64| runners.iter().for_each(|number| ask_for(market, *number, price));
    let nobody_commits = |market: &mut Market| {
        market.chain.height = market.job(&id).status_until;
        market.chain.idle(1);
    };
    all_ask_for(&mut market, 50_000);
    nobody_commits(&mut market);
    market.chain.height = Height(market.chain.height.0 + 450);
    all_ask_for(&mut market, 60_000);
    nobody_commits(&mut market);
    let job = market.job(&id);
    assert_eq!((job.attempt, job.members[0].rates.http_request_base.0), (Count(2), 1_000));
}
