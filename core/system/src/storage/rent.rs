//! What an actor owes, and collecting it at the beginning of each rent epoch (003 §17.5, State Rent; decisions 60 to 62).

use super::api::{CaughtUp, Evicted, EvictionImminent, Overdue, RentCollected, RentOwed, RentPaid};
use super::chunks::Pruned;
use super::types::RentAccount;
use super::{NUMBER, dormancy, state};
use crate::rent_accounts::next_collection;
pub use crate::rent_accounts::{NEVER, billable, enlist, epoch_of, open, size};
use crate::rent_rate::{self, RentRate};
use crate::schema::Emit as _;
use cowboy_params::Params;
use cowboy_state::records::ActorStatus;
use cowboy_state::{Miss, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Event};

/// The address to which rent goes: the treasury.
const TREASURY: Address = Address::system(cowboy_types::actors::TREASURY);

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
    // Else a rate that fell to a few base units would never rise again, as an eighth of it is none (decision 766).
    let next = if u128::from(bytes) > target { rate.saturating_add(change.max(1)) } else { rate.saturating_sub(change) };
    Amount(u64::try_from(next).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 766. Strategy: the chain stays below its target until the rate is a few base units, and everybody stores as much as they like from then on: the rate
    /// would not rise again. It does, by a base unit at least.
    #[test]
    fn a_rate_that_fell_rises_again() {
        let mut params = Params::GENESIS;
        params.rent.target_state_size = 1_000;
        let after = |rate: Amount, bytes: u64| (0..200).fold(rate, |rate, _| moved(&params, rate, bytes));
        let least = after(Amount(params.rent.rate), 0);
        assert!(least.0 < 8, "{least:?}");
        assert!(after(least, 10_000).0 > params.rent.rate && after(Amount::ZERO, 10_000).0 > params.rent.rate);
        assert_eq!(after(Amount(5), 1_000), Amount(5), "at the target it stands");
    }
}
