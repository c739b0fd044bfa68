//! What stands in parentheses: groups, references to them, lookaround and conditions.

use super::flags::flag_of;
use super::tokens::is;
use super::{NESTING, Node, Parsed, Parser, Refusal, VERBOSE, width};
use cowboy_unicode as unicode;

/// Most groups of a pattern.
const MOST_GROUPS: usize = 1_073_741_823;

impl Parser<'_> {
    fn quoted(&self, text: &str) -> String {
        let mut out = String::new();
        if self.is_text {
            crate::escapes::write_text(&mut out, text);
        } else {
            let bytes: Vec<u8> = text.chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect();
            let name: String = bytes.iter().map(|&byte| char::from(byte)).collect();
            crate::escapes::write_text(&mut out, &name);
        }
        out
    }

    fn check_name(&self, name: &str, offset: usize) -> Parsed<()> {
        if unicode::is_identifier(name) {
            return Ok(());
        }
        self.refuse(format!("bad character in group name {}", self.quoted(name)), name.chars().count() + offset)
    }

    pub(super) fn check_behind(&self, group: usize) -> Parsed<()> {
        if let Some(first) = self.behind {
            if !self.is_closed(group) {
                return self.refuse("cannot refer to an open group", 0);
            }
            if group >= first {
                return self.refuse("cannot refer to group defined in the same lookbehind subpattern", 0);
            }
        }
        Ok(())
    }

    pub(super) fn is_closed(&self, group: usize) -> bool {
        self.closed.get(group).is_some_and(Option::is_some)
    }

    fn named(&mut self, name: &str) -> Parsed<usize> {
        match self.names.get(name) {
            Some(&group) => Ok(group),
            None => self.refuse(format!("unknown group name {}", self.quoted(name)), name.chars().count() + 1),
        }
    }

    /// Reads what follows an opening parenthesis. Global flags say whether the rest is verbose.
    pub(super) fn group(&mut self, verbose: bool, depth: usize, first: bool, nodes: &mut Vec<Node>) -> Parsed<Option<bool>> {
        let start = self.tell() - 1;
        let (mut capture, mut atomic, mut name) = (true, false, None);
        let (mut add, mut remove) = (0, 0);
        if self.take('?')? {
            capture = false;
            match self.character()? {
                'P' => {
                    if self.take('<')? {
                        let given = self.until('>', "group name")?;
                        self.check_name(&given, 1)?;
                        name = Some(given);
                        capture = true;
                    } else if self.take('=')? {
                        nodes.push(self.reference()?);
                        return Ok(None);
                    } else {
                        let character = self.character()?;
                        return self.refuse(format!("unknown extension ?P{character}"), 3);
                    }
                }
                ':' => {}
                '#' => loop {
                    if self.next.is_none() {
                        return self.refuse_from("missing ), unterminated comment", start);
                    }
                    if is(self.get()?, ')') {
                        return Ok(None);
                    }
                },
                kind @ ('=' | '!' | '<') => return self.look(kind, start, verbose, depth, nodes),
                '(' => return self.condition(start, verbose, depth, nodes),
                '>' => atomic = true,
                kind if kind == '-' || flag_of(kind).is_some() => match self.flags(kind)? {
                    None => {
                        if !first {
                            return self.refuse_from("global flags not at the start of the expression", start);
                        }
                        return Ok(Some(self.flags & VERBOSE != 0));
                    }
                    Some((added, removed)) => (add, remove) = (added, removed),
                },
                kind => return self.refuse(format!("unknown extension ?{kind}"), 2),
            }
        }
        let group = if capture { Some(self.open_group(name)?) } else { None };
        let inner_verbose = (verbose || add & VERBOSE != 0) && remove & VERBOSE == 0;
        let inner = self.alternatives(inner_verbose, depth + 1)?;
        if !self.take(')')? {
            return self.refuse_from("missing ), unterminated subpattern", start);
        }
        if let Some(group) = group {
            self.closed[group] = Some(width(&inner, &self.closed));
        }
        nodes.push(if atomic { Node::Atomic(inner) } else { Node::Group(group, add, remove, inner) });
        Ok(None)
    }

    /// Reads the name of the group that `(?P=` refers to.
    #[inline(never)]
    fn reference(&mut self) -> Parsed<Node> {
        let given = self.until(')', "group name")?;
        self.check_name(&given, 1)?;
        let group = self.named(&given)?;
        if !self.is_closed(group) {
            return self.refuse("cannot refer to an open group", given.chars().count() + 1);
        }
        self.check_behind(group)?;
        Ok(Node::Reference(group))
    }

    #[inline(never)]
    fn open_group(&mut self, name: Option<String>) -> Parsed<usize> {
        let group = self.closed.len();
        if group > MOST_GROUPS {
            return self.refuse("too many groups", 0);
        }
        if let Some(name) = name {
            if let Some(other) = self.names.get(&name) {
                let message = format!("redefinition of group name {} as group {group}; was group {other}", self.quoted(&name));
                return self.refuse(message, name.chars().count() + 1);
            }
            self.names.insert(name.clone(), group);
            self.order.push((name, group));
        }
        self.closed.push(None);
        Ok(group)
    }

    fn look(&mut self, kind: char, start: usize, verbose: bool, depth: usize, nodes: &mut Vec<Node>) -> Parsed<Option<bool>> {
        let mut kind = kind;
        let behind = kind == '<';
        let outer = self.behind;
        if behind {
            kind = self.character()?;
            if kind != '=' && kind != '!' {
                return self.refuse(format!("unknown extension ?<{kind}"), 3);
            }
            if outer.is_none() {
                self.behind = Some(self.closed.len());
            }
        }
        let inner = self.alternatives(verbose, depth + 1)?;
        if behind {
            self.behind = outer;
        }
        if !self.take(')')? {
            return self.refuse_from("missing ), unterminated subpattern", start);
        }
        nodes.push(if kind == '!' && inner.is_empty() { Node::Fail } else { Node::Look(behind, kind == '!', inner) });
        Ok(None)
    }

    fn condition(&mut self, start: usize, verbose: bool, depth: usize, nodes: &mut Vec<Node>) -> Parsed<Option<bool>> {
        let name = self.until(')', "group name")?;
        let length = name.chars().count();
        let group = if unicode::is_identifier(&name) {
            self.named(&name)?
        } else {
            let Ok(group) = name.trim().parse::<usize>() else {
                return self.refuse(format!("bad character in group name {}", self.quoted(&name)), length + 1);
            };
            if group == 0 {
                return self.refuse("bad group number", length + 1);
            }
            if group >= MOST_GROUPS {
                return self.refuse(format!("invalid group reference {group}"), length + 1);
            }
            if !self.conditions.iter().any(|&(known, _)| known == group) {
                self.conditions.push((group, self.tell() - length - 1));
            }
            group
        };
        self.check_behind(group)?;
        if depth > NESTING {
            return Err(Refusal::Depth);
        }
        let yes = self.sequence(verbose, depth + 1, false)?;
        let no = if self.take('|')? {
            let no = self.sequence(verbose, depth + 1, false)?;
            if is(self.next, '|') {
                return self.refuse("conditional backref with more than two branches", 0);
            }
            Some(no)
        } else {
            None
        };
        if !self.take(')')? {
            return self.refuse_from("missing ), unterminated subpattern", start);
        }
        nodes.push(Node::Condition(group, yes, no));
        Ok(None)
    }
}
