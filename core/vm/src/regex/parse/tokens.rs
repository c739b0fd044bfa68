//! Reading a pattern token by token, and refusing it at a place.

use super::{Parsed, Parser, Refusal};

/// What the parser reads at once: a character, or a backslash with what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Plain(u32),
    Escaped(u32),
}

impl Token {
    pub(super) fn length(self) -> usize {
        match self {
            Token::Plain(_) => 1,
            Token::Escaped(_) => 2,
        }
    }
}

pub(super) fn is(token: Option<Token>, character: char) -> bool {
    token == Some(Token::Plain(u32::from(character)))
}

pub(super) fn letter(code: u32) -> Option<char> {
    char::from_u32(code)
}

impl Parser<'_> {
    pub(super) fn advance(&mut self) -> Parsed<()> {
        self.next = match self.text.get(self.at) {
            None => None,
            Some(&0x5c) => match self.text.get(self.at + 1) {
                Some(&code) => Some(Token::Escaped(code)),
                None => return Err(Refusal::Syntax("bad escape (end of pattern)".to_owned(), Some(self.text.len() - 1))),
            },
            Some(&code) => Some(Token::Plain(code)),
        };
        self.at += self.next.map_or(0, Token::length);
        Ok(())
    }

    pub(super) fn get(&mut self) -> Parsed<Option<Token>> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    pub(super) fn take(&mut self, character: char) -> Parsed<bool> {
        if !is(self.next, character) {
            return Ok(false);
        }
        self.advance()?;
        Ok(true)
    }

    pub(super) fn tell(&self) -> usize {
        self.at - self.next.map_or(0, Token::length)
    }

    pub(super) fn seek(&mut self, place: usize) -> Parsed<()> {
        self.at = place;
        self.advance()
    }

    pub(super) fn refuse<T>(&self, message: impl Into<String>, back: usize) -> Parsed<T> {
        Err(Refusal::Syntax(message.into(), Some(self.tell().saturating_sub(back))))
    }

    pub(super) fn refuse_from<T>(&self, message: impl Into<String>, start: usize) -> Parsed<T> {
        self.refuse(message, self.tell() - start)
    }

    /// Up to `most` more characters of a sort, as text.
    pub(super) fn while_in(&mut self, most: usize, sort: impl Fn(char) -> bool) -> Parsed<String> {
        let mut found = String::new();
        for _ in 0..most {
            match self.next {
                Some(Token::Plain(code)) if letter(code).is_some_and(&sort) => {
                    found.extend(letter(code));
                    self.advance()?;
                }
                _ => break,
            }
        }
        Ok(found)
    }

    /// The text before a terminator.
    pub(super) fn until(&mut self, terminator: char, what: &str) -> Parsed<String> {
        let mut found = String::new();
        loop {
            let token = self.get()?;
            match token {
                None if found.is_empty() => return self.refuse(format!("missing {what}"), 0),
                None => return self.refuse(format!("missing {terminator}, unterminated name"), found.chars().count()),
                Some(Token::Plain(code)) if code == u32::from(terminator) => {
                    if found.is_empty() {
                        return self.refuse(format!("missing {what}"), 1);
                    }
                    return Ok(found);
                }
                Some(Token::Plain(code)) => found.extend(letter(code)),
                Some(Token::Escaped(code)) => {
                    found.push('\\');
                    found.extend(letter(code));
                }
            }
        }
    }

    pub(super) fn character(&mut self) -> Parsed<char> {
        match self.get()? {
            None => self.refuse("unexpected end of pattern", 0),
            Some(Token::Plain(code)) => Ok(letter(code).unwrap_or('\0')),
            Some(Token::Escaped(code)) => self.refuse(format!("unknown extension ?\\{}", letter(code).unwrap_or('\0')), 3),
        }
    }
}
