//! What follows a backslash in a pattern.

use super::{Node, Parsed, Parser, Place, letter};
use crate::regex::chars::Category;

impl Parser<'_> {
    /// An escape that both sets and patterns have: a character or a category.
    pub(super) fn common_escape(&mut self, code: u32) -> Parsed<Option<Result<u32, Category>>> {
        let character = letter(code).unwrap_or('\0');
        Ok(Some(match character {
            'd' | 's' | 'w' => Err(Category { letter: character as u8, negated: false }),
            'D' | 'S' | 'W' => Err(Category { letter: character.to_ascii_lowercase() as u8, negated: true }),
            'a' => Ok(7),
            'f' => Ok(12),
            'n' => Ok(10),
            'r' => Ok(13),
            't' => Ok(9),
            'v' => Ok(11),
            '\\' => Ok(0x5c),
            'x' => Ok(self.hexadecimal('x', 2)?),
            'u' if self.is_text => Ok(self.hexadecimal('u', 4)?),
            'U' if self.is_text => Ok(self.hexadecimal('U', 8)?),
            _ => return Ok(None),
        }))
    }

    pub(super) fn hexadecimal(&mut self, kind: char, digits: usize) -> Parsed<u32> {
        let text = self.while_in(digits, |character| character.is_ascii_hexdigit())?;
        let length = text.len() + 2;
        if text.len() != digits {
            return self.refuse(format!("incomplete escape \\{kind}{text}"), length);
        }
        match u32::from_str_radix(&text, 16) {
            Ok(code) if code <= 0x10_ffff => Ok(code),
            _ => self.refuse(format!("bad escape \\{kind}{text}"), length),
        }
    }

    pub(super) fn octal(&mut self, digits: &str) -> Parsed<u32> {
        match u32::from_str_radix(digits, 8) {
            Ok(code) if code <= 0o377 => Ok(code),
            _ => self.refuse(format!("octal escape value \\{digits} outside of range 0-0o377"), digits.len() + 1),
        }
    }

    pub(super) fn set_escape(&mut self, code: u32) -> Parsed<Result<u32, Category>> {
        if let Some(found) = self.common_escape(code)? {
            return Ok(found);
        }
        let character = letter(code).unwrap_or('\0');
        match character {
            'b' => Ok(Ok(8)),
            '0'..='7' => {
                let rest = self.while_in(2, |character| character.is_digit(8))?;
                Ok(Ok(self.octal(&format!("{character}{rest}"))?))
            }
            '8' | '9' => self.refuse(format!("bad escape \\{character}"), 2),
            _ if character.is_ascii_alphabetic() => self.refuse(format!("bad escape \\{character}"), 2),
            _ => Ok(Ok(code)),
        }
    }

    #[inline(never)]
    pub(super) fn escape(&mut self, code: u32) -> Parsed<Node> {
        let place = |place: Place| Ok(Node::At(place));
        match letter(code).unwrap_or('\0') {
            'A' => return place(Place::TextBegin),
            'Z' => return place(Place::TextEnd),
            'b' => return place(Place::Boundary),
            'B' => return place(Place::NoBoundary),
            _ => {}
        }
        if let Some(found) = self.common_escape(code)? {
            return Ok(match found {
                Ok(code) => Node::Literal(code),
                Err(category) => Node::Set(Vec::new(), vec![category], false),
            });
        }
        let character = letter(code).unwrap_or('\0');
        match character {
            '0' => {
                let rest = self.while_in(2, |character| character.is_digit(8))?;
                Ok(Node::Literal(self.octal(&format!("0{rest}"))?))
            }
            '1'..='9' => {
                let mut digits = character.to_string();
                digits.push_str(&self.while_in(1, |character| character.is_ascii_digit())?);
                if digits.len() == 2 && digits.chars().all(|digit| digit.is_digit(8)) {
                    let third = self.while_in(1, |character| character.is_digit(8))?;
                    if !third.is_empty() {
                        digits.push_str(&third);
                        return Ok(Node::Literal(self.octal(&digits)?));
                    }
                }
                let group: usize = digits.parse().unwrap_or(usize::MAX);
                if group < self.closed.len() {
                    if !self.is_closed(group) {
                        return self.refuse("cannot refer to an open group", digits.len() + 1);
                    }
                    self.check_behind(group)?;
                    return Ok(Node::Reference(group));
                }
                self.refuse(format!("invalid group reference {group}"), digits.len())
            }
            _ if character.is_ascii_alphabetic() => self.refuse(format!("bad escape \\{character}"), 2),
            _ => Ok(Node::Literal(code)),
        }
    }
}
