//! `match`: a decision per case, the subject in a register throughout.

use super::{Compiled, Compiler, Label, Operand};
use crate::CompileError;
use crate::code::Const;
use crate::opcode::{NEGATE, Op, TEMP_A, TEMP_B};
use crate::scope::mangle;
use ruff_python_ast::{Pattern, Singleton, StmtMatch};
use ruff_text_size::{Ranged, TextRange};

/// Names bound so far by the pattern, with the registers that hold their values until the whole pattern has matched.
type Captures = Vec<(String, u16)>;

impl<'a> Compiler<'a> {
    /// `match`
    pub(super) fn match_statement(&mut self, node: &'a StmtMatch) -> Compiled<()> {
        let subject = self.temporary()?;
        self.into(&node.subject, subject)?;
        let end = self.label();
        for case in &node.cases {
            self.at(case.range);
            let mark = self.mark();
            let next = self.label();
            let mut captures = Captures::new();
            self.pattern(&case.pattern, subject, next, &mut captures)?;
            for (name, register) in captures {
                self.store_name(&name, Operand { register, temporary: true })?;
            }
            if let Some(guard) = &case.guard {
                self.jump_if(guard, false, next)?;
            }
            self.reset(mark);
            self.statements(&case.body)?;
            self.jump(Op::Jump, 0, 0, end);
            self.bind(next);
            self.reset(mark);
        }
        self.bind(end);
        self.emit(Op::Clear, 0, subject, 0, 0);
        Ok(())
    }

    /// Continues when `subject` matches, else to `fail`.
    fn pattern(&mut self, pattern: &'a Pattern, subject: u16, fail: Label, captures: &mut Captures) -> Compiled<()> {
        self.nested(pattern.range(), |compiler| compiler.pattern_inner(pattern, subject, fail, captures))
    }

    fn capture(&mut self, name: &str, subject: u16, range: TextRange, captures: &mut Captures) -> Compiled<()> {
        let name = mangle(self.class.as_deref(), name);
        if captures.iter().any(|(seen, _)| *seen == name) {
            return Err(CompileError::at(range, format!("multiple assignments to name '{name}' in pattern")));
        }
        let register = self.temporary()?;
        self.copy(Operand { register: subject, temporary: false }, register);
        captures.push((name, register));
        Ok(())
    }

    fn pattern_inner(&mut self, pattern: &'a Pattern, subject: u16, fail: Label, captures: &mut Captures) -> Compiled<()> {
        match pattern {
            Pattern::MatchValue(node) => {
                let mark = self.mark();
                let value = self.operand(&node.value)?;
                self.jump_near(Op::JumpEqual, value.flag(TEMP_B) | NEGATE, subject, value.register, fail);
                self.reset(mark);
                Ok(())
            }
            Pattern::MatchSingleton(node) => {
                if matches!(node.value, Singleton::None) {
                    self.jump(Op::JumpIfNotNone, 0, subject, fail);
                    return Ok(());
                }
                let mark = self.mark();
                let register = self.temporaries(2)?;
                self.load_constant(Const::Bool(matches!(node.value, Singleton::True)), register);
                self.emit(Op::Is, 0, register + 1, subject, register);
                self.jump(Op::JumpIfFalse, TEMP_A, register + 1, fail);
                self.reset(mark);
                Ok(())
            }
            Pattern::MatchSequence(node) => self.sequence_pattern(&node.patterns, subject, fail, captures, node.range),
            Pattern::MatchMapping(node) => {
                let check = self.temporary()?;
                self.emit(Op::MatchMapping, 0, check, subject, 0);
                self.jump(Op::JumpIfFalse, TEMP_A, check, fail);
                let count = u16::try_from(node.keys.len()).unwrap_or(u16::MAX);
                let keys = self.temporary()?;
                let mark = self.mark();
                for key in &node.keys {
                    let register = self.temporary()?;
                    self.into(key, register)?;
                }
                self.emit(Op::BuildTuple, 0, keys, mark, count);
                self.reset(mark);
                let values = self.temporary()?;
                self.emit(Op::MatchKeys, 0, values, subject, keys);
                self.jump(Op::JumpIfNone, 0, values, fail);
                let first = self.temporaries(count)?;
                self.emit(Op::Unpack, TEMP_B, first, values, count);
                for (register, pattern) in (first..).zip(&node.patterns) {
                    self.pattern(pattern, register, fail, captures)?;
                }
                if let Some(rest) = &node.rest {
                    let register = self.temporary()?;
                    self.emit(Op::MatchRest, 0, register, subject, keys);
                    self.capture(rest, register, rest.range, captures)?;
                }
                Ok(())
            }
            Pattern::MatchClass(node) => {
                let class = self.operand(&node.cls)?;
                let positional = node.arguments.patterns.len();
                let mut names = Vec::new();
                for keyword in &node.arguments.keywords {
                    names.push(Const::Str(mangle(self.class.as_deref(), &keyword.attr)));
                }
                let count = u16::try_from(positional + names.len()).unwrap_or(u16::MAX);
                let names = self.constant(Const::Tuple(names));
                let names = u16::try_from(names).map_err(|_| CompileError::too_large(node.range, "too many constants"))?;
                let values = self.temporary()?;
                self.emit(Op::MatchClass, 0, values, subject, class.register);
                self.emit(Op::Nop, 0, 0, u16::try_from(positional).unwrap_or(u16::MAX), names);
                self.jump(Op::JumpIfNone, 0, values, fail);
                let first = self.temporaries(count)?;
                self.emit(Op::Unpack, TEMP_B, first, values, count);
                let patterns = node.arguments.patterns.iter().chain(node.arguments.keywords.iter().map(|keyword| &keyword.pattern));
                for (register, pattern) in (first..).zip(patterns) {
                    self.pattern(pattern, register, fail, captures)?;
                }
                Ok(())
            }
            Pattern::MatchStar(node) => Err(CompileError::at(node.range, "star pattern outside a sequence pattern")),
            Pattern::MatchAs(node) => {
                if let Some(pattern) = &node.pattern {
                    self.pattern(pattern, subject, fail, captures)?;
                }
                match &node.name {
                    Some(name) => self.capture(name, subject, node.range, captures),
                    None => Ok(()),
                }
            }
            Pattern::MatchOr(node) => self.or_pattern(&node.patterns, subject, fail, captures, node.range),
        }
    }

    fn or_pattern(
        &mut self,
        patterns: &'a [Pattern],
        subject: u16,
        fail: Label,
        captures: &mut Captures,
        range: TextRange,
    ) -> Compiled<()> {
        let matched = self.label();
        let mut shared: Option<Captures> = None;
        let last = patterns.len() - 1;
        for (index, pattern) in patterns.iter().enumerate() {
            let next = self.label();
            let mut own = Captures::new();
            self.pattern(pattern, subject, if index == last { fail } else { next }, &mut own)?;
            own.sort();
            match &shared {
                None => {
                    // The first alternative fixes the registers that all of them deliver in.
                    let mut delivered = Captures::new();
                    for (name, register) in own {
                        let target = self.temporary()?;
                        self.copy(Operand { register, temporary: true }, target);
                        delivered.push((name, target));
                    }
                    shared = Some(delivered);
                }
                Some(delivered) => {
                    let same = delivered.len() == own.len() && delivered.iter().zip(&own).all(|(a, b)| a.0 == b.0);
                    if !same {
                        return Err(CompileError::at(range, "alternative patterns bind different names"));
                    }
                    for ((_, target), (_, register)) in delivered.clone().iter().zip(own) {
                        self.copy(Operand { register, temporary: true }, *target);
                    }
                }
            }
            if index < last {
                self.jump(Op::Jump, 0, 0, matched);
                self.bind(next);
            }
        }
        self.bind(matched);
        for (name, register) in shared.unwrap_or_default() {
            if captures.iter().any(|(seen, _)| *seen == name) {
                return Err(CompileError::at(range, format!("multiple assignments to name '{name}' in pattern")));
            }
            captures.push((name, register));
        }
        Ok(())
    }

    fn sequence_pattern(
        &mut self,
        patterns: &'a [Pattern],
        subject: u16,
        fail: Label,
        captures: &mut Captures,
        range: TextRange,
    ) -> Compiled<()> {
        let count = u16::try_from(patterns.len()).map_err(|_| CompileError::too_large(range, "too many patterns"))?;
        let star = patterns.iter().position(|pattern| matches!(pattern, Pattern::MatchStar(_)));
        if patterns.iter().filter(|pattern| matches!(pattern, Pattern::MatchStar(_))).count() > 1 {
            return Err(CompileError::at(range, "multiple starred expressions in sequence pattern"));
        }
        let check = self.temporary()?;
        self.emit(Op::MatchSequence, 0, check, subject, 0);
        self.jump(Op::JumpIfFalse, TEMP_A, check, fail);
        let fixed = count - u16::from(star.is_some());
        // A star alone takes any length, and what is not looked at is not taken apart.
        if star.is_none() || fixed > 0 {
            self.emit(Op::MatchLength, 0, check, subject, 0);
            let op = if star.is_some() { Op::JumpGreaterEqualInt } else { Op::JumpEqualInt };
            self.jump_near(op, TEMP_A | NEGATE, check, fixed, fail);
        }
        let ignores = |pattern: &Pattern| match pattern {
            Pattern::MatchStar(star) => star.name.is_none(),
            Pattern::MatchAs(whole) => whole.name.is_none() && whole.pattern.is_none(),
            _ => false,
        };
        if patterns.iter().all(ignores) {
            return Ok(());
        }
        let first = self.temporaries(count)?;
        match star {
            None => {
                self.emit(Op::Unpack, 0, first, subject, count);
            }
            Some(before) => {
                let before = u16::try_from(before).expect("no more than all patterns");
                self.emit(Op::UnpackRest, 0, first, subject, 0);
                self.emit(Op::Nop, 0, 0, before, count - before - 1);
            }
        }
        for (register, pattern) in (first..).zip(patterns) {
            match pattern {
                Pattern::MatchStar(star) => {
                    if let Some(name) = &star.name {
                        self.capture(name, register, star.range, captures)?;
                    }
                }
                pattern => self.pattern(pattern, register, fail, captures)?,
            }
        }
        Ok(())
    }
}
