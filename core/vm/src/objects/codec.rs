//! Text to bytes and back: the encodings an actor may use, and their error handlers.

use crate::costs::{BYTES_MADE, CHARACTER_HANDLED, ENCODING_NAME, HANDLED_WRITTEN, HANDLER_NAME, STRETCH_HANDLED, TEXT_RECODED};
use crate::error::{Outcome, Throw};
use crate::escapes::push_escape;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num::int::push_decimal;

/// An encoding by its canonical name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8, perhaps with its mark in front.
    Utf8 { mark: bool },
    /// One byte a character, below 128.
    Ascii,
    /// One byte a character, below 256.
    Latin1,
    /// Units of 16 or 32 bits; the mark says the order where the name does not.
    Wide { bytes: usize, big: bool, mark: bool },
}

impl Encoding {
    fn of_name(name: &str) -> Option<Encoding> {
        let name: String = name.to_ascii_lowercase().chars().map(|c| if c == '_' || c == ' ' { '-' } else { c }).collect();
        let wide = |bytes, big, mark| Some(Encoding::Wide { bytes, big, mark });
        match name.as_str() {
            "utf-8" | "utf8" | "u8" | "cp65001" => Some(Encoding::Utf8 { mark: false }),
            "utf-8-sig" => Some(Encoding::Utf8 { mark: true }),
            "ascii" | "us-ascii" | "646" => Some(Encoding::Ascii),
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "8859" | "cp819" | "l1" | "latin" => Some(Encoding::Latin1),
            "utf-16" | "utf16" | "u16" => wide(2, false, true),
            "utf-16-le" | "utf-16le" => wide(2, false, false),
            "utf-16-be" | "utf-16be" => wide(2, true, false),
            "utf-32" | "utf32" | "u32" => wide(4, false, true),
            "utf-32-le" | "utf-32le" => wide(4, false, false),
            "utf-32-be" | "utf-32be" => wide(4, true, false),
            _ => None,
        }
    }

    /// How messages call it.
    fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 { .. } => "utf-8",
            Encoding::Ascii => "ascii",
            Encoding::Latin1 => "latin-1",
            Encoding::Wide { bytes: 2, big: false, mark: true } => "utf-16",
            Encoding::Wide { bytes: 2, big: false, .. } => "utf-16-le",
            Encoding::Wide { bytes: 2, .. } => "utf-16-be",
            Encoding::Wide { big: false, mark: true, .. } => "utf-32",
            Encoding::Wide { big: false, .. } => "utf-32-le",
            Encoding::Wide { .. } => "utf-32-be",
        }
    }
}

/// The encoding that an argument names; UTF-8 when there is none.
pub(crate) fn encoding(vm: &mut Vm, value: Value) -> Outcome<Encoding> {
    if value.is_undefined() {
        return Ok(Encoding::Utf8 { mark: false });
    }
    let length = vm.heap.text(value).map_or(0, str::len);
    vm.spend(ENCODING_NAME.of(length))?;
    let name = vm.heap.text(value).unwrap_or_default().to_owned();
    match Encoding::of_name(&name) {
        Some(encoding) => Ok(encoding),
        None if name.contains('\0') => Err(vm.value_error("embedded null character")),
        None => Err(vm.raise(ty::LOOKUP_ERROR, &format!("unknown encoding: {name}"))),
    }
}

fn handler(vm: &mut Vm, value: Value) -> Outcome<String> {
    let name = vm.heap.text(value).unwrap_or("strict").to_owned();
    if !value.is_undefined() {
        vm.spend(HANDLER_NAME.of(name.len()))?;
    }
    Ok(name)
}

pub(crate) fn shown(vm: &Vm, value: Value) -> String {
    if value.is_none() { "None".to_owned() } else { vm.heap.class_name(value) }
}

/// UnicodeEncodeError or UnicodeDecodeError with its five arguments.
fn unicode_error(vm: &mut Vm, class: crate::value::Ref, encoding: &str, object: Value, from: usize, to: usize, reason: &str) -> Throw {
    let encoding = vm.heap.str(encoding);
    let reason = vm.heap.str(reason);
    let place = |at: usize| Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
    let parts = [encoding, object, place(from), place(to), reason];
    let args = vm.heap.tuple(parts.to_vec());
    let exception = vm.exception_with(class, args);
    for (name, part) in [nm::ENCODING, nm::OBJECT, nm::START, nm::END, nm::REASON].into_iter().zip(parts) {
        vm.put_attribute(exception, name, part);
    }
    Throw::Raise(exception)
}

fn unknown_handler(vm: &mut Vm, name: &str) -> Throw {
    vm.raise(ty::LOOKUP_ERROR, &format!("unknown error handler name '{name}'"))
}

/// TypeError for names of an encoding or an error handler that are no text: they are looked at before all else.
pub(super) fn check_names(vm: &mut Vm, encoding: Value, errors: Value, function: &str) -> Outcome<()> {
    for (value, which) in [(encoding, "encoding"), (errors, "errors")] {
        if !value.is_undefined() && vm.heap.text(value).is_none() {
            let message = format!("{function}() argument '{which}' must be str, not {}", shown(vm, value));
            return Err(vm.type_error(message));
        }
    }
    Ok(())
}

/// The encoding and the error handler of those names, once what is encoded or decoded with them is paid for, by its length in bytes.
fn named(vm: &mut Vm, name: Value, errors: Value, length: usize, function: &str) -> Outcome<(Encoding, String)> {
    check_names(vm, name, errors, function)?;
    let (encoding, errors) = (encoding(vm, name)?, handler(vm, errors)?);
    let is_wide = matches!(encoding, Encoding::Wide { .. });
    vm.spend(if is_wide { BYTES_MADE.of(length) + TEXT_RECODED.of(length) } else { BYTES_MADE.of(length) })?;
    Ok((encoding, errors))
}

/// `text.encode(encoding, errors)`
pub(crate) fn encode(vm: &mut Vm, source: Value, encoding_name: Value, errors: Value, function: &str) -> Outcome<Vec<u8>> {
    let length = vm.heap.text(source).map_or(0, str::len);
    let (encoding, errors) = named(vm, encoding_name, errors, length, function)?;
    let text = vm.heap.text(source).unwrap_or_default().to_owned();
    let limit = match encoding {
        Encoding::Utf8 { mark } => {
            let mut bytes = if mark { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
            vm.reserve(text.len())?;
            bytes.extend(text.into_bytes());
            return Ok(bytes);
        }
        Encoding::Wide { bytes, big, mark } => {
            vm.reserve(text.len().saturating_mul(4))?;
            let mut out = Vec::new();
            let mut push = |unit: u32| {
                let unit = if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                out.extend(if big { &unit[4 - bytes..] } else { &unit[..bytes] });
            };
            if mark {
                push(0xfeff);
            }
            for c in text.chars() {
                if bytes == 4 {
                    push(u32::from(c));
                } else {
                    let mut units = [0; 2];
                    c.encode_utf16(&mut units).iter().for_each(|&unit| push(u32::from(unit)));
                }
            }
            return Ok(out);
        }
        Encoding::Ascii => 128,
        Encoding::Latin1 => 256,
    };
    vm.reserve(text.len())?;
    let fits = |c: char| u32::from(c) < limit;
    let mut bytes = Vec::with_capacity(text.len());
    let (mut rest, mut at) = (text.as_str(), 0);
    while !rest.is_empty() {
        let (plain, after) = rest.split_at(rest.find(|c| !fits(c)).unwrap_or(rest.len()));
        match limit {
            128 => bytes.extend_from_slice(plain.as_bytes()),
            _ => bytes.extend(plain.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or_default())),
        }
        if after.is_empty() {
            break;
        }
        at += plain.chars().count();
        let (foreign, after) = after.split_at(after.find(fits).unwrap_or(after.len()));
        let end = at + foreign.chars().count();
        if matches!(errors.as_str(), "strict" | "surrogateescape" | "surrogatepass") {
            let reason = format!("ordinal not in range({limit})");
            let object = vm.heap.retain(source);
            return Err(unicode_error(vm, ty::UNICODE_ENCODE_ERROR, encoding.name(), object, at, end, &reason));
        }
        replace_foreign(vm, &mut bytes, foreign, &errors)?;
        (rest, at) = (after, end);
    }
    Ok(bytes)
}

/// Bytes of a stretch that an error handler sees to at once.
const HANDLED_AT_ONCE: usize = 4_096;

/// What an error handler writes for characters that an encoding does not have.
fn replace_foreign(vm: &mut Vm, bytes: &mut Vec<u8>, foreign: &str, errors: &str) -> Outcome<()> {
    // The longest that is written for a character.
    let width = match errors {
        "ignore" => 0,
        "replace" => 1,
        "xmlcharrefreplace" | "backslashreplace" => 10,
        other => return Err(unknown_handler(vm, other)),
    };
    vm.spend(STRETCH_HANDLED.once())?;
    let mut rest = foreign;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(HANDLED_AT_ONCE));
        let count = piece.chars().count();
        vm.spend((CHARACTER_HANDLED.once() + HANDLED_WRITTEN.of(width)).times(count))?;
        vm.reserve(bytes.len() + count * width)?;
        let mut escaped = String::new();
        for c in piece.chars() {
            match errors {
                "replace" => escaped.push('?'),
                "xmlcharrefreplace" => {
                    escaped.push_str("&#");
                    push_decimal(&mut escaped, i64::from(u32::from(c)));
                    escaped.push(';');
                }
                "backslashreplace" => push_escape(&mut escaped, u32::from(c)),
                _ => {}
            }
        }
        bytes.extend_from_slice(escaped.as_bytes());
        rest = after;
    }
    Ok(())
}

/// A code as an escape.
pub(super) fn escaped(code: u32) -> String {
    let mut text = String::new();
    push_escape(&mut text, code);
    text
}

/// A stretch of bytes that is no text.
struct Flaw {
    from: usize,
    to: usize,
    reason: &'static str,
}

/// `bytes.decode(encoding, errors)`
pub(crate) fn decode(vm: &mut Vm, bytes: &[u8], encoding_name: Value, errors: Value, function: &str) -> Outcome<String> {
    let (encoding, errors) = named(vm, encoding_name, errors, bytes.len(), function)?;
    vm.reserve(bytes.len().saturating_mul(2))?;
    let mut text = String::with_capacity(bytes.len());
    let (mut at, mut encoding) = (0, encoding);
    match encoding {
        Encoding::Utf8 { mark: true } if bytes.starts_with(b"\xef\xbb\xbf") => at = 3,
        Encoding::Wide { bytes: size, mark: true, .. } => (at, encoding) = ordered(bytes, size),
        _ => {}
    }
    while at < bytes.len() {
        let flaw = match encoding {
            Encoding::Latin1 => {
                text.extend(bytes[at..].iter().map(|&byte| char::from(byte)));
                break;
            }
            Encoding::Ascii => {
                let end = bytes[at..].iter().position(|byte| !byte.is_ascii()).map_or(bytes.len(), |offset| at + offset);
                text.extend(bytes[at..end].iter().map(|&byte| char::from(byte)));
                at = end;
                (at < bytes.len()).then_some(Flaw { from: at, to: at + 1, reason: "ordinal not in range(128)" })
            }
            Encoding::Utf8 { .. } => match std::str::from_utf8(&bytes[at..]) {
                Ok(rest) => {
                    text.push_str(rest);
                    break;
                }
                Err(error) => {
                    let good = at + error.valid_up_to();
                    text.push_str(std::str::from_utf8(&bytes[at..good]).unwrap_or_default());
                    let reason = match error.error_len() {
                        None => "unexpected end of data",
                        Some(_) if !(0xc2..=0xf4).contains(&bytes[good]) => "invalid start byte",
                        Some(_) => "invalid continuation byte",
                    };
                    Some(Flaw { from: good, to: error.error_len().map_or(bytes.len(), |length| good + length), reason })
                }
            },
            Encoding::Wide { bytes: size, big, .. } => match wide_character(bytes, at, size, big) {
                Ok((c, next)) => {
                    text.push(c);
                    at = next;
                    continue;
                }
                Err(flaw) => Some(flaw),
            },
        };
        let Some(flaw) = flaw else { break };
        vm.spend(STRETCH_HANDLED.once())?;
        vm.reserve(text.len() + 2 * (bytes.len() - at))?;
        match errors.as_str() {
            "ignore" => {}
            "replace" => text.push('\u{fffd}'),
            "backslashreplace" => bytes[flaw.from..flaw.to].iter().for_each(|&byte| push_escape(&mut text, u32::from(byte))),
            "strict" | "surrogateescape" | "surrogatepass" | "xmlcharrefreplace" => {
                let object = vm.heap.make(ty::BYTES, Payload::Bytes(bytes.to_vec()));
                return Err(unicode_error(vm, ty::UNICODE_DECODE_ERROR, encoding.name(), object, flaw.from, flaw.to, flaw.reason));
            }
            other => return Err(unknown_handler(vm, other)),
        }
        at = flaw.to;
    }
    Ok(text)
}

/// Where text in units of this size begins, behind its mark, and its encoding with the order of bytes, which errors name.
fn ordered(bytes: &[u8], size: usize) -> (usize, Encoding) {
    let little: &[u8] = if size == 2 { b"\xff\xfe" } else { b"\xff\xfe\0\0" };
    let big: &[u8] = if size == 2 { b"\xfe\xff" } else { b"\0\0\xfe\xff" };
    let is_big = bytes.starts_with(big);
    let at = if is_big || bytes.starts_with(little) { size } else { 0 };
    (at, Encoding::Wide { bytes: size, big: is_big, mark: false })
}

fn wide_character(bytes: &[u8], at: usize, size: usize, big: bool) -> Result<(char, usize), Flaw> {
    let unit = |at: usize| {
        let part = bytes.get(at..at + size)?;
        let fold = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
        Some(if big { part.iter().fold(0, fold) } else { part.iter().rev().fold(0, fold) })
    };
    let Some(first) = unit(at) else { return Err(Flaw { from: at, to: bytes.len(), reason: "truncated data" }) };
    if let Some(c) = char::from_u32(first) {
        return Ok((c, at + size));
    }
    if size == 4 {
        let reason = if first < 0x11_0000 {
            "code point in surrogate code point range(0xd800, 0xe000)"
        } else {
            "code point not in range(0x110000)"
        };
        return Err(Flaw { from: at, to: at + 4, reason });
    }
    if first >= 0xdc00 {
        return Err(Flaw { from: at, to: at + 2, reason: "illegal encoding" });
    }
    match unit(at + 2) {
        None => Err(Flaw { from: at, to: bytes.len(), reason: "unexpected end of data" }),
        Some(second @ 0xdc00..=0xdfff) => {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            char::from_u32(code).map(|c| (c, at + 4)).ok_or(Flaw { from: at, to: at + 4, reason: "illegal encoding" })
        }
        Some(_) => Err(Flaw { from: at, to: at + 2, reason: "illegal UTF-16 surrogate" }),
    }
}
