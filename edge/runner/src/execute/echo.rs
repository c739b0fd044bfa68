//! Values of secrets in what a job answers.

use super::Fault;
use base64::{Engine as _, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use memchr::memmem;
use zeroize::Zeroizing;

/// The shortest value that is looked for: a shorter one stands in any text.
const SHORTEST: usize = 4;

/// The name of a value that stands in a text: as it is, in hex, in base64, percent-encoded, or as JSON writes it. It takes as long as the text and the values
/// are: a program chooses both, and others wait (decision 778).
pub(crate) fn find<'a>(mut values: impl Iterator<Item = (&'a str, &'a [u8])>, text: &[u8]) -> Option<&'a str> {
    let contains = |needle: &[u8]| needle.len() >= SHORTEST && memmem::find(text, needle).is_some();
    values.find(|(_, value)| forms(value).iter().any(|form| contains(form))).map(|(name, _)| name)
}

/// Why there is no result where it contains a value.
pub(crate) fn fault(name: &str) -> Fault {
    Fault::Actor(format!("what the work answered contains the value of the secret {name}"))
}

/// How a value may stand in a result.
fn forms(value: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    let percent: String =
        value
            .iter()
            .map(|&byte| {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            })
            .collect();
    let mut forms = vec![
        value.to_vec(),
        hex.to_uppercase().into_bytes(),
        hex.into_bytes(),
        BASE64_STANDARD.encode(value).trim_end_matches('=').into(),
        BASE64_URL_SAFE_NO_PAD.encode(value).into(),
        percent.into_bytes(),
    ];
    if let Ok(text) = std::str::from_utf8(value) {
        forms.push(serde_json::Value::from(text).to_string().trim_matches('"').into());
    }
    // A program that prints a file of several lines may leave out the last break.
    forms.push(value.trim_ascii_end().to_vec());
    forms.into_iter().map(Zeroizing::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 778: a value that is at each place of a long text but for its last byte is looked for in the time of reading the text. Compared at each place,
    /// this takes minutes.
    #[test]
    fn values_that_nearly_stand_in_a_text_take_no_longer() {
        let value = [vec![b'a'; 2 << 20], vec![b'b']].concat();
        let mut text = vec![b'a'; 4 << 20];
        let found = |text: &[u8]| find([("KEY", &value[..])].into_iter(), text).is_some();
        assert!(!found(&text));
        text.push(b'b');
        assert!(found(&text));
    }

    /// A result that contains a value in any of these forms is found.
    #[test]
    fn values_are_found_in_results() {
        let rows = [
            ("raw", "it is sk-\"1 2\"!", Some("KEY")),
            ("hex", "736b2d2231203222", Some("KEY")),
            ("hex in capitals", "736B2D2231203222", Some("KEY")),
            ("base64", "c2stIjEgMiI=", Some("KEY")),
            ("percent", "sk-%221%202%22", Some("KEY")),
            ("JSON", r#"{"echo":"sk-\"1 2\""}"#, Some("KEY")),
            ("another one", "x0123456789y", Some("OTHER")),
            ("a file without its last break", "two\nlines", Some("FILE")),
            ("nothing", "sk-", None),
        ];
        for (case, result, expected) in rows {
            let values = [("KEY", &b"sk-\"1 2\""[..]), ("OTHER", b"0123456789"), ("FILE", b"two\nlines\n")];
            assert_eq!(find(values.into_iter(), result.as_bytes()), expected, "{case}");
        }
    }
}
