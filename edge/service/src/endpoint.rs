//! Where a service is reached, as a URL has it.

use std::borrow::Cow;
use std::fmt::Display;

/// An endpoint, which is a name or an address, as the host of a URL. An address of IPv6 stands in brackets.
pub fn host(endpoint: &str) -> Cow<'_, str> {
    if endpoint.contains(':') { format!("[{endpoint}]").into() } else { endpoint.into() }
}

/// The host of an endpoint with a port.
pub fn authority(endpoint: &str, port: impl Display) -> String {
    format!("{}:{port}", host(endpoint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_ipv6_have_brackets() {
        let rows =
            [("relay.example.com", "relay.example.com:7400"), ("192.0.2.1", "192.0.2.1:7400"), ("2001:db8::1", "[2001:db8::1]:7400")];
        for (endpoint, expected) in rows {
            assert_eq!(authority(endpoint, 7_400), expected);
            assert_eq!(format!("{}:7400", host(endpoint)), expected);
        }
    }
}
