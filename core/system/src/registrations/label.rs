//! What a name may look like (004 §7.2, §7.3).

use cowboy_params::Params;
use cowboy_types::{Abort, error};

/// Names that governance holds (004 §7.3). Below another name they are free.
pub const RESERVED: [&str; 9] = ["admin", "api", "cowboy", "dns", "gateway", "node", "relay", "system", "www"];

/// The longest label that DNS carries: a longer one is served by its host header only (decision 74).
pub const DNS_LABEL: usize = 63;

/// Reads a name: labels by the rule of 004 §7.3, joined by dots, the last of them the one that is paid for.
pub fn check(params: &Params, name: &str) -> Result<(), Abort> {
    if !name.is_ascii() || name.split('.').any(is_encoded) {
        return Err(error::NAME_INTERNATIONAL);
    }
    let rows = &params.names;
    let size = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
    let labels = u64::try_from(name.split('.').count()).unwrap_or(u64::MAX);
    let is_length = |label: &str| (rows.length_min..=rows.length_max).contains(&size(label));
    let is_right =
        size(name) <= rows.bytes_max && labels <= rows.labels_max && name.split('.').all(|label| is_length(label) && is_label(label));
    if is_right { Ok(()) } else { Err(error::NAME_INVALID) }
}

/// Lower-case letters, digits and hyphens; no hyphen at an end.
fn is_label(label: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    label.bytes().all(is_letter) && !label.starts_with('-') && !label.ends_with('-')
}

/// A label that announces an encoding of other letters (RFC 5891 §4.2.3.1). Such names look like others, so none is given out.
fn is_encoded(label: &str) -> bool {
    label.get(2..4) == Some("--")
}

/// Whether governance holds the name.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The last label: the name that is rented.
pub fn root_of(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The names above a name, the nearest first.
pub fn above(name: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(parent(name), |name| parent(name))
}

fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, parent)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// what a name is, row by row.
    #[test]
    fn names_follow_the_rule() {
        let (longest, too_long) = ("a".repeat(64), "a".repeat(65));
        let deep = ["abc"; 8].join(".");
        let too_deep = ["abc"; 9].join(".");
        let too_wide = [longest.as_str(); 4].join(".");
        let rows = [
            ("abc", Ok(())),
            ("my-agent", Ok(())),
            ("007", Ok(())),
            ("a--b", Ok(())),
            ("abc.def", Ok(())),
            ("www", Ok(())),
            (longest.as_str(), Ok(())),
            (deep.as_str(), Ok(())),
            ("ab", Err(error::NAME_INVALID)),
            ("", Err(error::NAME_INVALID)),
            (too_long.as_str(), Err(error::NAME_INVALID)),
            (too_deep.as_str(), Err(error::NAME_INVALID)),
            (too_wide.as_str(), Err(error::NAME_INVALID)),
            ("-abc", Err(error::NAME_INVALID)),
            ("abc-", Err(error::NAME_INVALID)),
            ("Abc", Err(error::NAME_INVALID)),
            ("a_b", Err(error::NAME_INVALID)),
            ("abc.", Err(error::NAME_INVALID)),
            (".abc", Err(error::NAME_INVALID)),
            ("abc..def", Err(error::NAME_INVALID)),
            ("a.def", Err(error::NAME_INVALID)),
            ("abc def", Err(error::NAME_INVALID)),
            ("*.abc", Err(error::NAME_INVALID)),
            ("xn--exmple-cua", Err(error::NAME_INTERNATIONAL)),
            ("abc.xn--exmple-cua", Err(error::NAME_INTERNATIONAL)),
            ("ab--cd", Err(error::NAME_INTERNATIONAL)),
            ("ex\u{e4}mple", Err(error::NAME_INTERNATIONAL)),
        ];
        for (name, expected) in rows {
            assert_eq!(check(&Params::GENESIS, name), expected, "{name:?}");
        }
        assert!(RESERVED.is_sorted() && RESERVED.iter().all(|name| check(&Params::GENESIS, name).is_ok()));
    }

    #[test]
    fn names_stand_below_names() {
        assert_eq!(above("c.b.a").collect::<Vec<_>>(), ["b.a", "a"]);
        assert_eq!(above("a").count(), 0);
        assert_eq!((root_of("c.b.a"), root_of("a")), ("a", "a"));
    }
}
