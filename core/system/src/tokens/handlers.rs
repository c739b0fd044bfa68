//! What 0x06 does with tokens.

use super::api::{
    Allowance, Approve, Approved, BalanceOf, Burn, Burned, Create, Created, Described, Get, HookCall, HookSet, Mint, Minted,
    OwnershipTransferred, SetHook, TotalSupply, Transfer, TransferFrom, TransferOwnership, Transferred,
};
use super::state::{self, Allowed, Token};
use crate::actor::{Context, Forward, Handle};
use crate::deposits;
use crate::entitlements::check;
use crate::schema::{Emit, Form};
use cowboy_state::{Key, Step, World};
use cowboy_types::actors::BASEFEE as NUMBER;
use cowboy_types::permission::{Action, Scope};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash, error};

/// The handler of a hook; its argument is a [`HookCall`].
pub const HOOK: &str = "on_token_transfer";

/// The largest number of decimal places.
pub(crate) const MAX_DECIMALS: u8 = 38;

impl Handle for Create {
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        let Create { name, symbol, decimals, initial_supply, max_supply, hook, metadata_uri } = self;
        if name.is_empty() || symbol.is_empty() || decimals > MAX_DECIMALS || initial_supply > max_supply {
            return Err(error::INVALID_ARGUMENT.into());
        }
        let (owner, created_at) = (context.sender, context.height);
        let made = state::made(context.world, owner)?;
        let token_id = state::token_id(owner, made);
        state::tokens().insert(context.world, &token_id.0)?;
        context.world.write(state::made_key(owner), &Count(made.saturating_add(1)));
        let token = Token { owner, name, symbol, decimals, supply: initial_supply, max_supply, hook, metadata_uri, created_at };
        context.world.write(state::token_key(&token_id), &token);
        if initial_supply > 0 {
            state::set_units(context.world, state::balance_key(&token_id, owner), initial_supply);
        }
        Created { owner, supply: initial_supply, token_id }.emit(context.world);
        Ok(token_id)
    }
}

/// Moves tokens from one account to another.
fn shift(world: &mut World, id: &Hash, from: Address, to: Address, amount: u128) -> Step<()> {
    let (source, target) = (state::balance_key(id, from), state::balance_key(id, to));
    world.require([&source, &target])?;
    let left = state::units(world, &source)?.checked_sub(amount).ok_or(error::TOKEN_BALANCE)?;
    state::set_units(world, source, left);
    // All of a token fit a number, and so does what one account has.
    let there = state::units(world, &target)?.saturating_add(amount);
    state::set_units(world, target, there);
    Ok(())
}

/// Moves tokens, emits the event, and calls the hook.
fn hand_over(context: &mut Context<'_>, token_id: Hash, token: &Token, from: Address, to: Address, amount: u128) -> Step<()> {
    shift(context.world, &token_id, from, to, amount)?;
    Transferred { from, to, amount, token_id }.emit(context.world);
    if let Some(target) = token.hook {
        let payload = HookCall { token_id, operator: context.sender, from, to, amount }.write().encode();
        context.forward = Some(Forward { target, handler: HOOK, payload, cycles: Some(context.params.costs.token_hook), repays: None });
    }
    Ok(())
}

/// Sets what a spender may move. The owner puts a deposit down for the record, and has it back when nothing is left to move.
fn allow(context: &mut Context<'_>, key: Key, owner: Address, amount: u128) -> Step<()> {
    let before = state::allowed(context.world, &key)?;
    match (before, amount) {
        (None, 0) => {}
        (Some(before), 0) => {
            context.world.remove(key);
            deposits::give_back(context.world, NUMBER, owner, before.deposit)?;
        }
        (before, amount) => {
            let deposit = match before {
                Some(before) => before.deposit,
                None => deposits::take(context, NUMBER, owner)?,
            };
            context.world.write(key, &Allowed { amount, deposit });
        }
    }
    Ok(())
}

impl Handle for Transfer {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { token_id, to, amount } = self;
        let token = state::read(context.world, &token_id)?;
        let from = context.sender;
        hand_over(context, token_id, &token, from, to, amount)
    }
}

impl Handle for TransferFrom {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { token_id, owner, to, amount } = self;
        let token = state::read(context.world, &token_id)?;
        let key = state::allowance_key(&token_id, owner, context.sender);
        let allowed = state::allowed(context.world, &key)?.map_or(0, |allowed| allowed.amount);
        // Nobody has the event and the hook of a transfer in another's name, also of nothing, without that one's word (decision 694).
        let is_allowed = allowed > 0 || owner == context.sender;
        let left = allowed.checked_sub(amount).filter(|_| is_allowed).ok_or(error::TOKEN_ALLOWANCE)?;
        allow(context, key, owner, left)?;
        hand_over(context, token_id, &token, owner, to, amount)
    }
}

impl Handle for Approve {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { token_id, spender, amount } = self;
        state::read(context.world, &token_id)?;
        let (owner, key) = (context.sender, state::allowance_key(&token_id, context.sender, spender));
        allow(context, key, owner, amount)?;
        Approved { owner, spender, amount, token_id }.emit(context.world);
        Ok(())
    }
}

impl Handle for Mint {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { token_id, to, amount } = self;
        let mut token = state::read(context.world, &token_id)?;
        // The owner may; the Entitlement Registry is a way beside it, not in its place (002 §7.6).
        if token.owner != context.sender {
            let minter = std::mem::replace(&mut context.sender, token.owner);
            let used = check::consume(context, minter, &Scope::Token { token: token_id }, &Action::TokenMint, amount);
            context.sender = minter;
            used?;
        }
        let supply = token.supply.checked_add(amount).filter(|supply| *supply <= token.max_supply).ok_or(error::TOKEN_SUPPLY)?;
        token.supply = supply;
        let key = state::balance_key(&token_id, to);
        let there = state::units(context.world, &key)?.saturating_add(amount);
        state::set_units(context.world, key, there);
        context.world.write(state::token_key(&token_id), &token);
        Minted { to, amount, supply, token_id }.emit(context.world);
        Ok(())
    }
}

impl Handle for Burn {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { token_id, amount } = self;
        let mut token = state::read(context.world, &token_id)?;
        let (from, key) = (context.sender, state::balance_key(&token_id, context.sender));
        let left = state::units(context.world, &key)?.checked_sub(amount).ok_or(error::TOKEN_BALANCE)?;
        state::set_units(context.world, key, left);
        let supply = token.supply.checked_sub(amount).expect("nobody has more than there is");
        token.supply = supply;
        context.world.write(state::token_key(&token_id), &token);
        Burned { from, amount, supply, token_id }.emit(context.world);
        Ok(())
    }
}

impl Handle for BalanceOf {
    fn handle(self, context: &mut Context<'_>) -> Step<u128> {
        let Self { token_id, account } = self;
        state::read(context.world, &token_id)?;
        Ok(state::units(context.world, &state::balance_key(&token_id, account))?)
    }
}

impl Handle for Allowance {
    fn handle(self, context: &mut Context<'_>) -> Step<u128> {
        let Self { token_id, owner, spender } = self;
        state::read(context.world, &token_id)?;
        Ok(state::allowed(context.world, &state::allowance_key(&token_id, owner, spender))?.map_or(0, |allowed| allowed.amount))
    }
}

impl Handle for TotalSupply {
    fn handle(self, context: &mut Context<'_>) -> Step<u128> {
        let Self { token_id } = self;
        Ok(state::read(context.world, &token_id)?.supply)
    }
}

impl Handle for Get {
    fn handle(self, context: &mut Context<'_>) -> Step<Described> {
        let Self { token_id } = self;
        let Token { owner, name, symbol, decimals, supply, max_supply, hook, metadata_uri, created_at: _ } =
            state::read(context.world, &token_id)?;
        Ok(Described { name, symbol, decimals, owner, supply, max_supply, hook, metadata_uri })
    }
}

/// A token of the sender's.
fn own(context: &Context<'_>, id: &Hash) -> Step<Token> {
    let token = state::read(context.world, id)?;
    if token.owner == context.sender { Ok(token) } else { Err(error::NOT_OWNER.into()) }
}

impl Handle for SetHook {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { token_id, hook } = self;
        let mut token = own(context, &token_id)?;
        token.hook = hook;
        context.world.write(state::token_key(&token_id), &token);
        HookSet { hook, token_id }.emit(context.world);
        Ok(())
    }
}

impl Handle for TransferOwnership {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { token_id, owner } = self;
        let mut token = own(context, &token_id)?;
        token.owner = owner;
        context.world.write(state::token_key(&token_id), &token);
        OwnershipTransferred { owner, token_id }.emit(context.world);
        Ok(())
    }
}
