//! Rent of timers that accounts schedule: what a timer occupies is paid for as long as it stands (decision 743).

use cowboy_params::Params;
use cowboy_state::Kind;
use cowboy_state::records::Timer;
use cowboy_system::rent_rate;
use cowboy_system::storage::rent;
use cowboy_system::timers::occupied;
use cowboy_testkit::chain::{Chain, address, parameters, signed};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::{Amount, Cells, Cycles, Height};
use cowboy_types::{Address, Hash, Receipt, actors, error};

const HOLDER: Address = Address::system(actors::STORAGE);
const TREASURY: Address = Address::system(actors::TREASURY);
const GENESIS: Params = Params::GENESIS;

/// A call at a height with a payload of `bytes` bytes.
fn schedule(actor: Address, height: u64, expires_at: Option<u64>, bytes: usize) -> Instruction {
    Instruction::System(System::TimerSchedule {
        actor,
        height: Height(height),
        handler: cowboy_types::Text::new("at").expect("short"),
        payload: cowboy_types::Blob::new(vec![7; bytes]).expect("it fits"),
        cycles_limit: Some(Cycles(100_000)),
        cells_limit: Some(Cells(100_000)),
        expires_at: expires_at.map(Height),
    })
}

fn extend(timer: Hash, expires_at: u64) -> Instruction {
    Instruction::System(System::ExtendTimer { timer, expires_at: Height(expires_at) })
}

fn id_of(receipt: &Receipt) -> Hash {
    Hash(receipt.return_data[..].try_into().expect("a timer's id"))
}

/// A chain with an actor that can be called at a height. Account 9 is a system deployer.
fn chain_with_actor(rows: &[(&str, u64)]) -> (Chain, Address) {
    let mut chain = Chain::with(|genesis| {
        genesis.parameters = parameters(rows);
        genesis.deployers = cowboy_types::List::new(vec![address(9)]).expect("one fits");
    });
    let actor = chain.deploy("handler at\n emit 'ran' 'x'\nhandler set\n timer 50 'x'\n");
    (chain, actor)
}

/// What the only timer has paid ahead, and since when.
fn held(chain: &Chain) -> Option<(u64, u64)> {
    let timers = chain.all::<Timer>(Kind::Timer);
    assert_eq!(timers.len(), 1);
    timers[0].1.rent.as_ref().map(|rent| (rent.held.0, rent.since.0))
}

/// Rent of a timer with a payload of `bytes` bytes.
fn due(bytes: u64, blocks: u64) -> u64 {
    rent_rate::of_blocks(&GENESIS, Amount(GENESIS.rent.rate), occupied(&GENESIS, 1, bytes), blocks).0
}

/// The part of it for some of the blocks.
fn part(held: u64, stood: u64, blocks: u64) -> u64 {
    (held * stood).div_ceil(blocks)
}

fn cost(receipt: &Receipt) -> u64 {
    receipt.fee.burned.0 + receipt.fee.tip.0
}

/// The balances of account 2, of the treasury and of 0x0A.
fn balances(chain: &Chain) -> [u64; 3] {
    [address(2), TREASURY, HOLDER].map(|address| chain.balance(address))
}

/// Rent is paid up to the last height when the timer is scheduled. When it fires, the treasury receives what the timer used, and the account the rest.
#[test]
fn a_timer_of_an_account_pays_for_its_time() {
    let (mut chain, actor) = chain_with_actor(&[]);
    let [account, treasury, holder] = balances(&chain);
    let scheduled = chain.send(2, schedule(actor, 50, Some(100), 1_000));
    let since = chain.height.0;
    let paid = due(1_000, 101 - since);
    assert_eq!((&scheduled.events[0].name[..], held(&chain)), ("timer.rent_prepaid", Some((paid, since))));
    assert_eq!(balances(&chain), [account - cost(&scheduled) - paid, treasury, holder + paid]);
    chain.height = Height(49);
    let fired = chain.idle(1);
    assert!(fired.len() == 1 && fired[0].is_success());
    let used = part(paid, 50 - since, 101 - since);
    assert_eq!(
        (since, paid, used),
        (2, 3_341, 1_620),
        "1,064 bytes for 99 blocks, of which 48 are used, at a million base units for a byte and a year"
    );
    assert_eq!(balances(&chain), [account - cost(&scheduled) - cost(&fired[0]) - used, treasury + used, holder]);
}

/// An actor pays rent for its timers with that for its storage, and nothing ahead.
#[test]
fn a_timer_of_an_actor_pays_nothing_ahead() {
    let (mut chain, actor) = chain_with_actor(&[]);
    let holder = chain.balance(HOLDER);
    assert!(chain.call(actor, "set", b"").is_success());
    assert_eq!((held(&chain), chain.balance(HOLDER)), (None, holder));
}

/// Strategy: somebody keeps bytes in the payloads of timers, for which an actor would pay rent, and cancels each before it fires. What comes back is what the
/// timer did not use, so that the bytes cost at least what an actor beyond its free bytes pays, however long they stand.
#[test]
fn nobody_keeps_bytes_cheaper_in_timers_than_in_an_actor() {
    for epochs in [1, 3, 20] {
        let (mut chain, actor) = chain_with_actor(&[]);
        let [account, treasury, holder] = balances(&chain);
        let scheduled = chain.send(2, schedule(actor, 2_000_000, None, 100_000));
        chain.height = Height(chain.height.0 + epochs * GENESIS.rent.epoch - 1);
        let cancelled = chain.send(2, Instruction::System(System::CancelTimer { timer: id_of(&scheduled) }));
        let paid = chain.balance(TREASURY) - treasury;
        let of_an_actor = epochs * rent::per_epoch(&GENESIS, Amount(GENESIS.rent.rate), occupied(&GENESIS, 1, 100_000)).0;
        assert!(
            (of_an_actor..=of_an_actor + epochs + 2).contains(&paid),
            "{paid} for {epochs} epochs, for which an actor pays {of_an_actor}"
        );
        assert_eq!(balances(&chain), [account - cost(&scheduled) - cost(&cancelled) - paid, treasury + paid, holder]);
    }
}

/// Who cannot pay the rent schedules nothing. A shorter time costs less.
#[test]
fn rent_that_cannot_be_paid_refuses_a_timer() {
    let (mut chain, actor) = chain_with_actor(&[("rent.rate", 1_000_000_000_000)]);
    let [account, treasury, holder] = balances(&chain);
    let refused = chain.send(2, schedule(actor, 2_000_000, None, 100_000));
    assert_eq!(refused.abort, Some(error::TIMER_UNFUNDED));
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());
    assert_eq!(balances(&chain), [account - cost(&refused), treasury, holder]);
    assert!(chain.send(2, schedule(actor, 50, Some(50), 100_000)).is_success());
}

/// Strategy: somebody schedules a timer for a short time and has it stand for a long one. A last height that moves is paid up to there, and one that comes
/// closer gives back; also where governance moves it.
#[test]
fn a_last_height_that_moves_is_paid() {
    let (mut chain, actor) = chain_with_actor(&[]);
    let scheduled = chain.send(2, schedule(actor, 50, Some(100), 1_000));
    let (id, since) = (id_of(&scheduled), chain.height.0);
    let first = due(1_000, 101 - since);
    let [account, treasury, holder] = balances(&chain);
    let extended = chain.send(2, extend(id, 1_000));
    let moved = chain.height.0;
    let (used, second) = (part(first, moved - since, 101 - since), due(1_000, 1_001 - moved));
    assert_eq!(held(&chain), Some((second, moved)));
    assert!(second > first);
    assert_eq!(balances(&chain), [account - cost(&extended) + first - used - second, treasury + used, holder + second - first]);
    let [account, treasury, holder] = balances(&chain);
    assert!(chain.send(9, extend(id, 60)).is_success());
    let again = chain.height.0;
    let (used, third) = (part(second, again - moved, 1_001 - moved), due(1_000, 61 - again));
    assert_eq!(held(&chain), Some((third, again)));
    assert_eq!(balances(&chain), [account + second - used - third, treasury + used, holder + third - second]);
}

/// Strategy: governance gives somebody's timer more time, and has them pay for it. It spends what they paid for the time before and nothing else, however much
/// the new time would cost, and what the timer does not use comes back still.
#[test]
fn who_moves_the_timer_of_another_spends_nothing_of_theirs() {
    let (mut chain, actor) = chain_with_actor(&[]);
    let scheduled = chain.send(2, schedule(actor, 50, Some(100), 1_000));
    let (id, since) = (id_of(&scheduled), chain.height.0);
    let paid = due(1_000, 101 - since);
    let [account, treasury, holder] = balances(&chain);
    assert!(chain.send(9, extend(id, 1_000_000)).is_success());
    let moved = chain.height.0;
    let used = part(paid, moved - since, 101 - since);
    assert_eq!(held(&chain), Some((paid - used, moved)));
    assert_eq!(balances(&chain), [account, treasury + used, holder - used]);
    let cancelled = chain.send(2, Instruction::System(System::CancelTimer { timer: id }));
    let all = used + part(paid - used, chain.height.0 - moved, 1_000_001 - moved);
    assert_eq!(balances(&chain), [account - cost(&cancelled) + paid - all, treasury + all, holder - paid]);
}

/// Strategy: somebody brings a timer back to life that has expired and waits for its removal, or gives one a last height in the past, so that it pays for no time
/// at which it stands.
#[test]
fn a_last_height_is_not_in_the_past() {
    let (mut chain, actor) = chain_with_actor(&[]);
    let id = id_of(&chain.send(2, schedule(actor, 50, Some(60), 1_000)));
    chain.height = Height(54);
    let nonce = chain.nonce(2);
    let too_early = chain.block(vec![signed(2, nonce, extend(id, 54)), signed(2, nonce + 1, extend(id, 55))]);
    assert_eq!(too_early.receipts[0].abort, Some(error::TIMER_EXPIRY), "its height is 50, and the block's is 55");
    assert!(too_early.receipts[1].is_success());
    let (mut chain, actor) = chain_with_actor(&[]);
    let id = id_of(&chain.send(2, schedule(actor, 50, Some(60), 1_000)));
    chain.height = Height(60);
    assert_eq!(chain.send(2, extend(id, 1_000)).abort, Some(error::TIMER_EXPIRED));
    assert!(chain.all::<Timer>(Kind::Timer).is_empty(), "the same block removes it");
}

/// A timer that expires has used all that was paid, and its removal counts the balances that move (decision 722).
#[test]
fn a_timer_that_expires_has_used_its_rent() {
    let (mut chain, actor) = chain_with_actor(&[]);
    let scheduled = chain.send(2, schedule(actor, 50, Some(60), 1_000));
    assert!(scheduled.is_success());
    let (paid, _) = held(&chain).expect("an account pays ahead");
    let [account, treasury, holder] = balances(&chain);
    chain.height = Height(60);
    let outcome = chain.block(vec![]);
    assert_eq!(outcome.receipts[0].abort, Some(error::TIMER_EXPIRED));
    assert_eq!(outcome.weight_ns, 11 * GENESIS.weights.record);
    assert_eq!(balances(&chain), [account, treasury + paid, holder - paid]);
}
