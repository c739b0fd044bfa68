//! Addresses that one operator is likely to have together.

use std::net::IpAddr;

/// Shares of a client that all clients of a subnet have together.
pub(crate) const SHARES: usize = 2;

/// A group of addresses: the 24 leading bits of an IPv4 address, the 48 leading bits of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subnet([u8; 6], bool);

impl Subnet {
    /// That of an address. An IPv4 address in IPv6's form is the same address.
    pub fn of(address: IpAddr) -> Self {
        let mut prefix = [0; 6];
        match address.to_canonical() {
            IpAddr::V4(address) => {
                prefix[..3].copy_from_slice(&address.octets()[..3]);
                Self(prefix, true)
            }
            IpAddr::V6(address) => {
                prefix.copy_from_slice(&address.octets()[..6]);
                Self(prefix, false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_subnet() {
        let subnet = |text: &str| Subnet::of(text.parse().expect("an address"));
        assert_eq!(subnet("192.0.2.1"), subnet("192.0.2.200"));
        assert_eq!(subnet("192.0.2.1"), subnet("::ffff:192.0.2.9"));
        assert_ne!(subnet("192.0.2.1"), subnet("192.0.3.1"));
        assert_eq!(subnet("2001:db8:1:2::1"), subnet("2001:db8:1:3::1"));
        assert_ne!(subnet("2001:db8:1::1"), subnet("2001:db8:2::1"));
        assert_ne!(subnet("0.0.0.1"), subnet("::1"));
    }
}
