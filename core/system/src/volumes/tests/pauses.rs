//! Volumes and relays while governance pauses 0x0A or 0x0B (decision 734).

use super::proofs::{answer_but, demand, proofs_of, prove, round, run, until_round};
use super::*;
use cowboy_types::units::Count;
use std::collections::BTreeSet;

/// Relays, by what a pause could cost them: their stake, their slots, and what they missed.
fn standing(chain: &Chain) -> Vec<(u64, u64, Count, Option<Height>)> {
    let of = |number| {
        let record = relay(chain, number);
        (record.stake.0, record.slots, record.misses, record.left_at)
    };
    KEEPERS.map(of).collect()
}

/// A chain with a volume, whose slot 2 has a relay with a round that is under way. The others have answered theirs.
fn with_round() -> (Chain, Hash, Files, u8, Round) {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.proof_window", 20)]);
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 2);
    for _ in 0..60 {
        if let Some(drawn) = round(&chain, keeper) {
            return (chain, volume_id, files, keeper, drawn);
        }
        chain.idle(1);
        answer_but(&mut chain, keeper, &[(volume_id, &files)]);
    }
    panic!("a round is drawn in every period")
}

/// Demands a part of what the relay of slot 2 keeps. Answers the demand, and the slice that answers it.
fn demanded(chain: &mut Chain, volume_id: Hash, files: &Files) -> (Value, Vec<u8>) {
    let receipt = demand(chain, OWNER, volume_id, files, 2, (0, 100));
    assert_eq!(receipt.abort, None);
    let slice = part(&files.0.values().next().expect("a file").1[2], 0, 100);
    (cbor::decode(&receipt.return_data).expect("CBOR"), slice)
}

fn answer(chain: &mut Chain, from: u8, (demand, slice): &(Value, Vec<u8>)) -> Option<cowboy_types::Abort> {
    ask(chain, from, RELAYS, "answer", [("demand", demand.clone()), ("slice", bytes(slice))], 0).abort
}

/// A pause of either actor that is longer than every time costs no relay anything: it keeps its slots, and afterwards has as much time as it had left. A
/// relay that can say that it is up need not.
#[test]
fn a_pause_costs_a_relay_nothing() {
    for (actor, said) in [(0x0A, None), (0x0B, Some(error::SYSTEM_ACTOR_PAUSED))] {
        let (mut chain, volume_id, files, keeper, drawn) = with_round();
        let asked = demanded(&mut chain, volume_id, &files);
        let before = standing(&chain);
        chain.pause(&[actor], 500);
        assert_eq!(ask(&mut chain, keeper, RELAYS, "heartbeat", [], 0).abort, said, "{actor}");
        chain.idle(499);
        assert_eq!((standing(&chain), round(&chain, keeper)), (before.clone(), Some(drawn.clone())), "{actor}");
        assert_eq!(prove(&mut chain, keeper, drawn.height.0, &proofs_of(&drawn, &[(volume_id, &files)])).abort, None);
        assert_eq!(answer(&mut chain, keeper, &asked), None);
        run(&mut chain, 100, &[(volume_id, &files)]);
        assert_eq!(standing(&chain), before, "{actor}");
    }
}

/// What stood still ends later, and does end: a relay that lost its bytes before a pause or during it misses its round in the block in which that is over,
/// and a demand that it does not answer, too.
#[test]
fn a_pause_is_no_way_out() {
    let (mut chain, volume_id, files, keeper, drawn) = with_round();
    demanded(&mut chain, volume_id, &files);
    let asked_at = chain.height.0;
    chain.pause(&[0x0B], 100);
    chain.idle(100);
    let stake = relay(&chain, keeper).stake.0;
    let lost = |chain: &Chain| stake - relay(chain, keeper).stake.0;
    chain.idle(asked_at + 5 + 100 - chain.height.0);
    assert_eq!((relay(&chain, keeper).demands.len(), lost(&chain)), (1, 0), "it may still be answered");
    chain.idle(1);
    assert_eq!((relay(&chain, keeper).demands.len(), lost(&chain)), (0, 50 * CBY));
    chain.idle(drawn.until.0 + 100 - chain.height.0);
    assert_eq!((round(&chain, keeper), lost(&chain)), (Some(drawn.clone()), 50 * CBY), "it may still be proven");
    let late = prove(&mut chain, keeper, drawn.height.0, &proofs_of(&drawn, &[(volume_id, &files)]));
    assert_eq!((late.abort, relay(&chain, keeper).misses, lost(&chain)), (Some(error::PROOF_NOT_DUE), Count(1), 100 * CBY));
}

/// Several pauses of the same time count, also where it was looked at between them, and no block twice.
#[test]
fn every_pause_counts() {
    let (mut chain, volume_id, files, keeper, drawn) = with_round();
    let asked = demanded(&mut chain, volume_id, &files);
    let (asked_at, before) = (chain.height.0, standing(&chain));
    for (actor, blocks) in [(0x0B, 30), (0x0A, 20)] {
        chain.pause(&[actor], blocks);
        chain.idle(blocks + 1);
    }
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    assert_eq!(answer(&mut chain, keeper, &asked), None);
    assert_eq!(prove(&mut chain, keeper, drawn.height.0, &proofs_of(&drawn, &[(volume_id, &files)])).abort, None);
    assert_eq!(standing(&chain), before);
    (chain.state, chain.height, chain.timestamp) = kept;
    chain.idle(asked_at + 5 + 50 - chain.height.0);
    assert_eq!(standing(&chain), before, "it may still be answered");
    chain.idle(1);
    assert_eq!(before[usize::from(keeper - 2)].0 - relay(&chain, keeper).stake.0, 50 * CBY, "and not a block longer");
}

/// Whoever owns a volume has as much time as before to take back a deletion, and to go back to the root before.
#[test]
fn owners_keep_their_time() {
    let (mut chain, volume_id, files) = filled();
    let mut more = files.clone();
    more.put(99, 5);
    commit(&mut chain, volume_id, "notes", &more);
    let ask_for = |chain: &mut Chain, method: &str, rest: &[(&'static str, Value)]| {
        let argument: Vec<_> = [("volume", bytes(&volume_id.0))].into_iter().chain(rest.iter().cloned()).collect();
        chain.send(OWNER, execution(STORAGE, method, &Value::dict(argument).encode(), 0)).abort
    };
    let notes = [("partition", bytes(&partition("notes").0))];
    chain.pause(&[0x0A], 60);
    chain.idle(60);
    assert_eq!(ask_for(&mut chain, "revert", &notes), None);
    assert_eq!(ask_for(&mut chain, "delete_volume", &[]), None);
    let deleted_at = chain.height.0;
    chain.pause(&[0x0B], 60);
    chain.idle(60);
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    assert_eq!(ask_for(&mut chain, "undelete_volume", &[]), None);
    (chain.state, chain.height, chain.timestamp) = kept;
    chain.idle(deleted_at + 60 + 20 - chain.height.0);
    assert_eq!(ask_for(&mut chain, "undelete_volume", &[]), Some(error::VOLUME_STATE), "it is being removed");
}

/// Relays are paid for a pause, as they keep what stands. They had to prove that first, however soon after the pause the epoch would have ended: whoever
/// does not gets nothing for it.
#[test]
fn a_pause_is_paid_for_after_a_proof() {
    let (mut chain, volume_id, files) = filled();
    let volumes = [(volume_id, &files)];
    let standing = |chain: &Chain| volume(chain, &volume_id).expect("it is there");
    let blocks = standing(&chain).paid_to.0 + 38 - chain.height.0;
    run(&mut chain, blocks, &volumes);
    let record = standing(&chain);
    // The last one of whom a byte is drawn.
    let silent = (0..6).map(|slot| holder(&record, slot)).max_by_key(|number| relay(&chain, *number).draw_at).expect("six");
    chain.pause(&[0x0B], 300);
    chain.idle(300);
    let (balance, last) = (chain.balance(address(silent)), chain.height.0);
    while chain.height.0 < last + 48 {
        chain.idle(1);
        answer_but(&mut chain, silent, &volumes);
    }
    chain.idle(8);
    let after = standing(&chain);
    assert!(after.paid_to.0 > last, "the epoch ended");
    assert_eq!((chain.balance(address(silent)), relay(&chain, silent).misses.0 > 0), (balance, true));
    // Epochs of 50 blocks, and five relays.
    let of_epoch = record.bytes * 450 / MIB;
    assert!(record.escrow.0 - after.escrow.0 > 5 * 6 * of_epoch, "{} for the pause", record.escrow.0 - after.escrow.0);
}

/// What a relay does around a pause that leaves while a round is under way that was drawn before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// It leaves after the pause.
    After,
    /// It leaves before the pause, and proves after it.
    Before,
    /// It leaves and proves before the pause, and still has its slots when that begins.
    WithProof,
}

/// What a relay loses of its stake, and what it is paid, that leaves so, and has the bytes that the round before the pause asks for. Afterwards it has all the
/// others too, or none of them.
fn left_around_a_pause(leaves: Leaves, keeps: bool) -> (u64, u64) {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.epoch", 500)]);
    let volumes = [(volume_id, &files)];
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 2);
    let first = until_round(&mut chain, keeper);
    let leave = |chain: &mut Chain| assert_eq!(ask(chain, keeper, RELAYS, "leave", [], 0).abort, None);
    let answer = |chain: &mut Chain, round: &Round| {
        assert_eq!(prove(chain, keeper, round.height.0, &proofs_of(round, &volumes)).abort, None);
    };
    if leaves != Leaves::After {
        leave(&mut chain);
    }
    if leaves == Leaves::WithProof {
        answer(&mut chain, &first);
    }
    chain.pause(&[0x0B], 100);
    chain.idle(100);
    if leaves == Leaves::After {
        leave(&mut chain);
    }
    if leaves != Leaves::WithProof {
        answer(&mut chain, &first);
    }
    chain.idle(1);
    assert_eq!(relay(&chain, keeper).slots, 1, "its slots wait for one more proof");
    let last = round(&chain, keeper).expect("it proves once more");
    assert_eq!(last.height, chain.height);
    if keeps {
        answer(&mut chain, &last);
    }
    let (stake, balance) = (relay(&chain, keeper).stake.0, chain.balance(address(keeper)));
    chain.idle(if keeps { 2 } else { last.until.0 + 1 - chain.height.0 });
    assert_eq!((relay(&chain, keeper).slots, round(&chain, keeper)), (0, None));
    (stake - relay(&chain, keeper).stake.0, chain.balance(address(keeper)) - balance)
}

/// Attack: a relay that has a round when a pause begins keeps the four chunks that this asks for, removes all others, and leaves. It is asked once more for
/// what it kept through the pause, and is paid for nothing; one that kept everything is.
#[test]
fn who_leaves_proves_what_it_kept_through_a_pause() {
    for leaves in [Leaves::After, Leaves::Before, Leaves::WithProof] {
        assert_eq!(left_around_a_pause(leaves, false), (50 * CBY, 0), "{leaves:?}");
        let (lost, paid) = left_around_a_pause(leaves, true);
        assert!(lost == 0 && paid > 0, "{leaves:?}: {lost} {paid}");
    }
}

/// The relay of a volume that has nothing to prove yet, and of which bytes are drawn last.
fn last_drawn(chain: &Chain, record: &Volume) -> u8 {
    let waiting = (0..6).map(|slot| holder(record, slot)).filter(|number| round(chain, *number).is_none());
    waiting.max_by_key(|number| relay(chain, *number).draw_at).expect("some wait for their rounds")
}

/// A volume that is deleted keeps its relays until each had to prove that it kept what stood through a pause. Whoever does not is paid nothing.
#[test]
fn a_removal_is_paid_for_after_a_proof() {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.epoch", 500)]);
    let volumes = [(volume_id, &files)];
    let silent = last_drawn(&chain, &volume(&chain, &volume_id).expect("it is there"));
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "delete_volume", [("volume", bytes(&volume_id.0))], 0).abort, None);
    chain.pause(&[0x0B], 100);
    chain.idle(100);
    let last = chain.height.0;
    // What a proof costs is paid between blocks, so that what a balance gains in one is pay.
    let mut paid = BTreeSet::new();
    let mut answer_until = |chain: &mut Chain, height: u64| {
        while chain.height.0 < height {
            let before = KEEPERS.map(|number| (number, chain.balance(address(number)))).collect::<Vec<_>>();
            chain.idle(1);
            paid.extend(before.into_iter().filter(|(number, had)| chain.balance(address(*number)) > *had).map(|(number, _)| number));
            answer_but(chain, silent, &volumes);
        }
    };
    // Twenty blocks to take the deletion back are over.
    answer_until(&mut chain, last + 38);
    let record = volume(&chain, &volume_id).expect("it is there");
    assert!(record.slots.iter().all(|slot| slot.relay.is_some()), "all serve their slots");
    answer_until(&mut chain, last + 58);
    assert_eq!(volume(&chain, &volume_id), None);
    assert_eq!(paid.len(), 5);
    assert!(!paid.contains(&silent));
}

/// Whoever loses a slot that it serves, as it did not catch up in time, had to prove before that it kept the rest through a pause.
#[test]
fn who_is_late_is_paid_for_a_pause_after_a_proof() {
    let (mut chain, volume_id, _) = filled_with(&[("volumes.epoch", 500), ("volumes.misses", 9)]);
    let mut more = Files::default();
    more.put(1, 10);
    let change = Change { slots: vec![0, 1, 3, 4, 5], ..Change::of(&chain, volume_id, "more", &more) };
    assert_eq!(change.send(&mut chain, OWNER).abort, None);
    let standing = |chain: &Chain| volume(chain, &volume_id).expect("it is there");
    let mut record = standing(&chain);
    let keeper = holder(&record, 2);
    let mut slots = record.slots.to_vec();
    slots[2].behind_since = Some(chain.height);
    record.slots = List::new(slots).expect("six");
    let key = state::volume_key(&volume_id);
    chain.state.insert(key.digest(), key.seal(&record.encode()));
    // What was taken back is looked at in the next block.
    for method in ["delete_volume", "undelete_volume"] {
        assert_eq!(ask(&mut chain, OWNER, STORAGE, method, [("volume", bytes(&volume_id.0))], 0).abort, None);
    }
    chain.idle(1);
    chain.pause(&[0x0B], 100);
    chain.idle(100);
    let balance = chain.balance(address(keeper));
    // Twelve blocks to catch up are over.
    chain.idle(40);
    assert_eq!(holder(&standing(&chain), 2), keeper);
    chain.idle(15);
    let slot = standing(&chain).slots[2].clone();
    assert!(slot.relay != Some(address(keeper)), "{slot:?}");
    assert_eq!(chain.balance(address(keeper)), balance);
}

/// Where the protocol comes to relays late, as much else is due, their volumes are paid for late too: whoever may still prove what it kept through a pause is
/// not paid before.
#[test]
fn payments_wait_for_relays_that_are_overdue() {
    let (mut chain, volume_id, files) = filled();
    let volumes = [(volume_id, &files)];
    let standing = |chain: &Chain| volume(chain, &volume_id).expect("it is there");
    let silent = last_drawn(&chain, &standing(&chain));
    chain.pause(&[0x0B], 3);
    chain.idle(3);
    let last = chain.height;
    assert!(relay(&chain, silent).draw_at > last.next(), "it has nothing to prove yet");
    let (balance, before) = (chain.balance(address(silent)), standing(&chain));
    // No block came to anything that was due since.
    chain.height = Height(last.0 + 100);
    chain.idle(1);
    let drawn = round(&chain, silent).expect("its round is drawn late");
    assert_eq!((drawn.height, standing(&chain).paid_to), (chain.height, before.paid_to), "nobody is paid before that is over");
    while chain.height <= drawn.until {
        answer_but(&mut chain, silent, &volumes);
        chain.idle(1);
    }
    chain.idle(2);
    let after = standing(&chain);
    assert!(after.paid_to > drawn.until && after.escrow < before.escrow, "the others are paid: {after:?}");
    assert_eq!((chain.balance(address(silent)), relay(&chain, silent).misses), (balance, Count(1)));
}

/// Where relays are asked less often than once in an epoch, the end of an epoch does not wait for it.
#[test]
fn an_epoch_waits_for_no_rare_proof() {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.proof_period", 5_000)]);
    chain.pause(&[0x0B], 100);
    chain.idle(100);
    let last = chain.height;
    run(&mut chain, 50 + 8 + 1, &[(volume_id, &files)]);
    assert!(volume(&chain, &volume_id).expect("it is there").paid_to > last);
}
