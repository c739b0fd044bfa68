//! Expressions. `operand` gives a register to read, `into` computes into a given register.

use super::comprehension::Collects;
use super::literal::{constant_truth, literal, small_literal};
use super::{Compiled, Compiler, Label, Operand, Place};
use crate::CompileError;
use crate::code::{CodeKind, Const};
use crate::nesting::NESTING_LIMIT;
use crate::opcode::{INPLACE, NEGATE, Op, TEMP_A, TEMP_B, TEMP_C};
use crate::scope::mangle;
use ruff_python_ast::{BoolOp, CmpOp, Expr, ExprCompare, FStringPart, Operator, UnaryOp};
use ruff_text_size::{Ranged, TextRange};

fn binary_op(op: Operator) -> Op {
    match op {
        Operator::Add => Op::Add,
        Operator::Sub => Op::Sub,
        Operator::Mult => Op::Mul,
        Operator::MatMult => Op::MatMul,
        Operator::Div => Op::TrueDiv,
        Operator::Mod => Op::Mod,
        Operator::Pow => Op::Pow,
        Operator::LShift => Op::LeftShift,
        Operator::RShift => Op::RightShift,
        Operator::BitOr => Op::Or,
        Operator::BitXor => Op::Xor,
        Operator::BitAnd => Op::And,
        Operator::FloorDiv => Op::FloorDiv,
    }
}

fn immediate_op(op: Operator) -> Option<Op> {
    Some(match op {
        Operator::Add => Op::AddInt,
        Operator::Sub => Op::SubInt,
        Operator::Mult => Op::MulInt,
        Operator::FloorDiv => Op::FloorDivInt,
        Operator::Mod => Op::ModInt,
        Operator::BitAnd => Op::AndInt,
        Operator::BitOr => Op::OrInt,
        Operator::BitXor => Op::XorInt,
        Operator::LShift => Op::LeftShiftInt,
        Operator::RShift => Op::RightShiftInt,
        _ => return None,
    })
}

fn compare_op(op: CmpOp) -> Op {
    match op {
        CmpOp::Eq => Op::Equal,
        CmpOp::NotEq => Op::NotEqual,
        CmpOp::Lt => Op::Less,
        CmpOp::LtE => Op::LessEqual,
        CmpOp::Gt => Op::Greater,
        CmpOp::GtE => Op::GreaterEqual,
        CmpOp::Is => Op::Is,
        CmpOp::IsNot => Op::IsNot,
        CmpOp::In => Op::In,
        CmpOp::NotIn => Op::NotIn,
    }
}

fn jump_compare_op(op: CmpOp) -> Option<(Op, Op)> {
    Some(match op {
        CmpOp::Eq => (Op::JumpEqual, Op::JumpEqualInt),
        CmpOp::NotEq => (Op::JumpNotEqual, Op::JumpNotEqualInt),
        CmpOp::Lt => (Op::JumpLess, Op::JumpLessInt),
        CmpOp::LtE => (Op::JumpLessEqual, Op::JumpLessEqualInt),
        CmpOp::Gt => (Op::JumpGreater, Op::JumpGreaterInt),
        CmpOp::GtE => (Op::JumpGreaterEqual, Op::JumpGreaterEqualInt),
        _ => return None,
    })
}

/// What an item is fetched or stored by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key {
    /// What a register holds.
    Register(Operand),
    /// A small integer, as an immediate.
    Int(u16),
    /// A text, by the index of the constant.
    Const(u16),
}

/// Whether computing the expression writes its target only at the very end.
fn writes_last(expr: &Expr) -> bool {
    match expr {
        Expr::BinOp(_) | Expr::Call(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::UnaryOp(_) | Expr::Name(_) | Expr::Lambda(_) => {
            true
        }
        Expr::List(list) => list.elts.iter().all(|item| !item.is_starred_expr()),
        Expr::Tuple(tuple) => tuple.elts.iter().all(|item| !item.is_starred_expr()),
        Expr::Compare(compare) => compare.ops.len() == 1,
        _ => literal(expr).is_some(),
    }
}

impl<'a> Compiler<'a> {
    /// Runs `work` one syntax level deeper; too deep is an error rather than a stack overflow.
    pub(super) fn nested<T>(&mut self, range: TextRange, work: impl FnOnce(&mut Self) -> Compiled<T>) -> Compiled<T> {
        if self.depth >= NESTING_LIMIT {
            return Err(CompileError::too_large(range, "too many nested expressions or blocks: name the parts"));
        }
        self.depth += 1;
        let depth = self.depth;
        let result = work(self);
        // A body that is given up halfway has changed it.
        self.depth = depth - 1;
        result
    }

    /// A register that holds the value of the expression.
    pub(super) fn operand(&mut self, expr: &'a Expr) -> Compiled<Operand> {
        if let Expr::Name(name) = expr {
            let mangled = mangle(self.class.as_deref(), &name.id);
            if let Place::Local(register) = self.place(&mangled) {
                // A walrus further right may change the variable, so its value is copied now.
                if !self.may_change(&mangled) {
                    return Ok(Operand { register, temporary: false });
                }
            }
        }
        let register = self.temporary()?;
        self.into(expr, register)?;
        Ok(Operand { register, temporary: true })
    }

    fn may_change(&self, name: &str) -> bool {
        self.scopes.all[self.body.scope].symbols.get(name).is_some_and(|symbol| symbol.walrus)
    }

    /// Computes the expression into a variable's register.
    pub(super) fn into_variable(&mut self, expr: &'a Expr, register: u16) -> Compiled<()> {
        if writes_last(expr) {
            return self.into(expr, register);
        }
        let mark = self.mark();
        let temporary = self.temporary()?;
        self.into(expr, temporary)?;
        self.copy(Operand { register: temporary, temporary: true }, register);
        self.reset(mark);
        Ok(())
    }

    /// Computes the expression and drops the value.
    pub(super) fn effect(&mut self, expr: &'a Expr) -> Compiled<()> {
        if literal(expr).is_some() {
            return Ok(());
        }
        let mark = self.mark();
        let operand = self.operand(expr)?;
        if operand.temporary {
            self.emit(Op::Clear, 0, operand.register, 0, 0);
        } else {
            self.emit(Op::Check, 0, operand.register, 0, 0);
        }
        self.reset(mark);
        Ok(())
    }

    /// Computes the expression into register `target`.
    pub(super) fn into(&mut self, expr: &'a Expr, target: u16) -> Compiled<()> {
        self.nested(expr.range(), |compiler| {
            let line = compiler.line();
            compiler.at(expr.range());
            let mark = compiler.mark();
            compiler.into_inner(expr, target)?;
            compiler.reset(mark);
            compiler.set_line(line);
            Ok(())
        })
    }

    fn into_inner(&mut self, expr: &'a Expr, target: u16) -> Compiled<()> {
        if let Some(value) = literal(expr) {
            self.load_constant(value, target);
            return Ok(());
        }
        match expr {
            Expr::Name(name) => {
                let mangled = mangle(self.class.as_deref(), &name.id);
                self.load_name(&mangled, target)
            }
            Expr::Named(named) => {
                let Expr::Name(name) = &*named.target else {
                    return Err(CompileError::at(named.range, "cannot use assignment expressions with this target"));
                };
                self.into(&named.value, target)?;
                let mangled = mangle(self.class.as_deref(), &name.id);
                self.store_walrus(&mangled, Operand { register: target, temporary: false })
            }
            Expr::BoolOp(bool_op) => {
                let end = self.label();
                let op = if bool_op.op == BoolOp::And { Op::JumpIfFalseKeep } else { Op::JumpIfTrueKeep };
                for (index, value) in bool_op.values.iter().enumerate() {
                    self.into(value, target)?;
                    if index + 1 < bool_op.values.len() {
                        self.jump(op, 0, target, end);
                    }
                }
                self.bind(end);
                Ok(())
            }
            Expr::BinOp(binary) => self.binary(&binary.left, binary.op, &binary.right, target),
            Expr::UnaryOp(unary) => {
                let operand = self.operand(&unary.operand)?;
                let op = match unary.op {
                    UnaryOp::Invert => Op::Invert,
                    UnaryOp::Not => Op::Not,
                    UnaryOp::UAdd => Op::Positive,
                    UnaryOp::USub => Op::Negative,
                };
                self.emit(op, operand.flag(TEMP_B), target, operand.register, 0);
                Ok(())
            }
            Expr::Lambda(lambda) => self.lambda(lambda, target),
            Expr::If(node) => {
                let (otherwise, end) = (self.label(), self.label());
                self.jump_if(&node.test, false, otherwise)?;
                self.into(&node.body, target)?;
                self.jump(Op::Jump, 0, 0, end);
                self.bind(otherwise);
                self.into(&node.orelse, target)?;
                self.bind(end);
                Ok(())
            }
            Expr::Dict(dict) => self.dict_display(dict, target),
            Expr::Set(set) => self.display(&set.elts, Op::BuildSet, target),
            Expr::List(list) => self.display(&list.elts, Op::BuildList, target),
            Expr::Tuple(tuple) => self.display(&tuple.elts, Op::BuildTuple, target),
            Expr::ListComp(comp) => self.comprehension(comp.range, &comp.generators, Collects::List, &comp.elt, None, target),
            Expr::SetComp(comp) => self.comprehension(comp.range, &comp.generators, Collects::Set, &comp.elt, None, target),
            Expr::DictComp(comp) => {
                let Some(key) = &comp.key else {
                    return Err(CompileError::at(comp.range, "dict unpacking cannot be used in dict comprehension"));
                };
                self.comprehension(comp.range, &comp.generators, Collects::Dict, &comp.value, Some(key), target)
            }
            Expr::Generator(comp) => self.comprehension(comp.range, &comp.generators, Collects::Lazily, &comp.elt, None, target),
            Expr::Await(node) => {
                self.require_async(node.range, "'await' outside async function")?;
                let operand = self.operand(&node.value)?;
                self.await_value(operand, target, 0)
            }
            Expr::Yield(node) => {
                match &node.value {
                    Some(value) => {
                        let operand = self.operand(value)?;
                        self.emit(Op::Yield, operand.flag(TEMP_B), target, operand.register, 0);
                    }
                    None => {
                        let register = self.temporary()?;
                        self.emit(Op::LoadNone, 0, register, 0, 0);
                        self.emit(Op::Yield, TEMP_B, target, register, 0);
                    }
                }
                Ok(())
            }
            Expr::YieldFrom(node) => {
                if matches!(self.body.code.kind, CodeKind::Coroutine | CodeKind::AsyncGenerator) {
                    return Err(CompileError::at(node.range, "'yield from' inside async function"));
                }
                let operand = self.operand(&node.value)?;
                let iterator = self.temporary()?;
                self.emit(Op::YieldFromIter, operand.flag(TEMP_B), iterator, operand.register, 0);
                self.delegate(iterator, target)
            }
            Expr::Compare(compare) => self.compare(compare, target),
            Expr::Call(call) => self.call(call, target),
            Expr::FString(string) => {
                let first = self.mark();
                let mut count = 0;
                for part in &string.value {
                    match part {
                        FStringPart::Literal(literal) => {
                            self.string_piece(&literal.value, &mut count)?;
                        }
                        FStringPart::FString(string) => {
                            for element in &string.elements {
                                self.f_string_element(element, &mut count)?;
                            }
                        }
                    }
                }
                self.emit(Op::BuildString, 0, target, first, count);
                Ok(())
            }
            Expr::Attribute(attribute) => {
                let operand = self.operand(&attribute.value)?;
                let site = self.site(&attribute.attr)?;
                self.at(attribute.attr.range);
                self.emit(Op::LoadAttr, operand.flag(TEMP_B), target, operand.register, site);
                Ok(())
            }
            Expr::Subscript(subscript) => {
                let object = self.operand(&subscript.value)?;
                if let Expr::Slice(slice) = &*subscript.slice {
                    let parts = self.slice_parts(slice)?;
                    self.emit(Op::GetSlice, object.flag(TEMP_B), target, object.register, parts);
                    return Ok(());
                }
                match self.key(&subscript.slice)? {
                    Key::Register(key) => {
                        let flags = object.flag(TEMP_B) | key.flag(TEMP_C);
                        self.emit(Op::GetItem, flags, target, object.register, key.register)
                    }
                    Key::Int(number) => self.emit(Op::GetItemInt, object.flag(TEMP_B), target, object.register, number),
                    Key::Const(index) => self.emit(Op::GetItemConst, object.flag(TEMP_B), target, object.register, index),
                };
                Ok(())
            }
            Expr::Slice(slice) => {
                let first = self.slice_parts(slice)?;
                self.emit(Op::BuildSlice, 0, target, first, 0);
                Ok(())
            }
            Expr::Starred(starred) => Err(CompileError::at(starred.range, "can't use starred expression here")),
            other => Err(CompileError::at(other.range(), "this syntax is newer than Python 3.11")),
        }
    }

    /// What a subscript is known by.
    pub(super) fn key(&mut self, expr: &'a Expr) -> Compiled<Key> {
        if let Some(number) = small_literal(expr) {
            return Ok(Key::Int(number));
        }
        if let Some(value @ Const::Str(_)) = literal(expr) {
            let index = self.constant(value);
            if let Ok(index) = u16::try_from(index) {
                return Ok(Key::Const(index));
            }
        }
        Ok(Key::Register(self.operand(expr)?))
    }

    /// Stores `value` under a key of an object.
    pub(super) fn set_item(&mut self, object: Operand, key: Key, value: Operand) {
        let flags = object.flag(TEMP_A) | value.flag(TEMP_C);
        match key {
            Key::Register(key) => self.emit(Op::SetItem, flags | key.flag(TEMP_B), object.register, key.register, value.register),
            Key::Int(number) => self.emit(Op::SetItemInt, flags, object.register, number, value.register),
            Key::Const(index) => self.emit(Op::SetItemConst, flags, object.register, index, value.register),
        };
    }

    /// Computes the parts of a slice into three registers in a row.
    pub(super) fn slice_parts(&mut self, slice: &'a ruff_python_ast::ExprSlice) -> Compiled<u16> {
        let first = self.temporaries(3)?;
        for (offset, part) in [(0, &slice.lower), (1, &slice.upper), (2, &slice.step)] {
            match part {
                Some(part) => self.into(part, first + offset)?,
                None => {
                    self.emit(Op::LoadNone, 0, first + offset, 0, 0);
                }
            }
        }
        Ok(first)
    }

    /// Waits for `operand`, which is an awaitable: of `await` (0), of `__aenter__` (1) or of `__aexit__` (2).
    pub(super) fn await_value(&mut self, operand: Operand, target: u16, purpose: u16) -> Compiled<()> {
        let iterator = self.temporary()?;
        self.emit(Op::Await, operand.flag(TEMP_B), iterator, operand.register, purpose);
        self.delegate(iterator, target)
    }

    /// `yield from` the iterator: every value goes out, what is sent goes in, the result goes to `target`.
    fn delegate(&mut self, iterator: u16, target: u16) -> Compiled<()> {
        let value = self.temporary()?;
        let (again, done) = (self.label(), self.label());
        self.emit(Op::LoadNone, 0, value, 0, 0);
        self.bind(again);
        self.jump_near(Op::Send, 0, value, iterator, done);
        self.emit(Op::Yield, TEMP_B | NEGATE, value, value, iterator);
        self.jump(Op::Jump, 0, 0, again);
        self.bind(done);
        self.emit(Op::Clear, 0, iterator, 0, 0);
        self.copy(Operand { register: value, temporary: true }, target);
        Ok(())
    }

    pub(super) fn require_async(&self, range: TextRange, message: &str) -> Compiled<()> {
        if matches!(self.body.code.kind, CodeKind::Coroutine | CodeKind::AsyncGenerator) {
            Ok(())
        } else {
            Err(CompileError::at(range, message))
        }
    }

    /// `left op right` into `target`.
    fn binary(&mut self, left: &'a Expr, op: Operator, right: &'a Expr, target: u16) -> Compiled<()> {
        // A chain a + b + c leans left; walking it with a loop keeps the stack flat.
        let mut chain = vec![(op, right)];
        let mut first = left;
        while let Expr::BinOp(inner) = first {
            chain.push((inner.op, &inner.right));
            first = &inner.left;
        }
        let line = self.line();
        let mut accumulator = self.operand(first)?;
        let mark = self.mark();
        while let Some((op, right)) = chain.pop() {
            let last = chain.is_empty();
            let into = if last {
                target
            } else if accumulator.temporary {
                accumulator.register
            } else {
                self.temporary()?
            };
            let inner_mark = self.mark();
            match (immediate_op(op), small_literal(right)) {
                (Some(op), Some(immediate)) => {
                    self.set_line(line);
                    self.emit(op, accumulator.flag(TEMP_B), into, accumulator.register, immediate);
                }
                _ => {
                    let right = self.operand(right)?;
                    self.set_line(line);
                    let flags = accumulator.flag(TEMP_B) | right.flag(TEMP_C);
                    self.emit(binary_op(op), flags, into, accumulator.register, right.register);
                }
            }
            self.reset(inner_mark);
            accumulator = Operand { register: into, temporary: true };
        }
        self.reset(mark);
        Ok(())
    }

    /// `target op= value` on registers.
    pub(super) fn binary_inplace(&mut self, left: Operand, op: Operator, right: &'a Expr, target: u16) -> Compiled<()> {
        let line = self.line();
        match (immediate_op(op), small_literal(right)) {
            (Some(op), Some(immediate)) => {
                self.emit(op, left.flag(TEMP_B) | INPLACE, target, left.register, immediate);
            }
            _ => {
                let right = self.operand(right)?;
                self.set_line(line);
                let flags = left.flag(TEMP_B) | right.flag(TEMP_C) | INPLACE;
                self.emit(binary_op(op), flags, target, left.register, right.register);
            }
        }
        Ok(())
    }

    fn compare(&mut self, compare: &'a ExprCompare, target: u16) -> Compiled<()> {
        if compare.ops.len() == 1 {
            let left = self.operand(&compare.left)?;
            let right = self.operand(&compare.comparators[0])?;
            let flags = left.flag(TEMP_B) | right.flag(TEMP_C);
            self.emit(compare_op(compare.ops[0]), flags, target, left.register, right.register);
            return Ok(());
        }
        let end = self.label();
        let mut left = self.temporary()?;
        let mut right = self.temporary()?;
        self.into(&compare.left, left)?;
        let last = compare.ops.len() - 1;
        for (index, (op, comparator)) in compare.ops.iter().zip(compare.comparators.iter()).enumerate() {
            self.into(comparator, right)?;
            self.emit(compare_op(*op), TEMP_B | if index == last { TEMP_C } else { 0 }, target, left, right);
            if index < last {
                self.jump(Op::JumpIfFalseKeep, 0, target, end);
                std::mem::swap(&mut left, &mut right);
            }
        }
        self.bind(end);
        Ok(())
    }

    /// Goes to `label` when the truth of the expression is `sense`.
    pub(super) fn jump_if(&mut self, expr: &'a Expr, sense: bool, label: Label) -> Compiled<()> {
        self.nested(expr.range(), |compiler| {
            let mark = compiler.mark();
            compiler.jump_if_inner(expr, sense, label)?;
            compiler.reset(mark);
            Ok(())
        })
    }

    fn jump_if_inner(&mut self, expr: &'a Expr, sense: bool, label: Label) -> Compiled<()> {
        if let Some(truth) = constant_truth(expr) {
            if truth == sense {
                self.jump(Op::Jump, 0, 0, label);
            }
            return Ok(());
        }
        match expr {
            Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => return self.jump_if(&unary.operand, !sense, label),
            Expr::BoolOp(bool_op) => {
                // `and` fails at once, `or` succeeds at once; only the last value decides otherwise.
                let early = bool_op.op == BoolOp::Or;
                let through = self.label();
                let last = bool_op.values.len() - 1;
                for (index, value) in bool_op.values.iter().enumerate() {
                    if index == last || early == sense {
                        self.jump_if(value, sense, label)?;
                    } else {
                        self.jump_if(value, early, through)?;
                    }
                }
                self.bind(through);
                return Ok(());
            }
            Expr::Compare(compare) if compare.ops.len() == 1 => {
                let (op, right) = (compare.ops[0], &compare.comparators[0]);
                let negate = if sense { 0 } else { NEGATE };
                if matches!(op, CmpOp::Is | CmpOp::IsNot) && right.is_none_literal_expr() {
                    self.at(expr.range());
                    let left = self.operand(&compare.left)?;
                    let op = if (op == CmpOp::Is) == sense { Op::JumpIfNone } else { Op::JumpIfNotNone };
                    self.jump(op, left.flag(TEMP_A), left.register, label);
                    return Ok(());
                }
                if let Some((by_register, by_immediate)) = jump_compare_op(op) {
                    self.at(expr.range());
                    let line = self.line();
                    let left = self.operand(&compare.left)?;
                    if let Some(immediate) = small_literal(right) {
                        self.jump_near(by_immediate, left.flag(TEMP_A) | negate, left.register, immediate, label);
                    } else {
                        let right = self.operand(right)?;
                        self.set_line(line);
                        let flags = left.flag(TEMP_A) | right.flag(TEMP_B) | negate;
                        self.jump_near(by_register, flags, left.register, right.register, label);
                    }
                    return Ok(());
                }
            }
            _ => {}
        }
        let operand = self.operand(expr)?;
        let op = if sense { Op::JumpIfTrue } else { Op::JumpIfFalse };
        self.jump(op, operand.flag(TEMP_A), operand.register, label);
        Ok(())
    }
}
