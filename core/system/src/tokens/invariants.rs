//! What holds between the records of tokens, which 0x06 keeps.

use crate::ledger::{self, Allowed, NUMBER, Token, Units};
use crate::records::{Broken, Records, address_of, equal, holds};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;

/// A token's supply is the sum of its balances and no more than its most; every token is listed, and counted as its creator's; what is
/// nothing has no record; 0x06 has the deposits of allowances.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let mut sums: BTreeMap<Hash, u128> = BTreeMap::new();
    for (name, units) in records.of::<Units>(NUMBER, "token-balance:")? {
        holds("an account without tokens has no record of them", units.amount > 0, &name)?;
        let sum = sums.entry(id_of(name)?).or_default();
        *sum = sum.saturating_add(units.amount);
    }
    let tokens = records.of::<Token>(NUMBER, "token:")?;
    for (name, token) in &tokens {
        holds("a token's supply is at most its most", token.supply <= token.max_supply, token)?;
        let sum = sums.remove(&id_of(name)?).unwrap_or_default();
        equal("a token's supply is the sum of its balances", &token.supply, &sum)?;
    }
    holds("balances are of tokens that exist", sums.is_empty(), &sums)?;
    let listed: Vec<Vec<u8>> = records.names(ledger::tokens()).iter().map(|name| name.to_vec()).collect();
    equal("every token is listed once", &listed, &tokens.iter().map(|(name, _)| name.to_vec()).collect())?;
    let mut made = Vec::new();
    for (name, count) in records.of::<Count>(NUMBER, "tokens-made:")? {
        let (creator, _) = address_of(name)?;
        made.extend((0..count.0).map(|number| ledger::token_id(creator, number).0.to_vec()));
    }
    made.sort_unstable();
    equal("a creator counts the tokens that it made", &made, &listed)?;
    let mut deposits = 0;
    for (name, allowed) in records.of::<Allowed>(NUMBER, "token-allowance:")? {
        holds("an allowance of nothing has no record", allowed.amount > 0, &name)?;
        deposits += u128::from(allowed.deposit.0);
    }
    records.covers("0x06 has the deposits of allowances", Address::system(NUMBER), deposits)
}

fn id_of(name: &[u8]) -> Result<Hash, Broken> {
    let id = name.first_chunk().ok_or(Broken { rule: "a token's record names the token", found: format!("{name:?}") })?;
    Ok(Hash(*id))
}
