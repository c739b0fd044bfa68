//! Addresses of web jobs: what the chain refuses before anybody works on a job, and a runner before it asks anybody (decision 736).
//!
//! Only the form is decided here. Letters beyond ASCII, percent signs, and names that end in a number are read by the libraries of runners, whose
//! tables change.

use super::mistake::Mistake;
use core::net::Ipv6Addr;

/// What no host has. A backslash ends the authority, and a colon the host.
const NO_HOST: &[char] = &[' ', '#', '<', '>', '?', '[', ']', '^', '|', '\u{7f}'];

/// The host of an address as it is written, in either case, an IPv6 address without its brackets.
///
/// `None` where the text does not begin with `http://` or `https://` and a host, with a port or without, or where it names a user.
pub fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().filter(|authority| !authority.contains('@'))?;
    let (host, port) = match authority.strip_prefix('[') {
        Some(inside) => {
            let (host, after) = inside.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (host, if after.is_empty() { "" } else { after.strip_prefix(':')? })
        }
        None => {
            let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
            let is_host = !host.is_empty() && !host.contains(|letter: char| letter < ' ' || NO_HOST.contains(&letter));
            (Some(host).filter(|_| is_host)?, port)
        }
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && (port.is_empty() || port.parse::<u16>().is_ok());
    Some(host).filter(|_| is_port)
}

/// The host of the address of a web job.
///
/// # Errors
///
/// If there is no address, or none with a host.
pub fn require(url: Option<&str>) -> Result<&str, Mistake> {
    let rule = "url: it has to be an address that begins with http:// or https:// and a host, without the name of a user.";
    url.and_then(host).ok_or_else(|| Mistake::invalid(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 736. Runners read the same rows, in `edge/runner/src/execute/readings.rs`.
    #[test]
    fn addresses_have_a_host_and_no_user() {
        let rows: Vec<(String, Option<String>)> = serde_json::from_str(include_str!("address/rows.json")).expect("the rows are JSON");
        for (url, expected) in &rows {
            assert_eq!(host(url), expected.as_deref(), "{url:?}");
            assert_eq!(require(Some(url)).is_ok(), expected.is_some(), "{url:?}");
        }
        assert!(require(None).is_err());
    }
}
