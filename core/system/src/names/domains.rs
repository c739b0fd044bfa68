//! Domains of other people's zones under which a name is served, too (CIP-16, decision 333).
//!
//! A claim says that the owner of a name wants it served under a domain. That the owner of the domain wants it, only the domain can
//! say: by the TXT record at `_cowboy.<domain>` that [`proof`] writes, which gateways read. So a claim takes nothing from anybody,
//! and many may claim one domain. The record names the name's owner, so that whoever gets the name later needs a new one
//! (decision 362). A claim has a deposit, because it takes room until it is released.

use super::api::{Claim, ClaimDomain, ClaimsDomain, DomainClaimed, DomainReleased, ReleaseDomain};
use super::handlers::own;
use super::{NUMBER, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use core::net::Ipv4Addr;
use cowboy_state::{Key, Kind, Miss, Step, World};
use cowboy_types::entitlement::domain::is_canonical_host;
use cowboy_types::units::{Amount, ChainId, Count, Height};
use cowboy_types::{Abort, Address, error, record};

/// What stands before a domain where its TXT record is.
pub const LABEL: &str = "_cowboy.";

/// The longest domain: with [`LABEL`] it is a name of the DNS.
pub(super) const DOMAIN_BYTES: usize = 253 - LABEL.len();

/// The protocol's own zone, below which names are served as they are.
pub const OWN_ZONE: &str = "cowboy.network";

record! {
    /// The wish of a name's owner.
    pub struct DomainClaim {
        /// The owner.
        pub owner: Address,
        /// The height at which the name was registered. A claim ends with its registration, and when the name is handed on.
        pub registered_at: Height,
        /// What the owner put down for it; its owner's again when it is released.
        pub deposit: Amount,
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

/// The text of the TXT record by which a domain says that it is served for a name of a chain, while the name has this owner.
pub fn proof(chain: ChainId, name: &str, owner: Address) -> String {
    format!("cowboy1 chain={} name={name} owner={owner}", chain.0)
}

/// The name that a text of the DNS names for a chain, and its owner; nothing where it is no proof for this chain.
pub fn proven(chain: ChainId, text: &str) -> Option<(&str, Address)> {
    let rest = text.strip_prefix("cowboy1 chain=")?.strip_prefix(&chain.0.to_string())?.strip_prefix(" name=")?;
    let (name, owner) = rest.split_once(" owner=")?;
    let owner = owner.parse().ok()?;
    (text == proof(chain, name, owner)).then_some((name, owner))
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

/// The owner of a name that is to be served under a domain at a height, as far as that owner says so.
pub fn claimant(world: &World, domain: &str, name: &str, height: Height) -> Result<Option<Address>, Miss> {
    world.require([&claim_key(domain, name)])?;
    let Some(claim) = world.read::<DomainClaim>(&claim_key(domain, name))? else { return Ok(None) };
    Ok(is_valid(world, &claim, name, height)?.then_some(claim.owner))
}

fn is_valid(world: &World, claim: &DomainClaim, name: &str, height: Height) -> Result<bool, Miss> {
    let live = state::live(world, name, height)?;
    Ok(live.is_some_and(|live| (live.record.owner, live.record.registered_at) == (claim.owner, claim.registered_at)))
}

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

    /// A proof is for one chain, one name and one owner, and written in one way.
    #[test]
    fn proofs_are_read_exactly() {
        let (chain, owner) = (ChainId(7), Address([0xab; 20]));
        let right = proof(chain, "my.site", owner);
        assert_eq!(right, format!("cowboy1 chain=7 name=my.site owner=0x{}", "ab".repeat(20)));
        assert_eq!(proven(chain, &right), Some(("my.site", owner)));
        let changed = |from: &str, to: &str| right.replace(from, to);
        let wrong = [
            changed("chain=7", "chain=07"),
            changed("chain=7", "chain=77"),
            changed("name", "Name"),
            changed("ab", "AB"),
            changed("0x", ""),
            changed(" owner", " Owner"),
            format!("{right} "),
            right[..right.len() - 2].to_owned(),
            right[..right.find(" owner").expect("it names one")].to_owned(),
            "v=spf1 -all".to_owned(),
            String::new(),
        ];
        for wrong in wrong {
            assert_eq!(proven(chain, &wrong), None, "{wrong}");
        }
    }
}
