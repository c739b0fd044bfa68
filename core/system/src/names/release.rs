//! Names below others that cost no fee: the deposit of their records, and its return (decision 368).

use super::api::{Change, Release, Released};
use super::price::{self, Stage, WITH_ROOT};
use super::types::Registration;
use super::{NUMBER, label, state};
use crate::actor::{Context, Handle};
use crate::deposits;
use crate::schema::Emit;
use cowboy_state::{Key, Kind, Miss, Step};
use cowboy_types::units::Amount;
use cowboy_types::{Address, error, record};

record! {
    /// What somebody put down for a name's record.
    pub struct Deposit {
        /// Who has it back.
        pub payer: Address,
        /// The deposit in base units.
        pub amount: Amount,
    }
}

/// The deposit for a name's record.
pub fn key(name: &str) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [b"name_deposit:", name.as_bytes()].concat())
}

/// Gives the deposit for a name's record back, where there is one.
pub(super) fn settle(context: &mut Context<'_>, name: &str) -> Step<()> {
    if let Some(deposit) = context.world.read::<Deposit>(&key(name))? {
        context.world.remove(key(name));
        deposits::give_back(context.world, NUMBER, deposit.payer, deposit.amount)?;
    }
    Ok(())
}

/// Takes the deposit for a name's record out of the sender's balance.
pub(super) fn put_down(context: &mut Context<'_>, name: &str) -> Step<()> {
    let payer = context.sender;
    let amount = deposits::take(context, NUMBER, payer)?;
    context.world.write(key(name), &Deposit { payer, amount });
    Ok(())
}

/// Whether a name's record counts, or will again once it or the name above is renewed.
fn may_count(context: &Context<'_>, name: &str, record: &Registration) -> Result<bool, Miss> {
    let is_held = |expires_at| matches!(price::stage(context.params, expires_at, context.height), Stage::Live | Stage::Grace);
    let root = state::registration(context.world, label::root_of(name))?;
    let is_of_root = |root: &Registration| root.registered_at == record.root_registered_at && is_held(root.expires_at);
    Ok(root.as_ref().is_some_and(is_of_root) && is_held(record.expires_at))
}

/// Whether the sender owns the rented name above one that cost no fee: all of that tree is its own (004 §7.2), whoever had it before.
fn is_root_owners(context: &Context<'_>, name: &str, record: &Registration) -> Result<bool, Miss> {
    let root = state::live(context.world, label::root_of(name), context.height)?;
    Ok(record.expires_at == WITH_ROOT && root.is_some_and(|root| root.record.owner == context.sender))
}

impl Handle for Release {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { name } = self;
        label::check(context.params, &name)?;
        if !name.contains('.') {
            return Err(error::NAME_POLICY.into());
        }
        let record = state::registration(context.world, &name)?.ok_or(error::NAME_NOT_FOUND)?;
        let is_allowed = record.owner == context.sender || is_root_owners(context, &name, &record)?;
        if !is_allowed && may_count(context, &name, &record)? {
            return Err(error::NAME_NOT_OWNER.into());
        }
        settle(context, &name)?;
        state::remove(context.world, &name, &record)?;
        Released(Change::new(&name, &record, Amount::ZERO)?).emit(context.world);
        Ok(())
    }
}
