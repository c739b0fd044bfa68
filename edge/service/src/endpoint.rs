//! Where a service is reached, as a URL has it.

/// The host of an endpoint, which is a name or an address, with a port. An address of IPv6 stands in brackets.
pub fn authority(endpoint: &str, port: u16) -> String {
    if endpoint.contains(':') { format!("[{endpoint}]:{port}") } else { format!("{endpoint}:{port}") }
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
        }
    }
}
