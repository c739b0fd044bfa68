//! Addresses as people write them: of accounts, with the checksum of EIP-55 or without one, and of computers.

use cowboy_console::failure::Failure;
use cowboy_node::peers;
use cowboy_system::staking::types::Endpoint;
use cowboy_types::{Address, keccak256};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    net::{SocketAddr, ToSocketAddrs as _},
    str::FromStr,
};

/// The address in a text of 40 hex digits, or what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Address, String> {
    let address = text.parse().map_err(|_| format!("{text:?} is not an address: give 0x and 40 hex digits"))?;
    checked(text, address)
}

/// An address whose letters carry a checksum (EIP-55) has to keep it; one in small or in large letters has none.
pub(crate) fn checked(named: &str, address: Address) -> Result<Address, String> {
    let digits = named.strip_prefix("0x").unwrap_or(named);
    let has_checksum = digits.bytes().any(|byte| byte.is_ascii_uppercase()) && digits.bytes().any(|byte| byte.is_ascii_lowercase());
    let right = checksummed(address);
    if !has_checksum || digits == right {
        return Ok(address);
    }
    Err(format!("{named} has a wrong checksum (EIP-55), so it may be mistyped; with the right checksum it is 0x{right}"))
}

/// The 40 digits of an address with the checksum of EIP-55: a letter is large where the hash of the small ones has a digit above 7.
fn checksummed(address: Address) -> String {
    let digits = hex::encode(address.0);
    let hash = hex::encode(keccak256(&[digits.as_bytes()]).0);
    digits.chars().zip(hash.chars()).map(|(digit, hash)| if hash > '7' { digit.to_ascii_uppercase() } else { digit }).collect()
}

/// Where a validator listens: an address or a host's name, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct HostPort(String);

impl HostPort {
    /// The address. The name of a host is looked up now.
    pub(crate) fn resolve(&self) -> Result<SocketAddr, Failure> {
        let found = self.0.to_socket_addrs();
        let why = || found.as_ref().err().map_or_else(|| "it has no address".to_owned(), ToString::to_string);
        let first = found.as_ref().ok().and_then(|found| found.clone().next());
        first.ok_or_else(|| {
            Failure::refused(format!("{} is not found: {}", self.0, why()), "correct the name, or give an address: 192.0.2.7:3000")
        })
    }

    /// The address as the chain writes it. The name of a host is looked up now, and its address has to be one that can be dialed.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, Failure> {
        let endpoint = peers::endpoint(self.resolve()?);
        peers::address(&endpoint).map(|_| endpoint).ok_or_else(|| {
            Failure::argument(
                format!("{} is not an address that other validators can reach", self.0),
                "name the address or the host, and the port, under which they do: 192.0.2.7:3000",
            )
        })
    }
}

impl From<SocketAddr> for HostPort {
    fn from(address: SocketAddr) -> Self {
        Self(address.to_string())
    }
}

impl From<HostPort> for String {
    fn from(place: HostPort) -> Self {
        place.0
    }
}

impl TryFrom<String> for HostPort {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// `HOST:PORT`.
impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |host: &str| {
            let is_label =
                |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
            host.len() <= 253 && host.split('.').all(is_label)
        };
        let named = text.rsplit_once(':').is_some_and(|(host, port)| is_name(host) && port.parse::<u16>().is_ok());
        if named || text.parse::<SocketAddr>().is_ok() {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("{text:?} is not an address and a port: give 192.0.2.7:3000, [2001:db8::7]:3000 or validator.example:3000"))
        }
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses and names of hosts are taken, with a port, and a name is looked up where an address is needed.
    #[test]
    fn hosts_have_names_and_ports() {
        let long = format!("{}:1", "a".repeat(254));
        let rows = [
            ("192.0.2.7:3000", true),
            ("[2001:db8::7]:3000", true),
            ("validator-1.example:3000", true),
            ("192.0.2.7", false),
            ("validator.example:", false),
            ("validator.example:65536", false),
            (":3000", false),
            ("a..b:3000", false),
            ("http://a:3000", false),
            ("2001:db8::7:3000", false),
            ("", false),
            (&long, false),
        ];
        for (text, is_taken) in rows {
            assert_eq!(text.parse::<HostPort>().is_ok(), is_taken, "{text}");
        }
        let local: HostPort = "localhost:3000".parse().expect("a name");
        assert!(local.resolve().is_ok_and(|address| address.ip().is_loopback() && address.port() == 3000));
        for unreachable in ["0.0.0.0:3000", "169.254.169.254:80", "127.0.0.1:0", "no-such-host.invalid:1"] {
            assert!(unreachable.parse::<HostPort>().is_ok_and(|place| place.endpoint().is_err()), "{unreachable}");
        }
    }

    #[test]
    fn a_checksum_has_to_hold() {
        let good = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
        let rows = [
            (good.to_owned(), true),
            (good.to_lowercase(), true),
            (format!("0x{}", good[2..].to_uppercase()), true),
            (good.replace("dA6B", "Da6B"), false),
            (good[2..].to_owned(), true),
            (good[..41].to_owned(), false),
        ];
        for (text, is_taken) in rows {
            assert_eq!(parse(&text).is_ok(), is_taken, "{text}");
        }
    }
}
