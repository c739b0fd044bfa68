//! Which of the addresses that the chain names a validator dials.
//!
//! Anybody who stakes may register an address, and every validator dials it. So an address in a private network, or of this very
//! computer, is dialed only by a node whose own configuration has addresses of that kind.

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
};

/// From where an address can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    /// The same computer.
    Loopback,
    /// A private network: RFC 1918, RFC 6598, RFC 4193.
    Private,
    /// Anywhere.
    Global,
}

impl Scope {
    /// `None` for addresses that name no host beyond one link.
    fn of(ip: IpAddr) -> Option<Self> {
        match ip.to_canonical() {
            ip if ip.is_loopback() => Some(Self::Loopback),
            ip if ip.is_unspecified() || ip.is_multicast() => None,
            IpAddr::V4(ip) if ip.is_link_local() || ip.is_broadcast() || ip.octets()[0] == 0 => None,
            IpAddr::V4(ip) if ip.is_private() || (ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64) => Some(Self::Private),
            IpAddr::V6(ip) if ip.is_unicast_link_local() => None,
            IpAddr::V6(ip) if ip.is_unique_local() => Some(Self::Private),
            _ => Some(Self::Global),
        }
    }
}

/// Whether an address names a host beyond one link, so that some node dials it.
pub(super) fn names_a_host(ip: IpAddr) -> bool {
    Scope::of(ip).is_some()
}

/// The kinds of addresses that a node dials.
#[derive(Clone, Debug)]
pub(super) struct Reach(BTreeSet<Scope>);

impl Reach {
    /// What a node reaches that listens at one of these addresses and has peers at the others.
    pub(super) fn of<'a>(configured: impl IntoIterator<Item = &'a SocketAddr>) -> Self {
        Self(configured.into_iter().filter_map(|address| Scope::of(address.ip())).chain([Scope::Global]).collect())
    }

    /// Whether the node dials this address.
    pub(super) fn covers(&self, address: &SocketAddr) -> bool {
        Scope::of(address.ip()).is_some_and(|scope| self.0.contains(&scope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node of a public network dials no address of its own computer, of its private network, or of its link.
    #[test]
    fn what_the_chain_names_is_dialed_from_where_it_can_be_reached() {
        let address = |ip: &str| SocketAddr::new(ip.parse().expect("an address"), 3_000);
        let kinds = [
            vec!["192.0.2.7", "2001:db8::7", "::ffff:192.0.2.7", "100.128.0.1"],
            vec!["10.1.2.3", "172.16.0.1", "192.168.0.1", "100.64.0.1", "fd00::1", "::ffff:10.1.2.3"],
            vec!["127.0.0.1", "::1", "::ffff:127.0.0.1"],
            vec!["169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "0.1.2.3", "::ffff:169.254.169.254"],
        ];
        for (configured, reached) in [
            (vec![], vec![0]),
            (vec!["0.0.0.0", "192.0.2.9"], vec![0]),
            (vec!["10.0.0.1"], vec![0, 1]),
            (vec!["127.0.0.1"], vec![0, 2]),
            (vec!["::1", "fd00::2", "169.254.0.1"], vec![0, 1, 2]),
        ] {
            let configured: Vec<_> = configured.into_iter().map(address).collect();
            let reach = Reach::of(&configured);
            for (kind, addresses) in kinds.iter().enumerate() {
                for ip in addresses {
                    assert_eq!(reach.covers(&address(ip)), reached.contains(&kind), "{configured:?}: {ip}");
                }
            }
        }
    }
}
