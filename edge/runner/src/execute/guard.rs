//! Which hosts and addresses a job may reach.
//!
//! A name is resolved once, every address it has is looked at, and the connection goes to what was looked at: a name that changes its
//! mind afterwards is not asked again. Redirections are checked like first requests.

use crate::config::Http;
use cowboy_container::egress::Gate;
use cowboy_serve::is_public;
use cowboy_system::offchain::address;
use cowboy_types::entitlement::domain;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::Arc,
};
use url::{Host, Url};

/// Finds the addresses of a name.
pub trait Lookup: Send + Sync + 'static {
    /// All of them, in order.
    fn lookup(&self, name: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>>;

    /// Whether an address is one of this computer: what goes there passes by the rules that a firewall has for others.
    fn is_own(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let any = if address.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
        // Nothing is sent: the system only says from which address it would be, and only to itself is that the same one.
        let source = || {
            let socket = UdpSocket::bind((any, 0))?;
            socket.connect((address, 9))?;
            socket.local_addr()
        };
        source().is_ok_and(|source| source.ip() == address)
    }
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
    /// It is this computer.
    #[error("{0} is an address of the runner's own computer: if its service is for everybody, name the host in http.private_hosts")]
    Own(String),
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
        let host = url.host().filter(|_| address::host(url.as_str()).is_some());
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

    /// All addresses of a name, if each of them may be reached.
    async fn addresses_of(&self, name: &str, port: u16) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        if let Some(address) = self.hosts.get(name.trim_end_matches('.')) {
            return Ok(vec![*address]);
        }
        let addresses = self.lookup.lookup(name.to_owned()).await?;
        // One private address among public ones is refused whole: nobody has both without meaning it.
        for address in &addresses {
            self.check_address(name.trim_end_matches('.'), *address)?;
        }
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    fn check_address(&self, name: &str, address: IpAddr) -> Result<(), Refusal> {
        match () {
            () if self.allow_private || is_listed(&self.private_hosts, name) => Ok(()),
            () if !is_public(address) => Err(Refusal::Private(address.to_string())),
            () if self.lookup.is_own(address) => Err(Refusal::Own(address.to_string())),
            () => Ok(()),
        }
    }
}

fn is_listed(list: &[String], name: &str) -> bool {
    list.iter().any(|pattern| domain::covers(pattern, name))
}

/// The manifest of the actor that submitted a job, as a bound of what the job reaches.
pub(super) const MANIFEST: &str = "the actor's manifest";

/// The reason to refuse a host that lies outside of what somebody allows, by patterns, for a job; none where it lies inside.
pub(super) fn outside(what: &str, host: &str, (whose, patterns): (&str, &[String])) -> Option<String> {
    if is_listed(patterns, host) {
        return None;
    }
    let allowed = if patterns.is_empty() { "no host".to_owned() } else { format!("only {}", patterns.join(", ")) };
    Some(format!("{what} leads to {host}, and {whose} allows {allowed}"))
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses: Addrs = Box::new(guard.addresses_of(name.as_str(), 0).await?.into_iter());
            Ok(addresses)
        })
    }
}

/// Containers reach what web jobs reach.
impl Gate for Guard {
    fn addresses(&self, host: String, port: u16) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> {
        let guard = self.clone();
        Box::pin(async move {
            let url = Url::parse(&format!("https://{host}:{port}/")).map_err(std::io::Error::other)?;
            guard.check(&url).map_err(std::io::Error::other)?;
            guard.addresses_of(&host, port).await.map_err(std::io::Error::other)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The public address of the runner's computer.
    const OWN: [u8; 4] = [1, 1, 1, 2];

    /// Knows one name for each kind of address.
    struct Names;

    impl Lookup for Names {
        fn lookup(&self, name: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
            let addresses: &[[u8; 4]] = match name.as_str() {
                "public.example.com" => &[[1, 1, 1, 1]],
                "private.example.com" => &[[10, 0, 0, 1]],
                "own.example.com" | "listed.example.com" => &[OWN],
                _ => &[[1, 1, 1, 1], [169, 254, 169, 254]],
            };
            let addresses = addresses.iter().map(|address| IpAddr::from(*address)).collect();
            Box::pin(async move { Ok(addresses) })
        }

        fn is_own(&self, address: IpAddr) -> bool {
            address == IpAddr::from(OWN)
        }
    }

    /// A computer has its own addresses, and no other one.
    #[test]
    fn own_addresses_are_known() {
        for (address, expected) in [("127.0.0.1", true), ("::ffff:127.0.0.1", true), ("203.0.113.77", false), ("2001:db8::77", false)] {
            assert_eq!(SystemLookup.is_own(address.parse().expect("an address")), expected, "{address}");
        }
    }

    /// Decision 164: containers reach what web jobs reach.
    #[tokio::test]
    async fn hosts_of_containers_are_checked_too() {
        let settings = Http {
            deny: vec!["bad.example.com".into()],
            private_hosts: vec!["listed.example.com".into()],
            hosts: [("told.example.com".to_owned(), ([127, 0, 0, 1], 8_080).into())].into(),
            ..Http::default()
        };
        let guard = Guard::new(&settings, Arc::new(Names));
        let rows = [
            ("public.example.com", Some("1.1.1.1:443")),
            ("told.example.com", Some("127.0.0.1:8080")),
            ("private.example.com", None),
            ("mixed.example.com", None),
            ("own.example.com", None),
            ("listed.example.com", Some("1.1.1.2:443")),
            ("bad.example.com", None),
        ];
        for (host, expected) in rows {
            let found = guard.addresses(host.into(), 443).await.ok().map(|addresses| addresses[0].to_string());
            assert_eq!(found.as_deref(), expected, "{host}");
        }
        let own = guard.check(&"http://1.1.1.2:4000/metrics".parse().expect("an address"));
        assert_eq!(own, Err(Refusal::Own("1.1.1.2".into())), "without a name, too");
    }

    #[test]
    fn a_host_outside_is_named_with_what_is_allowed() {
        let patterns = ["a.test".to_owned(), "*.b.test".to_owned()];
        let rows: [(&str, &[String], Option<&str>); 4] = [
            ("a.test", &patterns, None),
            ("x.b.test", &patterns, None),
            ("c.test", &patterns, Some("it leads to c.test, and the actor's manifest allows only a.test, *.b.test")),
            ("a.test", &[], Some("it leads to a.test, and the actor's manifest allows no host")),
        ];
        for (host, patterns, expected) in rows {
            assert_eq!(outside("it", host, (MANIFEST, patterns)).as_deref(), expected, "{host}");
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
