//! Domains of other people's zones under which a name is served, too (CIP-16, decision 333).
//!
//! A claim says that the owner of a name wants it served under a domain. That the owner of the domain wants it, only the domain can
//! say: by the TXT record at `_cowboy.<domain>` that [`proof`] writes, which gateways read. So a claim takes nothing from anybody,
//! and many may claim one domain.

use super::handlers::own;
use super::{NUMBER, state};
use crate::actor::Context;
use core::net::Ipv4Addr;
use cowboy_state::{Key, Kind, Miss, Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::domain::is_canonical_host;
use cowboy_types::units::{ChainId, Count, Height};
use cowboy_types::{Abort, Address, error, record};

/// What stands before a domain where its TXT record is.
pub const LABEL: &str = "_cowboy.";

/// The longest domain: with [`LABEL`] it is a name of the DNS.
const DOMAIN_BYTES: usize = 253 - LABEL.len();

/// The protocol's own zone, below which names are served as they are.
const OWN_ZONE: &str = "cowboy.network";

record! {
    /// The wish of a name's owner.
    pub struct DomainClaim {
        /// The owner.
        pub owner: Address,
        /// The height at which the name was registered. A claim ends with its registration, and when the name is handed on.
        pub registered_at: Height,
    }
}

/// The claim of a name to a domain.
pub fn claim_key(domain: &str, name: &str) -> Key {
    of("domain:", &[domain.as_bytes(), &[0], name.as_bytes()].concat())
}

/// How many names claim a domain.
pub fn claims_key(domain: &str) -> Key {
    of("domain_claims:", domain.as_bytes())
}

/// How many domains a name claims.
fn domains_key(name: &str) -> Key {
    of("claimed_domains:", name.as_bytes())
}

fn of(prefix: &str, rest: &[u8]) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [prefix.as_bytes(), rest].concat())
}

/// The text of the TXT record by which a domain says that it is served for a name of a chain.
pub fn proof(chain: ChainId, name: &str) -> String {
    format!("cowboy1 chain={} name={name}", chain.0)
}

/// The name that a text of the DNS names for a chain; nothing where it is no proof for this chain.
pub fn proven(chain: ChainId, text: &str) -> Option<&str> {
    let name = text.strip_prefix("cowboy1 chain=")?.strip_prefix(&chain.0.to_string())?.strip_prefix(" name=")?;
    (text == proof(chain, name)).then_some(name)
}

/// Whether a text is a domain that may be claimed: in its one form, of two labels at least, no address, and not the protocol's own.
pub fn is_domain(text: &str) -> bool {
    let is_own = text == OWN_ZONE || text.strip_suffix(OWN_ZONE).is_some_and(|rest| rest.ends_with('.'));
    let is_name = is_canonical_host(text) && text.contains('.') && text.parse::<Ipv4Addr>().is_err();
    is_name && !is_own && text.len() <= DOMAIN_BYTES
}

/// Whether any name claims a domain. Without a claim nobody needs to ask the DNS.
pub fn is_claimed(world: &World, domain: &str) -> Result<bool, Miss> {
    Ok(world.read::<Count>(&claims_key(domain))?.is_some_and(|claims| claims.0 > 0))
}

/// Whether a name is to be served under a domain at a height, as far as the name's owner says so.
pub fn leads(world: &World, domain: &str, name: &str, height: Height) -> Result<bool, Miss> {
    world.require([&claim_key(domain, name)])?;
    let Some(claim) = world.read::<DomainClaim>(&claim_key(domain, name))? else { return Ok(false) };
    is_valid(world, &claim, name, height)
}

fn is_valid(world: &World, claim: &DomainClaim, name: &str, height: Height) -> Result<bool, Miss> {
    let live = state::live(world, name, height)?;
    Ok(live.is_some_and(|live| (live.record.owner, live.record.registered_at) == (claim.owner, claim.registered_at)))
}

fn domain_argument(argument: &Value) -> Result<&str, Abort> {
    let domain = argument.get("domain").and_then(Value::as_text).ok_or(error::INVALID_ARGUMENT)?;
    if is_domain(domain) { Ok(domain) } else { Err(error::DOMAIN_INVALID) }
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

fn emit(context: &mut Context<'_>, event: &'static str, domain: &str, name: &str) {
    let data = Value::map([("domain", Value::text(domain)), ("name", Value::text(name))]);
    context.announce(NUMBER, event, &data);
}

/// {name, domain}: the owner of the name wants it served under the domain.
pub(super) fn claim(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let live = own(context, argument)?;
    let domain = domain_argument(argument)?;
    let key = claim_key(domain, &live.name);
    context.world.require([&key, &claims_key(domain), &domains_key(&live.name)])?;
    let made = DomainClaim { owner: live.record.owner, registered_at: live.record.registered_at };
    match context.world.read::<DomainClaim>(&key)? {
        Some(former) if former == made => return Err(error::DOMAIN_CLAIMED.into()),
        // Of a former owner, or a former registration: it is counted already.
        Some(_) => {}
        None => {
            if count(context.world, domains_key(&live.name), 1)? > context.params.names.domains_max {
                return Err(error::DOMAIN_LIMIT.into());
            }
            count(context.world, claims_key(domain), 1)?;
        }
    }
    context.world.write(key, &made);
    emit(context, "name.domain_claimed", domain, &live.name);
    Ok(Value::text(proof(context.chain_id, &live.name)))
}

/// {name, domain}: the claim ends. The name's owner, or anybody where the claim is without effect already.
pub(super) fn release(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = argument.get("name").and_then(Value::as_text).ok_or(error::INVALID_ARGUMENT)?;
    let domain = domain_argument(argument)?;
    let key = claim_key(domain, name);
    context.world.require([&key, &claims_key(domain), &domains_key(name)])?;
    let claim = context.world.read::<DomainClaim>(&key)?.ok_or(error::NAME_NOT_FOUND)?;
    if claim.owner != context.sender && is_valid(context.world, &claim, name, context.height)? {
        return Err(error::NAME_NOT_OWNER.into());
    }
    context.world.remove(key);
    count(context.world, domains_key(name), -1)?;
    count(context.world, claims_key(domain), -1)?;
    emit(context, "name.domain_released", domain, name);
    Ok(Value::Null)
}

/// {name, domain} → whether the owner of the name wants it served under the domain.
pub(super) fn claims(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = argument.get("name").and_then(Value::as_text).ok_or(error::INVALID_ARGUMENT)?;
    Ok(Value::Bool(leads(context.world, domain_argument(argument)?, name, context.height)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What may be claimed, row by row: one form of each name, no patterns, no addresses, nothing of the protocol.
    #[test]
    fn domains_have_one_form() {
        let long = format!("{}.example.com", ["a".repeat(60).as_str(); 4].join("."));
        let rows = [
            ("example.com", true),
            ("shop.example.com", true),
            ("xn--bcher-kva.example", true),
            ("mycowboy.network", true),
            ("Example.com", false),
            ("example.com.", false),
            ("example.com:443", false),
            ("*.example.com", false),
            ("b\u{fc}cher.example", false),
            ("xn--a.example", false),
            ("_cowboy.example.com", false),
            ("example", false),
            ("127.0.0.1", false),
            ("::1", false),
            ("", false),
            (".example.com", false),
            ("a..example.com", false),
            ("-a.example.com", false),
            ("cowboy.network", false),
            ("mysite.cowboy.network", false),
            (&long, false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_domain(text), expected, "{text}");
        }
    }

    /// A proof is for one chain and one name, and written in one way.
    #[test]
    fn proofs_are_read_exactly() {
        let chain = ChainId(7);
        assert_eq!(proven(chain, &proof(chain, "my.site")), Some("my.site"));
        for wrong in
            ["", "cowboy1", "cowboy1 chain=07 name=mysite", "cowboy1 chain=77 name=mysite", "cowboy1 chain=7 Name=mysite", "v=spf1 -all"]
        {
            assert_eq!(proven(chain, wrong), None, "{wrong}");
        }
    }
}
