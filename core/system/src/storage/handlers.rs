//! What 0x0A does when asked.

use super::api::{DebtPaid, Entry, GetRent, Missing, PayDebt, Prepaid, Prepay, QuotaSet, Rent, Restore, Restored, SetQuota};
use super::chunks::chunk_hash;
use super::{NUMBER, eviction, rent, state};
use crate::actor::{Context, Handle};
use crate::rent_rate;
use crate::schema::Emit;
use cowboy_state::records::{Actor, ActorStatus};
use cowboy_state::{Directory, Key, Step};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Text, error};

/// The record of an actor that pays rent.
fn tenant(context: &Context<'_>, actor: Address) -> Step<Actor> {
    Ok(context.world.actor(actor)?.filter(|_| !actor.is_rent_exempt()).ok_or(error::ACTOR_NOT_FOUND)?)
}

impl Handle for GetRent {
    fn handle(self, context: &mut Context<'_>) -> Step<Rent> {
        let Self { actor } = self;
        let record = tenant(context, actor)?;
        let (world, params) = (&*context.world, context.params);
        let account = state::account(world, actor)?;
        let dormancy = state::dormancy(world, actor)?;
        let bytes = rent::billable(params, &record);
        let rate = rent_rate::current(world, params)?;
        let unpaid = account.as_ref().map_or(Count::ZERO, |account| account.unpaid);
        let owed = account.as_ref().map_or(Amount::ZERO, |account| account.debt);
        let debt = dormancy.as_ref().map_or(owed, |dormancy| dormancy.debt);
        let state = match (dormancy, unpaid.0) {
            (Some(_), _) => "dormant",
            (None, 0) => "paid",
            (None, unpaid) if unpaid < params.rent.grace_epochs => "overdue",
            (None, _) => "eviction_imminent",
        };
        Ok(Rent {
            bond: account.as_ref().map_or(Amount::ZERO, |account| account.bond),
            debt,
            per_epoch: rent::per_epoch(params, rate, bytes),
            prepaid: account.as_ref().map_or(Amount::ZERO, |account| account.prepaid),
            quota: Count(record.storage_quota.0.max(params.execution.storage_quota_per_actor)),
            reserve: rent::reserve(params, rate, bytes),
            size: rent::size(&record),
            state: Text::new(state).expect("it is short"),
            unpaid,
        })
    }
}

impl Handle for Prepay {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { actor } = self;
        let record = tenant(context, actor)?;
        if context.value == Amount::ZERO || record.status == ActorStatus::Dormant {
            return Err(error::INVALID_ARGUMENT.into());
        }
        let mut account = rent::open(context.world, context.params, context.height, actor)?;
        account.prepaid = account.prepaid.saturating_add(context.value);
        context.charge_kept(&account);
        state::set_account(context.world, actor, &account)?;
        Prepaid { actor, amount: context.value }.emit(context.world);
        Ok(())
    }
}

impl Handle for PayDebt {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { actor } = self;
        tenant(context, actor)?;
        let dormancy = state::dormancy(context.world, actor)?;
        let account = state::account(context.world, actor)?;
        let debt = match (&dormancy, &account) {
            (Some(dormancy), _) => dormancy.debt,
            (None, Some(account)) => account.debt,
            (None, None) => Amount::ZERO,
        };
        let owed = rent::with_catch_up(context.params, debt);
        if debt == Amount::ZERO || context.value != owed {
            return Err(error::RENT_DEBT.into());
        }
        assert!(context.world.debit(Address::system(NUMBER), owed)?, "the value came with the call");
        context.world.credit(Address::system(cowboy_types::actors::TREASURY), owed)?;
        match (dormancy, account) {
            (Some(mut dormancy), _) => {
                dormancy.debt = Amount::ZERO;
                context.world.write(state::dormancy_key(actor), &dormancy);
            }
            (None, Some(mut account)) => {
                (account.debt, account.unpaid) = (Amount::ZERO, Count::ZERO);
                state::set_account(context.world, actor, &account)?;
            }
            (None, None) => {}
        }
        DebtPaid { actor, paid: owed }.emit(context.world);
        wake(context, actor)
    }
}

impl Handle for SetQuota {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { actor, quota } = self;
        let (mut record, rows) = (tenant(context, actor)?, context.params);
        if context.sender != actor && context.sender != record.owner {
            return Err(error::NOT_OWNER.into());
        }
        let base = rows.execution.storage_quota_per_actor;
        if record.status == ActorStatus::Dormant || quota < base || quota > rows.execution.storage_quota_bonded {
            return Err(error::INVALID_ARGUMENT.into());
        }
        if record.storage_bytes.0 > quota {
            return Err(error::QUOTA_EXCEEDED.into());
        }
        let mut account = rent::open(context.world, rows, context.height, actor)?;
        let bond = Amount((quota - base).saturating_mul(rows.rent.bond_per_byte));
        // Who raises another's bond takes its place: the other is paid back, so that nobody gets what somebody else put down.
        let takes_over = bond > account.bond && account.poster != context.sender;
        let kept = if takes_over { Amount::ZERO } else { account.bond.min(bond) };
        if context.value != bond.saturating_sub(kept) {
            return Err(error::INVALID_ARGUMENT.into());
        }
        let back = account.bond.saturating_sub(kept);
        if back > Amount::ZERO {
            assert!(context.world.debit(Address::system(NUMBER), back)?, "0x0A holds every bond");
            context.world.credit(account.poster, back)?;
        }
        if takes_over {
            account.poster = context.sender;
        }
        account.bond = bond;
        record.storage_quota = Count(if quota == base { 0 } else { quota });
        context.charge_kept(&account);
        state::set_account(context.world, actor, &account)?;
        context.world.set_actor(actor, &record);
        QuotaSet { actor, bond, quota: Count(quota) }.emit(context.world);
        Ok(())
    }
}

impl Handle for Restore {
    fn handle(self, context: &mut Context<'_>) -> Step<Missing> {
        let Self { actor, chunk, entries } = self;
        let mut record = tenant(context, actor)?;
        let entries: Vec<(Vec<u8>, Vec<u8>)> = entries.into_vec().into_iter().map(|Entry(key, value)| (key, value)).collect();
        let mut dormancy = state::dormancy(context.world, actor)?.filter(|dormancy| dormancy.is_pruned).ok_or(error::NOT_DORMANT)?;
        let hash = state::chunk(context.world, actor, chunk)?.ok_or(error::INVALID_ARGUMENT)?;
        if chunk_hash(&entries) != hash {
            return Err(error::WRONG_CHUNK.into());
        }
        let mut size = 0;
        for (key, value) in entries {
            size += u64::try_from(key.len() + value.len()).expect("a chunk is small");
            Directory::storage(actor).insert(context.world, &key)?;
            context.world.put(Key::storage(actor, key), Some(value.into()));
        }
        record.storage_bytes = Count(record.storage_bytes.0.saturating_add(size));
        dormancy.missing = Count(dormancy.missing.0 - 1);
        context.world.remove(state::chunk_key(actor, chunk));
        context.world.write(state::dormancy_key(actor), &dormancy);
        context.world.set_actor(actor, &record);
        wake(context, actor)?;
        if state::dormancy(context.world, actor)?.is_some() {
            rent::watch(context.world, context.params, context.height, actor)?;
        }
        Ok(Missing { missing: dormancy.missing })
    }
}

/// A dormant actor whose debt is paid and whose storage is whole runs again.
fn wake(context: &mut Context<'_>, actor: Address) -> Step<()> {
    if eviction::wake(context.world, context.params, context.height, actor)? {
        Restored { actor }.emit(context.world);
    }
    Ok(())
}
