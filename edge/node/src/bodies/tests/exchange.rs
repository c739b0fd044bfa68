//! What a node asks, answers and counts.

use super::*;
use crate::{
    genesis::{self, DevGenesis},
    seeds::{Scheme, SeedBytes, Seeds},
    serving::OF_BODIES,
};
use commonware_consensus::{
    Reporter as _,
    simplex::types::{Activity, Nullification, Nullify},
};
use commonware_cryptography::blake3::Digest;
use commonware_parallel::Sequential;
use commonware_utils::iter::NonEmpty;

/// A node of this many validators that has sent these blocks, what it sends, as if nobody took it, and the validators.
fn serving(members: u32, blocks: &[Block]) -> (Exchange<Kept>, Kept, Vec<PublicKey>) {
    let chain = chain_of(members, None);
    let members = chain.term().committee.members().iter().map(|member| member.network.clone()).collect();
    let (sender, mut sent) = (Kept::default(), Sent::default());
    blocks.iter().for_each(|block| sent.keep(block.clone()));
    (Exchange::new(chain, sender.clone(), Arc::new(Mutex::new(sent)), mpsc::channel(1).0), sender, members)
}

/// The answers that a node sent, which are taken now.
fn answered(sender: &Kept) -> Vec<Answer> {
    let answer = |message: Vec<u8>| match message.split_first() {
        Some((&ANSWER, rest)) => Answer::decode(rest.to_vec()).expect("an answer"),
        other => panic!("no answer: {other:?}"),
    };
    sender.take().into_iter().map(answer).collect()
}

/// Every request of a member has an answer at once: nothing where there is nothing for it, or where the one before still waits. So nobody waits for what does
/// not come. Peers that do not vote get no answer, and take no part of what the others share.
#[test]
fn every_request_of_a_member_is_answered() {
    let chain = chain(None);
    let signed = transfers(&chain, 3);
    let [known, other] = [7, 8].map(|timestamp| block_of(&chain, &signed, timestamp));
    let (mut exchange, sender, members) = serving(2, from_ref(&known));
    let mut ask = |from: &PublicKey, block: &Block| exchange.take(from, Request::new(block.digest(), 0..3).encode().into(), NOW);
    (1..=5).for_each(|stranger| drop(ask(&peer(stranger), &known)));
    let answered = || -> Vec<usize> { answered(&sender).iter().map(|answer| answer.transactions.len()).collect() };
    assert!(answered().is_empty());
    ask(&members[0], &other);
    ask(&members[0], &known);
    ask(&members[0], &known);
    ask(&members[1], &known);
    assert_eq!(answered(), [0, 3, 0, 3]);
    ask(&members[0], &known);
    assert_eq!(answered(), [3], "it has taken the one before");
}

/// Decision 737: what more than a third of the largest set asks for and does not take leaves room for all others, and of each peer one part waits, however large the
/// block is and however often it asks.
#[test]
fn stalled_voters_leave_room_for_others() {
    let block = {
        let chain = chain(None);
        block_of(&chain, &large(&chain, 3_000), 7)
    };
    let (mut exchange, sender, members) = serving(40, from_ref(&block));
    let (mut network, part) = (Kept::default(), Bytes::from(vec![ANSWER; PART_BYTES]));
    for stalled in (0..710).map(peer) {
        assert!(exchange.answers.served.admits(&stalled, NOW));
        let checked = network.check(Recipients::All).ok();
        assert!(exchange.answers.served.send(&stalled, checked, (part.clone(), Bytes::new()), true).accepted());
    }
    let mut ask = |from: &PublicKey| exchange.take(from, Request::new(block.digest(), 0..3_000).encode().into(), NOW);
    let stalled = &members[..20];
    for _ in 0..3 {
        stalled.iter().for_each(|member| drop(ask(member)));
    }
    ask(&members[20]);
    let answers = answered(&sender);
    let counts: Vec<usize> = answers.iter().map(|answer| answer.transactions.len()).collect();
    assert!(counts.last().is_some_and(|count| *count > 50), "it gets a part of the body");
    assert_eq!(counts.iter().filter(|count| **count > 0).count(), stalled.len() + 1, "one answer waits for each");
    assert!(answers.iter().all(|answer| answer.encode().len() <= PART_BYTES + 64));
}

/// A block that names another leader than the one of its round is not decoded.
#[test]
fn who_was_not_drawn_proposes_nothing() {
    let chain = chain(None);
    let signed = transfers(&chain, 3);
    let (mut exchange, _, members) = serving(4, &[]);
    let leader = exchange.chain.term().leader(None);
    for (place, member) in members.iter().enumerate() {
        let mut block = block_of(&chain, &signed, 7);
        block.header.context.view = Count(1);
        block.header.context.leader = Fixed(member.as_ref().try_into().expect("32 bytes"));
        for (message, is_whole) in [([&[WHOLE][..], &block.encode()].concat(), true), (Compact::of(&block).encode(), false)] {
            let next = exchange.begin(member, message.into(), NOW, &mut |_: &PublicKey, _: &IoBuf| true);
            match next {
                Some(Next::Block(from, _)) => assert!(is_whole && place == leader && from == *member),
                Some(Next::Ask(requests)) => {
                    assert!(!is_whole && place == leader);
                    assert_eq!(requests.len(), 1);
                }
                None => assert_ne!(place, leader),
            }
        }
    }
}

/// The seed of a view of the first epoch, by three of four.
fn seed_of(chain: &Chain, view: u64) -> SeedBytes {
    let (_, keys) = genesis::dev(DevGenesis { validators: 4, ..DevGenesis::default() }).expect("a genesis");
    let (round, term) = (Round::new(Epoch::new(0), View::new(view)), chain.term());
    let shares = keys.iter().take(3).filter_map(|keys| keys.share.clone());
    let schemes: Vec<Scheme> = shares.map(|share| term.committee.voter(&chain.namespace, share).expect("a share of it")).collect();
    let votes: Vec<_> = schemes.iter().map(|scheme| Nullify::sign::<Digest>(scheme, round).expect("it votes")).collect();
    let votes = NonEmpty::try_new(votes.iter()).expect("there are votes");
    let certificate = Nullification::from_nullifies(&schemes[0], votes, &Sequential).expect("three are enough");
    let mut seen = Seeds::default();
    seen.report(Activity::Nullification(certificate));
    seen.get(round).expect("its certificate was seen")
}

/// Decision 737: a seed that this node has not seen counts 4 MiB, which come back if it is right and draws the leader. It counts nothing where nobody checks it.
#[test]
fn wrong_seeds_count() {
    let (mut exchange, _, members) = serving(4, &[]);
    let signed = transfers(&exchange.chain, 3);
    let [seed, other] = [1, 2].map(|view| seed_of(&exchange.chain, view));
    let leader = exchange.chain.term().leader(Some(seed.0.as_slice()));
    let begin = |exchange: &mut Exchange<Kept>, place: usize, epoch: u64, seeds: &[SeedBytes]| {
        let mut block = block_of(&exchange.chain, &signed, 7);
        block.header.context.epoch = Count(epoch);
        block.header.context.view = Count(2);
        block.header.context.leader = Fixed(members[place].as_ref().try_into().expect("32 bytes"));
        block.header.seeds = List::new(seeds.to_vec()).expect("few");
        let message = Compact::of(&block).encode();
        let (bytes, before) = (message.len() as u64 - 1, exchange.budgets.used(&members[place]));
        let next = exchange.begin(&members[place], message.into(), NOW, &mut |_: &PublicKey, _: &IoBuf| true);
        (next.is_some(), exchange.budgets.used(&members[place]) - before - bytes)
    };
    for (name, epoch, seeds, expected) in [
        ("of another round", 0, vec![other], (false, OF_DRAW)),
        ("no point of the curve", 0, vec![Fixed([0xFF; 48])], (false, OF_DRAW)),
        ("none", 0, vec![], (false, OF_DRAW)),
        ("of an epoch whose signers are not known", 1, vec![other], (true, 0)),
        ("right", 0, vec![seed], (true, 0)),
        ("seen", 0, vec![], (true, 0)),
    ] {
        assert_eq!(begin(&mut exchange, leader, epoch, &seeds), expected, "{name}");
    }
    let (mut fresh, place) = (serving(4, &[]).0, (leader + 1) % 4);
    assert_eq!(begin(&mut fresh, place, 0, &[seed]), (false, OF_DRAW), "it draws another");
    assert_eq!(begin(&mut fresh, place, 0, &[seed]), (false, 0), "and is seen now");
}

/// A question that the channel did not take is asked again after a pause, of the same peer first.
#[test]
fn what_was_not_asked_is_asked_again() {
    let block = {
        let chain = chain(None);
        block_of(&chain, &transfers(&chain, 3), 7)
    };
    let (mut exchange, sender, members) = serving(4, &[]);
    let leader = members[1].clone();
    let offer = offer(Compact::of(&block), from_ref(&leader));
    let request = asked(exchange.rebuilding.begin(leader.clone(), offer, |_| None, &nobody, NOW));
    exchange.sender.is_limited = true;
    exchange.ask(leader.clone(), &request, NOW);
    assert!(!exchange.rebuilding.is_asked(&leader, &block.digest()));
    assert_eq!((exchange.rebuilding.due(), sender.count()), (Some(NOW + PAUSE), 0));
    exchange.sender.is_limited = false;
    let again = exchange.rebuilding.overdue(0, &nobody, NOW + PAUSE);
    assert_eq!(again, [(leader.clone(), request.clone())]);
    exchange.ask(leader.clone(), &request, NOW + PAUSE);
    assert!(exchange.rebuilding.is_asked(&leader, &block.digest()));
    assert_eq!((exchange.rebuilding.due(), sender.count()), (Some(NOW + PAUSE + PATIENCE), 1));
    assert_eq!(exchange.rebuilding.overdue(0, &nobody, NOW + PAUSE + PATIENCE), []);
    assert_eq!(exchange.rebuilding.due(), Some(NOW + PAUSE + PATIENCE + PAUSE), "its first silence is this one");
}

/// A sender that refuses its first message, and counts how often it is asked.
#[derive(Clone, Debug)]
struct Limited {
    kept: Kept,
    checks: Arc<Mutex<usize>>,
}

impl LimitedSender for Limited {
    type PublicKey = PublicKey;
    type Checked<'a> = <Kept as LimitedSender>::Checked<'a>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Self::Checked<'_>, SystemTime> {
        let mut checks = self.checks.lock().expect("one thread");
        *checks += 1;
        self.kept.is_limited = *checks == 1;
        self.kept.check(recipients)
    }
}

/// A peer that has had its messages of this second is sent nothing, and takes no second message for one request.
#[test]
fn a_limited_peer_is_sent_nothing() {
    let chain = chain(None);
    let (block, mut sent) = (block_of(&chain, &transfers(&chain, 3), 7), Sent::default());
    sent.keep(block.clone());
    let mut answers = Answers::new(None, Arc::new(Mutex::new(sent)));
    let mut sender = Limited { kept: Kept::default(), checks: Arc::default() };
    let (request, rebuilding) = (Request::new(block.digest(), 0..3), Rebuilding::default());
    answers.answer(&mut sender, &peer(1), &request, &rebuilding, PART_BYTES, NOW);
    assert_eq!((*sender.checks.lock().expect("one thread"), sender.kept.count()), (1, 0));
    answers.answer(&mut sender, &peer(1), &request, &rebuilding, PART_BYTES, NOW);
    assert_eq!((*sender.checks.lock().expect("one thread"), sender.kept.count()), (2, 1), "it has room again");
}

/// The fewer signers there are, the more an answer has room for: for very few the whole body, and for others a body in those to all of them. A third of any set that
/// takes nothing leaves room for others, and no answer is longer than a message may be.
#[test]
fn parts_are_of_the_size_of_the_set() {
    let parts = [1, 2, 4, 5, 9, 17, 33, 34, 1_024].map(part_of);
    assert_eq!(parts, [32, 32, 32, 8, 4, 2, 1, 1, 1].map(|parts| parts * PART_BYTES));
    for signers in 1..=crate::epoch::MAX_MEMBERS.get() as usize {
        let stalled = signers.div_ceil(3) * (part_of(signers) + 64) + MAX_ANSWER_BYTES;
        assert!(stalled as u64 <= OF_BODIES.waiting, "{signers} signers");
    }
    assert!(MAX_ANSWER_BYTES <= max_payload_size());
}
