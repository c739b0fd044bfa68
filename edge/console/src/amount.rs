//! Amounts as people write them: base units, or CBY with the unit; counts of bytes and other things, and times.

use crate::failure::Failure;
use cowboy_types::Amount;
use std::fmt::Display;

const DIGITS: usize = 9;

/// The amount of a text like `1500000000`, `1.5cby` or `2 CBY`.
pub fn parse(text: &str) -> Result<Amount, String> {
    let lower = text.trim().to_ascii_lowercase().replace('_', "");
    let wrong = || format!("{text:?} is not an amount: give base units like 1500000000, or CBY like 1.5cby");
    let Some(number) = lower.strip_suffix("cby").map(str::trim_end) else {
        return lower.parse().map(Amount).map_err(|_| wrong());
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > DIGITS || !are_digits(whole) || !are_digits(fraction) {
        return Err(wrong());
    }
    let units: u128 = format!("{whole}{fraction:0<DIGITS$}").parse().map_err(|_| wrong())?;
    u64::try_from(units).map(Amount).map_err(|_| format!("{text:?} is more than the total supply of CBY"))
}

/// The amount in CBY, without needless zeros.
pub fn cby(amount: u64) -> String {
    let (whole, fraction) = (amount / Amount::CBY.get(), amount % Amount::CBY.get());
    let fraction = format!("{fraction:09}");
    match fraction.trim_end_matches('0') {
        "" => format!("{whole} CBY"),
        fraction => format!("{whole}.{fraction} CBY"),
    }
}

/// The amount in CBY and in base units.
pub fn both(units: u64) -> String {
    format!("{} ({units} base units)", cby(units))
}

/// A number with its noun, in the plural but for one: `1 file`, `2 files`, `2 entries`.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    if number == "1" {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}

/// A count of bytes, in the largest unit of which there is one.
pub fn bytes(count: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| count >= *unit) {
        Some((unit, name)) => {
            let tenths = u128::from(count) * 10 / u128::from(unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => counted(count, "byte"),
    }
}

/// A time in seconds, in the largest unit of which there are two.
pub fn span(seconds: u64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// The amount of an argument.
pub fn argument(text: &str) -> Result<Amount, Failure> {
    parse(text).map_err(|what| Failure::argument(what, "correct the amount, like 2.5cby"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        let rows = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1_023, "1023 bytes"),
            (1_024, "1.0 KiB"),
            (1_600_000, "1.5 MiB"),
            (u64::MAX, "17179869183.9 GiB"),
        ];
        for (count, expected) in rows {
            assert_eq!(bytes(count), expected);
        }
    }

    /// The one place that knows plurals: no text has `1 blocks`.
    #[test]
    fn numbers_have_nouns() {
        let rows = [
            (0, "block", "0 blocks"),
            (1, "block", "1 block"),
            (2, "block", "2 blocks"),
            (1, "delivery", "1 delivery"),
            (21, "delivery", "21 deliveries"),
            (2, "day", "2 days"),
            (2, "key", "2 keys"),
        ];
        for (number, noun, expected) in rows {
            assert_eq!(counted(number, noun), expected);
        }
    }

    #[test]
    fn times_have_units() {
        let rows =
            [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (7_200, "2 h"), (172_800, "2 days"), (604_800, "7 days")];
        for (seconds, expected) in rows {
            assert_eq!(span(seconds), expected);
        }
    }

    #[test]
    fn amounts_read_and_print() {
        let rows: &[(&str, Option<u64>)] = &[
            ("0", Some(0)),
            ("1500000000", Some(1_500_000_000)),
            ("1_000", Some(1_000)),
            ("1.5cby", Some(1_500_000_000)),
            ("2 CBY", Some(2_000_000_000)),
            ("0.000000001cby", Some(1)),
            ("0.0000000001cby", None),
            ("18446744073.709551615cby", Some(u64::MAX)),
            ("18446744074cby", None),
            ("-1", None),
            ("1.5", None),
            (".5cby", None),
            ("cby", None),
            ("1e3cby", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(parse(text).ok().map(Amount::get), *expected, "{text:?}");
        }
        for (amount, text) in [(0, "0 CBY"), (1, "0.000000001 CBY"), (1_500_000_000, "1.5 CBY"), (u64::MAX, "18446744073.709551615 CBY")] {
            assert_eq!(cby(amount), text);
        }
    }
}
