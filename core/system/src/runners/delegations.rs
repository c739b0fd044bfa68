//! Stake that others put behind a runner (002 §4; CIP-13): it counts for its draws, up to a multiple of its own, and is slashed with its own.
//!
//! Delegated CBY of a runner lie together, and who delegates has shares of them; so a slash takes from everybody alike by changing one number.
//! What is asked back lies in a second heap until its time is over, and is slashed there as well. Once the runner is gone nothing can be
//! slashed any more, and everything may be taken out. The protocol pays delegators nothing: what a runner gives them is theirs to agree on.

use super::api::{
    Delegate, Delegated, DelegationState, DelegationWithdrawn, GetDelegation, Leaving as LeavingState, Undelegate, Undelegated,
    WithdrawDelegation, Withdrawn,
};
use super::payouts::pay_out;
use super::{NUMBER, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::{Key, Kind, Miss, Step, World};
use cowboy_types::job::Runner;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Abort, Address, List, error, record};

record! {
    /// What lies behind a runner, from its registration until it is gone.
    pub struct Pool {
        /// Shares of what counts.
        pub shares: u128,
        /// What counts, once the runner is gone; before, the runner's record has it.
        pub active: Amount,
        /// What was asked back.
        pub leaving: Amount,
        /// Shares of that.
        pub leaving_shares: u128,
        /// Whether the runner is gone.
        pub is_closed: bool,
    }
}

record! {
    /// Shares that were asked back.
    pub struct Leaving {
        /// The number of shares.
        pub shares: u128,
        /// When they may be taken out.
        pub release: Height,
    }
}

record! {
    /// What one delegator has behind a runner.
    pub struct Delegation {
        /// Shares that count.
        pub shares: u128,
        /// Shares on their way out.
        pub leaving: List<Leaving, 16>,
    }
}

fn refused() -> Abort {
    error::DELEGATION_REFUSED
}

fn named(prefix: &[u8], runner: Address, registered_at: Height, rest: &[u8]) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [prefix, &runner.0, &registered_at.0.to_be_bytes(), rest].concat())
}

/// What lies behind a runner. A registration after it was gone begins another.
pub fn pool_key(runner: Address, registered_at: Height) -> Key {
    named(b"delegations:", runner, registered_at, b"")
}

/// What a delegator has behind a runner.
pub fn delegation_key(runner: Address, registered_at: Height, delegator: Address) -> Key {
    named(b"delegation:", runner, registered_at, &delegator.0)
}

fn pool(world: &World, runner: Address, registered_at: Height) -> Result<Pool, Miss> {
    let none = Pool { shares: 0, active: Amount::ZERO, leaving: Amount::ZERO, leaving_shares: 0, is_closed: false };
    Ok(world.read(&pool_key(runner, registered_at))?.unwrap_or(none))
}

fn delegation(world: &World, runner: Address, registered_at: Height, delegator: Address) -> Result<Delegation, Miss> {
    let none = Delegation { shares: 0, leaving: List::default() };
    Ok(world.read(&delegation_key(runner, registered_at, delegator))?.unwrap_or(none))
}

fn keep(world: &mut World, runner: Address, registered_at: Height, delegator: Address, pool: &Pool, delegation: &Delegation) {
    world.write(pool_key(runner, registered_at), pool);
    let key = delegation_key(runner, registered_at, delegator);
    if delegation.shares == 0 && delegation.leaving.is_empty() { world.remove(key) } else { world.write(key, delegation) }
}

/// Shares for an amount that joins a heap: as many for each unit as the heap has, rounded down. None where that is nothing, or too many.
fn minted(amount: Amount, heap: Amount, shares: u128) -> Option<u128> {
    if shares == 0 {
        return Some(u128::from(amount.0));
    }
    u128::from(amount.0).checked_mul(shares)?.checked_div(u128::from(heap.0)).filter(|minted| *minted > 0)
}

/// What shares of a heap are worth, rounded down.
fn worth(shares: u128, heap: Amount, all: u128) -> Amount {
    let worth = shares.checked_mul(u128::from(heap.0)).and_then(|product| product.checked_div(all)).unwrap_or(0);
    Amount(u64::try_from(worth).unwrap_or(u64::MAX).min(heap.0))
}

/// How much of what others delegated counts for a runner: so much that its own stake is at least `share`, in hundredths of a percent, of all that
/// counts (decision 721).
pub(super) fn counted(share: u64, own: Amount, delegated: Amount) -> Amount {
    let most = (u128::from(own.0) * u128::from(10_000_u64.saturating_sub(share))).checked_div(u128::from(share));
    most.and_then(|most| u64::try_from(most).ok()).map_or(delegated, |most| delegated.min(Amount(most)))
}

impl Handle for Delegate {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { runner: address } = self;
        let (delegator, amount) = (context.sender, context.value);
        let mut runner = state::read(context.world, address)?;
        let mut pool = pool(context.world, address, runner.registered_at)?;
        let mut own = delegation(context.world, address, runner.registered_at, delegator)?;
        let delegated = runner.delegated.checked_add(amount).ok_or(refused())?;
        // What would not count is refused, so that nobody has it slashed for nothing.
        let does_count = counted(context.params.jobs.self_bond, runner.stake, delegated) == delegated;
        if amount == Amount::ZERO || runner.is_leaving || !does_count {
            return Err(refused().into());
        }
        let shares = minted(amount, runner.delegated, pool.shares).ok_or(refused())?;
        pool.shares = pool.shares.checked_add(shares).ok_or(refused())?;
        own.shares += shares;
        runner.delegated = delegated;
        keep(context.world, address, runner.registered_at, delegator, &pool, &own);
        state::write(context.world, address, &runner);
        Delegated { runner: address, delegator, amount }.emit(context.world);
        Ok(())
    }
}

impl Handle for Undelegate {
    fn handle(self, context: &mut Context<'_>) -> Step<LeavingState> {
        let Self { runner: address, amount } = self;
        let delegator = context.sender;
        let mut runner = state::read(context.world, address)?;
        let mut pool = pool(context.world, address, runner.registered_at)?;
        let mut own = delegation(context.world, address, runner.registered_at, delegator)?;
        let most = worth(own.shares, runner.delegated, pool.shares);
        let amount = amount.unwrap_or(most);
        if amount == Amount::ZERO || amount > most {
            return Err(refused().into());
        }
        // Rounded up, so that nobody takes out what is another's.
        let product = u128::from(amount.0).checked_mul(pool.shares).ok_or(refused())?;
        let shares = if amount == most { own.shares } else { product.div_ceil(u128::from(runner.delegated.0)).min(own.shares) };
        let leaving = minted(amount, pool.leaving, pool.leaving_shares).ok_or(refused())?;
        let release = Height(context.height.0.saturating_add(context.params.consensus.unbonding));
        let mut waiting = std::mem::take(&mut own.leaving).into_vec();
        waiting.push(Leaving { shares: leaving, release });
        own.leaving = List::new(waiting).ok_or(error::UNBONDING)?;
        own.shares -= shares;
        pool.shares -= shares;
        pool.leaving = pool.leaving.saturating_add(amount);
        pool.leaving_shares = pool.leaving_shares.checked_add(leaving).ok_or(refused())?;
        runner.delegated = runner.delegated.saturating_sub(amount);
        keep(context.world, address, runner.registered_at, delegator, &pool, &own);
        state::write(context.world, address, &runner);
        Undelegated { runner: address, delegator, amount }.emit(context.world);
        Ok(LeavingState { amount, release })
    }
}

/// The registration that an argument is about: the runner's own, or the one it names, where the runner is gone.
fn registration(context: &Context<'_>, named: Option<Height>, runner: Address) -> Step<Height> {
    Ok(match named {
        Some(registered_at) => registered_at,
        None => state::read(context.world, runner)?.registered_at,
    })
}

impl Handle for WithdrawDelegation {
    fn handle(self, context: &mut Context<'_>) -> Step<Withdrawn> {
        let Self { runner: address, registered_at } = self;
        let (delegator, height) = (context.sender, context.height);
        let registered_at = registration(context, registered_at, address)?;
        let mut pool = pool(context.world, address, registered_at)?;
        let mut own = delegation(context.world, address, registered_at, delegator)?;
        let held = state::find(context.world, address)?.map_or(Height::ZERO, |runner| runner.held_until);
        let still = crate::standstill::MARKET.read(context.world)?;
        let free_at = |leaving: &Leaving| super::payouts::free_at(context.params, &still, leaving.release).max(held);
        let is_free = |leaving: &Leaving| pool.is_closed || free_at(leaving) <= height;
        let (free, waiting): (Vec<Leaving>, Vec<Leaving>) = std::mem::take(&mut own.leaving).into_vec().into_iter().partition(is_free);
        let mut amount = Amount::ZERO;
        for leaving in free {
            let part = worth(leaving.shares, pool.leaving, pool.leaving_shares);
            pool.leaving = pool.leaving.saturating_sub(part);
            pool.leaving_shares -= leaving.shares;
            amount = amount.saturating_add(part);
        }
        if pool.is_closed {
            let part = worth(own.shares, pool.active, pool.shares);
            pool.active = pool.active.saturating_sub(part);
            pool.shares -= std::mem::take(&mut own.shares);
            amount = amount.saturating_add(part);
        }
        if amount == Amount::ZERO {
            return Err(error::UNBONDING.into());
        }
        own.leaving = List::new(waiting).expect("fewer fit");
        keep(context.world, address, registered_at, delegator, &pool, &own);
        pay_out(context.world, delegator, amount)?;
        DelegationWithdrawn { runner: address, delegator, amount }.emit(context.world);
        Ok(Withdrawn { amount })
    }
}

/// What one delegator has behind a runner now, slashes counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What counts.
    pub amount: Amount,
    /// What was asked back, and when it may be taken out.
    pub leaving: Vec<(Amount, Height)>,
}

/// What a delegator has behind the runner of this registration.
pub fn standing(world: &World, runner: Address, registered_at: Height, delegator: Address) -> Result<Standing, Miss> {
    let pool = pool(world, runner, registered_at)?;
    let own = delegation(world, runner, registered_at, delegator)?;
    let heap = match state::find(world, runner)? {
        Some(runner) if runner.registered_at == registered_at => runner.delegated,
        _ => pool.active,
    };
    let leaving = own.leaving.iter().map(|leaving| (worth(leaving.shares, pool.leaving, pool.leaving_shares), leaving.release));
    Ok(Standing { amount: worth(own.shares, heap, pool.shares), leaving: leaving.collect() })
}

impl Handle for GetDelegation {
    fn handle(self, context: &mut Context<'_>) -> Step<DelegationState> {
        let Self { runner, delegator, registered_at } = self;
        let registered_at = registration(context, registered_at, runner)?;
        let Standing { amount, leaving } = standing(context.world, runner, registered_at, delegator)?;
        let leaving = leaving.into_iter().map(|(amount, release)| LeavingState { amount, release }).collect();
        Ok(DelegationState { amount, leaving: List::new(leaving).expect("as many stand in the record"), registered_at })
    }
}

/// Takes a share of what delegators asked back. Answers how much it was.
pub(super) fn slash_leaving(
    world: &mut World,
    address: Address,
    runner: &Runner,
    take: impl Fn(&mut Amount) -> Amount,
) -> Result<Amount, Miss> {
    let mut pool = pool(world, address, runner.registered_at)?;
    let taken = take(&mut pool.leaving);
    if taken > Amount::ZERO {
        world.write(pool_key(address, runner.registered_at), &pool);
    }
    Ok(taken)
}

/// The runner is gone: nothing behind it can be slashed any more.
pub(super) fn close(world: &mut World, address: Address, runner: &Runner) -> Result<(), Miss> {
    let mut pool = pool(world, address, runner.registered_at)?;
    if pool.shares > 0 || pool.leaving_shares > 0 || runner.delegated > Amount::ZERO {
        pool.active = runner.delegated;
        pool.is_closed = true;
        world.write(pool_key(address, runner.registered_at), &pool);
    }
    Ok(())
}
