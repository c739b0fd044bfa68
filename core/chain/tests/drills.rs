//! Denial-of-service drills: one does all that a transaction may do, and the others go about their business.

use cowboy_testkit::chain::{ALL, Chain, deployment_of, execution, manifest, parameters, sign, unsigned};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cycles, Height, Price};
use cowboy_types::{Address, Receipt, error};

/// Blocks under attack.
const BLOCKS: u64 = 4;

/// Whom honest transfers go to.
const RECEIVER: Address = Address([0x77; 20]);

/// Attacks by that many transactions a block for some blocks, and answers every receipt of the attacker's actor since.
///
/// In each block somebody who offers a little more makes a transfer, and a timer is due that was set before: both happen
/// there. No lane ever uses more than it has. When the attack is over, the chain comes to rest within `rest` blocks.
fn drill(chain: &mut Chain, attacker: Address, payload: &[u8], attacks: u64, rest: u64) -> Vec<Receipt> {
    let first = chain.height.0 + 3;
    let lines: String = (first..first + BLOCKS).map(|height| format!(" timer {height} 'tick'\n")).collect();
    let clock = chain.deploy(&format!("handler handle_timer\n emit 'ticked' $payload\nhandler run\n{lines}"));
    assert!(chain.call(clock, "run", b"").is_success());
    assert_eq!(chain.height, Height(first - 1), "the first timer is due in the next block");
    let mut seen = Vec::new();
    for block in 0..BLOCKS {
        let nonce = chain.nonce(1);
        let mut candidates: Vec<_> =
            (0..attacks).map(|number| sign(1, unsigned(1, nonce + number, execution(attacker, "run", payload, 0)))).collect();
        let mut honest = unsigned(2, chain.nonce(2), Instruction::System(System::Transfer { to: RECEIVER, amount: Amount(1) }));
        honest.cycles_limit = Cycles(21_000);
        honest.max_priority_fee_per_cycle = Price(200);
        candidates.push(sign(2, honest));
        let receipts = step(chain, candidates);
        let transferred = receipts.iter().any(|receipt| receipt.target == RECEIVER && receipt.is_success());
        assert!(transferred, "block {block}: the transfer is in it");
        let ticks = receipts.iter().filter(|receipt| receipt.target == clock && receipt.kind == ReceiptKind::Timer).count();
        assert!(ticks == 1, "block {block}: the timer fired when it was due, {ticks}");
        seen.extend(receipts);
    }
    let mut quiet = 0;
    for _ in 0..rest {
        let receipts = step(chain, Vec::new());
        quiet = if receipts.is_empty() { quiet + 1 } else { 0 };
        seen.extend(receipts);
    }
    assert!(quiet > 0, "the chain is at rest after {rest} blocks");
    seen.retain(|receipt| receipt.target == attacker);
    seen
}

/// One block, whose lanes hold what they have room for.
fn step(chain: &mut Chain, candidates: Vec<cowboy_chain::SignedTransaction>) -> Vec<Receipt> {
    let lanes = cowboy_params::Params::GENESIS.lanes;
    let outcome = chain.block(candidates);
    let used = &outcome.usage;
    // What a lane leaves free goes to the lanes below it.
    let mut room = lanes.system_cycles;
    let rows = [(&used.timer, lanes.timer_cycles), (&used.runner, lanes.runner_cycles), (&used.user, lanes.user_cycles)];
    let mut before = used.system.cycles.0;
    for (lane, own) in rows {
        room += own;
        before += lane.cycles.0;
        assert!(before <= room, "{used:?}");
    }
    assert!(outcome.weight_ns <= cowboy_params::Params::GENESIS.execution.block_weight, "the block can be checked in time");
    outcome.receipts
}

fn kinds(receipts: &[Receipt], kind: ReceiptKind) -> usize {
    receipts.iter().filter(|receipt| receipt.kind == kind).count()
}

/// Many timers for one height, each with all the cycles it may have: they fire as the actor's share of a block lets them, and each is paid.
#[test]
fn a_timer_bomb() {
    let mut chain = Chain::new();
    let lines = " timer 40 'boom'\n".repeat(4);
    let script = format!("handler handle_timer\n burn 500000\nhandler run\n{lines}");
    let bomb = chain.deploy_with(&script, ALL, 100_000_000_000_000);
    let before = chain.balance(bomb);
    let seen = drill(&mut chain, bomb, b"", 8, 180);
    let fired = kinds(&seen, ReceiptKind::Timer);
    assert_eq!(fired, 4 * 8 * 4, "all of them");
    assert!(before - chain.balance(bomb) >= u64::try_from(fired).expect("few") * 500_000 * 10_000, "each paid for its cycles");
}

/// Messages that send messages to themselves: the whole of an origin is bounded, in number and in depth.
#[test]
fn a_fan_out_bomb() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("execution.fanout_per_tx", 64)]));
    let bomb = chain.deploy(&format!("handler run\n self\n{}", " send $0 '' 0 'run'\n".repeat(10)));
    let seen = drill(&mut chain, bomb, b"", 4, 40);
    let origins = kinds(&seen, ReceiptKind::Transaction);
    assert!(kinds(&seen, ReceiptKind::Message) <= origins * 64, "an origin enqueues so many at most");
    assert!(seen.iter().any(|receipt| receipt.abort == Some(error::FANOUT)), "one more is refused");
}

/// Messages as large as they may be, to one who did not ask: the mailbox is full for a while, and then it is not.
#[test]
fn a_mailbox_flood() {
    let mut chain = Chain::new();
    let victim = chain.deploy("handler take\n emit 'took' 'x'\n");
    let hex: String = victim.0.iter().map(|byte| format!("{byte:02x}")).collect();
    let flood = chain.deploy(&format!("handler run\n{}", format!(" send 0x{hex} $payload 0 'take'\n").repeat(6)));
    let seen = drill(&mut chain, flood, &vec![7; 60_000], 8, 60);
    assert!(seen.iter().any(|receipt| receipt.abort == Some(error::MAILBOX_FULL)), "what does not fit reverts who sent it");
    let greeting = chain.deploy(&format!("handler run\n send 0x{hex} 'hello' 0 'take'\n"));
    assert!(chain.call(greeting, "run", b"").is_success());
    assert_eq!(chain.idle(1)[0].events[0].name[..], *"took", "afterwards an honest message arrives");
}

/// Integers that grow without end, and powers that would: they end by name, at a price.
#[test]
fn big_integers() {
    let source = "from cowboy_sdk import actor, public\n\n@actor
class Big:
    @public
    def run(self) -> int:
        number = 3
        while True:
            try:
                number = number * number
            except OverflowError:
                number = 3 ** 2000 % (7 ** 700)
";
    let mut chain = Chain::new();
    let created = chain.send(1, deployment_of(source.as_bytes(), Some(manifest(ALL)), None, b"", 1_000_000_000)).created;
    let big = created.expect("the source is Python");
    let seen = drill(&mut chain, big, b"", 24, 2);
    assert!(!seen.is_empty() && seen.iter().all(|receipt| receipt.abort == Some(error::OUT_OF_CYCLES)), "each used up what it paid for");
}
