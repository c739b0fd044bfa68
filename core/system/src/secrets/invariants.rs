//! What holds between the records of 0x04.

use super::state::{self, Subject};
use super::types::{Committee, Proxy, Release, ReleaseKey, Round, Secret, Vault, Version, first, indices};
use super::{NUMBER, round};
use crate::records::{Broken, Records, address_of, equal, holds};
use commonware_codec::DecodeExt as _;
use cowboy_secrets::dealing::{MIN_MEMBERS, Outcome, threshold};
use cowboy_state::records::Actor;
use cowboy_state::{Key, Kind};
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Hash};
use std::collections::BTreeSet;

/// What 0x04 owes: the stakes of proxies, the deposits of secrets, the fees and bonds of releases.
pub fn owed(records: &Records<'_>) -> Result<u128, Broken> {
    let bond = |release: &Release| release.demand.as_ref().map_or(Amount::ZERO, |demand| demand.bond);
    let stakes: u128 = records.of::<Proxy>(NUMBER, "proxy:")?.iter().map(|(_, proxy)| u128::from(proxy.stake.0)).sum();
    let deposits: u128 = records.of::<Vault>(NUMBER, "vault:")?.iter().map(|(_, vault)| u128::from(vault.deposit.0)).sum();
    let held = |release: &Release| u128::from(release.fee.0) + u128::from(bond(release).0);
    let held: u128 = records.of::<Release>(NUMBER, "release:")?.iter().map(|(_, release)| held(release)).sum();
    Ok(stakes + deposits + held)
}

/// 0x04 has all that it holds for others; every proxy, key and release is listed once; proxies list the demands on them; a committee has the shares of
/// its key; messages stand as long as their dealing; secrets are what their accounts count; actors that were handed on are noted.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    records.covers("the stakes, deposits, fees and bonds of 0x04 are there", Address::system(NUMBER), owed(records)?)?;
    let proxies = records.of::<Proxy>(NUMBER, "proxy:")?;
    let vaults = records.of::<Vault>(NUMBER, "vault:")?;
    let releases = records.of::<Release>(NUMBER, "release:")?;
    let listed: BTreeSet<Vec<u8>> = records.names(state::proxies()).iter().map(|name| name.to_vec()).collect();
    // One that gave way to another in a full registry stands until it takes its stake.
    let expected = proxies.iter().filter(|(name, proxy)| proxy.left_at.is_none() || listed.contains(*name));
    equal("every proxy is listed", &listed, &expected.map(|(name, _)| name.to_vec()).collect())?;
    agenda(records, &releases)?;
    demands(&proxies, &releases)?;
    committees(records)?;
    messages(records)?;
    secrets(records, &vaults)?;
    handed_on(records)
}

/// An actor that another account owns than the one which deployed it was handed on, and no note says that one was not. That notes stay for good shows
/// only from block to block: the testkit looks at that.
fn handed_on(records: &Records<'_>) -> Result<(), Broken> {
    for (name, is_handed_on) in records.of::<bool>(NUMBER, "handed:")? {
        holds("a note of an actor handed on says so", is_handed_on, &name)?;
    }
    for (Key { address, .. }, _) in records.of_kind::<Actor>(Kind::Actor)?.into_iter().filter(|(_, actor)| actor.owner != actor.creator) {
        let is_noted = records.record::<bool>(&state::handed_key(*address))? == Some(true);
        holds("an actor handed on is noted", is_noted, address)?;
    }
    Ok(())
}

/// The agenda has every key and every release once, at the height that its record names.
fn agenda(records: &Records<'_>, releases: &[(&[u8], Release)]) -> Result<(), Broken> {
    let rule = "the agenda has every key and every release";
    let mut expected: Vec<(Height, Subject)> = Vec::new();
    for (name, key) in records.of::<ReleaseKey>(NUMBER, "key:")? {
        expected.push((key.next_look, Subject::Key(number(rule, name)?)));
    }
    for (name, release) in releases {
        let id = Hash((*name).try_into().map_err(|_| Broken { rule, found: format!("{name:?}") })?);
        expected.push((release.next_look, Subject::Release(id)));
    }
    let found: Vec<_> = records.names(state::agenda()).iter().filter_map(|name| Subject::of_name(name)).collect();
    expected.sort_by_key(|(height, subject)| (*height, format!("{subject:?}")));
    let mut found = found;
    found.sort_by_key(|(height, subject)| (*height, format!("{subject:?}")));
    equal(rule, &found, &expected)
}

fn number(rule: &'static str, name: &[u8]) -> Result<u32, Broken> {
    Ok(u32::from_be_bytes(name.try_into().map_err(|_| Broken { rule, found: format!("{name:?}") })?))
}

/// Every proxy lists the releases of which it has to answer a demand, so that it is asked for no more than it can serve, and learns of all.
fn demands(proxies: &[(&[u8], Proxy)], releases: &[(&[u8], Release)]) -> Result<(), Broken> {
    let rule = "a proxy lists the demands on it";
    for (name, proxy) in proxies {
        let (address, _) = address_of(name)?;
        let is_asked = |release: &Release| {
            let open = release.demand.as_ref().filter(|demand| !demand.is_over);
            open.is_some_and(|demand| indices(demand.due).any(|place| demand.members.get(place) == Some(&address)))
        };
        let expected: BTreeSet<&[u8]> = releases.iter().filter(|(_, release)| is_asked(release)).map(|(id, _)| *id).collect();
        equal(rule, &proxy.demands.iter().map(|id| &id.0[..]).collect(), &expected)?;
        equal(rule, &proxy.demands.len(), &expected.len())?;
    }
    Ok(())
}

/// The messages of a dealing are those of who spoke in it.
fn messages(records: &Records<'_>) -> Result<(), Broken> {
    let rule = "every message belongs to a dealing";
    let mut expected = BTreeSet::new();
    for (name, round) in records.of::<Round>(NUMBER, "round:")? {
        let id = number(rule, name)?;
        expected.extend(round::messages(&round).map(|(phase, place)| state::message_key(id, phase, place)));
    }
    let found: BTreeSet<_> = records.named(NUMBER, "message:").map(|(name, _)| state::message_named(name)).collect();
    equal(rule, &found, &expected)
}

/// A committee has at least the fewest members, in the order of their keys, a coefficient for each that has to answer, and its key.
fn committees(records: &Records<'_>) -> Result<(), Broken> {
    for (name, committee) in records.of::<Committee>(NUMBER, "committee:")? {
        let rule = "a committee holds the key that it is named after";
        let id = number(rule, name.get(..4).unwrap_or_default())?;
        let key = records.record::<ReleaseKey>(&state::release_key(id))?;
        let outcome = Outcome::decode(committee.outcome.bytes().clone()).map_err(|error| Broken { rule, found: error.to_string() })?;
        let master = key.and_then(|key| key.master).map(|master| master.0);
        holds(rule, master == Some(*outcome.master().bytes()), &id)?;
        let members = committee.members.len();
        holds("a committee has enough members", members >= MIN_MEMBERS, &members)?;
        holds(
            "a committee has a coefficient for each member that has to answer",
            outcome.polynomial.len() == threshold(members),
            &members,
        )?;
        let confirmed = usize::try_from(committee.confirmed.count_ones()).unwrap_or(usize::MAX);
        let are_members = committee.confirmed & !first(members) == 0;
        holds("enough members of a committee have a share", are_members && confirmed >= threshold(members), &confirmed)?;
        let is_sorted = committee.members.is_sorted_by(|one, next| one.key < next.key);
        holds("members are in the order of their keys", is_sorted, &committee.members)?;
    }
    Ok(())
}

/// An account's count and deposit are those of its secrets, and each version that a secret lists is there, with its bytes.
fn secrets(records: &Records<'_>, vaults: &[(&[u8], Vault)]) -> Result<(), Broken> {
    let secrets = records.of::<Secret>(NUMBER, "secret:")?;
    let versions = records.of::<Version>(NUMBER, "version:")?;
    let kept: usize = secrets.iter().map(|(_, secret)| secret.versions.len()).sum();
    equal("every version belongs to a secret", &versions.len(), &kept)?;
    equal("every version has its sealed bytes", &records.named(NUMBER, "sealed:").count(), &kept)?;
    for (name, vault) in vaults {
        let (account, _) = address_of(name)?;
        let own = secrets.iter().filter(|(name, _)| name.starts_with(&account.0)).count();
        equal("an account counts its secrets", &vault.secrets.0, &u64::try_from(own).unwrap_or(u64::MAX))?;
        equal("an account's secrets are listed", &records.names(state::secrets_of(account)).len(), &own)?;
        let held = versions.iter().filter(|(name, _)| name.starts_with(&account.0));
        let held: u128 = held.map(|(_, version)| u128::from(version.deposit.0)).sum();
        equal("an account's deposit is that of its versions", &u128::from(vault.deposit.0), &held)?;
    }
    Ok(())
}
