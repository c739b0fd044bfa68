//! Where services are reached.

use core::net::Ipv6Addr;
use cowboy_types::Text;
use cowboy_types::entitlement::domain;

/// The longest host name.
pub const ENDPOINT_BYTES: usize = 253;

/// A host name in lower case or an IPv6 address, each in its one form, with a port other than 0; none where it is not.
pub(crate) fn checked(endpoint: &str, port: u64) -> Option<(Text<ENDPOINT_BYTES>, u16)> {
    let is_ipv6 = endpoint.parse::<Ipv6Addr>().is_ok_and(|address| address.to_string() == endpoint);
    let port = u16::try_from(port).ok().filter(|port| *port > 0)?;
    if is_ipv6 || domain::is_canonical_host(endpoint) { Some((Text::new(endpoint)?, port)) } else { None }
}
