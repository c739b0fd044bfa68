//! What arguments of `cowboy volume` say: names, paths, capabilities, sizes and codes.

use cowboy_api::HexBytes;
use cowboy_types::wire::Fixed;
use cowboy_volumes::{Name, Path};

pub(super) fn name(text: &str) -> Result<Name, String> {
    Name::new(text).ok_or_else(|| format!("{text:?} is not a name: it has 1 to 64 letters, digits, _, . and -"))
}

pub(super) fn path(text: &str) -> Result<Path, String> {
    Path::new(text)
        .ok_or_else(|| format!("{text:?} is not a path: it has a partition and a name, like notes/a.txt, of letters, digits, _, . and -"))
}

pub(super) fn capability(text: &str) -> Result<Fixed<16>, String> {
    let bytes: HexBytes = text.parse().map_err(|_| format!("{text:?} is not hex"))?;
    bytes.0[..].try_into().map(Fixed).map_err(|_| format!("{text:?} does not have 16 bytes"))
}

/// Bytes, with a unit or without.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        unit => return Err(format!("{unit:?} is no unit: give KiB, MiB or GiB")),
    };
    digits.parse::<u64>().ok().and_then(|count| count.checked_mul(unit)).ok_or_else(|| format!("{text:?} is no size, like 500MiB"))
}

pub(super) fn code(text: &str) -> Result<(u8, u8), String> {
    let wrong = || format!("{text:?} is no code, like 4+2");
    let (data, parity) = text.split_once('+').ok_or_else(wrong)?;
    let (data, parity) = (data.parse().map_err(|_| wrong())?, parity.parse().map_err(|_| wrong())?);
    cowboy_volumes::Code::new(data, parity)
        .map(|code| (code.data, code.parity))
        .ok_or_else(|| format!("{text:?} is not between 1+1 and 16+8"))
}
