//! Messages: paid by their origin, delivered once, in order, in their share of the lane.

use cowboy_chain::{message_id, nested_id};
use cowboy_state::Kind;
use cowboy_state::records::{Message, Origin, Payload};
use cowboy_testkit::chain::{Chain, address, execution, signed};
use cowboy_types::instruction::HandlerName;
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cells, Cycles};
use cowboy_types::{Address, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_message_is_delivered_once_and_paid_by_its_origin,
    message_ids_are_as_defined,
    messages_keep_their_order,
    a_failed_delivery_returns_its_value,
    an_exhausted_origin_fails_its_messages,
    fan_out_is_bounded_over_the_whole_origin,
    message_chains_are_bounded,
    a_full_mailbox_reverts_the_sender,
    deliveries_roll_over_when_their_half_lane_is_used,
    marks_of_messages_are_forgotten_after_the_window,
];

fn hex(address: Address) -> String {
    format!("0x{}", address.to_string().trim_start_matches("0x"))
}

/// decision 125: a message runs in the next block, out of what its transaction reserved, and the rest comes back.
#[test]
fn a_message_is_delivered_once_and_paid_by_its_origin() {
    let mut chain = Chain::new();
    let receiver = chain.deploy("handler greet\n context\n set 'got' $payload\n");
    let sender = chain.deploy(&format!("handler run\n send {} 'hi' 7 'greet'\n", hex(receiver)));
    let before = chain.balance(address(1));
    let outcome = {
        let nonce = chain.nonce(1);
        chain.block(vec![signed(1, nonce, execution(sender, "run", b"", 0))])
    };
    assert!(outcome.has_work, "the next block has something to do");
    let sent = &outcome.traces[0].sent[0];
    let origin: Origin = chain.record(&cowboy_state::records::keys::origin(&outcome.receipts[0].id)).expect("the rest is held");
    assert_eq!((origin.payer, origin.outstanding.0), (address(1), 1));
    let next = chain.block(vec![]);
    assert_eq!(next.traces[0].parent, outcome.receipts[0].id, "a message names the delivery that sent it");
    let message = &next.receipts[0];
    assert_eq!((message.id, &message.kind), (sent.receipt, &ReceiptKind::Message));
    assert_eq!((message.sender, message.target, &message.handler[..], message.value), (sender, receiver, "greet", Amount(7)));
    assert_eq!(message.id, nested_id(&outcome.receipts[0].id, 1));
    assert!(message.is_success() && message.fee.payer == address(1));
    assert_eq!(chain.stored(receiver, "got").as_deref(), Some(&b"hi"[..]));
    assert!(chain.all::<Origin>(Kind::Origin).is_empty(), "nothing is under way any more");
    let paid = |fee: &cowboy_types::Fee| fee.burned.0 + fee.tip.0;
    assert_eq!(chain.balance(address(1)), before - paid(&outcome.receipts[0].fee) - paid(&message.fee));
    assert!(chain.idle(3).is_empty(), "it is not delivered again");
}

/// the id of a message, against its definition.
#[test]
fn message_ids_are_as_defined() {
    let (sender, target) = (Address([1; 20]), Address([2; 20]));
    let (handler, payload) = (HandlerName::new("go").expect("fits"), Payload::new(b"xyz".to_vec()).expect("fits"));
    let encoded = [&[2u8; 20][..], b"\x02go", &[0, 0, 0, 0, 0, 0, 0, 9], b"\x03xyz"].concat();
    let expected = cowboy_types::keccak256(&[&[1; 20], &5u64.to_be_bytes(), &cowboy_types::keccak256(&[&encoded]).0]);
    assert_eq!(message_id(&sender, 5, &target, &handler, Amount(9), &payload), expected);
}

/// FIFO: in the order of sending, over senders and blocks.
#[test]
fn messages_keep_their_order() {
    let mut chain = Chain::new();
    let receiver = chain.deploy("handler one\n emit 'one' 'x'\nhandler two\n emit 'two' 'x'\nhandler three\n emit 'three' 'x'\n");
    let at = hex(receiver);
    let sender = chain.deploy(&format!("handler run\n send {at} '' 0 'one'\n send {at} '' 0 'two'\n send {at} '' 0 'three'\n"));
    chain.call(sender, "run", b"");
    let names: Vec<String> = chain.idle(1).iter().map(|receipt| receipt.handler.to_string()).collect();
    assert_eq!(names, ["one", "two", "three"]);
}

/// Decision 125: a failed delivery gives the value back, and an empty pool fails it.
#[test]
fn a_failed_delivery_returns_its_value() {
    let mut chain = Chain::new();
    let receiver = chain.deploy("handler bad\n raise\n");
    let sender =
        chain.deploy(&format!("handler run\n send {at} '' 50 'bad'\n send {at} '' 60 'missing'\n send @3 '' 70\n", at = hex(receiver)));
    let (before, other) = (chain.balance(sender), chain.balance(address(3)));
    chain.call(sender, "run", b"");
    assert_eq!(chain.balance(sender), before - 180, "the value travels with the message");
    let aborts: Vec<_> = chain.idle(1).into_iter().map(|receipt| receipt.abort).collect();
    assert_eq!(aborts, [Some(error::HANDLER_RAISED), Some(error::UNKNOWN_HANDLER), None]);
    assert_eq!((chain.balance(sender), chain.balance(address(3))), (before - 70, other + 70));
}

/// A delivery draws on what its transaction left; where nothing is left it fails and is not tried again.
#[test]
fn an_exhausted_origin_fails_its_messages() {
    let mut chain = Chain::new();
    let receiver = chain.deploy("handler go\n set 'a' 'b'\n");
    let sender = chain.deploy(&format!("handler run\n send {} '' 5 'go'\n", hex(receiver)));
    let mut transaction = cowboy_testkit::chain::unsigned(1, chain.nonce(1), execution(sender, "run", b"", 0));
    transaction.cycles_limit = Cycles(21_000 + 10 + 10 + 80 + 999);
    let receipt = chain.one(cowboy_testkit::chain::sign(1, transaction));
    assert!(receipt.is_success(), "{receipt:?}");
    let delivered = chain.idle(1);
    assert_eq!(delivered[0].abort, Some(error::ORIGIN_EXHAUSTED));
    assert!(chain.idle(2).is_empty());
}

/// However many cells the origins of messages hold, transactions find half of a block's: whoever keeps a stock of messages keeps nobody out (decision 583).
#[test]
fn messages_leave_cells_for_transactions() {
    let mut chain = Chain::new();
    let sets = " set 'a' $payload\n".repeat(240);
    let greedy = chain.deploy(&format!("handler go\n{sets}handler idle\n"));
    let sender = chain.deploy(&format!("handler run\n send {} $payload 0 'go'\n", hex(greedy)));
    let with_cells = |from: u8, nonce: u64, target, call: (&str, usize), cells: u64| {
        let mut transaction = cowboy_testkit::chain::unsigned(from, nonce, execution(target, call.0, &vec![7; call.1], 0));
        transaction.cells_limit = Cells(cells);
        cowboy_testkit::chain::sign(from, transaction)
    };
    let nonce = chain.nonce(1);
    let stock: Vec<_> = (0..2).map(|place| with_cells(1, nonce + place, sender, ("run", 50_000), 12_000_000)).collect();
    assert_eq!(chain.block(stock).receipts.iter().filter(|receipt| receipt.is_success()).count(), 2);
    for _ in 0..2 {
        let nonce = chain.nonce(2);
        let block = chain.block(vec![with_cells(2, nonce, greedy, ("idle", 0), 8_000_000)]);
        let aborts: Vec<_> = block.receipts.iter().map(|receipt| receipt.abort.clone()).collect();
        assert_eq!(aborts, [None, Some(error::OUT_OF_CELLS)], "the transaction finds room, and one message gets its part");
    }
}

/// a transaction and all that follows enqueues 1,024 messages; one more reverts its sender.
#[test]
fn fan_out_is_bounded_over_the_whole_origin() {
    let mut chain = Chain::with(|genesis| genesis.parameters = cowboy_testkit::chain::parameters(&[("execution.fanout_per_tx", 3)]));
    let leaf = chain.deploy("handler go\n");
    let at = hex(leaf);
    let four = chain.deploy(&format!("handler run\n{}", format!(" send {at} '' 0 'go'\n").repeat(4)));
    assert_eq!(chain.call(four, "run", b"").abort, Some(error::FANOUT));
    let three = chain.deploy(&format!(
        "handler run\n{}\nhandler two\n send {at} '' 0 'go'\n send {at} '' 0 'go'\n",
        format!(" send {at} '' 0 'go'\n").repeat(3)
    ));
    assert!(chain.call(three, "run", b"").is_success());
    assert_eq!(chain.idle(1).len(), 3);
    let nested = chain.deploy(&format!("handler run\n send {} '' 0 'two'\n send {at} '' 0 'go'\n", hex(three)));
    assert!(chain.call(nested, "run", b"").is_success());
    let aborts: Vec<_> = chain.idle(1).into_iter().map(|receipt| receipt.abort).collect();
    assert_eq!(aborts, [Some(error::FANOUT), None], "nested sends count with the first ones");
    assert_eq!(cowboy_params::Params::GENESIS.execution.fanout_per_tx, 1_024);
}

/// 32 messages may lead to one another.
#[test]
fn message_chains_are_bounded() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler again\n self\n send $0 '' 0 'again'\n");
    chain.call(actor, "again", b"");
    let mut receipts = Vec::new();
    for _ in 0..40 {
        receipts.extend(chain.idle(1));
    }
    assert_eq!(receipts.len(), 32);
    assert_eq!(receipts[31].abort, Some(error::CALL_DEPTH));
    assert!(receipts[..31].iter().all(|receipt| receipt.is_success()));
}

/// a message beyond the mailbox's bytes reverts its sender.
#[test]
fn a_full_mailbox_reverts_the_sender() {
    let mut chain =
        Chain::with(|genesis| genesis.parameters = cowboy_testkit::chain::parameters(&[("execution.mailbox_capacity", 65_536)]));
    let sender = chain.deploy("handler run\n send @3 $payload\nhandler two\n set 'a' 'b'\n send @3 $payload\n try send @3 $payload\n");
    assert!(chain.call(sender, "run", &[1; 60_000]).is_success());
    let receipt = chain.call(sender, "two", &[1; 40_000]);
    assert_eq!(receipt.abort, Some(error::MAILBOX_FULL));
    assert_eq!(chain.stored(sender, "a"), None);
}

/// Decision 125: deliveries take at most half of the user lane; the rest waits for the next block and is not lost.
#[test]
fn deliveries_roll_over_when_their_half_lane_is_used() {
    let mut chain = Chain::with(|genesis| genesis.parameters = cowboy_testkit::chain::parameters(&[("lanes.user_cycles", 5_000_000)]));
    let worker = chain.deploy("handler work\n burn 900000\n emit 'did' 'x'\n");
    let sender = chain.deploy(&format!("handler run\n{}", format!(" send {} '' 0 'work'\n", hex(worker)).repeat(4)));
    let mut transaction = cowboy_testkit::chain::unsigned(1, chain.nonce(1), execution(sender, "run", b"", 0));
    transaction.cycles_limit = Cycles(5_000_000);
    chain.one(cowboy_testkit::chain::sign(1, transaction));
    let first = chain.block(vec![]);
    assert_eq!(first.receipts.len(), 2, "900,000 twice fit into 2,500,000");
    assert!(first.usage.user.cycles <= Cycles(2_500_000));
    assert!(first.has_work);
    let second = chain.block(vec![]);
    assert_eq!(second.receipts.len(), 2);
    assert!(first.receipts.iter().chain(&second.receipts).all(|receipt| receipt.is_success()));
    assert!(chain.all::<Message>(Kind::Message).is_empty());
}

/// Decision 675: a message that the lane had too little for pays for its try when it is delivered. Else whoever has its messages run short in one block and
/// end at once in the next makes the queue stand still, block after block, for the price of calls.
#[test]
fn a_message_that_is_put_back_pays_for_its_try() {
    let mut chain = Chain::new();
    let sets = " set 'a' $0\n".repeat(80);
    let target = chain.deploy(&format!("handler to\n set 'x' $payload\nhandler first\nhandler go\n get 'x'\n{sets}"));
    let at = hex(target);
    let sender = chain.deploy(&format!("handler run\n send {at} '' 0 'first'\n send {at} '' 0 'go'\n"));
    assert!(chain.call(target, "to", &[7; 60_000]).is_success());
    let before = chain.balance(address(1));
    let mut transaction = cowboy_testkit::chain::unsigned(1, chain.nonce(1), execution(sender, "run", b"", 0));
    transaction.cells_limit = Cells(12_000_000);
    let sent = chain.one(cowboy_testkit::chain::sign(1, transaction));
    // Its sender sees to it that it ends at once in the block behind the one in which it runs short.
    let nonce = chain.nonce(2);
    let short = chain.block(vec![signed(2, nonce, execution(target, "to", b"", 0))]).receipts;
    let handlers: Vec<&str> = short.iter().map(|receipt| &receipt.handler[..]).collect();
    assert_eq!(handlers, ["to", "first"], "the second message is put back");
    let delivered = chain.idle(1);
    assert_eq!((delivered.len(), &delivered[0].handler[..], delivered[0].abort.clone()), (1, "go", None));
    let share = cowboy_params::Params::GENESIS.delivery_cells();
    assert!(delivered[0].cells_used.0 > share - 100_000, "{} of {share} cells", delivered[0].cells_used.0);
    let paid: u64 = [&sent, &short[1], &delivered[0]].iter().map(|receipt| receipt.fee.burned.0 + receipt.fee.tip.0).sum();
    assert_eq!(chain.balance(address(1)), before - paid);
    assert!(chain.record::<cowboy_state::records::Tried>(&cowboy_state::records::keys::tried_message()).is_none(), "it pays once");
    assert!(chain.all::<Origin>(Kind::Origin).is_empty());
}

/// Decision 675: a message that runs out of what its origin has is delivered in its turn, also where the lane cut what it does not use. Else one that fails
/// at once would end the messages of each block for the price of a call.
#[test]
fn who_runs_out_of_its_own_is_not_put_back() {
    let mut chain = Chain::new();
    let target = chain.deploy("handler first\nhandler go\n set 'x' 'y'\n");
    let at = hex(target);
    let sender = chain.deploy(&format!("handler run\n send {at} '' 0 'first'\n send {at} '' 0 'go'\n send {at} '' 0 'go'\n"));
    let mut send = |cells: Cells| {
        let mut transaction = cowboy_testkit::chain::unsigned(1, chain.nonce(1), execution(sender, "run", b"", 0));
        (transaction.cycles_limit, transaction.cells_limit) = (Cycles(20_000_000), cells);
        let sent = chain.one(cowboy_testkit::chain::sign(1, transaction));
        (sent.cells_used, chain.idle(1))
    };
    let (most, _) = send(Cells(100_000));
    let (least, _) = send(Cells(most.0 + 1));
    let (_, delivered) = send(least);
    let found: Vec<_> = delivered.iter().map(|receipt| (&receipt.handler[..], receipt.abort.clone())).collect();
    assert_eq!(found, [("first", None), ("go", Some(error::OUT_OF_CELLS)), ("go", Some(error::OUT_OF_CELLS))]);
}

/// Decision 675: what a nested call lacks because the lane cut it is no failure of the callee, whether its caller catches it or not.
#[test]
fn who_lacks_it_in_a_nested_call_is_put_back() {
    for catches in ["try ", ""] {
        let mut chain = Chain::new();
        let sets = |count: usize| " set 'a' $0\n".repeat(count);
        let (many, some) = (sets(50), sets(30));
        let target = chain.deploy(&format!(
            "handler to\n set 'x' $payload\nhandler many\n get 'x'\n{many}handler some\n get 'x'\n{some} set 'done' 'x'\n"
        ));
        let at = hex(target);
        let caller = chain.deploy(&format!("handler nest\n {catches}call {at} 'some' '' 5000000\n"));
        let sender = chain.deploy(&format!("handler run\n send {at} '' 0 'many'\n send {} '' 0 'nest'\n", hex(caller)));
        assert!(chain.call(target, "to", &[7; 60_000]).is_success());
        let mut transaction = cowboy_testkit::chain::unsigned(1, chain.nonce(1), execution(sender, "run", b"", 0));
        transaction.cells_limit = Cells(12_000_000);
        assert!(chain.one(cowboy_testkit::chain::sign(1, transaction)).is_success());
        let blocks = [chain.idle(1), chain.idle(1)];
        let found = blocks
            .each_ref()
            .map(|receipts| receipts.iter().map(|receipt| (&receipt.handler[..], receipt.abort.clone())).collect::<Vec<_>>());
        assert_eq!(found, [vec![("many", None)], vec![("nest", None)]], "{catches}");
        assert!(chain.stored(target, "done").is_some(), "the call did what it does where nothing is cut");
    }
}

/// the marks of delivered messages are kept for the dedup window, then forgotten.
#[test]
fn marks_of_messages_are_forgotten_after_the_window() {
    let mut chain = Chain::with(|genesis| genesis.parameters = cowboy_testkit::chain::parameters(&[("execution.dedup_window", 1_000)]));
    let actor = chain.deploy("handler run\n send @3 'x'\n");
    chain.call(actor, "run", b"");
    chain.idle(1);
    assert_eq!(chain.all::<cowboy_state::records::Seen>(Kind::Seen).len(), 1);
    chain.height = cowboy_types::Height(chain.height.0 + 998);
    chain.idle(2);
    assert_eq!(chain.all::<cowboy_state::records::Seen>(Kind::Seen).len(), 1);
    chain.idle(1);
    assert!(chain.all::<cowboy_state::records::Seen>(Kind::Seen).is_empty());
    assert!(chain.names(cowboy_state::Directory::seen()).is_empty());
}
