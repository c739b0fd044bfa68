//! What holds between the records of names.

use super::domains::DomainClaim;
use super::release::Deposit;
use super::types::Registration;
use super::{NUMBER, state};
use crate::records::{Broken, Records, address_of, equal, holds};
use cowboy_types::Address;
use cowboy_types::units::Count;
use std::collections::BTreeMap;

/// Names are listed once, and for no other actor than theirs; domains and names count their claims; 0x0E has the deposits.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let names: BTreeMap<&[u8], Registration> = records.of::<Registration>(NUMBER, "name:")?.into_iter().collect();
    let listed = records.names(state::names());
    equal("every name is listed once", &listed.iter().map(|name| &name[..]).collect(), &names.keys().copied().collect::<Vec<_>>())?;
    for listing in records.names(state::names_of_actors()) {
        let (actor, rest) = address_of(&listing)?;
        let (owner, name) = address_of(rest)?;
        let is_its_own = names.get(name).is_some_and(|found| (found.actor, found.owner) == (actor, owner));
        holds("a name is listed for no other actor than its own", is_its_own, &listing)?;
    }
    let mut owed = 0;
    let (mut domains, mut claimed): (BTreeMap<&[u8], u64>, BTreeMap<&[u8], u64>) = Default::default();
    for (place, claim) in records.of::<DomainClaim>(NUMBER, "domain:")? {
        let mut parts = place.splitn(2, |byte| *byte == 0);
        let (domain, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        *domains.entry(domain).or_default() += 1;
        *claimed.entry(name).or_default() += 1;
        owed += u128::from(claim.deposit.0);
    }
    equal("a domain counts its claims", &counts(records, "domain_claims:")?, &domains)?;
    equal("a name counts the domains that it claims", &counts(records, "claimed_domains:")?, &claimed)?;
    for (name, deposit) in records.of::<Deposit>(NUMBER, "name_deposit:")? {
        holds("a deposit for a name's record is of a record", names.contains_key(name), &deposit)?;
        owed += u128::from(deposit.amount.0);
    }
    records.covers("0x0E has the deposits of claims and names", Address::system(NUMBER), owed)
}

fn counts<'a>(records: &'a Records<'_>, prefix: &'static str) -> Result<BTreeMap<&'a [u8], u64>, Broken> {
    Ok(records.of::<Count>(NUMBER, prefix)?.into_iter().map(|(name, count)| (name, count.0)).collect())
}
