//! Who a request counts for.

use crate::Subnet;
use std::net::{IpAddr, Ipv4Addr};

/// A client as budgets see it: an IPv4 address, or the 64 leading bits of an IPv6 address, because one subscriber has all addresses
/// below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Client(IpAddr);

impl Client {
    /// The process itself, for work that no request asks for.
    pub const OWN: Self = Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED));

    /// The subnet that it is of.
    pub(crate) fn subnet(self) -> Subnet {
        Subnet::of(self.0)
    }
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let mut segments = address.segments();
                segments[4..].fill(0);
                Self(IpAddr::V6(segments.into()))
            }
            v4 => Self(v4),
        }
    }
}

impl std::fmt::Display for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(f),
            IpAddr::V6(address) => write!(f, "{address}/64"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscriber_is_one_client() {
        let client = |text: &str| Client::from(text.parse::<IpAddr>().expect("an address"));
        assert_eq!(client("2001:db8:1:2::1"), client("2001:db8:1:2:ffff::"));
        assert_ne!(client("2001:db8:1:2::1"), client("2001:db8:1:3::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
        assert_ne!(client("192.0.2.1"), client("192.0.2.2"));
        assert_eq!(
            (client("::ffff:192.0.2.1").to_string(), client("2001:db8::1").to_string()),
            ("192.0.2.1".into(), "2001:db8::/64".into())
        );
    }
}
