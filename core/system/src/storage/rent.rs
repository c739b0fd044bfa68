//! What an actor owes, and collecting it at the beginning of each rent epoch (003 §17.5, State Rent; decisions 60 to 62).

use super::api::{CaughtUp, Evicted, EvictionImminent, Overdue, RentCollected, RentOwed, RentPaid};
use super::chunks::Pruned;
use super::types::RentAccount;
use super::{NUMBER, dormancy, state};
use crate::rent_rate::{self, RentRate};
use crate::schema::Emit as _;
use crate::timers;
use cowboy_params::Params;
use cowboy_state::records::{Actor, ActorStatus};
use cowboy_state::{Miss, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Event};

/// The address to which rent goes: the treasury.
const TREASURY: Address = Address::system(cowboy_types::actors::TREASURY);

/// Where a rent account stands whose actor owes nothing, and has rent that was prepaid: no block collects it until the actor owes something (decision 751).
pub const NEVER: Height = Height(u64::MAX);

/// What the protocol did to an actor, for a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Whose rent.
    pub actor: Address,
    /// The emitted events.
    pub events: Vec<Event>,
    /// The chunk that was pruned.
    pub pruned: Option<Pruned>,
    /// Modelled time, in ns.
    pub weight: u64,
}

impl Collected {
    /// A step of rent that did nothing yet.
    pub(super) fn new(params: &Params, actor: Address) -> Self {
        Self { actor, events: Vec::new(), pruned: None, weight: params.weights.rent_step }
    }

    /// Counts records that the step reads or removes, and their bytes.
    pub(super) fn count(&mut self, params: &Params, records: usize, bytes: usize) {
        let times = |number: usize, each: u64| u64::try_from(number).unwrap_or(u64::MAX).saturating_mul(each);
        let (records, bytes) = (times(records, params.weights.record), times(bytes, params.weights.signed_byte));
        self.weight = self.weight.saturating_add(records).saturating_add(bytes);
    }
}

/// The rent epoch of a height.
pub fn epoch_of(params: &Params, height: Height) -> u64 {
    height.0 / params.rent.epoch
}

/// The first height of the epoch behind that of a height.
fn next_collection(params: &Params, height: Height) -> Height {
    Height(epoch_of(params, height).saturating_add(1).saturating_mul(params.rent.epoch))
}

/// Bytes of an actor's code, of its manifest with those that it had before, and of its storage.
pub fn size(actor: &Actor) -> Count {
    actor.code_bytes.saturating_add(actor.manifest_bytes).saturating_add(actor.storage_bytes)
}

/// Bytes that an actor pays for: what its code, manifests, storage and timers with their payloads exceed the free bytes by, and the whole of what its quota
/// exceeds the base by (decisions 61, 559, 751). What waits in its mailbox is not counted: others put it there (decision 671).
pub fn billable(params: &Params, actor: &Actor) -> u64 {
    let timers = timers::occupied(params, actor.timers_live.0, actor.timer_bytes.0);
    let bytes = timers.saturating_add(size(actor).0);
    let extended = actor.storage_quota.0.saturating_sub(params.execution.storage_quota_per_actor);
    bytes.saturating_sub(params.rent.free_bytes).saturating_add(extended)
}

/// Rent of one epoch.
pub fn per_epoch(params: &Params, rate: Amount, bytes: u64) -> Amount {
    rent_rate::share_of_year(rate, bytes, 1, params.rent.epochs_per_year)
}

/// What an actor may not spend: about five weeks of its rent (decision 62).
pub fn reserve(params: &Params, rate: Amount, bytes: u64) -> Amount {
    rent_rate::share_of_year(rate, bytes, params.rent.reserve, 10_000)
}

/// A debt with the catch-up fee.
pub fn with_catch_up(params: &Params, debt: Amount) -> Amount {
    let fee = u128::from(debt.0) * u128::from(params.rent.catch_up) / 10_000;
    u64::try_from(fee).map_or(Amount::MAX, |fee| debt.saturating_add(Amount(fee)))
}

/// Enters an actor that pays rent from now on into the books, at the next epoch. Nothing for one that is there, owes nothing or is exempt.
pub fn enlist(world: &mut World, params: &Params, height: Height, actor: Address, record: &Actor) -> Result<(), Miss> {
    if actor.is_rent_exempt() || billable(params, record) == 0 {
        return Ok(());
    }
    open(world, params, height, actor).map(|_| ())
}

/// An actor's rent account, made where it has none, and collected at the next epoch where nothing was collected any more.
pub fn open(world: &mut World, params: &Params, height: Height, actor: Address) -> Result<RentAccount, Miss> {
    let next_at = next_collection(params, height);
    let account = match state::account(world, actor)? {
        Some(account) if account.next_at != NEVER => return Ok(account),
        Some(account) => RentAccount { next_at, ..account },
        None => RentAccount {
            next_at,
            prepaid: Amount::ZERO,
            debt: Amount::ZERO,
            unpaid: Count::ZERO,
            bond: Amount::ZERO,
            poster: Address::ZERO,
        },
    };
    state::set_account(world, actor, &account)?;
    Ok(account)
}

/// Enters a dormant actor that has storage again, which nobody pays rent for, into the books: at the epoch behind the next one it is pruned again, unless
/// it runs by then.
pub(super) fn watch(world: &mut World, params: &Params, height: Height, actor: Address) -> Result<(), Miss> {
    if state::account(world, actor)?.is_some() {
        return Ok(());
    }
    let mut account = open(world, params, height, actor)?;
    account.next_at = Height(account.next_at.0.saturating_add(params.rent.epoch));
    state::set_account(world, actor, &account)
}

/// Pays a sum out of what was prepaid, then out of the actor's balance. Answers whether there was enough; else nothing changes.
fn pay(world: &mut World, actor: Address, account: &mut RentAccount, amount: Amount) -> Result<bool, Miss> {
    let prepaid = account.prepaid.min(amount);
    let rest = amount.saturating_sub(prepaid);
    world.require([&cowboy_state::Key::account(TREASURY), &cowboy_state::Key::account(Address::system(NUMBER))])?;
    if !world.debit(actor, rest)? {
        return Ok(false);
    }
    account.prepaid = account.prepaid.saturating_sub(prepaid);
    assert!(world.debit(Address::system(NUMBER), prepaid)?, "0x0A holds what was prepaid");
    world.credit(TREASURY, amount)?;
    Ok(true)
}

/// Collects an actor's rent up to the running epoch. An actor that cannot pay gets deeper into debt, is warned, and is evicted. Of a dormant one the
/// storage that came back is pruned again.
pub fn collect(world: &mut World, params: &Params, height: Height, actor: Address) -> Result<Collected, Miss> {
    let mut account = state::account(world, actor)?.expect("a listed actor has a rent account");
    let mut record = world.actor(actor)?.expect("a listed actor exists");
    let mut collected = Collected::new(params, actor);
    if record.status == ActorStatus::Dormant {
        dormancy::resume(world, actor)?;
        return Ok(collected);
    }
    let bytes = billable(params, &record);
    if bytes == 0 && account.debt == Amount::ZERO && account.bond == Amount::ZERO {
        if account.prepaid == Amount::ZERO {
            state::remove_account(world, actor)?;
        } else {
            state::set_account(world, actor, &RentAccount { next_at: NEVER, ..account })?;
        }
        return Ok(collected);
    }
    // Whole epochs since the collection was due, each as long as it is now: one, unless the chain jumped.
    let epochs = (height.0.saturating_sub(account.next_at.0) / params.rent.epoch).saturating_add(1);
    let rent = per_epoch(params, rent_rate::current(world, params)?, bytes);
    if account.debt > Amount::ZERO {
        let owed = with_catch_up(params, account.debt);
        if pay(world, actor, &mut account, owed)? {
            (account.debt, account.unpaid) = (Amount::ZERO, Count::ZERO);
            collected.events.push(CaughtUp(RentPaid { actor, paid: owed, unpaid: Count::ZERO }).event());
        }
    }
    // Epochs that a dev chain jumped over are counted together: the work is the same for one and for many.
    let able = account.prepaid.saturating_add(world.account(actor)?.balance);
    let paid = if account.debt > Amount::ZERO { 0 } else { able.0.checked_div(rent.0).map_or(epochs, |most| most.min(epochs)) };
    let amount = Amount(rent.0.saturating_mul(paid));
    if amount > Amount::ZERO {
        assert!(pay(world, actor, &mut account, amount)?, "as many epochs are paid as there is CBY for");
        collected.events.push(RentCollected(RentPaid { actor, paid: amount, unpaid: account.unpaid }).event());
    }
    account.unpaid = Count(account.unpaid.0.saturating_add(epochs - paid));
    account.debt = account.debt.saturating_add(Amount(rent.0.saturating_mul(epochs - paid)));
    account.next_at = next_collection(params, height);
    record.rent_epoch = Count(epoch_of(params, height));
    let owed = RentOwed { actor, debt: account.debt, unpaid: account.unpaid };
    if account.unpaid.0 >= evicted_at(params) {
        collected.events.push(Evicted(owed).event());
        dormancy::begin(world, actor, &mut record, &account)?;
    } else {
        if account.unpaid.0 > 0 {
            let is_graced = account.unpaid.0 < params.rent.grace_epochs;
            collected.events.push(if is_graced { Overdue(owed).event() } else { EvictionImminent(owed).event() });
        }
        state::set_account(world, actor, &account)?;
    }
    world.set_actor(actor, &record);
    Ok(collected)
}

/// Unpaid collections at which an actor is evicted: `rent.eviction_epochs`, and never before its grace and the whole warning are
/// over (003 §4.4).
pub fn evicted_at(params: &Params) -> u64 {
    params.rent.eviction_epochs.max(params.rent.grace_epochs.saturating_add(params.rent.warning_epochs))
}

/// Counts what a block added to or took from all storage, and moves the rate once an epoch where governance set a size
/// to steer to: rate × (1 + clamp((S − T)/(T × alpha), ±max_change)).
pub fn close(world: &mut World, params: &Params, height: Height, grown: i128) -> Result<(), Miss> {
    if params.rent.target_state_size == 0 && grown == 0 {
        return Ok(());
    }
    let epoch = epoch_of(params, height);
    let fixed = Amount(params.rent.rate);
    let before = world.read::<RentRate>(&rent_rate::key())?;
    let mut record = before.clone().unwrap_or(RentRate { rate: fixed, epoch: Count(epoch), bytes: Count::ZERO });
    let bytes = i128::from(record.bytes.0).saturating_add(grown);
    record.bytes = Count(u64::try_from(bytes).expect("storage that was counted is taken away at most once"));
    if params.rent.target_state_size == 0 {
        record.rate = fixed;
    } else if epoch != record.epoch.0 {
        record.rate = moved(params, record.rate, record.bytes.0);
    }
    record.epoch = Count(epoch);
    if before.as_ref() != Some(&record) {
        world.write(rent_rate::key(), &record);
    }
    Ok(())
}

fn moved(params: &Params, rate: Amount, bytes: u64) -> Amount {
    let rows = &params.rent;
    let (rate, target) = (u128::from(rate.0), u128::from(rows.target_state_size));
    let distance = u128::from(bytes).abs_diff(target);
    let most = rate * u128::from(rows.max_change) / 10_000;
    let change = (rate.saturating_mul(distance) / target.saturating_mul(u128::from(rows.alpha))).min(most);
    let next = if u128::from(bytes) > target { rate.saturating_add(change) } else { rate.saturating_sub(change) };
    Amount(u64::try_from(next).unwrap_or(u64::MAX))
}
