//! Sets of characters in brackets.

use super::tokens::{Token, is, letter};
use super::{Node, Parsed, Parser};

impl Parser<'_> {
    #[inline(never)]
    pub(super) fn set(&mut self) -> Parsed<Node> {
        let here = self.tell() - 1;
        let negated = self.take('^')?;
        let (mut ranges, mut categories) = (Vec::new(), Vec::new());
        let mut empty = true;
        loop {
            let Some(token) = self.get()? else { return self.refuse_from("unterminated character set", here) };
            if is(Some(token), ']') && !empty {
                break;
            }
            empty = false;
            let start = self.tell() - token.length();
            let low = match token {
                Token::Escaped(code) => self.set_escape(code)?,
                Token::Plain(code) => Ok(code),
            };
            let low_text = start..self.tell();
            if !self.take('-')? {
                match low {
                    Ok(code) => ranges.push((code, code)),
                    Err(category) => categories.push(category),
                }
                continue;
            }
            let middle = self.tell();
            let Some(token) = self.get()? else { return self.refuse_from("unterminated character set", here) };
            if is(Some(token), ']') {
                match low {
                    Ok(code) => ranges.push((code, code)),
                    Err(category) => categories.push(category),
                }
                ranges.push((0x2d, 0x2d));
                break;
            }
            let high = match token {
                Token::Escaped(code) => self.set_escape(code)?,
                Token::Plain(code) => Ok(code),
            };
            match (low, high) {
                (Ok(low), Ok(high)) if low <= high => ranges.push((low, high)),
                _ => {
                    let text =
                        |range: std::ops::Range<usize>| -> String { self.text[range].iter().filter_map(|&code| letter(code)).collect() };
                    // CPython shows each end as its first token.
                    let first = &self.text[low_text.start..];
                    let first_length = if first.first() == Some(&0x5c) { 2 } else { 1 };
                    let this = text(low_text.start..low_text.start + first_length);
                    let that = text(middle..middle + token.length());
                    return self.refuse(format!("bad character range {this}-{that}"), first_length + 1 + token.length());
                }
            }
        }
        if ranges.len() == 1 && categories.is_empty() && !negated && ranges[0].0 == ranges[0].1 {
            return Ok(Node::Literal(ranges[0].0));
        }
        Ok(Node::Set(ranges, categories, negated))
    }
}
