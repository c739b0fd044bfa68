//! What counts as a fault, and what does not.

use super::*;
use crate::committee::{ValidatorKeys, first_epoch};
use commonware_consensus::simplex::types::{ConflictingNotarize, Notarize, Proposal};
use cowboy_types::{Amount, units::Count, wire::Blob};

const WINDOW: u64 = 10;

fn committee() -> (Committee, Vec<ValidatorKeys>) {
    let (validators, sharing, keys) = Committee::derive(b"faults", 4, Amount(1));
    (Committee::of(&first_epoch(&validators, &sharing).expect("an epoch")).expect("a committee"), keys)
}

fn header(number: u64, timestamp: u64) -> Header {
    let (config, _) = crate::genesis::dev(crate::genesis::DevGenesis::default()).expect("a genesis");
    let mut header = config.block.header().clone();
    (header.number, header.context.view, header.context.parent_view) = (Count(number), Count(number), Count(number - 1));
    header.timestamp_ms = cowboy_types::TimestampMs(timestamp);
    header
}

fn vote(keys: &ValidatorKeys, committee: &Committee, view: u64, block: u8) -> Notarize<Scheme, Digest> {
    let round = Round::new(Epoch::zero(), View::new(view));
    let scheme = committee.voter(b"test", keys.share.clone().expect("it has a share")).expect("it is its own");
    Notarize::sign(&scheme, Proposal::new(round, View::new(view - 1), Digest::from([block; 32]))).expect("it signs")
}

/// Two headers of a round are a fault; one of them twice, and one of each of two rounds, are none.
#[test]
fn two_headers_of_a_round_are_seen() {
    let (committee, _) = committee();
    let (faults, leader) = (Faults::default(), &committee.members()[0]);
    for header in [header(5, 1), header(5, 1), header(6, 1)] {
        faults.header(leader, &header);
    }
    assert!(faults.take().is_empty());
    faults.header(leader, &header(5, 2));
    let seen = faults.take();
    assert!(matches!(&seen[..], [Suspicion::Headers { validator, .. }] if *validator == leader.paid), "{seen:?}");
    for view in 1_000..2_000 {
        faults.header(leader, &header(view, 1));
    }
    assert_eq!(faults.with(|seen| seen.headers.len()), HELD_ROUNDS);
}

/// Suspicions do not pile up when nobody takes them.
#[test]
fn suspicions_are_bounded() {
    let (committee, _) = committee();
    let faults = Faults::default();
    for view in 1..1_000 {
        faults.invalid(&committee.members()[0], &header(view, 1));
    }
    assert_eq!(faults.take().len(), MAX_WAITING);
}

/// A validator that neither a header nor this node has seen vote in more than half of the window's blocks is absent. One whose votes
/// come too late for the headers is not.
#[test]
fn absence_is_seen_at_the_end_of_a_window() {
    let (committee, keys) = committee();
    let mut faults = Faults::default();
    // The first two are in every header, the third only in what this node sees, and the fourth in half of the headers.
    for number in 1..=2 * WINDOW {
        let mut header = header(number, number);
        let voters = if number % 2 == 0 { 0b1011 } else { 0b0011 };
        header.voters = Blob::new(vec![voters]).expect("a byte");
        if number > 1 {
            let _ = faults.report(Activity::Notarize(vote(&keys[2], &committee, number - 1, 1)));
        }
        faults.finalized(&header, &committee, WINDOW, 5_000);
    }
    assert!(faults.take().is_empty(), "half of the window may be missed");
    for number in 2 * WINDOW + 1..=3 * WINDOW {
        let mut header = header(number, number);
        header.voters = Blob::new(vec![0b0111]).expect("a byte");
        faults.finalized(&header, &committee, WINDOW, 5_000);
    }
    let seen = faults.take();
    let absent = committee.members()[3].paid;
    let is_absence = |seen: &Suspicion| matches!(seen, Suspicion::Seen { validator, fault: Fault::Downtime, view, .. } if *validator == absent && *view == 3 * WINDOW);
    assert!(seen.len() == 1 && is_absence(&seen[0]), "{seen:?}");
}

/// Votes for two blocks of one round wait to be verified; one vote twice is none of them.
#[test]
fn votes_for_two_blocks_are_seen() {
    let (committee, keys) = committee();
    let mut faults = Faults::default();
    let [one, two] = [1, 2].map(|block| vote(&keys[0], &committee, 7, block));
    let _ = faults.report(Activity::Notarize(one.clone()));
    let _ = faults.report(Activity::Notarize(one.clone()));
    assert!(faults.take().is_empty());
    let _ = faults.report(Activity::ConflictingNotarize(ConflictingNotarize::new(one, two)));
    assert!(matches!(&faults.take()[..], [Suspicion::Votes(_)]));
}
