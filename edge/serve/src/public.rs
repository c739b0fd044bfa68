//! Which addresses are of the internet: what a stranger names must not lead into the operator's own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

/// Whether somebody at one address, which may be unspecified, goes to another that a stranger names: from the internet nothing leads into a network or a
/// computer. On a computer of its own, a network may have all that it consists of on loopback.
pub fn is_of_use(own: IpAddr, address: IpAddr) -> bool {
    let own = own.to_canonical();
    is_public(address) || (own.is_loopback() || !own.is_unspecified() && !is_public(own) && !address.to_canonical().is_loopback())
}

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

    /// Nothing leads from the internet into a network, and nothing from a network into a computer.
    #[test]
    fn nothing_leads_inside() {
        let of_use = |own: &str, address: &str| is_of_use(own.parse().expect("an address"), address.parse().expect("an address"));
        for (own, rest) in
            [("0.0.0.0", false), ("::", false), ("1.1.1.1", false), ("10.0.0.1", true), ("127.0.0.1", true), ("::ffff:127.0.0.1", true)]
        {
            assert!(of_use(own, "9.9.9.9"), "{own}");
            assert_eq!((of_use(own, "10.1.2.3"), of_use(own, "::ffff:192.168.1.1")), (rest, rest), "{own}");
            assert_eq!(of_use(own, "::ffff:127.0.0.1"), own.ends_with("127.0.0.1"), "{own}");
        }
    }

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
}
