//! Text and bytes as `repr` writes them: between quotes, with what does not print escaped.

use cowboy_unicode as unicode;

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
pub(crate) fn quote(holds: impl Fn(u8) -> bool) -> char {
    if holds(b'\'') && !holds(b'"') { '"' } else { '\'' }
}

/// The characters of a text as they stand between such quotes.
pub(crate) fn push_text(out: &mut String, text: &str, quote: char) {
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

/// A byte as it stands between such quotes. In a bytearray single quotes are escaped between double ones as well.
pub(crate) fn push_byte(out: &mut String, byte: u8, quote: char, mutable: bool) {
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

/// A text with what JSON or ASCII cannot hold escaped.
pub(crate) fn push_json(out: &mut String, text: &str, ascii: bool) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let escaped = |out: &mut String, unit: u16| {
        out.push_str("\\u");
        for shift in [12, 8, 4, 0] {
            out.push(char::from(DIGITS[usize::from(unit >> shift & 15)]));
        }
    };
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' && (byte < 0x7f || !ascii) {
            continue;
        }
        // Inside a character of several bytes that was written already.
        if at < plain {
            continue;
        }
        out.push_str(&text[plain..at]);
        plain = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            0..0x80 => escaped(out, u16::from(byte)),
            _ => {
                let character = text[at..].chars().next().unwrap_or('\u{fffd}');
                character.encode_utf16(&mut [0; 2]).iter().for_each(|&unit| escaped(out, unit));
                plain = at + character.len_utf8();
            }
        }
    }
    out.push_str(&text[plain..]);
}
