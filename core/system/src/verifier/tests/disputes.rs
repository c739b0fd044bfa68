//! Claims against accepted results: several at once, with an end, and none that shields anybody (decision 313).

use super::*;
use cowboy_testkit::chain::{address, parameters, validator, validators};
use cowboy_testkit::governance;
use cowboy_types::job::{JobStatus, Verdict};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![a_claim_waits_for_the_vote];

/// A market with short windows and a council of nine: accounts 50 to 58.
fn market() -> Market {
    Market::with(5, |genesis| {
        genesis.parameters =
            parameters(&[("jobs.challenge_window", 20), ("jobs.dispute_window", 2), ("jobs.reveal_window", 12), ("jobs.dispute_max", 40)]);
    })
}

/// An accepted result of three. Answers the job and its members.
fn accepted(market: &mut Market) -> (Hash, Vec<u8>) {
    let mut job = committee_job("majority_vote", 3);
    job["max_price"] = cby(1_000).into();
    let id = market.submit(&job);
    let committee = market.draw(&id);
    let said = market.say(&committee.iter().map(|number| (*number, &b"made up"[..])).collect::<Vec<_>>());
    market.commit(&id, &said);
    market.wait_for_members(&id);
    market.reveal(&id, &said);
    assert_eq!(market.job(&id).status, JobStatus::Verified);
    (id, committee)
}

fn claim(market: &mut Market, from: u8, id: &Hash, runner: u8) -> &'static str {
    let argument = serde_json::json!({ "job_id": hex(&id.0), "runner": hex(&address(runner).0), "claim": "made up" });
    slug(&market.chain.send(from, ask(VERIFIER, "challenge", &argument, cby(100))))
}

/// A vote of somebody on a claim. Answers why it fails, if it does.
fn vote(market: &mut Market, from: u8, id: &Hash, claim: u64, upheld: bool) -> &'static str {
    let argument = serde_json::json!({ "job_id": hex(&id.0), "claim": claim, "upheld": upheld });
    slug(&market.chain.send(from, ask(VERIFIER, "decide_challenge", &argument, 0)))
}

/// Governance's decision on a claim. Answers whether it took effect.
fn decide(market: &mut Market, id: &Hash, claim: u64, upheld: bool) -> bool {
    let argument = serde_json::json!({ "job_id": hex(&id.0), "claim": claim, "upheld": upheld });
    market.chain.decide(verifier::NUMBER, "decide_challenge", &map(&argument))
}

fn stake(market: &Market, number: u8) -> u64 {
    runners_of(&market.chain)[&address(number)].stake.0
}

/// A friend's claim does not keep an honest one out. Each is decided by itself, and the payout waits for all of them.
#[test]
fn a_claim_shields_nobody() {
    let mut market = market();
    let (id, committee) = accepted(&mut market);
    assert_eq!(claim(&mut market, 2, &id, committee[0]), "", "a friend's, which is nonsense");
    assert_eq!(claim(&mut market, 3, &id, committee[1]), "", "and an honest one");
    assert!(decide(&mut market, &id, 0, false));
    let job = market.job(&id);
    assert_eq!((job.status, job.claims[0].bond.0, job.claims[1].bond.0), (JobStatus::Disputed, 0, cby(100)));
    let before = market.chain.balance(address(3));
    assert!(decide(&mut market, &id, 1, true));
    assert_eq!(market.chain.balance(address(3)) - before, cby(100), "the bond comes back");
    assert_eq!((stake(&market, committee[0]), stake(&market, committee[1])), (cby(10_000), cby(7_000)));
    let job = market.job(&id);
    assert_eq!(job.status, JobStatus::Verified, "the others' window continues");
    assert!(!decide(&mut market, &id, 1, false), "decided once");
    market.chain.idle(25);
    let job = market.job(&id);
    assert_eq!(job.status, JobStatus::Settled);
    let liar = job.members.iter().find(|member| member.runner == address(committee[1])).expect("a member");
    assert_eq!(liar.verdict, Verdict::Dishonest);
}

/// Where a friend has made all the claims that a job takes, a larger bond takes the place of the smallest, which loses a tenth; a vote
/// that names its claimant counts for no other claim at that place.
#[test]
fn a_larger_bond_gets_in() {
    let mut market = market();
    let (id, committee) = accepted(&mut market);
    let argument = serde_json::json!({ "job_id": hex(&id.0), "runner": hex(&address(committee[0]).0), "claim": "nonsense" });
    let nonce = market.chain.nonce(2);
    let bond = |place: u64| cby(if place == 40 { 100 } else { 101 });
    let claims = (0..64).map(|place| signed(2, nonce + place, ask(VERIFIER, "challenge", &argument, bond(place))));
    let claims = claims.collect();
    assert!(market.chain.block(claims).receipts.iter().all(Receipt::is_success));
    assert_eq!(claim(&mut market, 3, &id, committee[1]), "challenge_refused", "as large as the smallest is not larger");
    let before = market.chain.balance(address(2));
    let argument = serde_json::json!({ "job_id": hex(&id.0), "runner": hex(&address(committee[1]).0), "claim": "made up" });
    assert_eq!(slug(&market.chain.send(3, ask(VERIFIER, "challenge", &argument, cby(101)))), "");
    assert_eq!(market.chain.balance(address(2)) - before, cby(90), "who is displaced loses a tenth");
    let job = market.job(&id);
    assert_eq!((job.claims.len(), job.claims[40].challenger, job.claims[40].bond.0), (64, address(3), cby(101)));
    let vote = |by: u8| serde_json::json!({ "job_id": hex(&id.0), "claim": 40, "challenger": hex(&address(by).0), "upheld": true });
    assert_eq!(market.council_decides(&vote(2)), "wrong_phase", "that claim is gone");
    assert_eq!(market.council_decides(&vote(3)), "");
    assert_eq!(stake(&market, committee[1]), cby(7_000));
    assert_eq!(claim(&mut market, 3, &id, committee[2]), "", "the place of a claim that is over is free");
}

/// The window stands still while a claim is open, and has afterwards what it had left.
#[test]
fn the_window_stands_still() {
    let mut market = market();
    let (id, committee) = accepted(&mut market);
    let verified_at = market.job(&id).outcome.expect("accepted").verified_at.0;
    let left = verified_at + 20 - (market.chain.height.0 + 1);
    assert_eq!(claim(&mut market, 2, &id, committee[0]), "");
    market.chain.idle(30);
    assert_eq!(market.job(&id).status, JobStatus::Disputed, "longer than the window");
    assert!(decide(&mut market, &id, 0, false));
    assert_eq!(market.job(&id).status_until.0, market.chain.height.0 + left);
    assert_eq!(claim(&mut market, 3, &id, committee[0]), "", "another one, before the dispute's limit");
    market.chain.idle(40);
    assert_eq!(market.job(&id).status, JobStatus::Settled, "all of them end together, 40 blocks after the first");
}

/// Claims that nobody decides end at `jobs.dispute_max`: a tenth of each bond is destroyed, the runners are paid, and no claim follows.
#[test]
fn claims_that_nobody_decides() {
    let mut market = market();
    let (id, committee) = accepted(&mut market);
    let before = [2, 3].map(|number| market.chain.balance(address(number)));
    assert_eq!(claim(&mut market, 2, &id, committee[0]), "");
    assert_eq!(claim(&mut market, 3, &id, committee[0]), "");
    market.chain.idle(41);
    let job = market.job(&id);
    assert_eq!(job.status, JobStatus::Settled);
    for (number, before) in [2, 3].into_iter().zip(before) {
        let lost = before - market.chain.balance(address(number));
        assert!((cby(10)..cby(11)).contains(&lost), "a tenth of the bond, and gas: {lost}");
    }
    assert!(job.members.iter().all(|member| member.paid.0 > 0 && member.verdict == Verdict::Accepted));
    assert_eq!(claim(&mut market, 2, &id, committee[0]), "challenge_refused");
}

/// Decision 175: the security council decides with as many votes as its threshold; a member's newest vote counts.
#[test]
fn the_council_decides() {
    let mut market = market();
    market.name_council();
    let (id, committee) = accepted(&mut market);
    assert_eq!(claim(&mut market, 2, &id, committee[0]), "");
    assert_eq!(vote(&mut market, 2, &id, 0, true), "system_unauthorized", "not of the council");
    assert_eq!(vote(&mut market, 58, &id, 0, false), "", "who later votes otherwise");
    for number in 50..56 {
        assert_eq!(vote(&mut market, number, &id, 0, true), "");
        assert_eq!(vote(&mut market, number, &id, 0, true), "", "twice is once");
    }
    assert_eq!(stake(&market, committee[0]), cby(10_000), "six are too few");
    assert_eq!(vote(&mut market, 58, &id, 0, true), "");
    assert_eq!(stake(&market, committee[0]), cby(7_000), "seven of nine");
}

/// Who has the work done again and is right gets the cost of it back, out of the pay of those who lied.
#[test]
fn a_right_retrial_costs_nothing() {
    let mut market = market();
    let mut job = committee_job("deterministic", 2);
    job["verification"]["tee_required"] = true.into();
    job["toolchain_digest"] = hex(&[5; 32]).into();
    let id = market.submit(&job);
    let first = market.draw(&id);
    cowboy_testkit::market::work_attested(&mut market, &id, &first, b"lie");
    let before = market.chain.balance(address(2));
    let again = serde_json::json!({ "job_id": hex(&id.0) });
    let receipt = market.chain.send(2, ask(VERIFIER, "reproduce", &again, cby(100)));
    let gas = receipt.fee.burned.0 + receipt.fee.tip.0;
    let second = market.chain.send(3, ask(VERIFIER, "reproduce", &again, cby(100)));
    assert_eq!(slug(&second), "challenge_refused", "it is being done again");
    let retrial = id_of(&receipt);
    let committee = market.draw(&retrial);
    cowboy_testkit::market::work_attested(&mut market, &retrial, &committee, b"truth");
    market.chain.idle(25);
    assert_eq!(market.job(&id).status, JobStatus::Settled);
    assert_eq!(market.job(&retrial).status, JobStatus::Settled);
    assert_eq!(before - market.chain.balance(address(2)), gas, "bond and deposit came back");
    assert!(first.iter().all(|number| stake(&market, *number) == cby(7_000)));
}

/// A market of four validators without deployers, whose claims end long before a proposal of theirs can decide one, as on a real network.
fn governed(more: &[(&str, u64)]) -> Market {
    let mut rows = vec![
        ("consensus.unbonding", 3_600),
        ("governance.timelock", 3_600),
        ("governance.voting_0", 3_600),
        ("jobs.challenge_window", 20),
        ("jobs.dispute_max", 40),
        ("jobs.dispute_window", 2),
        ("jobs.reveal_window", 12),
    ];
    rows.extend_from_slice(more);
    Market::with(5, |genesis| {
        genesis.deployers = cowboy_types::List::default();
        genesis.validators = validators((1..=4).map(|number| validator(number, Amount(cby(100_000)))));
        genesis.parameters = parameters(&rows);
    })
}

/// Proposes that the first claim against a result is upheld, for which three of four vote. Answers the proposal.
fn put_to_the_vote(market: &mut Market, id: &Hash) -> u64 {
    let argument = Value::map([("claim", Value::uint(0)), ("job_id", Value::Bytes(id.0.to_vec())), ("upheld", Value::Bool(true))]);
    let action = vec![
        ("action", Value::text("call")),
        ("actor", Value::Bytes(VERIFIER.0.to_vec())),
        ("argument", argument),
        ("method", Value::text("decide_challenge")),
    ];
    let proposal = governance::propose(&mut market.chain, action, 1_000);
    for from in 1..=3 {
        assert!(governance::vote(&mut market.chain, from, proposal, "yes").is_success());
    }
    proposal
}

/// A claim is decided by a proposal of the validators, on a network without deployers: it stays open for as long as the proposal takes, the accused
/// is slashed, also if it leaves meanwhile, and the bond comes back.
#[test]
fn a_claim_waits_for_the_vote() {
    let mut market = governed(&[]);
    let (id, committee) = accepted(&mut market);
    assert_eq!(claim(&mut market, 7, &id, committee[1]), "");
    let none = serde_json::json!({});
    assert_eq!(slug(&market.chain.send(committee[1], ask(REGISTRY, "leave", &none, 0))), "");
    let first = market.job(&id).claims[0].at.0;
    let proposal = put_to_the_vote(&mut market, &id);
    let chain = &mut market.chain;
    governance::later(chain, 3_600);
    assert!(governance::ask(chain, 6, "count", governance::about(proposal), 0).is_success());
    governance::later(chain, 3_600);
    assert_eq!(slug(&chain.send(committee[1], ask(REGISTRY, "withdraw", &none, 0))), "unbonding", "its stake is held");
    let before = chain.balance(address(7));
    assert!(governance::ask(chain, 6, "execute", governance::about(proposal), 0).is_success());
    assert_eq!(governance::stage(chain, proposal), "executed");
    assert_eq!(chain.balance(address(7)) - before, cby(100), "the bond comes back");
    assert_eq!(stake(&market, committee[0]), cby(10_000));
    market.chain.idle(25);
    assert_eq!(market.job(&id).status, JobStatus::Settled);
    governance::later(&mut market.chain, 90_000);
    assert!(market.chain.height.0 > first + 40 + 3_600);
    let before = market.chain.balance(address(committee[1]));
    assert_eq!(slug(&market.chain.send(committee[1], ask(REGISTRY, "withdraw", &none, 0))), "");
    let paid = market.chain.balance(address(committee[1])) - before;
    assert!(paid < cby(7_000) && paid > cby(6_999), "{paid}: three tenths are slashed");
}

/// A friend of the accused, account 8, makes as many claims as a job takes beside another one, all with larger bonds, and then outbids the smallest bond.
fn outbid(market: &mut Market, id: &Hash, runner: u8) {
    let argument = serde_json::json!({ "job_id": hex(&id.0), "runner": hex(&address(runner).0), "claim": "nonsense" });
    let nonce = market.chain.nonce(8);
    let claims = (0..63).map(|place| signed(8, nonce + place, ask(VERIFIER, "challenge", &argument, cby(101)))).collect();
    assert!(market.chain.block(claims).receipts.iter().all(Receipt::is_success));
    assert_eq!(slug(&market.chain.send(8, ask(VERIFIER, "challenge", &argument, cby(102)))), "");
    let claims = market.job(id).claims;
    assert_eq!((claims.len(), claims[0].challenger, claims[0].bond.0), (64, address(7), cby(100)), "the first claim keeps its place");
}

/// Attack: a friend of the accused outbids the claim that a proposal decides, in the last block that takes claims, so that the proposal decides nothing and
/// the stake is free. Its cost was a tenth of 64 bonds, 640 CBY, where the slash is 3,000 CBY or more. A claim that is voted on keeps its place (decision 324).
#[test]
fn a_claim_with_a_proposal_is_not_outbid() {
    let mut market = governed(&[]);
    let (id, committee) = accepted(&mut market);
    assert_eq!(claim(&mut market, 7, &id, committee[1]), "");
    let proposal = put_to_the_vote(&mut market, &id);
    outbid(&mut market, &id, committee[0]);
    let chain = &mut market.chain;
    governance::later(chain, 3_600);
    assert!(governance::ask(chain, 6, "count", governance::about(proposal), 0).is_success());
    governance::later(chain, 3_600);
    assert!(governance::ask(chain, 6, "execute", governance::about(proposal), 0).is_success());
    assert_eq!(governance::stage(chain, proposal), "executed");
    assert_eq!((stake(&market, committee[0]), stake(&market, committee[1])), (cby(10_000), cby(7_000)));
}

/// Attack: the same, where the council votes: its votes for a claim would go with the claim, and nobody could claim again.
#[test]
fn a_claim_that_the_council_votes_for_is_not_outbid() {
    let mut market = market();
    market.name_council();
    let (id, committee) = accepted(&mut market);
    assert_eq!(claim(&mut market, 7, &id, committee[1]), "");
    for number in 50..56 {
        assert_eq!(vote(&mut market, number, &id, 0, true), "");
    }
    outbid(&mut market, &id, committee[0]);
    assert_eq!(vote(&mut market, 56, &id, 0, true), "");
    assert_eq!(stake(&market, committee[1]), cby(7_000));
}

/// Attack: a friend of the accused claims the same through an actor that may not hold CBY. Whoever gives that actor its bond back failed, so that nobody could
/// uphold a claim against the accused (decision 731).
#[test]
fn a_claimant_that_may_hold_no_bond_stops_no_decision() {
    let mut market = market();
    let (id, committee) = accepted(&mut market);
    let script = format!("handler ask\n call {VERIFIER} 'challenge' $payload 5000000 none {}\n", cby(100));
    let actor = market.chain.deploy_with(&script, &[("econ.transfer", &[])], 0);
    let argument = serde_json::json!({ "job_id": hex(&id.0), "runner": hex(&address(committee[1]).0), "claim": "nonsense" });
    let call = cowboy_testkit::chain::execution(actor, "ask", &map(&argument).encode(), cby(100));
    assert_eq!(slug(&market.chain.send(8, call)), "");
    assert_eq!(claim(&mut market, 3, &id, committee[1]), "");
    let upheld = serde_json::json!({ "job_id": hex(&id.0), "claim": 1, "upheld": true });
    assert_eq!(market.council_decides(&upheld), "");
    assert_eq!(stake(&market, committee[1]), cby(7_000));
    assert_eq!(market.chain.balance(actor), cby(100), "its bond comes back, too");
}

/// A runner that was held by a claim withdraws its stake as soon as the claim is over, not only when a vote on it could have been.
#[test]
fn a_claim_that_is_over_holds_nobody() {
    let mut market = governed(&[("jobs.dispute_vote_max", 4_000)]);
    let jobs = [accepted(&mut market), accepted(&mut market)];
    let accused = jobs[0].1.iter().copied().find(|number| jobs[1].1.contains(number)).expect("two of three of five share one");
    let mut held = Vec::new();
    for (id, _) in &jobs {
        assert_eq!(claim(&mut market, 7, id, accused), "");
        put_to_the_vote(&mut market, id);
        let runner = &runners_of(&market.chain)[&address(accused)];
        held.push((runner.holds.0, runner.held_until > market.chain.height));
    }
    assert_eq!(held, [(1, true), (2, true)]);
    let none = serde_json::json!({});
    assert_eq!(slug(&market.chain.send(accused, ask(REGISTRY, "leave", &none, 0))), "");
    market.name_council();
    market.chain.height.0 += 3_600;
    for (id, _) in &jobs {
        assert_eq!(slug(&market.chain.send(accused, ask(REGISTRY, "withdraw", &none, 0))), "unbonding", "a claim that is open holds it");
        for number in 50..57 {
            assert_eq!(vote(&mut market, number, id, 0, false), "");
        }
    }
    assert!(market.chain.height < market.job(&jobs[0].0).vote_until, "a vote could still decide them");
    assert_eq!(slug(&market.chain.send(accused, ask(REGISTRY, "withdraw", &none, 0))), "");
}

/// A proposal keeps a claim open for no longer than `jobs.dispute_vote_max` after the first claim; without one it ends at `jobs.dispute_max`.
#[test]
fn a_vote_does_not_keep_a_claim_open_for_ever() {
    let mut market = governed(&[("jobs.dispute_vote_max", 100)]);
    let (id, committee) = accepted(&mut market);
    assert_eq!(claim(&mut market, 7, &id, committee[1]), "");
    put_to_the_vote(&mut market, &id);
    let first = market.job(&id).claims[0].at.0;
    assert_eq!(market.job(&id).dispute_end().0, first + 100);
    market.chain.idle(first + 99 - market.chain.height.0);
    assert_eq!(market.job(&id).status, JobStatus::Disputed);
    market.chain.idle(1);
    assert_eq!(market.job(&id).status, JobStatus::Settled);
    assert_eq!(stake(&market, committee[1]), cby(10_000), "nobody decided");
}

/// Attack: one proposal names the open claims of several jobs, so that their payouts and the stakes of the accused wait up to two weeks for one deposit.
/// Cost: a deposit for each, which is burned where too few vote. A proposal that decides two open claims is refused, and keeps none of them open.
#[test]
fn a_proposal_keeps_one_claim_open() {
    let mut market = governed(&[]);
    let jobs = [accepted(&mut market), accepted(&mut market)];
    for (id, committee) in &jobs {
        assert_eq!(claim(&mut market, 7, id, committee[0]), "");
    }
    let action = |id: &Hash| {
        let argument = Value::dict([("claim", Value::uint(0)), ("job_id", Value::Bytes(id.0.to_vec())), ("upheld", Value::Bool(true))]);
        Value::dict([
            ("action", Value::text("call")),
            ("actor", Value::Bytes(VERIFIER.0.to_vec())),
            ("argument", argument),
            ("method", Value::text("decide_challenge")),
        ])
    };
    let ends = |market: &Market| [0, 1].map(|place: usize| market.job(&jobs[place].0).dispute_end());
    let refusal = |market: &mut Market, actions: Vec<(&str, Value)>| {
        let receipt = governance::ask(&mut market.chain, 5, "preview", actions, 0);
        cowboy_types::cbor::decode(&receipt.return_data).expect("CBOR").get("refusal").cloned()
    };
    let before = ends(&market);
    for pair in [[0, 1], [0, 0]] {
        let actions = vec![("actions", Value::Array(pair.map(|place: usize| action(&jobs[place].0)).to_vec()))];
        let receipt = governance::ask(&mut market.chain, 5, "propose", actions.clone(), cby(1_000));
        assert_eq!((slug(&receipt), ends(&market)), ("proposal_action", before));
        let refusal = refusal(&mut market, actions);
        assert!(refusal.as_ref().and_then(Value::as_text).is_some_and(|refusal| refusal.contains("one open claim")), "{refusal:?}");
    }
    assert_eq!(refusal(&mut market, vec![("actions", Value::Array(vec![action(&jobs[0].0)]))]), Some(Value::Null));
    assert_eq!(ends(&market), before, "a preview keeps nothing open");
    put_to_the_vote(&mut market, &jobs[0].0);
    let after = ends(&market);
    assert!(after[0] > before[0] && after[1] == before[1], "one of them waits for its vote");
}
