//! Names of hosts, as requests and ClientHellos write them.

/// Whether this is a host name in lower case. Addresses in any form, and names without a dot, are none.
pub(super) fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(is_plain) && !label.starts_with('-') && !label.ends_with('-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    // A last label that starts with a digit is how parsers recognise addresses: 2130706433, 0x7f.1, 127.1.
    host.len() <= 253 && host.contains('.') && host.split('.').all(is_label) && last.starts_with(|first: char| first.is_ascii_lowercase())
}
