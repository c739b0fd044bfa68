mod exchange;
mod spread;

use super::{
    answers::MAX_SENT,
    rebuild::{MAX_OF_PEER, MAX_WAITING},
    sources::{AT_ONCE, PATIENCE, PAUSE},
    wire::PART_BYTES,
    *,
};
use crate::{
    execute::tests::{chain, chain_of, transaction},
    mempool::Source,
    testing::{Kept, peer},
};
use commonware_codec::Encode as _;
use cowboy_chain::{Standing, lanes::Lane};
use cowboy_state::records::Account;
use cowboy_types::{
    Address, Amount, Blob, Instruction, List, Nonce, System, TimestampMs, Transaction,
    block::{MAX_BLOCK_BODY_BYTES, MAX_BLOCK_TRANSACTIONS, body_hash},
    merkle,
    units::Count,
    wire::Fixed,
};
use std::slice::from_ref;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

/// Transfers with nonces from 0 on.
fn transfers(chain: &Chain, count: u64) -> Vec<SignedTransaction> {
    let to = System::Transfer { to: Address([9; 20]), amount: Amount(1) };
    let first = transaction(chain, 0, Instruction::System(to), 21_000).transaction().clone();
    (0..count).map(|nonce| SignedTransaction::unchecked(Transaction { nonce: Nonce(nonce), ..first.clone() })).collect()
}

/// A block with these transactions.
fn block_of(chain: &Chain, signed: &[SignedTransaction], timestamp: u64) -> Block {
    let transactions = List::new(signed.iter().map(|signed| signed.transaction().clone()).collect()).expect("they fit");
    let mut header = chain.genesis.header().clone();
    header.number = Count(1);
    header.timestamp_ms = TimestampMs(timestamp);
    header.body = body_hash(&transactions);
    header.tx_root = merkle::root(&signed.iter().map(|signed| *signed.digest()).collect::<Vec<_>>());
    header.reshare = None;
    let block = Block { header, transactions, reshare: None };
    assert!(block.is_body_committed());
    block
}

/// A mempool with these transactions.
fn holding(signed: &[SignedTransaction]) -> impl Fn(&Id) -> Option<SignedTransaction> {
    move |id| signed.iter().find(|signed| id_of(signed.transaction(), signed.digest()) == *id).cloned()
}

/// Transfers of more than a kilobyte each.
fn large(chain: &Chain, count: u64) -> Vec<SignedTransaction> {
    let metadata = Blob::new(vec![0; 1_024]).expect("it fits");
    let larger = |signed: &SignedTransaction| Transaction { metadata: metadata.clone(), ..signed.transaction().clone() };
    transfers(chain, count).iter().map(larger).map(SignedTransaction::unchecked).collect()
}

fn indices(request: &Request) -> Vec<usize> {
    request.indices().collect()
}

/// Nobody has voted.
fn nobody(_: &Header) -> BTreeSet<PublicKey> {
    BTreeSet::new()
}

/// The worth of a block of its leader in this view.
fn worth(view: u64, is_drawn: bool) -> Worth {
    let mut header = chain(None).genesis.header().clone();
    header.context.view = Count(view);
    Worth::of(&header, true, is_drawn)
}

/// A block for which these are asked, within four seconds.
fn offer(compact: Compact, sources: &[PublicKey]) -> Offer {
    let until = NOW + Duration::from_secs(4);
    Offer { worth: Worth::of(&compact.header, true, true), compact, sources: sources.to_vec(), part: PART_BYTES, until }
}

/// Begins with a block of a peer, and asks this peer alone.
fn begin(rebuilding: &mut Rebuilding, from: u64, compact: Compact, find: impl Fn(&Id) -> Option<SignedTransaction>) -> Option<Next> {
    rebuilding.begin(peer(from), offer(compact, &[peer(from)]), find, &nobody, NOW)
}

/// The only request that follows.
fn asked(next: Option<Next>) -> Request {
    match next {
        Some(Next::Ask(requests)) if requests.len() == 1 => requests[0].1.clone(),
        other => panic!("not one is asked: {other:?}"),
    }
}

/// What its sender answers makes the block whole, to the byte, whichever transactions wait here.
#[test]
fn a_block_is_made_of_what_waits_and_what_is_answered() {
    let chain = chain(None);
    let signed = transfers(&chain, 20);
    let block = block_of(&chain, &signed, 7);
    let whole = |from: u64| Some(Next::Block(peer(from), block.encode().to_vec()));
    let mut sent = Sent::default();
    sent.keep(block.clone());
    let mut rebuilding = Rebuilding::default();
    assert_eq!(begin(&mut rebuilding, 1, Compact::of(&block), holding(&signed)), whole(1));
    assert_eq!(rebuilding.due(), None, "nothing is missing");
    for (number, missing) in [(2, vec![0]), (3, vec![7, 8, 19]), (4, (0..20).collect())] {
        let waiting: Vec<_> = (0..20).filter(|index| !missing.contains(index)).map(|index| signed[index].clone()).collect();
        rebuilding = Rebuilding::default();
        let request = asked(begin(&mut rebuilding, number, Compact::of(&block), holding(&waiting)));
        assert_eq!(indices(&request), missing);
        let answer = sent.answer(&request, 100, PART_BYTES).expect("it is answered").encode();
        let transactions = Answer::decode(answer[1..].to_vec()).expect("an answer").transactions.into_vec();
        assert_eq!(transactions.len(), missing.len());
        assert!(rebuilding.is_asked(&peer(number), &block.digest()) && !rebuilding.is_asked(&peer(9), &block.digest()));
        let next = rebuilding.answered(&peer(number), &block.digest(), transactions, &nobody, NOW);
        assert_eq!(next, whole(number), "without {missing:?}");
    }
    assert!(!rebuilding.is_asked(&peer(4), &block.digest()), "an answer is read once");
    let empty = block_of(&chain, &[], 8);
    let whole = Some(Next::Block(peer(1), empty.encode().to_vec()));
    assert_eq!(begin(&mut rebuilding, 1, Compact::of(&empty), holding(&[])), whole);
}

/// A transaction that its sender signed twice is one transaction with two ids: the signature that the block has is asked for.
#[test]
fn another_signature_is_another_id() {
    let chain = chain(None);
    let signed = transfers(&chain, 3);
    let block = block_of(&chain, &signed, 7);
    let again = Transaction { signature: Fixed([1; 65]), ..signed[1].transaction().clone() };
    let again = SignedTransaction::unchecked(again);
    assert_eq!(again.digest(), signed[1].digest());
    let here = [signed[0].clone(), again, signed[2].clone()];
    let request = asked(begin(&mut Rebuilding::default(), 1, Compact::of(&block), holding(&here)));
    assert_eq!(indices(&request), [1]);
}

/// Whoever names transactions that are not those of its header is asked for all of them once, and left then. Of an answer only what was asked for is taken.
#[test]
fn a_sender_of_another_body_is_left() {
    let chain = chain(None);
    let (signed, mut rebuilding) = (transfers(&chain, 6), Rebuilding::default());
    let (block, other) = (block_of(&chain, &signed[..5], 7), block_of(&chain, &signed[1..], 8));
    let lie = Compact { header: block.header.clone(), ..Compact::of(&other) };
    let all: Vec<Transaction> = other.transactions.to_vec();
    let request = asked(begin(&mut rebuilding, 1, lie.clone(), holding(&signed)));
    assert_eq!(indices(&request), [0, 1, 2, 3, 4], "all of them wait here, and make another body");
    assert_eq!(rebuilding.answered(&peer(1), &block.digest(), all.clone(), &nobody, NOW), None);
    assert!(!rebuilding.is_asked(&peer(1), &block.digest()));
    let nothing = Compact { ids: List::default(), ..lie };
    assert_eq!(begin(&mut rebuilding, 1, nothing, holding(&signed)), None);

    let whole = Some(Next::Block(peer(1), other.encode().to_vec()));
    let foreign = signed[0].transaction().clone();
    for (answer, left) in [
        (all[1..].to_vec(), vec![0]),
        (vec![foreign.clone(), all[4].clone()], vec![0, 1, 2, 3]),
        ([&all[..], &all[..1], &[foreign]].concat(), vec![]),
        (all.iter().rev().cloned().collect(), vec![]),
    ] {
        let mut rebuilding = Rebuilding::default();
        asked(begin(&mut rebuilding, 1, Compact::of(&other), |_| None));
        let mut next = rebuilding.answered(&peer(1), &other.digest(), answer, &nobody, NOW);
        if !left.is_empty() {
            assert_eq!(next, None, "it brought little, and has a pause");
            let requests = rebuilding.overdue(0, &nobody, NOW + PAUSE);
            assert_eq!(indices(&asked(Some(Next::Ask(requests)))), left);
            let rest = left.iter().map(|index| all[*index].clone()).collect();
            next = rebuilding.answered(&peer(1), &other.digest(), rest, &nobody, NOW);
        }
        assert_eq!(next, whole);
    }
}

/// Decisions 737 and 753: a peer that does not answer in time is passed over, for those that may have the transactions, too, and they are asked again until the
/// block's time is over. A late answer is taken.
#[test]
fn who_is_silent_is_passed_over() {
    let chain = chain(None);
    let signed = transfers(&chain, 3);
    let block = block_of(&chain, &signed, 7);
    let until_asked = |answers_late: bool| {
        let (mut rebuilding, mut asked) = (Rebuilding::default(), Vec::new());
        let sources = [1, 2, 3].map(peer);
        let next = rebuilding.begin(peer(1), offer(Compact::of(&block), &sources), holding(&signed[..2]), &nobody, NOW);
        assert_eq!(next, Some(Next::Ask(vec![(peer(1), Request::new(block.digest(), [2]))])));
        let first = rebuilding.due().expect("an answer is due");
        assert_eq!(first, NOW + PATIENCE);
        assert_eq!(rebuilding.overdue(0, &nobody, first - Duration::from_millis(1)), []);
        while let Some(due) = rebuilding.due() {
            asked.extend(rebuilding.overdue(0, &nobody, due).into_iter().map(|(peer, _)| peer));
            if answers_late && asked.len() == 2 {
                return (asked, rebuilding.answered(&peer(1), &block.digest(), vec![signed[2].transaction().clone()], &nobody, due));
            }
        }
        assert!(!rebuilding.is_asked(&peer(1), &block.digest()), "its time is over");
        (asked, None)
    };
    let (asked, _) = until_asked(false);
    assert_eq!(asked[..5], [2, 3, 1, 2, 3].map(peer));
    assert!((9..=14).contains(&asked.len()), "{} requests in four seconds", asked.len());
    assert_eq!(until_asked(true).1, Some(Next::Block(peer(1), block.encode().to_vec())));
}

/// Who says that it has nothing is passed over at once, and asked again after a pause that grows; who has voted for the block comes before others. A block that
/// is final needs nothing.
#[test]
fn who_has_nothing_is_passed_over_at_once() {
    let chain = chain(None);
    let signed = transfers(&chain, 3);
    let block = block_of(&chain, &signed, 7);
    let voted = |_: &Header| BTreeSet::from([peer(3)]);
    let mut rebuilding = Rebuilding::default();
    let sources = [1, 2, 3].map(peer);
    let next = rebuilding.begin(peer(1), offer(Compact::of(&block), &sources), |_| None, &nobody, NOW);
    assert_eq!(indices(&asked(next)), [0, 1, 2]);
    let mut now = NOW;
    let nothing = |from: u64, rebuilding: &mut Rebuilding, now: SystemTime| -> Vec<PublicKey> {
        match rebuilding.answered(&peer(from), &block.digest(), Vec::new(), &voted, now) {
            Some(Next::Ask(requests)) => requests.into_iter().map(|(peer, _)| peer).collect(),
            _ => Vec::new(),
        }
    };
    assert_eq!(nothing(1, &mut rebuilding, now), [peer(3)], "it has voted");
    assert_eq!(nothing(3, &mut rebuilding, now), [peer(2)]);
    assert!(nothing(2, &mut rebuilding, now).is_empty(), "all of them have a pause");
    for ms in [100, 200, 400, 800] {
        let due = rebuilding.due().expect("a pause ends");
        assert_eq!(due, now + Duration::from_millis(ms));
        now = due;
        assert_eq!(rebuilding.overdue(0, &voted, now).len(), 1);
        assert_eq!(nothing(3, &mut rebuilding, now).len(), 1);
        assert_eq!([1, 2].map(|from| nothing(from, &mut rebuilding, now).len()), [1, 0]);
    }
    assert_eq!((rebuilding.overdue(1, &voted, now), rebuilding.due()), (vec![], None), "the block is final");
}

/// Who brings one transaction of many has a pause, as if it had nothing, and who brings a quarter of a part is asked again at once.
#[test]
fn who_brings_little_is_passed_over() {
    let chain = chain(None);
    let signed = large(&chain, 100);
    let block = block_of(&chain, &signed, 7);
    for (brought, is_asked_again) in [(1, false), (20, false), (40, true)] {
        let mut rebuilding = Rebuilding::default();
        asked(begin(&mut rebuilding, 1, Compact::of(&block), |_| None));
        let answer = block.transactions[..brought].to_vec();
        let next = rebuilding.answered(&peer(1), &block.digest(), answer, &nobody, NOW);
        assert_eq!(next.is_some(), is_asked_again, "{brought} of 100");
    }
}

/// Decision 753: the last transactions are asked of twice as many peers at once each time that one was silent, or brought little, up to sixteen. What is more than a
/// quarter of a part is not: it would come many times. Nor is what nobody knows the size of, as where all of a block is missing.
#[test]
fn silences_cost_the_last_transactions_little_time() {
    let chain = chain(None);
    let signed = large(&chain, 60);
    let block = block_of(&chain, &signed, 7);
    let sources: Vec<PublicKey> = (1..=40).map(peer).collect();
    for (missing, expected) in [(20, [1, 2, 8, 16]), (40, [1, 1, 1, 1]), (60, [1, 1, 1, 1])] {
        let mut rebuilding = Rebuilding::default();
        let offer = offer(Compact::of(&block), &sources);
        asked(rebuilding.begin(peer(1), offer, holding(&signed[missing..]), &nobody, NOW));
        let (mut at_once, mut now) = (vec![1], NOW);
        for _ in 0..3 {
            now += PATIENCE;
            at_once.push(rebuilding.overdue(0, &nobody, now).len());
        }
        assert_eq!(at_once, expected, "without {missing} of 60");
    }
    let mut rebuilding = Rebuilding::default();
    asked(rebuilding.begin(peer(1), offer(Compact::of(&block), &sources), holding(&signed[20..]), &nobody, NOW));
    for (from, brought, expected) in [(1, 1, 2), (2, 0, 1)] {
        let answer = block.transactions[..brought].to_vec();
        let next = rebuilding.answered(&peer(from), &block.digest(), answer, &nobody, NOW);
        assert!(matches!(next, Some(Next::Ask(requests)) if requests.len() == expected), "peer {from} brought {brought}");
    }
}

/// An answer of nothing to an older question, which comes late, leaves the newer one as it is.
#[test]
fn what_comes_late_answers_no_newer_question() {
    let chain = chain(None);
    let block = block_of(&chain, &transfers(&chain, 3), 7);
    let mut rebuilding = Rebuilding::default();
    asked(begin(&mut rebuilding, 1, Compact::of(&block), |_| None));
    assert_eq!(rebuilding.overdue(0, &nobody, NOW + PATIENCE), [], "it has a pause");
    let again = NOW + PATIENCE + PAUSE;
    assert_eq!(rebuilding.overdue(0, &nobody, again).len(), 1);
    let mut answer = |transactions: Vec<Transaction>| rebuilding.answered(&peer(1), &block.digest(), transactions, &nobody, again);
    assert_eq!(answer(Vec::new()), None);
    let due = rebuilding.due();
    assert_eq!(due, Some(again + PATIENCE), "the newer one is due as before");
    let whole = rebuilding.answered(&peer(1), &block.digest(), block.transactions.to_vec(), &nobody, again);
    assert_eq!(whole, Some(Next::Block(peer(1), block.encode().to_vec())));
}

/// What is kept of an answer is no part of the message that it came in, whose other bytes would be held, too.
#[test]
fn no_message_is_held() {
    let chain = chain(None);
    let signed = large(&chain, 3);
    let (block, mut rebuilding) = (block_of(&chain, &signed, 7), Rebuilding::default());
    let request = asked(begin(&mut rebuilding, 1, Compact::of(&block), |_| None));
    let two = Answer::of(&request, 0, 3_000, |index| block.transactions.get(index)).expect("there are some");
    let message = Bytes::from(two.encode()[1..].to_vec());
    let answer = Answer::decode(message.clone()).expect("an answer");
    let range = message.as_ptr_range();
    let is_within = |transaction: &Transaction| range.contains(&transaction.metadata.as_ptr());
    assert!(answer.transactions.len() == 2 && answer.transactions.iter().all(is_within));
    rebuilding.answered(&peer(1), &block.digest(), answer.transactions.into_vec(), &nobody, NOW);
    let kept = rebuilding.answer(&request, 0, PART_BYTES).expect("it has two");
    assert_eq!(kept.transactions.len(), 2);
    assert!(!kept.transactions.iter().any(is_within));
}

/// Of an answer that is longer than a part, a part is read.
#[test]
fn no_more_than_a_part_is_read() {
    let chain = chain(None);
    let signed = large(&chain, 200);
    let (block, mut rebuilding) = (block_of(&chain, &signed, 7), Rebuilding::default());
    let request = asked(begin(&mut rebuilding, 1, Compact::of(&block), |_| None));
    let next = rebuilding.answered(&peer(1), &block.digest(), block.transactions.to_vec(), &nobody, NOW);
    let missing = indices(&asked(next));
    assert!((1..150).contains(&missing.len()), "{} are missing", missing.len());
    let kept = rebuilding.answer(&request, 0, MAX_BLOCK_BODY_BYTES).expect("it has some");
    assert!(kept.encode().len() <= PART_BYTES + 64);
}

/// What has come of a block because one peer sent it is not asked for again where another one sends it, too; and once it is whole, nobody is asked any more.
#[test]
fn a_block_of_two_peers_is_collected_once() {
    let chain = chain(None);
    let signed = transfers(&chain, 3);
    let (block, mut rebuilding) = (block_of(&chain, &signed, 7), Rebuilding::default());
    asked(begin(&mut rebuilding, 1, Compact::of(&block), |_| None));
    let brought = block.transactions[..1].to_vec();
    assert_eq!(rebuilding.answered(&peer(1), &block.digest(), brought, &nobody, NOW), None);
    let request = asked(begin(&mut rebuilding, 2, Compact::of(&block), |_| None));
    assert_eq!(indices(&request), [1, 2]);
    let rest = block.transactions[1..].to_vec();
    let whole = |from: u64| Some(Next::Block(peer(from), block.encode().to_vec()));
    assert_eq!(rebuilding.answered(&peer(2), &block.digest(), rest, &nobody, NOW), whole(2));
    assert_eq!(rebuilding.due(), None, "the other peer is not asked again");
    assert_eq!(begin(&mut rebuilding, 3, Compact::of(&block), |_| None), whole(3), "all of it is here");
}

/// Others may ask for the transactions of a block that the leader of its round sent, and of none besides: headers cost their signer nothing, and blocks that
/// nobody asks for would take the place of those that are wanted.
#[test]
fn only_blocks_of_their_rounds_are_kept() {
    let chain = chain(None);
    let signed = transfers(&chain, 1);
    let [wanted, handed_on, unknown] = [7, 8, 9].map(|timestamp| block_of(&chain, &signed, timestamp));
    let empty: Vec<Block> = (10..20).map(|timestamp| block_of(&chain, &[], timestamp)).collect();
    let mut rebuilding = Rebuilding::default();
    let mut take = |block: &Block, is_of_leader: bool, is_drawn: bool| {
        let worth = Worth::of(&block.header, is_of_leader, is_drawn);
        let offer = Offer { worth, ..offer(Compact::of(block), &[peer(1)]) };
        let next = rebuilding.begin(peer(1), offer, holding(&signed), &nobody, NOW);
        assert!(matches!(next, Some(Next::Block(..))), "it is handed over all the same");
    };
    take(&wanted, true, true);
    take(&handed_on, false, true);
    take(&unknown, true, false);
    empty.iter().for_each(|block| take(block, true, true));
    let is_answered = |block: &Block| rebuilding.answer(&Request::new(block.digest(), [0]), 0, PART_BYTES).is_some();
    assert_eq!([&wanted, &handed_on, &unknown].map(is_answered), [true, false, false]);
}

/// However many blocks peers name, few wait, and few of one peer; and no body grows beyond its bound.
#[test]
fn what_waits_is_bounded() {
    let chain = chain(None);
    let (signed, mut rebuilding) = (transfers(&chain, 1), Rebuilding::default());
    let blocks: Vec<Block> = (0..40).map(|timestamp| block_of(&chain, &signed, timestamp)).collect();
    for block in &blocks[..4] {
        asked(begin(&mut rebuilding, 1, Compact::of(block), |_| None));
    }
    let waits =
        |rebuilding: &Rebuilding, from: u64| blocks.iter().filter(|block| rebuilding.is_asked(&peer(from), &block.digest())).count();
    assert_eq!(waits(&rebuilding, 1), MAX_OF_PEER);
    for (number, block) in (10..).zip(&blocks) {
        asked(begin(&mut rebuilding, number, Compact::of(block), |_| None));
    }
    let all = |rebuilding: &Rebuilding| (10..50).map(|number| waits(rebuilding, number)).sum::<usize>();
    assert_eq!(all(&rebuilding), MAX_WAITING);
    let large = large(&chain, 1).remove(0);
    let ids = List::new(vec![id_of(large.transaction(), large.digest()); MAX_BLOCK_TRANSACTIONS]).expect("they fit");
    assert!(large.size() * MAX_BLOCK_TRANSACTIONS > MAX_BLOCK_BODY_BYTES);
    let bomb = Compact { ids, ..Compact::of(&blocks[0]) };
    assert_eq!(begin(&mut rebuilding, 1, bomb, |_| Some(large.clone())), None);
    assert_eq!(all(&rebuilding), MAX_WAITING);
    let strange = rebuilding.begin(peer(2), offer(Compact::of(&blocks[0]), &[]), |_| None, &nobody, NOW);
    assert_eq!(strange, None, "whoever is not answered asks nobody");
}

/// Decision 737: however many blocks of older rounds, of rounds that nobody knows yet and from others than their leaders wait, the block of the newest round has
/// a place, and keeps it.
#[test]
fn the_newest_block_of_a_leader_has_a_place() {
    let chain = chain(None);
    let (signed, mut rebuilding) = (transfers(&chain, 1), Rebuilding::default());
    let newest = block_of(&chain, &signed, 1_000);
    let handed_on = Worth::of(&newest.header, false, true);
    let worths = [handed_on, worth(u64::MAX, false), worth(1, false), worth(6, true)];
    let flood = |rebuilding: &mut Rebuilding, from: u64| {
        for (number, worth) in (0..).zip(worths.iter().cycle().take(160)) {
            let (block, sender) = (block_of(&chain, &signed, from + number), peer(100 + number));
            let offer = Offer { worth: *worth, ..offer(Compact::of(&block), from_ref(&sender)) };
            rebuilding.begin(sender, offer, |_| None, &nobody, NOW);
        }
    };
    flood(&mut rebuilding, 0);
    let offer = Offer { worth: worth(7, true), ..offer(Compact::of(&newest), &[peer(1)]) };
    asked(rebuilding.begin(peer(1), offer, |_| None, &nobody, NOW));
    flood(&mut rebuilding, 500);
    assert!(rebuilding.is_asked(&peer(1), &newest.digest()));
}

/// Answers are about the newest blocks only, and none is longer than a part of a body; others with what a peer lacks begin elsewhere.
#[test]
fn answers_are_parts_of_the_newest_blocks() {
    let chain = chain(None);
    let (signed, mut sent) = (transfers(&chain, 3), Sent::default());
    let blocks: Vec<Block> = (0..6).map(|timestamp| block_of(&chain, &signed, timestamp)).collect();
    let ask = |block: &Block| Request::new(block.digest(), 0..3);
    assert_eq!(sent.answer(&ask(&blocks[0]), 0, PART_BYTES), None, "it was not sent");
    blocks.iter().chain(&blocks[5..]).for_each(|block| sent.keep(block.clone()));
    assert_eq!(blocks.iter().filter(|block| sent.answer(&ask(block), 0, PART_BYTES).is_some()).count(), MAX_SENT);
    let transactions = |request: &Request, first: u8| sent.answer(request, first, PART_BYTES).expect("it is known").transactions.into_vec();
    assert_eq!(transactions(&Request::new(blocks[5].digest(), [2, 8_191]), 0).len(), 1, "the block has no such transaction");
    assert_eq!(transactions(&ask(&blocks[5]), 100), [1, 2, 0].map(|index| signed[index].transaction().clone()));

    let block = block_of(&chain, &large(&chain, 500), 7);
    sent.keep(block.clone());
    let request = Request::new(block.digest(), 0..500);
    let [one, other] = [0, 128].map(|first| sent.answer(&request, first, PART_BYTES).expect("it is known"));
    assert!((PART_BYTES - 2_048..PART_BYTES + 64).contains(&one.encode().len()), "{} bytes", one.encode().len());
    assert!(one.transactions.iter().all(|transaction| !other.transactions.contains(transaction)), "they begin elsewhere");
    let all = sent.answer(&request, 128, MAX_BLOCK_BODY_BYTES).expect("it is known");
    assert_eq!(all.transactions.len(), 500, "a small set has larger parts");
}

/// An answer is half full at least if there is as much: a long transaction that has no room is passed over, so that a peer that has everything never seems to have
/// next to nothing.
#[test]
fn a_long_transaction_ends_no_answer() {
    let chain = chain(None);
    let mut signed = large(&chain, 300);
    let metadata = Blob::new(vec![0; PART_BYTES - 1_024]).expect("it fits");
    let long = Transaction { metadata, ..signed[1].transaction().clone() };
    signed[1] = SignedTransaction::unchecked(long);
    let (block, mut sent) = (block_of(&chain, &signed, 7), Sent::default());
    sent.keep(block.clone());
    let answer = sent.answer(&Request::new(block.digest(), 0..300), 0, PART_BYTES).expect("it is known");
    assert!(answer.transactions.len() > 50 && !answer.transactions.contains(signed[1].transaction()));
    let long = sent.answer(&Request::new(block.digest(), [1]), 0, PART_BYTES).expect("it is known");
    assert_eq!(long.transactions.len(), 1);
}

/// The mempool finds a transaction by what its id begins with.
#[test]
fn ids_are_found_in_the_mempool() {
    let chain = chain(None);
    let signed = transfers(&chain, 3);
    let account = Account { nonce: Nonce(0), balance: Amount(u64::MAX) };
    for signed in &signed[..2] {
        let standing = Standing { account: account.clone(), lane: Lane::User };
        chain.mempool.admit(Source::Peer, &standing, signed.clone()).expect("there is room");
    }
    let found = |index: usize| waiting(&chain.mempool, &id_of(signed[index].transaction(), signed[index].digest()));
    assert_eq!([0, 1, 2].map(found), [Some(signed[0].clone()), Some(signed[1].clone()), None]);
    let again = Transaction { signature: Fixed([1; 65]), ..signed[0].transaction().clone() };
    assert_eq!(waiting(&chain.mempool, &id_of(&again, signed[0].digest())), None, "another signature");
}
