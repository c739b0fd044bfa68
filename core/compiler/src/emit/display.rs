//! Displays, lambdas and f-strings.

use super::{Compiled, Compiler, Operand};
use crate::code::{CodeKind, Const};
use crate::opcode::{Op, TEMP_B, TEMP_C};
use crate::scope::NodeKind;
use ruff_python_ast::{Expr, ExprLambda, InterpolatedStringElement};

impl<'a> Compiler<'a> {
    /// A list, tuple or set display, with `*` parts.
    pub(super) fn display(&mut self, items: &'a [Expr], op: Op, target: u16) -> Compiled<()> {
        // Long displays are built in pieces, so that registers stay few.
        let simple = items.len() <= 64 && items.iter().all(|item| !item.is_starred_expr());
        if simple {
            let first = self.consecutive(items)?;
            self.emit(op, 0, target, first, u16::try_from(items.len()).expect("at most 64"));
            return Ok(());
        }
        let building = self.temporary()?;
        let set = op == Op::BuildSet;
        self.emit(if set { Op::BuildSet } else { Op::BuildList }, 0, building, building, 0);
        for item in items {
            let mark = self.mark();
            if let Expr::Starred(starred) = item {
                let operand = self.operand(&starred.value)?;
                let op = if set { Op::SetUpdate } else { Op::ListExtend };
                self.emit(op, operand.flag(TEMP_B), building, operand.register, 0);
            } else {
                let operand = self.operand(item)?;
                self.emit(if set { Op::SetAdd } else { Op::ListAppend }, operand.flag(TEMP_B), building, operand.register, 0);
            }
            self.reset(mark);
        }
        if op == Op::BuildTuple {
            self.emit(Op::ListToTuple, TEMP_B, target, building, 0);
        } else {
            self.copy(Operand { register: building, temporary: true }, target);
        }
        Ok(())
    }

    /// Computes expressions into fresh registers in a row.
    pub(super) fn consecutive(&mut self, items: &'a [Expr]) -> Compiled<u16> {
        let first = self.mark();
        for item in items {
            let register = self.temporary()?;
            self.into(item, register)?;
        }
        Ok(first)
    }

    pub(super) fn dict_display(&mut self, dict: &'a ruff_python_ast::ExprDict, target: u16) -> Compiled<()> {
        if dict.items.len() <= 32 && dict.items.iter().all(|item| item.key.is_some()) {
            let first = self.mark();
            for item in &dict.items {
                let key = item.key.as_ref().expect("checked above");
                for part in [key, &item.value] {
                    let register = self.temporary()?;
                    self.into(part, register)?;
                }
            }
            self.emit(Op::BuildDict, 0, target, first, u16::try_from(dict.items.len()).expect("at most 32"));
            return Ok(());
        }
        let building = self.temporary()?;
        self.emit(Op::BuildDict, 0, building, building, 0);
        for item in &dict.items {
            let mark = self.mark();
            match &item.key {
                Some(key) => {
                    let key = self.operand(key)?;
                    let value = self.operand(&item.value)?;
                    let flags = key.flag(TEMP_B) | value.flag(TEMP_C);
                    self.emit(Op::DictSet, flags, building, key.register, value.register);
                }
                None => {
                    let operand = self.operand(&item.value)?;
                    self.emit(Op::DictUpdate, operand.flag(TEMP_B), building, operand.register, 0);
                }
            }
            self.reset(mark);
        }
        self.copy(Operand { register: building, temporary: true }, target);
        Ok(())
    }

    pub(super) fn lambda(&mut self, lambda: &'a ExprLambda, target: u16) -> Compiled<()> {
        let scope = self.scopes.of(lambda.range, NodeKind::Lambda);
        let (flags, first) = match &lambda.parameters {
            Some(parameters) => self.defaults(parameters)?,
            None => (0, self.mark()),
        };
        let outer = self.enter(scope, "<lambda>");
        let depth = std::mem::take(&mut self.depth);
        if let Some(parameters) = &lambda.parameters {
            self.parameters(parameters)?;
        }
        if self.scopes.all[scope].yields {
            self.body.code.kind = CodeKind::Generator;
        }
        self.assign_registers()?;
        self.depth = depth;
        let operand = self.operand(&lambda.body)?;
        self.emit(Op::Return, operand.flag(TEMP_B), 0, operand.register, 0);
        let code = self.leave(outer)?;
        self.make_function(code, flags, first, target)
    }

    /// Literal text of an f-string.
    pub(super) fn string_piece(&mut self, text: &str, count: &mut u16) -> Compiled<()> {
        if !text.is_empty() {
            let register = self.temporary()?;
            self.load_constant(Const::Str(text.to_owned()), register);
            *count += 1;
        }
        Ok(())
    }

    pub(super) fn f_string_element(&mut self, element: &'a InterpolatedStringElement, count: &mut u16) -> Compiled<()> {
        match element {
            InterpolatedStringElement::Literal(literal) => self.string_piece(&literal.value, count),
            InterpolatedStringElement::Interpolation(node) => {
                let mut conversion = node.conversion.to_byte().unwrap_or(0);
                if let Some(debug) = &node.debug_text {
                    self.string_piece(debug.as_str(), count)?;
                    if conversion == 0 && node.format_spec.is_none() {
                        conversion = b'r';
                    }
                }
                let register = self.temporary()?;
                let mark = self.mark();
                let operand = self.operand(&node.expression)?;
                let spec = match &node.format_spec {
                    Some(spec) => {
                        let first = self.mark();
                        let mut pieces = 0;
                        for element in &spec.elements {
                            self.nested(spec.range, |compiler| compiler.f_string_element(element, &mut pieces))?;
                        }
                        self.reset(first);
                        let register = self.temporary()?;
                        self.emit(Op::BuildString, 0, register, register, pieces);
                        register
                    }
                    None => u16::MAX,
                };
                // Flags carry the conversion beside the temporaries: 1 is none, then s, r, a.
                let code = match conversion {
                    b's' => 1,
                    b'r' => 2,
                    b'a' => 3,
                    _ => 0,
                };
                self.emit(Op::Format, operand.flag(TEMP_B) | TEMP_C | (code << 4), register, operand.register, spec);
                self.reset(mark);
                *count += 1;
                Ok(())
            }
        }
    }
}
