//! Host names (000 §8.2): their canonical form, and what a pattern covers.
//!
//! The protocol accepts only the canonical form: lower-case ASCII, punycode where a name has other letters. Bringing a name into that
//! form needs tables of Unicode that change every year, so clients do it before they sign.

use core::net::Ipv4Addr;

/// The pattern that covers every host.
pub const ANY: &str = "*";

/// The longest host name (RFC 1035).
const NAME_BYTES: usize = 253;

/// The longest label of one.
const LABEL_BYTES: usize = 63;

/// What a label begins with that stands for other letters than ASCII.
const ENCODED: &str = "xn--";

/// Whether a text is `*`, a canonical host, or `*.` and a canonical host name.
pub fn is_canonical_pattern(text: &str) -> bool {
    match text.strip_prefix("*.") {
        Some(name) => is_canonical_host(name) && name.parse::<Ipv4Addr>().is_err(),
        None => text == ANY || is_canonical_host(text),
    }
}

/// Whether a text is a host in its canonical form: a name of lower-case ASCII labels without a final dot, or an IPv4 address.
pub fn is_canonical_host(text: &str) -> bool {
    let is_last_numeric = text.rsplit('.').next().is_some_and(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()));
    if is_last_numeric {
        // No name ends in a number; what does is an address, and has one way to be written.
        return text.parse::<Ipv4Addr>().is_ok_and(|address| address.to_string() == text);
    }
    text.len() <= NAME_BYTES && text.split('.').all(is_canonical_label)
}

fn is_canonical_label(label: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !(1..=LABEL_BYTES).contains(&label.len()) || !label.bytes().all(is_letter) || label.starts_with('-') || label.ends_with('-') {
        return false;
    }
    // A hyphen in third and fourth place marks an encoding, of which there is one (RFC 5891 §4.2.3.1).
    match label.strip_prefix(ENCODED) {
        Some(encoded) => is_canonical_punycode(encoded),
        None => label.get(2..4) != Some("--"),
    }
}

/// Whether punycode decodes to something that is not ASCII alone, has no control characters, and goes back to itself.
fn is_canonical_punycode(encoded: &str) -> bool {
    let Some(decoded) = idna::punycode::decode_to_string(encoded) else { return false };
    !decoded.is_ascii() && !decoded.contains(char::is_control) && idna::punycode::encode_str(&decoded).as_deref() == Some(encoded)
}

/// Whether everything that `inner` covers `outer` covers too. Both are canonical patterns.
pub fn covers(outer: &str, inner: &str) -> bool {
    if outer == ANY || outer == inner {
        return true;
    }
    let Some(suffix) = outer.strip_prefix('*') else { return false };
    // `*.a.b` covers `x.a.b` and `*.x.a.b`, and neither `a.b` nor `xa.b`: the suffix keeps its dot.
    let host = inner.strip_prefix("*.").unwrap_or(inner);
    inner != ANY && host.len() > suffix.len() && host.ends_with(suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// what is canonical, row by row.
    #[test]
    fn canonical_forms() {
        let long_label = "a".repeat(63);
        let too_long_label = "a".repeat(64);
        let long_name = [long_label.as_str(); 4].join(".");
        let rows = [
            ("*", true),
            ("api.example.com", true),
            ("*.example.com", true),
            ("*.com", true),
            ("localhost", true),
            ("127.0.0.1", true),
            ("a-b.c9", true),
            ("xn--exmple-cua.com", true),
            (long_label.as_str(), true),
            ("", false),
            (".", false),
            ("a.", false),
            (".a", false),
            ("a..b", false),
            ("*.", false),
            ("*.*", false),
            ("a.*", false),
            ("*a.b", false),
            ("**", false),
            ("API.example.com", false),
            ("ex\u{e4}mple.com", false),
            ("xn--exmple-CUA.com", false),
            ("xn--a", false),
            ("xn--abc-", false),
            ("xn--", false),
            ("ab--cd.com", false),
            ("-a.com", false),
            ("a-.com", false),
            ("a_b.com", false),
            ("a b.com", false),
            ("https://a.com", false),
            ("a.com:443", false),
            ("a.com/b", false),
            ("127.0.0.01", false),
            ("127.1", false),
            ("256.0.0.1", false),
            ("*.0.0.1", false),
            ("*.127.0.0.1", false),
            (too_long_label.as_str(), false),
            (long_name.as_str(), false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_canonical_pattern(text), expected, "{text:?}");
        }
        assert!(!is_canonical_host("*"), "a pattern is no host");
    }

    /// `*` covers all, `*.x` not the apex, a name itself.
    #[test]
    fn coverage() {
        let rows = [
            ("*", "a.b", true),
            ("*", "*", true),
            ("*", "*.a.b", true),
            ("a.b", "a.b", true),
            ("a.b", "x.a.b", false),
            ("a.b", "*", false),
            ("*.a.b", "x.a.b", true),
            ("*.a.b", "y.x.a.b", true),
            ("*.a.b", "*.x.a.b", true),
            ("*.a.b", "*.a.b", true),
            ("*.a.b", "a.b", false),
            ("*.a.b", "xa.b", false),
            ("*.a.b", "*.b", false),
            ("*.a.b", "*", false),
            ("x.a.b", "*.a.b", false),
        ];
        for (outer, inner, expected) in rows {
            assert_eq!(covers(outer, inner), expected, "{outer} {inner}");
        }
    }
}
