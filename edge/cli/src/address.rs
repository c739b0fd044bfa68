//! Addresses as people write them, with the checksum of EIP-55 or without one.

use cowboy_types::{Address, keccak256};

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

#[cfg(test)]
mod tests {
    use super::*;

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
