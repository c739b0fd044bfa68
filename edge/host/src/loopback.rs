//! What is on this computer alone: nobody on another one reaches it.

use std::net::IpAddr;

/// Whether an address is of the loopback. One of IPv4 within IPv6 is what it carries.
pub fn is_address(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Whether the host of a URL is this computer: an address of the loopback, in brackets or without, or `localhost`, or a name below it (RFC 6761 §6.3).
pub fn is_host(host: &str) -> bool {
    let name = host.trim_end_matches('.');
    let literal = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    match literal.parse() {
        Ok(address) => is_address(address),
        Err(_) => {
            let name = name.to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_computer_is_local() {
        let rows = [
            ("localhost", true),
            ("LocalHost", true),
            ("localhost.", true),
            ("site.localhost", true),
            ("127.0.0.1", true),
            ("127.1.2.3", true),
            ("::1", true),
            ("[::1]", true),
            ("[::ffff:127.0.0.1]", true),
            ("", false),
            ("notlocalhost", false),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com", false),
            ("localhost@example.com", false),
            ("0.0.0.0", false),
            ("[::]", false),
            ("192.168.1.5", false),
            ("[::ffff:192.168.1.5]", false),
        ];
        for (host, expected) in rows {
            assert_eq!(is_host(host), expected, "{host}");
        }
    }
}
