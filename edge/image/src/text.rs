//! Texts for errors.

/// Bytes as a text for an error, at most 120 characters.
pub(crate) fn shortened(bytes: &[u8]) -> String {
    let head = bytes.get(..480).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head);
    let short: String = text.chars().take(120).collect();
    if short.len() < text.len() || head.len() < bytes.len() { format!("{short}…") } else { short }
}
