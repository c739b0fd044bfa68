//! Claims of names to domains of other people's zones: making them, releasing them, and their deposits (CIP-16, decision 333).

use super::NUMBER;
use super::api::{Claim, ClaimDomain, ClaimsDomain, DomainClaimed, DomainReleased, ReleaseDomain};
use super::domains::{DomainClaim, claim_key, claimant, claims_key, domains_key, is_domain, is_valid, proof};
use super::handlers::own;
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::{Key, Miss, Step, World};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Abort, Address, error};

fn require_domain(domain: &str) -> Result<(), Abort> {
    if is_domain(domain) { Ok(()) } else { Err(error::DOMAIN_INVALID) }
}

/// Adds to a count, or takes from it; a count of nothing has no record. Answers the count.
fn count(world: &mut World, key: Key, change: i64) -> Result<u64, Miss> {
    let before = world.read::<Count>(&key)?.unwrap_or(Count::ZERO);
    let after = before.0.saturating_add_signed(change);
    match after {
        0 => world.remove(key),
        after => world.write(key, &Count(after)),
    }
    Ok(after)
}

/// Keeps a claim's deposit of what came along, and gives the rest back.
fn take_deposit(context: &mut Context<'_>) -> Step<Amount> {
    let deposit = Amount(context.params.names.domain_deposit);
    if context.value < deposit {
        return Err(error::DOMAIN_DEPOSIT.into());
    }
    give_back(context, context.sender, context.value.saturating_sub(deposit))?;
    Ok(deposit)
}

fn give_back(context: &mut Context<'_>, to: Address, amount: Amount) -> Step<()> {
    assert!(context.world.debit(Address::system(NUMBER), amount)?, "0x0E has what came along, and every deposit");
    Ok(context.world.credit(to, amount)?)
}

impl Handle for ClaimDomain {
    fn handle(self, context: &mut Context<'_>) -> Step<String> {
        let Self { name, domain } = self;
        let live = own(context, &name)?;
        require_domain(&domain)?;
        let deposit = take_deposit(context)?;
        let key = claim_key(&domain, &name);
        context.world.require([&key, &claims_key(&domain), &domains_key(&name)])?;
        let made = DomainClaim { owner: live.record.owner, registered_at: live.record.registered_at, deposit };
        match context.world.read::<DomainClaim>(&key)? {
            Some(former) if (former.owner, former.registered_at) == (made.owner, made.registered_at) => {
                return Err(error::DOMAIN_CLAIMED.into());
            }
            // Of a former owner, or a former registration: it is counted already.
            Some(former) => give_back(context, former.owner, former.deposit)?,
            None => {
                if count(context.world, domains_key(&name), 1)? > context.params.names.domains_max {
                    return Err(error::DOMAIN_LIMIT.into());
                }
                count(context.world, claims_key(&domain), 1)?;
            }
        }
        context.world.write(key, &made);
        let text = proof(context.chain_id, &name, made.owner);
        DomainClaimed(Claim::new(domain, name)?).emit(context.world);
        Ok(text)
    }
}

impl Handle for ReleaseDomain {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { name, domain } = self;
        require_domain(&domain)?;
        let key = claim_key(&domain, &name);
        context.world.require([&key, &claims_key(&domain), &domains_key(&name)])?;
        let claim = context.world.read::<DomainClaim>(&key)?.ok_or(error::NAME_NOT_FOUND)?;
        if claim.owner != context.sender && is_valid(context.world, &claim, &name, context.height)? {
            return Err(error::NAME_NOT_OWNER.into());
        }
        context.world.remove(key);
        give_back(context, claim.owner, claim.deposit)?;
        count(context.world, domains_key(&name), -1)?;
        count(context.world, claims_key(&domain), -1)?;
        DomainReleased(Claim::new(domain, name)?).emit(context.world);
        Ok(())
    }
}

impl Handle for ClaimsDomain {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let Self { name, domain } = self;
        require_domain(&domain)?;
        Ok(claimant(context.world, &domain, &name, context.height)?.is_some())
    }
}
