//! Domains of other people's zones under which a name is served, too (CIP-16, decision 333).
//!
//! A claim says that the owner of a name wants it served under a domain. That the owner of the domain wants it, only the domain can
//! say: by the TXT record at `_cowboy.<domain>` that [`proof`] writes, which gateways read. So a claim takes nothing from anybody,
//! and many may claim one domain. The record names the name's owner, so that whoever gets the name later needs a new one
//! (decision 362). A claim has a deposit, because it takes room until it is released.

use super::{NUMBER, state};
use core::net::Ipv4Addr;
use cowboy_state::{Key, Kind, Miss, World};
use cowboy_types::entitlement::domain::is_canonical_host;
use cowboy_types::units::{Amount, ChainId, Count, Height};
use cowboy_types::{Address, record};

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
pub(super) fn domains_key(name: &str) -> Key {
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

/// Whether a claim is of the present owner and registration of its name.
pub(super) fn is_valid(world: &World, claim: &DomainClaim, name: &str, height: Height) -> Result<bool, Miss> {
    let live = state::live(world, name, height)?;
    Ok(live.is_some_and(|live| (live.record.owner, live.record.registered_at) == (claim.owner, claim.registered_at)))
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
