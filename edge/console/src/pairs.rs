//! Options like `--env NAME=VALUE`, which are given once for each name.

use crate::failure::Failure;
use std::collections::BTreeSet;

/// The name and the value of `NAME=VALUE`, parted by the first `=`. Nothing where there is no `=`, or no name before it.
pub fn pair(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, _)| !name.is_empty())
}

/// Refuses a name that an option has twice: neither value would be more right than the other. Values, which may be secret, are not said.
///
/// # Errors
///
/// If a name comes again.
pub fn once<'a>(option: &str, names: impl IntoIterator<Item = &'a str>) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    match names.into_iter().find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(name) => Err(Failure::argument(format!("{option} has {name} twice"), "give each name once")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sign_parts_name_and_value() {
        let rows = [("A=1", Some(("A", "1"))), ("A=b=c", Some(("A", "b=c"))), ("A=", Some(("A", ""))), ("=1", None), ("A", None)];
        for (text, expected) in rows {
            assert_eq!(pair(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_that_comes_again_is_refused() {
        assert!(once("--env", []).is_ok() && once("--env", ["A", "a"]).is_ok());
        let said = once("--env", ["A", "B", "A"]).err().map(|failure| failure.to_string()).unwrap_or_default();
        assert!(said.starts_with("--env has A twice"), "{said}");
    }
}
