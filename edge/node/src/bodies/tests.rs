use super::{
    rebuild::{MAX_OF_PEER, MAX_WAITING},
    *,
};
use crate::{
    account::Bounds,
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
    wire::Fixed,
};

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

fn indices(request: &Request, count: usize) -> Vec<usize> {
    (0..count).filter(|index| request.indices.get(index / 8).is_some_and(|bits| bits >> (index % 8) & 1 == 1)).collect()
}

fn asked(next: Option<Next>) -> Request {
    match next {
        Some(Next::Ask(request)) => request,
        other => panic!("nobody is asked: {other:?}"),
    }
}

/// What its sender answers makes the block whole, to the byte, whichever transactions wait here.
#[test]
fn a_block_is_made_of_what_waits_and_what_is_answered() {
    let chain = chain(None);
    let signed = transfers(&chain, 20);
    let block = block_of(&chain, &signed, 7);
    let whole = Some(Next::Block(block.encode().to_vec()));
    let mut sent = Sent::default();
    sent.keep(block.clone());
    let mut rebuilding = Rebuilding::default();
    assert_eq!(rebuilding.begin(peer(1), Compact::of(&block), holding(&signed), NOW), whole);
    assert_eq!(rebuilding.due(), None, "nothing is missing");
    for (number, missing) in [(2, vec![0]), (3, vec![7, 8, 19]), (4, (0..20).collect())] {
        let waiting: Vec<_> = (0..20).filter(|index| !missing.contains(index)).map(|index| signed[index].clone()).collect();
        let request = asked(rebuilding.begin(peer(number), Compact::of(&block), holding(&waiting), NOW));
        assert_eq!(indices(&request, 20), missing);
        let answer = sent.answer(&peer(number), &request).expect("it is answered");
        let answer = Answer::decode(answer[1..].to_vec()).expect("an answer");
        assert_eq!(answer.transactions.len(), missing.len());
        let asked = rebuilding.asked(&peer(number), &block.digest()).expect("it waits");
        assert_eq!(asked.answered(answer.transactions.into_vec(), NOW), whole, "without {missing:?}");
    }
    assert!(rebuilding.asked(&peer(4), &block.digest()).is_none(), "an answer is read once");
    let empty = block_of(&chain, &[], 8);
    assert_eq!(rebuilding.begin(peer(1), Compact::of(&empty), holding(&[]), NOW), Some(Next::Block(empty.encode().to_vec())));
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
    let request = asked(Rebuilding::default().begin(peer(1), Compact::of(&block), holding(&here), NOW));
    assert_eq!(indices(&request, 3), [1]);
}

/// Whoever names or answers transactions that are not those of its header is asked for all of them once, and left then.
#[test]
fn a_sender_of_another_body_is_left() {
    let chain = chain(None);
    let (signed, mut rebuilding) = (transfers(&chain, 6), Rebuilding::default());
    let (block, other) = (block_of(&chain, &signed[..5], 7), block_of(&chain, &signed[1..], 8));
    let lie = Compact { header: block.header.clone(), ..Compact::of(&other) };
    let all: Vec<Transaction> = other.transactions.to_vec();
    let answered = |rebuilding: &mut Rebuilding, transactions: Vec<Transaction>| {
        rebuilding.asked(&peer(1), &block.digest()).expect("it was asked").answered(transactions, NOW)
    };
    let request = asked(rebuilding.begin(peer(1), lie.clone(), holding(&signed), NOW));
    assert_eq!(indices(&request, 5), [0, 1, 2, 3, 4], "all of them wait here, and make another body");
    let request = asked(answered(&mut rebuilding, all.clone()));
    assert_eq!(indices(&request, 5), [0, 1, 2, 3, 4]);
    assert_eq!(answered(&mut rebuilding, all.clone()), None);
    assert!(rebuilding.asked(&peer(1), &block.digest()).is_none());
    // Too few, too many, others than asked for.
    for wrong in [all[1..].to_vec(), [&all[..], &all[..1]].concat(), all.iter().rev().cloned().collect()] {
        asked(rebuilding.begin(peer(1), Compact::of(&other), |_| None, NOW));
        let next = rebuilding.asked(&peer(1), &other.digest()).expect("it was asked").answered(wrong, NOW);
        assert_eq!(indices(&asked(next), 5), [0, 1, 2, 3, 4]);
        let next = rebuilding.asked(&peer(1), &other.digest()).expect("it was asked").answered(all.clone(), NOW);
        assert_eq!(next, Some(Next::Block(other.encode().to_vec())), "the second answer is right");
    }
    let nothing = Compact { ids: List::default(), ..lie };
    assert_eq!(rebuilding.begin(peer(1), nothing, holding(&signed), NOW), None);
}

/// A peer that does not answer in time is asked again, and then left.
#[test]
fn who_is_silent_is_asked_twice() {
    let chain = chain(None);
    let (signed, mut rebuilding) = (transfers(&chain, 3), Rebuilding::default());
    let block = block_of(&chain, &signed, 7);
    let request = asked(rebuilding.begin(peer(1), Compact::of(&block), holding(&signed[..2]), NOW));
    let due = rebuilding.due().expect("an answer is due");
    assert_eq!(rebuilding.overdue(due - Duration::from_millis(1)), []);
    assert_eq!(rebuilding.overdue(due), [(peer(1), request)]);
    let later = rebuilding.due().expect("another answer is due");
    assert!(later > due);
    assert_eq!((rebuilding.overdue(later), rebuilding.due()), (vec![], None));
}

/// However many blocks peers name, few wait, and few of one peer; and no body grows beyond its bound.
#[test]
fn what_waits_is_bounded() {
    let chain = chain(None);
    let (signed, mut rebuilding) = (transfers(&chain, 1), Rebuilding::default());
    let blocks: Vec<Block> = (0..40).map(|timestamp| block_of(&chain, &signed, timestamp)).collect();
    for block in &blocks[..4] {
        asked(rebuilding.begin(peer(1), Compact::of(block), |_| None, NOW));
    }
    let waits = |rebuilding: &mut Rebuilding, peer: PublicKey| {
        blocks.iter().filter(|block| rebuilding.asked(&peer, &block.digest()).is_some()).count()
    };
    assert_eq!(waits(&mut rebuilding, peer(1)), MAX_OF_PEER);
    for (number, block) in (10..).zip(&blocks) {
        asked(rebuilding.begin(peer(number), Compact::of(block), |_| None, NOW));
    }
    assert_eq!((10..50).map(|number| waits(&mut rebuilding, peer(number))).sum::<usize>(), MAX_WAITING);
    let metadata = Blob::new(vec![0; 1_024]).expect("it fits");
    let large = SignedTransaction::unchecked(Transaction { metadata, ..signed[0].transaction().clone() });
    let ids = List::new(vec![id_of(large.transaction(), large.digest()); MAX_BLOCK_TRANSACTIONS]).expect("they fit");
    assert!(large.size() * MAX_BLOCK_TRANSACTIONS > MAX_BLOCK_BODY_BYTES);
    let bomb = Compact { ids, ..Compact::of(&blocks[0]) };
    assert_eq!(rebuilding.begin(peer(1), bomb, |_| Some(large.clone()), NOW), None);
    assert_eq!(rebuilding.due(), None);
}

/// Each peer is answered twice about a block, and about the newest blocks only.
#[test]
fn answers_are_bounded() {
    let chain = chain(None);
    let (signed, mut sent) = (transfers(&chain, 3), Sent::default());
    let blocks: Vec<Block> = (0..6).map(|timestamp| block_of(&chain, &signed, timestamp)).collect();
    let ask = |block: &Block| Request::new(block.digest(), 0..3);
    assert_eq!(sent.answer(&peer(1), &ask(&blocks[0])), None, "it was not sent");
    sent.keep(blocks[0].clone());
    let times = |sent: &mut Sent, number| (0..5).filter(|_| sent.answer(&peer(number), &ask(&blocks[0])).is_some()).count();
    assert_eq!([times(&mut sent, 1), times(&mut sent, 2)], [2, 2]);
    sent.keep(blocks[0].clone());
    assert_eq!(times(&mut sent, 1), 0, "it was sent again");
    blocks[1..].iter().for_each(|block| sent.keep(block.clone()));
    let known = blocks.iter().filter(|block| sent.answer(&peer(3), &ask(block)).is_some()).count();
    assert_eq!(known, MAX_SENT);
    let beyond = Request::new(blocks[5].digest(), [2, 8_191]);
    let answer = sent.answer(&peer(4), &beyond).expect("it is known");
    assert_eq!(Answer::decode(answer[1..].to_vec()).expect("an answer").transactions.len(), 1, "the block has no such transaction");
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

/// A peer that asks about every block and takes no answer is answered up to a number of bytes. What it asks about in vain costs it nothing, and another peer
/// has its own answers. Peers that do not vote get none, and take no part of theirs.
#[test]
fn answers_to_a_peer_are_bounded() {
    let chain = chain_of(2, None);
    let members: Vec<PublicKey> = chain.term().committee.members().iter().map(|member| member.network.clone()).collect();
    let signed = transfers(&chain, 3);
    let [first, second, other] = [7, 8, 9].map(|timestamp| block_of(&chain, &signed, timestamp));
    let mut blocks = Sent::default();
    [&first, &second].into_iter().for_each(|block| blocks.keep(block.clone()));
    let sender = Kept::default();
    let whole = Answer::of(&first, &Request::new(first.digest(), 0..3)).encode().len() as u64;
    // One answer is all that a peer is served at once.
    let mut limits = OF_BODIES;
    limits.of_peer = Bounds { at_once: whole, per_second: 1 };
    let mut exchange = Exchange {
        chain,
        sender: sender.clone(),
        sent: Arc::new(Mutex::new(blocks)),
        rebuilding: Rebuilding::default(),
        budgets: budgets(),
        served: Served::new(limits),
        blocks: mpsc::channel(1).0,
    };
    for stranger in 1..=5 {
        let request = Request::new(first.digest(), 0..3).encode();
        exchange.take(&peer(stranger), request.into(), NOW);
    }
    for (from, block, at, expected) in
        [(0, &other, 0, 0), (0, &first, 0, 1), (0, &second, 0, 1), (1, &second, 0, 2), (0, &second, 3_600, 3)]
    {
        let request = Request::new(block.digest(), 0..3).encode();
        exchange.take(&members[from], request.into(), NOW + Duration::from_secs(at));
        assert_eq!(sender.count(), expected, "member {from} after {at} seconds");
    }
}
