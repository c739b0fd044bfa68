//! Who is dealt shares, who signs, and what follows from it: pay, votes, bonds (003 Validator Set; decisions 367, 382, 383).

use super::{CBY, GOVERNANCE, ask, attest, attest_in, bytes, header, keys_of, report, set, validator, with_validators};
use cowboy_system::staking::types::{Fault, Status, Validator, ValidatorSet};
use cowboy_system::staking::{epoch, state};
use cowboy_testkit::chain::{Chain, address, execution, key, signed};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![players_are_fixed_in_the_middle_of_an_epoch, a_set_takes_few_newcomers];

fn players(chain: &Chain, epoch: u64) -> Option<Vec<Address>> {
    let set: ValidatorSet = chain.record(&state::players_key(epoch))?;
    let mut members: Vec<Address> = set.members.iter().map(|member| member.address).collect();
    members.sort();
    Some(members)
}

/// who is dealt shares in an epoch is fixed two epochs before, in the last block before the middle, and nothing that comes later
/// changes it: neither notice nor registration nor jail.
#[test]
fn players_are_fixed_in_the_middle_of_an_epoch() {
    let mut chain = with_validators(&[1, 2], &[]);
    let keys = keys_of(&chain, 3);
    assert!(ask(&mut chain, 3, "register_validator", keys, 100_000 * CBY).is_success());
    assert!(ask(&mut chain, 2, "leave", [], 0).is_success());
    let mut expected = vec![address(1), address(3)];
    expected.sort();
    assert_eq!(state::players_fixed_at(3_600, 2), Some(1_799));
    chain.height = Height(1_797);
    chain.idle(1);
    assert_eq!(players(&chain, 2), None, "a block too early");
    chain.idle(1);
    assert_eq!(players(&chain, 2), Some(expected.clone()));
    let keys = keys_of(&chain, 4);
    assert!(ask(&mut chain, 4, "register_validator", keys, 100_000 * CBY).is_success());
    assert!(ask(&mut chain, 3, "leave", [], 0).is_success());
    chain.idle(3);
    assert_eq!(players(&chain, 2), Some(expected), "it is fixed");
    for epoch in 1..=4 {
        chain.height = Height(epoch * 3_600 + 1_798);
        chain.idle(1);
    }
    let kept: Vec<u64> = (0..=6).filter(|epoch| players(&chain, *epoch).is_some()).collect();
    assert_eq!(kept, [3, 4, 5, 6], "old ones go");
}

/// The next block as the last of its epoch, after which these sign. Answers the names of the events of its receipts.
fn end_epoch(chain: &mut Chain, signers: &[u8], revealed: &[u8], is_dealt: bool) -> Vec<(String, Option<u64>)> {
    let epoch = epoch::epoch_of(&chain.config.params, chain.height.next()).saturating_add(1);
    chain.height = Height(epoch * 3_600 - 2);
    let record = |number: u8| (address(number), Validator { status: Status::Active, ..validator(chain, number) });
    let members = |numbers: &[u8]| {
        let records: Vec<_> = numbers.iter().map(|number| record(*number)).collect();
        state::cut(state::candidates(&records), 0)
    };
    let revealed = members(revealed).iter().map(|member| member.network_key).collect();
    let next = epoch::NextEpoch { epoch, signers: members(signers), revealed, is_dealt };
    let mode = cowboy_chain::Mode::Verify { transactions: Vec::new() };
    let (outcome, _) = chain.run(cowboy_chain::BlockInput { next_epoch: Some(next), ..chain.input(mode) }).expect("a block");
    chain.apply(&outcome);
    let told = |event: &cowboy_types::receipt::Event| {
        let data = cowboy_types::cbor::decode(&event.data).expect("CBOR");
        (event.name.to_string(), data.get("epoch").and_then(Value::as_u64))
    };
    outcome.receipts.iter().flat_map(|receipt| receipt.events.iter().map(told)).collect()
}

/// the last block of an epoch says who signs next. These are paid, vote and attest; who could not be reached when shares
/// were dealt is told so and left out of the next set that is fixed; and where no dealing succeeds, that is told.
#[test]
fn who_signs_is_paid_and_nobody_else() {
    let mut chain = with_validators(&[1, 2, 5], &[("consensus.newcomers", 10_000)]);
    for number in [3, 4] {
        let keys = keys_of(&chain, number);
        assert!(ask(&mut chain, number, "register_validator", keys, 100_000 * CBY).is_success());
    }
    let (view, one, two) = (9, header(&chain, 5, 9, 1), header(&chain, 5, 9, 2));
    assert!(report(&mut chain, 5, &one, &two).is_success(), "5 signed twice in view {view}");
    let balances = |chain: &Chain| [1, 2, 3, 4, 5].map(|number| chain.balance(address(number)));
    let gained = |chain: &Chain, before: [u64; 5]| {
        let after = balances(chain);
        [0, 1, 2, 3, 4].map(|place| after[place] > before[place])
    };
    let before = balances(&chain);
    let told = end_epoch(&mut chain, &[1, 3, 5], &[3], true);
    assert_eq!(told, [("validator.share_revealed".to_owned(), Some(1))]);
    assert_eq!(gained(&chain, before), [true, true, false, false, false], "who signed in the first epoch and is not in jail");
    let mut expected = vec![address(1), address(3)];
    expected.sort();
    let sorted = |mut members: Vec<Address>| {
        members.sort();
        members
    };
    assert_eq!(sorted(set(&chain, 1)), expected);
    let statuses = [1, 2, 3, 4].map(|number| validator(&chain, number).status);
    assert_eq!(statuses, [Status::Active, Status::Waiting, Status::Active, Status::Waiting]);
    let total: cowboy_system::staking::types::StakeTotal = chain.record(&state::total_key()).expect("it is there");
    assert_eq!((total.epoch.0, total.members.0, total.stake.0), (1, 2, 200_000 * CBY));
    chain.idle(2);
    assert_eq!(sorted(set(&chain, 1)), expected, "the first block of the epoch changes nothing");
    let shown = ask(&mut chain, 9, "get_validator", [("address", bytes(&address(3).0))], 0);
    let shown = cowboy_types::cbor::decode(&shown.return_data).expect("CBOR");
    assert_eq!(shown.get("is_share_public").cloned(), Some(Value::Bool(true)));
    chain.height = Height(3_600 + 1_798);
    chain.idle(1);
    assert_eq!(players(&chain, 3), Some(sorted(vec![address(1), address(2), address(4)])), "3 could not be reached");
    let before = balances(&chain);
    assert_eq!(end_epoch(&mut chain, &[1, 3], &[], false), [("validator.dealing_failed".to_owned(), Some(1))]);
    assert_eq!(gained(&chain, before), [true, false, true, false, false]);
    chain.height = Height(2 * 3_600 + 1_798);
    chain.idle(1);
    assert_eq!(players(&chain, 4).map(|players| players.len()), Some(4), "3 is back");
    end_epoch(&mut chain, &[1, 3], &[], true);
    end_epoch(&mut chain, &[1, 3], &[], false);
    chain.height = Height(4 * 3_600 + 1_798);
    chain.idle(1);
    assert_eq!(players(&chain, 6), Some(sorted(vec![address(1), address(3)])), "2 and 4 may have been why nobody was dealt to");
}

/// A validator keeps its stake bound for as long as it signs, however long that is.
#[test]
fn who_signs_stays_bound() {
    let mut chain = with_validators(&[1, 2, 3], &[]);
    assert!(ask(&mut chain, 2, "leave", [], 0).is_success());
    for _ in 0..6 {
        end_epoch(&mut chain, &[1, 2, 3], &[], true);
    }
    assert!(chain.height.0 > 20_000, "the unbonding time is over");
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND), "it signs");
    end_epoch(&mut chain, &[1, 3], &[], true);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND), "a fault of its last round can still be shown");
    // It signed in epoch 6.
    chain.height = Height(7 * 3_600 + 20_000 - 2);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, None);
    assert!(!chain.state.contains_key(&state::duty_key(address(2)).digest()), "nothing is left of it");
}

/// Decision 582: as long as a fault can be shown, the stake of who committed it is there. Who does not sign waits for no epoch to end.
#[test]
fn unbonding_counts_from_the_last_duty() {
    let mut chain = with_validators(&[1, 2, 3], &[("consensus.evidence_age", 20_000)]);
    let keys = keys_of(&chain, 4);
    assert!(ask(&mut chain, 4, "register_validator", keys, 100_000 * CBY).is_success());
    for number in [2, 4] {
        assert!(ask(&mut chain, number, "leave", [], 0).is_success());
    }
    let statuses = [2, 4].map(|number| validator(&chain, number).status);
    let at_once = chain.height.0 + 20_000;
    assert_eq!(statuses, [3_600 + 20_000, at_once].map(|until| Status::Leaving { until: Height(until) }));
    chain.height = Height(3_599);
    let (one, two) = (header(&chain, 2, 5, 1), header(&chain, 2, 5, 2));
    chain.height = Height(3_599 + 20_000 - 2);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    assert!(report(&mut chain, 2, &one, &two).is_success(), "of the last block of its last epoch, as late as can be");
    assert_eq!(validator(&chain, 2).stake.0, 99_000 * CBY);
}

/// Decision 582: who is in jail, or goes there after its notice, leaves when its jail is over, and not before.
#[test]
fn leaving_ends_no_jail() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.jail", 30_000)]);
    assert!(ask(&mut chain, 3, "leave", [], 0).is_success());
    for accused in [2, 3] {
        let (one, two) = (header(&chain, accused, 5, 1), header(&chain, accused, 5, 2));
        assert!(report(&mut chain, accused, &one, &two).is_success());
    }
    let Status::Jailed { until } = validator(&chain, 2).status else { panic!("2 is in jail") };
    assert!(until.0 > 3_600 + 20_000, "which is longer than the unbonding time");
    assert!(ask(&mut chain, 2, "leave", [], 0).is_success());
    assert_eq!(validator(&chain, 2).status, Status::Leaving { until });
    assert_eq!(validator(&chain, 3).status, Status::Leaving { until: Height(until.0 + 1) }, "a report later");
    chain.height = Height(until.0 - 2);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, None);
    let keys = keys_of(&chain, 2);
    assert!(ask(&mut chain, 2, "register_validator", keys, 100_000 * CBY).is_success());
}

/// Decision 593: a proven fault and its jail are one punishment for all that a validator did until it was let out, however many rounds it signed twice,
/// and whenever they are shown. What it does afterwards is another fault.
#[test]
fn a_jail_is_one_punishment() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.validator_stake", CBY)]);
    let twice = |chain: &Chain, view: u64| (header(chain, 2, view, 1), header(chain, 2, view, 2));
    let [first, second, third] = [5, 6, 7].map(|view| twice(&chain, view));
    assert!(report(&mut chain, 2, &first.0, &first.1).is_success());
    assert_eq!(report(&mut chain, 2, &second.0, &second.1).abort, Some(error::BAD_EVIDENCE), "it is in jail for it");
    let Status::Jailed { until } = validator(&chain, 2).status else { panic!("2 is in jail") };
    chain.height = until;
    assert!(ask(&mut chain, 2, "unjail", [], 0).is_success());
    assert_eq!(report(&mut chain, 2, &third.0, &third.1).abort, Some(error::BAD_EVIDENCE), "it was in jail for it");
    assert_eq!((validator(&chain, 2).stake.0, validator(&chain, 2).jailings.0), (99_000 * CBY, 1));
    let again = twice(&chain, 8);
    assert!(report(&mut chain, 2, &again.0, &again.1).is_success());
    assert_eq!((validator(&chain, 2).stake.0, validator(&chain, 2).jailings.0), (98_010 * CBY, 2));
}

/// Decision 593: jail that costs no stake makes no other fault free: signing twice takes its share of the stake, in jail and after it, once.
#[test]
fn a_jail_without_a_slash_shields_nothing() {
    for is_out in [false, true] {
        let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.validator_stake", CBY)]);
        let [first, second] = [5, 6].map(|view| (header(&chain, 4, view, 1), header(&chain, 4, view, 2)));
        let view = chain.height.0 + 1;
        assert!((1..=3).all(|from| attest(&mut chain, from, "invalid_proposal", view).is_success()));
        let Status::Jailed { until } = validator(&chain, 4).status else { panic!("4 is in jail") };
        if is_out {
            chain.height = until;
            assert!(ask(&mut chain, 4, "unjail", [], 0).is_success());
        }
        let status = validator(&chain, 4).status;
        assert!(report(&mut chain, 4, &first.0, &first.1).is_success());
        let after = validator(&chain, 4);
        assert_eq!((after.stake.0, after.jailings.0, after.status), (99_000 * CBY, 1, status), "out: {is_out}");
        assert_eq!(report(&mut chain, 4, &second.0, &second.1).abort, Some(error::BAD_EVIDENCE), "once");
    }
}

/// Decision 593: whose fault is proven after its notice is seated no more, however long it was dealt shares for: it is paid nothing, and bound for as long
/// as it can sign. No fault of it is punished beside the first.
#[test]
fn who_leaves_and_is_punished_is_seated_no_more() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[]);
    assert!(ask(&mut chain, 4, "leave", [], 0).is_success());
    let (one, two) = (header(&chain, 4, 5, 1), header(&chain, 4, 5, 2));
    assert!(report(&mut chain, 4, &one, &two).is_success());
    let (punished, balance) = (validator(&chain, 4), chain.balance(address(4)));
    for epoch in 1..=2 {
        end_epoch(&mut chain, &[1, 2, 3, 4], &[], true);
        assert!(!set(&chain, epoch).contains(&address(4)));
        assert_eq!(chain.record::<Count>(&state::duty_key(address(4))), Some(Count(epoch)));
        let (one, two) = (header(&chain, 4, 6, 1), header(&chain, 4, 6, 2));
        assert_eq!(report(&mut chain, 4, &one, &two).abort, Some(error::BAD_EVIDENCE));
    }
    assert_eq!((validator(&chain, 4), chain.balance(address(4))), (punished, balance));
    chain.height = Height(3 * 3_600 + 20_000);
    assert!(ask(&mut chain, 4, "withdraw", [], 0).is_success());
    assert!(!chain.state.contains_key(&state::punishment_key(address(4)).digest()), "nothing is left of it");
}

/// Who stakes less than the minimum of the moment is dealt no more shares.
#[test]
fn the_minimum_stake_holds_for_everybody() {
    let mut chain = with_validators(&[1, 2, 3], &[("consensus.validator_stake", 100_001 * CBY)]);
    assert!(ask(&mut chain, 2, "add_stake", [], CBY).is_success());
    chain.height = Height(1_798);
    chain.idle(1);
    assert_eq!(players(&chain, 2), Some(vec![address(2)]));
}

/// governance may limit who signs: then the highest stakes do.
#[test]
fn a_limit_takes_the_highest_stakes() {
    let mut chain = with_validators(&[1, 2, 3], &[("consensus.max_validators", 2)]);
    for (number, stake) in [(2, 1), (3, 2)] {
        assert!(ask(&mut chain, number, "add_stake", [], stake).is_success());
    }
    chain.height = Height(1_798);
    chain.idle(1);
    let mut highest = vec![address(2), address(3)];
    highest.sort();
    assert_eq!(players(&chain, 2), Some(highest));
}

/// However many register at once, a quarter of those who sign may be dealt shares beside them: those with the highest stakes.
#[test]
fn a_set_takes_few_newcomers() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.validator_stake", CBY)]);
    for number in 5..=9 {
        let keys = keys_of(&chain, number);
        assert!(ask(&mut chain, number, "register_validator", keys, u64::from(number) * CBY).is_success());
    }
    let mut newcomers = Vec::new();
    for (epoch, signers) in [&[1, 2, 3, 4][..], &[1, 2, 3, 4], &[1, 2, 3, 4, 9], &[]].into_iter().enumerate() {
        let epoch = u64::try_from(epoch).expect("four");
        chain.height = Height(epoch * 3_600 + 1_798);
        chain.idle(1);
        let players = players(&chain, epoch + 2).expect("they are fixed");
        newcomers.push((5..=9).filter(|number| players.contains(&address(*number))).collect::<Vec<u8>>());
        if !signers.is_empty() {
            end_epoch(&mut chain, signers, &[], true);
        }
    }
    assert_eq!(newcomers, [vec![9], vec![9], vec![9], vec![8, 9]]);
}

/// Who was chosen stays so until it signs, whoever registers meanwhile with a larger stake; then the next one has the place.
#[test]
fn who_is_chosen_makes_no_room() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.validator_stake", CBY)]);
    let mut newcomers = Vec::new();
    for (epoch, signers) in [&[1, 2, 3, 4][..], &[1, 2, 3, 4], &[1, 2, 3, 4, 5], &[]].into_iter().enumerate() {
        let (epoch, number) = (u64::try_from(epoch).expect("four"), 5 + u8::try_from(epoch).expect("four"));
        let keys = keys_of(&chain, number);
        assert!(ask(&mut chain, number, "register_validator", keys, u64::from(number) * CBY).is_success());
        chain.height = Height(epoch * 3_600 + 1_798);
        chain.idle(1);
        let players = players(&chain, epoch + 2).expect("they are fixed");
        newcomers.push((5..=8).filter(|number| players.contains(&address(*number))).collect::<Vec<u8>>());
        if !signers.is_empty() {
            end_epoch(&mut chain, signers, &[], true);
        }
    }
    assert_eq!(newcomers, [vec![5], vec![5], vec![5], vec![5, 8]]);
}

/// Who does not sign attests nothing, and is accused of nothing; and many small stakes do not outvote a large one.
#[test]
fn only_who_signs_attests_and_is_accused() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.validator_stake", CBY)]);
    for number in 5..=9 {
        let keys = keys_of(&chain, number);
        assert!(ask(&mut chain, number, "register_validator", keys, CBY).is_success());
    }
    end_epoch(&mut chain, &[1, 2, 3, 4], &[], true);
    chain.idle(2);
    let view = chain.height.0;
    assert_eq!(attest(&mut chain, 5, "double_vote", view).abort, Some(error::SYSTEM_UNAUTHORIZED), "5 stakes, and does not sign");
    assert_eq!(attest(&mut chain, 1, "double_vote", view).abort, None);
    let of_5 =
        [("validator", bytes(&address(5).0)), ("fault", Value::text("downtime")), ("epoch", Value::uint(1)), ("view", Value::uint(view))];
    assert_eq!(ask(&mut chain, 1, "attest_fault", of_5, 0).abort, Some(error::BAD_EVIDENCE), "5 does not sign");
    end_epoch(&mut chain, &[1, 2, 4, 5, 6, 7, 8, 9], &[], true);
    chain.idle(2);
    let view = chain.height.0;
    for number in [1, 5, 6, 7, 8, 9] {
        assert_eq!(attest(&mut chain, number, "double_vote", view).abort, None);
    }
    assert_eq!(validator(&chain, 4).status, Status::Active, "six of eight, with a third of the stake");
    assert_eq!(attest(&mut chain, 2, "double_vote", view).abort, None);
    assert!(matches!(validator(&chain, 4).status, Status::Jailed { .. }));
    assert_eq!(attest(&mut chain, 1, "double_vote", view - 1).abort, Some(error::BAD_EVIDENCE), "punished once, it has no further part");
}

/// A fault of the last rounds of an epoch is attested in the next one, by those who signed then, and counts once.
#[test]
fn the_last_rounds_of_an_epoch_are_attested_in_the_next() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[]);
    end_epoch(&mut chain, &[1, 2, 3, 4], &[], true);
    end_epoch(&mut chain, &[1, 2, 4], &[], true);
    chain.idle(2);
    // Blocks here are of epoch 1.
    let last = (0, 3_600);
    assert_eq!(attest_in(&mut chain, 5, "double_vote", last).abort, Some(error::SYSTEM_UNAUTHORIZED));
    assert_eq!(attest_in(&mut chain, 1, "double_vote", (2, 3_600)).abort, Some(error::BAD_EVIDENCE), "an epoch to come");
    for number in [1, 2, 3] {
        assert_eq!(attest_in(&mut chain, number, "double_vote", last).abort, None, "3 signed then");
    }
    assert!(matches!(validator(&chain, 4).status, Status::Jailed { .. }));
    assert_eq!(attest_in(&mut chain, 1, "double_vote", (0, 3_599)).abort, Some(error::BAD_EVIDENCE), "it sits in jail for it");
}

/// Who gave notice is punished once for the rounds of an epoch, as anybody else: the first proof ends its part in them.
#[test]
fn who_leaves_is_punished_once() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[]);
    assert!(ask(&mut chain, 4, "leave", [], 0).is_success());
    end_epoch(&mut chain, &[1, 2, 3, 4], &[], true);
    end_epoch(&mut chain, &[1, 2, 3], &[], true);
    chain.idle(2);
    // Blocks here are of epoch 1.
    for number in [1, 2, 3] {
        assert_eq!(attest_in(&mut chain, number, "double_vote", (0, 3_600)).abort, None);
    }
    let punished = validator(&chain, 4);
    assert!(matches!(punished.status, Status::Leaving { .. }));
    assert_eq!((punished.stake.0, punished.jailings.0), (99_000 * CBY, 1));
    assert!(!set(&chain, 1).contains(&address(4)));
    for number in [1, 2, 3] {
        assert_eq!(attest_in(&mut chain, number, "double_vote", (0, 3_599)).abort, Some(error::BAD_EVIDENCE));
    }
    assert_eq!(validator(&chain, 4), punished);
}

/// Decision 751. Attack: a member of the set attests faults of everybody in every round, whose records stand for ever. What nobody can show any more is
/// forgotten; nor does anybody keep others from that by two headers of an epoch to come, which prove a fault all the same.
#[test]
fn faults_are_forgotten_once_nobody_can_show_them() {
    let rows = [("consensus.evidence_age", 1_000), ("consensus.validator_stake", 1_000_000_000)];
    let mut chain = with_validators(&[1, 2, 3, 4], &rows);
    let [one, two] = [10, 11].map(|timestamp| {
        let mut header = header(&chain, 2, 5, timestamp);
        header.context.epoch = Count(u64::MAX);
        header.signature = key(2).sign(&header.signing_digest());
        header
    });
    assert!(report(&mut chain, 2, &one, &two).is_success());
    let attest_at = |chain: &mut Chain, (epoch, view): (u64, u64)| {
        let argument = Value::map([
            ("validator", bytes(&address(4).0)),
            ("fault", Value::text("double_vote")),
            ("epoch", Value::uint(epoch)),
            ("view", Value::uint(view)),
        ]);
        let attestation = signed(1, chain.nonce(1), execution(GOVERNANCE, "attest_fault", &argument.encode(), 0));
        let mode = cowboy_chain::Mode::Verify { transactions: vec![attestation] };
        let (outcome, _) = chain.run(cowboy_chain::BlockInput { round: (epoch, view + 1), ..chain.input(mode) }).expect("a block");
        assert_eq!(outcome.receipts[0].abort, None, "epoch {epoch}");
        chain.apply(&outcome);
        chain.names(state::faults()).len()
    };
    assert_eq!(attest_at(&mut chain, (1, 3)), 2, "both are recent");
    chain.height = Height(1_100);
    assert_eq!(attest_at(&mut chain, (2, 4)), 2, "headers are too old; rounds of epoch 1 may be attested in the next one");
    let of_epoch_1 = state::fault_key(address(4), Fault::DoubleVote.number(), 1, 3);
    assert!(chain.state.contains_key(&of_epoch_1.digest()));
    assert_eq!(attest_at(&mut chain, (3, 5)), 2);
    assert!(!chain.state.contains_key(&of_epoch_1.digest()));
}
