//! Text and bytes as `repr` writes them: between quotes, with what does not print escaped.

use crate::costs::TEXT_WRITTEN;
use crate::error::Outcome;
use crate::interp::Vm;
use cowboy_unicode as unicode;

/// Bytes of a source between two looks at how large its repr has become.
const PIECE: usize = 4_096;

/// `\xhh`, `\uhhhh` or `\Uhhhhhhhh`, the shortest that holds a code.
pub(crate) fn push_escape(out: &mut String, code: u32) {
    let (letter, digits) = match code {
        0..=0xff => ('x', 2),
        0x100..=0xffff => ('u', 4),
        _ => ('U', 8),
    };
    out.push('\\');
    out.push(letter);
    for place in (0..digits).rev() {
        out.push(char::from_digit(code >> (4 * place) & 15, 16).unwrap_or('0'));
    }
}

/// The quote that a repr has: double ones where the text holds single ones only.
fn quote(holds: impl Fn(u8) -> bool) -> char {
    if holds(b'\'') && !holds(b'"') { '"' } else { '\'' }
}

fn push_text(out: &mut String, text: &str, quote: char) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if unicode::is_printable(c) => out.push(c),
            c => push_escape(out, u32::from(c)),
        }
    }
}

/// The repr of a text that is short.
pub(crate) fn write_text(out: &mut String, text: &str) {
    let quote = quote(|byte| text.as_bytes().contains(&byte));
    out.push(quote);
    push_text(out, text, quote);
    out.push(quote);
}

/// The repr of a text; the result may grow as far as it is allowed to.
pub(crate) fn text(vm: &mut Vm, out: &mut String, text: &str) -> Outcome<()> {
    let quote = quote(|byte| text.as_bytes().contains(&byte));
    out.push(quote);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        push_text(out, piece, quote);
        vm.allow(out.len(), TEXT_WRITTEN.of(out.len()))?;
        rest = after;
    }
    out.push(quote);
    Ok(())
}

/// The repr of bytes, in the same way. That of a bytearray escapes single quotes between double ones as well.
pub(crate) fn bytes(vm: &mut Vm, out: &mut String, bytes: &[u8], mutable: bool) -> Outcome<()> {
    let quote = quote(|byte| bytes.contains(&byte));
    out.push('b');
    out.push(quote);
    for piece in bytes.chunks(PIECE) {
        for &byte in piece {
            match byte {
                b'\\' => out.push_str("\\\\"),
                b'\n' => out.push_str("\\n"),
                b'\r' => out.push_str("\\r"),
                b'\t' => out.push_str("\\t"),
                0x20..=0x7e if char::from(byte) == quote || (mutable && byte == b'\'') => {
                    out.push('\\');
                    out.push(char::from(byte));
                }
                0x20..=0x7e => out.push(char::from(byte)),
                byte => push_escape(out, u32::from(byte)),
            }
        }
        vm.allow(out.len(), TEXT_WRITTEN.of(out.len()))?;
    }
    out.push(quote);
    Ok(())
}
