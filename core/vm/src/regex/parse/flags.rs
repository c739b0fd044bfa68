//! Flags: those of the call, and those in the pattern.

use super::tokens::{Token, letter};
use super::{ASCII, DOTALL, IGNORECASE, LOCALE, MULTILINE, Parsed, Parser, Refusal, UNICODE, VERBOSE};
use cowboy_unicode as unicode;

/// Flags of which one holds at a time.
const TYPE_FLAGS: u32 = ASCII | LOCALE | UNICODE;

/// The flags of a whole pattern: the default for its kind is added, and contradictions are refused.
pub(super) fn fix_flags(flags: u32, is_text: bool) -> Parsed<u32> {
    if is_text {
        if flags & LOCALE != 0 {
            return Err(Refusal::Value("cannot use LOCALE flag with a str pattern"));
        }
        if flags & ASCII == 0 {
            return Ok(flags | UNICODE);
        }
        if flags & UNICODE != 0 {
            return Err(Refusal::Value("ASCII and UNICODE flags are incompatible"));
        }
    } else {
        if flags & UNICODE != 0 {
            return Err(Refusal::Value("cannot use UNICODE flag with a bytes pattern"));
        }
        if flags & LOCALE != 0 && flags & ASCII != 0 {
            return Err(Refusal::Value("ASCII and LOCALE flags are incompatible"));
        }
    }
    Ok(flags)
}

impl Parser<'_> {
    /// Inline flags: none when they are global, else what they add and take away.
    pub(super) fn flags(&mut self, first: char) -> Parsed<Option<(u32, u32)>> {
        let (mut add, mut remove) = (0, 0);
        let mut kind = first;
        if kind != '-' {
            loop {
                let flag = flag_of(kind).unwrap_or(0);
                if self.is_text && kind == 'L' {
                    return self.refuse("bad inline flags: cannot use 'L' flag with a str pattern", 0);
                }
                if !self.is_text && kind == 'u' {
                    return self.refuse("bad inline flags: cannot use 'u' flag with a bytes pattern", 0);
                }
                add |= flag;
                if flag & TYPE_FLAGS != 0 && add & TYPE_FLAGS != flag {
                    return self.refuse("bad inline flags: flags 'a', 'u' and 'L' are incompatible", 0);
                }
                kind = match self.flag_character("missing -, : or )")? {
                    Some(kind) => kind,
                    None => return self.refuse("missing -, : or )", 0),
                };
                if matches!(kind, ')' | '-' | ':') {
                    break;
                }
                if flag_of(kind).is_none() {
                    let message = if unicode::is_alpha(kind) { "unknown flag" } else { "missing -, : or )" };
                    return self.refuse(message, 1);
                }
            }
        }
        if kind == ')' {
            self.flags |= add;
            return Ok(None);
        }
        if kind == '-' {
            kind = match self.flag_character("missing flag")? {
                Some(kind) => kind,
                None => return self.refuse("missing flag", 0),
            };
            if flag_of(kind).is_none() {
                let message = if unicode::is_alpha(kind) { "unknown flag" } else { "missing flag" };
                return self.refuse(message, 1);
            }
            loop {
                let flag = flag_of(kind).unwrap_or(0);
                if flag & TYPE_FLAGS != 0 {
                    return self.refuse("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", 0);
                }
                remove |= flag;
                kind = match self.flag_character("missing :")? {
                    Some(kind) => kind,
                    None => return self.refuse("missing :", 0),
                };
                if kind == ':' {
                    break;
                }
                if flag_of(kind).is_none() {
                    let message = if unicode::is_alpha(kind) { "unknown flag" } else { "missing :" };
                    return self.refuse(message, 1);
                }
            }
        }
        if add & remove != 0 {
            return self.refuse("bad inline flags: flag turned on and off", 1);
        }
        Ok(Some((add, remove)))
    }

    fn flag_character(&mut self, missing: &str) -> Parsed<Option<char>> {
        match self.get()? {
            None => Ok(None),
            Some(Token::Plain(code)) => Ok(letter(code)),
            Some(Token::Escaped(_)) => self.refuse(missing, 2),
        }
    }
}

pub(super) fn flag_of(character: char) -> Option<u32> {
    Some(match character {
        'i' => IGNORECASE,
        'L' => LOCALE,
        'm' => MULTILINE,
        's' => DOTALL,
        'x' => VERBOSE,
        'a' => ASCII,
        'u' => UNICODE,
        _ => return None,
    })
}
