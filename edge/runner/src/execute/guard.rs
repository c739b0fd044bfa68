//! Which hosts and addresses a job may reach.
//!
//! A name is resolved once, every address it has is looked at, and the connection goes to what was looked at: a name that changes its
//! mind afterwards is not asked again. Redirections are checked like first requests.

use crate::config::Http;
use cowboy_types::entitlement::domain;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};
use url::{Host, Url};

/// Finds the addresses of a name.
pub trait Lookup: Send + Sync + 'static {
    /// All of them, in order.
    fn lookup(&self, name: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>>;
}

/// The system's.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.map(|address| address.ip()).collect()) })
    }
}

/// Why something may not be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no web address.
    #[error("{0} is not a web address: give http:// or https:// with a host")]
    NoAddress(String),
    /// The runner's list leaves it out.
    #[error("this runner does not allow the host {0}")]
    NotAllowed(String),
    /// It is within somebody's own network.
    #[error("{0} is a private address")]
    Private(String),
}

/// The rules of a runner.
#[derive(Clone)]
pub struct Guard {
    allow: Vec<String>,
    deny: Vec<String>,
    allow_private: bool,
    private_hosts: Vec<String>,
    hosts: BTreeMap<String, SocketAddr>,
    lookup: Arc<dyn Lookup>,
}

impl Guard {
    /// The rules that the configuration has.
    pub fn new(settings: &Http, lookup: Arc<dyn Lookup>) -> Self {
        Self {
            allow: settings.allow.clone(),
            deny: settings.deny.clone(),
            allow_private: settings.allow_private,
            private_hosts: settings.private_hosts.clone(),
            hosts: settings.hosts.clone(),
            lookup,
        }
    }

    /// No list, and private addresses or not: for a runner's own peers.
    pub fn open(allow_private: bool) -> Self {
        Self::new(&Http { allow_private, ..Http::default() }, Arc::new(SystemLookup))
    }

    /// Looks at an address before it is asked. Names are looked at again when they are resolved.
    pub fn check(&self, url: &Url) -> Result<(), Refusal> {
        let has_user = !url.username().is_empty() || url.password().is_some();
        let host = url.host().filter(|_| matches!(url.scheme(), "http" | "https") && !has_user);
        let host = host.ok_or_else(|| Refusal::NoAddress(url.to_string()))?;
        let name = match &host {
            // What ends in a dot is the same host.
            Host::Domain(name) => name.trim_end_matches('.').to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        if is_listed(&self.deny, &name) || !self.allow.is_empty() && !is_listed(&self.allow, &name) {
            return Err(Refusal::NotAllowed(name));
        }
        let address = match host {
            Host::Domain(_) => return Ok(()),
            Host::Ipv4(address) => IpAddr::V4(address),
            Host::Ipv6(address) => IpAddr::V6(address),
        };
        self.check_address(&name, address)
    }

    fn check_address(&self, name: &str, address: IpAddr) -> Result<(), Refusal> {
        if self.allow_private || is_public(address) || is_listed(&self.private_hosts, name) {
            Ok(())
        } else {
            Err(Refusal::Private(address.to_string()))
        }
    }
}

fn is_listed(list: &[String], name: &str) -> bool {
    list.iter().any(|pattern| domain::covers(pattern, name))
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            if let Some(address) = guard.hosts.get(name.as_str().trim_end_matches('.')) {
                let told: Addrs = Box::new(std::iter::once(*address));
                return Ok(told);
            }
            let addresses = guard.lookup.lookup(name.as_str().to_owned()).await?;
            // One private address among public ones is refused whole: nobody has both without meaning it.
            for address in &addresses {
                guard.check_address(name.as_str().trim_end_matches('.'), *address)?;
            }
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// Blocks of IPv4 that are not the internet (IANA's special-purpose registry): first address, bits.
const SPECIAL_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
    ([255, 255, 255, 255], 32),
];

/// Blocks within 2000::/3 that are not the internet, or carry another address.
const SPECIAL_V6: [([u16; 2], u32); 4] = [([0x2001, 0], 23), ([0x2001, 0xdb8], 32), ([0x2002, 0], 16), ([0x3fff, 0], 20)];

/// Whether an address is one of the internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = u32::from(address);
    !SPECIAL_V4.iter().any(|(first, length)| (bits ^ u32::from(Ipv4Addr::from(*first))).checked_shr(32 - length) == Some(0))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let words = address.segments();
    // Mapped addresses and NAT64 reach what they carry.
    let carried = address.to_ipv4_mapped().or_else(|| (words[..6] == [0x64, 0xff9b, 0, 0, 0, 0]).then(|| last_v4(&words)));
    if let Some(carried) = carried {
        return is_public_v4(carried);
    }
    let head = u32::from(words[0]) << 16 | u32::from(words[1]);
    let is_within = |first: [u16; 2], length: u32| (head ^ (u32::from(first[0]) << 16 | u32::from(first[1]))) >> (32 - length) == 0;
    is_within([0x2000, 0], 3) && !SPECIAL_V6.iter().any(|(first, length)| is_within(*first, *length))
}

fn last_v4(words: &[u16; 8]) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(words[6]) << 16 | u32::from(words[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known() {
        let rows = [
            ("1.1.1.1", true),
            ("93.184.216.34", true),
            ("172.15.255.255", true),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("172.32.0.0", true),
            ("10.1.2.3", false),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("0.0.0.0", false),
            ("100.64.0.1", false),
            ("100.128.0.1", true),
            ("169.254.169.254", false),
            ("192.168.1.1", false),
            ("198.19.255.255", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::1", false),
            ("::", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:1.1.1.1", true),
            ("::127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::101:101", true),
            ("64:ff9b:1::1", false),
            ("2606:4700:4700::1111", true),
            ("2002:7f00:1::", false),
            ("2001:0:1::1", false),
            ("2001:db8::1", false),
            ("2001:4860:4860::8888", true),
            ("fc00::1", false),
            ("fd12::1", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
            ("ff02::1", false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_public(text.parse().expect("an address")), expected, "{text}");
        }
    }

    #[test]
    fn hosts_are_checked_before_they_are_asked() {
        let settings =
            Http { allow: vec!["*.example.com".into(), "1.1.1.1".into()], deny: vec!["bad.example.com".into()], ..Http::default() };
        let listed = Guard::new(&settings, Arc::new(SystemLookup));
        let open = Guard::open(false);
        let private = Guard::open(true);
        let rows: &[(&Guard, &str, bool)] = &[
            (&listed, "https://api.example.com/x", true),
            (&listed, "https://API.EXAMPLE.COM./x", true),
            (&listed, "https://bad.example.com", false),
            (&listed, "https://bad.example.com.", false),
            (&listed, "https://example.com", false),
            (&listed, "https://example.org", false),
            (&listed, "http://1.1.1.1", true),
            (&open, "https://example.org", true),
            (&open, "http://127.0.0.1", false),
            (&open, "http://2130706433", false),
            (&open, "http://0x7f.1", false),
            (&open, "http://0177.0.0.1", false),
            (&open, "http://[::1]:80", false),
            (&open, "http://[::ffff:127.0.0.1]", false),
            (&open, "http://169.254.169.254/latest/meta-data", false),
            (&open, "ftp://example.org", false),
            (&open, "file:///etc/passwd", false),
            (&open, "https://user:word@example.org", false),
            (&private, "http://127.0.0.1", true),
        ];
        for (guard, url, expected) in rows {
            assert_eq!(guard.check(&url.parse().expect("an address")).is_ok(), *expected, "{url}");
        }
    }
}
