//! Statements.

use super::expr::Key;
use super::syntax::{docstring, has_annotation};
use super::{Block, Compiled, Compiler, Operand, Place};
use crate::CompileError;
use crate::code::Const;
use crate::opcode::{INPLACE, METHOD, NEGATE, Op, TEMP_A, TEMP_B, TEMP_C};
use crate::scope::{ScopeKind, mangle};
use cowboy_num::sizes;
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtAnnAssign, StmtAugAssign, StmtIf, StmtImport, StmtImportFrom, StmtTry, StmtWith};
use ruff_text_size::{Ranged, TextRange};

impl<'a> Compiler<'a> {
    /// The module's statements.
    pub(super) fn module_body(&mut self, body: &'a [Stmt]) -> Compiled<()> {
        self.body.code.doc = docstring(body);
        if body.iter().any(has_annotation) {
            self.emit(Op::SetupAnnotations, 0, 0, 0, 0);
        }
        self.statements(body)?;
        self.emit(Op::ReturnNone, 0, 0, 0, 0);
        Ok(())
    }

    /// Statements in a row.
    pub(super) fn statements(&mut self, body: &'a [Stmt]) -> Compiled<()> {
        for stmt in body {
            self.statement(stmt)?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &'a Stmt) -> Compiled<()> {
        self.at(stmt.range());
        self.check_size(stmt.range())?;
        let mark = self.mark();
        self.nested(stmt.range(), |compiler| compiler.statement_inner(stmt))?;
        self.reset(mark);
        Ok(())
    }

    fn statement_inner(&mut self, stmt: &'a Stmt) -> Compiled<()> {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(class) => self.class_definition(class),
            Stmt::Return(node) => {
                if self.scopes.all[self.body.scope].kind != ScopeKind::Function {
                    return Err(CompileError::at(node.range, "'return' outside function"));
                }
                if let (Some(_), crate::code::CodeKind::AsyncGenerator) = (&node.value, self.body.code.kind) {
                    return Err(CompileError::at(node.range, "'return' with value in async generator"));
                }
                match &node.value {
                    Some(value) => {
                        let mut operand = self.operand(value)?;
                        if !operand.temporary && !self.body.blocks.is_empty() {
                            // A finally may change the variable after its value was taken.
                            let register = self.temporary()?;
                            self.copy(operand, register);
                            operand = Operand { register, temporary: true };
                        }
                        self.unwind(0)?;
                        self.emit(Op::Return, operand.flag(TEMP_B), 0, operand.register, 0);
                    }
                    None => {
                        self.unwind(0)?;
                        self.emit(Op::ReturnNone, 0, 0, 0, 0);
                    }
                }
                Ok(())
            }
            Stmt::Delete(node) => node.targets.iter().try_for_each(|target| self.delete(target)),
            Stmt::Assign(node) => {
                if let ([Expr::Name(name)], false) = (node.targets.as_slice(), node.value.is_name_expr()) {
                    let mangled = mangle(self.class.as_deref(), &name.id);
                    if let Place::Local(register) = self.place(&mangled) {
                        return self.into_variable(&node.value, register);
                    }
                }
                if let [Expr::Tuple(target)] = node.targets.as_slice() {
                    if let Expr::Tuple(value) = &*node.value {
                        let plain = |items: &[Expr]| items.iter().all(|item| !item.is_starred_expr());
                        if target.elts.len() == value.elts.len() && target.elts.len() <= 8 && plain(&target.elts) && plain(&value.elts) {
                            return self.parallel_assignment(&target.elts, &value.elts);
                        }
                    }
                }
                let operand = self.operand(&node.value)?;
                let last = node.targets.len() - 1;
                for (index, target) in node.targets.iter().enumerate() {
                    let temporary = operand.temporary && index == last;
                    self.assign(target, Operand { register: operand.register, temporary })?;
                }
                Ok(())
            }
            Stmt::AugAssign(node) => self.augmented(node),
            Stmt::AnnAssign(node) => self.annotated(node),
            Stmt::For(node) => self.for_loop(node),
            Stmt::While(node) => self.while_loop(node),
            Stmt::If(node) => self.if_statement(node),
            Stmt::With(node) => self.with_statement(node, 0),
            Stmt::Match(node) => self.match_statement(node),
            Stmt::Raise(node) => {
                let Some(exception) = &node.exc else {
                    self.emit(Op::RaiseCurrent, 0, 0, 0, 0);
                    return Ok(());
                };
                let exception = self.operand(exception)?;
                match &node.cause {
                    Some(cause) => {
                        let cause = self.operand(cause)?;
                        self.emit(Op::Raise, NEGATE, 0, exception.register, cause.register);
                    }
                    None => {
                        self.emit(Op::Raise, 0, 0, exception.register, 0);
                    }
                }
                Ok(())
            }
            Stmt::Try(node) => self.try_statement(node),
            Stmt::Assert(node) => {
                let passed = self.label();
                self.jump_if(&node.test, true, passed)?;
                match &node.msg {
                    Some(message) => {
                        let operand = self.operand(message)?;
                        self.emit(Op::AssertionFailed, 0, 0, operand.register, 1);
                    }
                    None => {
                        self.emit(Op::AssertionFailed, 0, 0, 0, 0);
                    }
                }
                self.bind(passed);
                Ok(())
            }
            Stmt::Import(node) => self.import(node),
            Stmt::ImportFrom(node) => self.import_from(node),
            Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::Pass(_) => Ok(()),
            Stmt::Expr(node) => self.effect(&node.value),
            Stmt::Break(node) => self.leave_loop(node.range, true),
            Stmt::Continue(node) => self.leave_loop(node.range, false),
            Stmt::TypeAlias(node) => Err(CompileError::at(node.range, "the type statement is newer than Python 3.11")),
            Stmt::IpyEscapeCommand(node) => Err(CompileError::at(node.range, "invalid syntax")),
        }
    }

    /// `a, b = x, y` without making the tuple.
    fn parallel_assignment(&mut self, targets: &'a [Expr], values: &'a [Expr]) -> Compiled<()> {
        let first = self.consecutive(values)?;
        for (register, target) in (first..).zip(targets) {
            self.assign(target, Operand { register, temporary: true })?;
        }
        Ok(())
    }

    /// Loads a mangled name.
    pub(super) fn load_name(&mut self, name: &str, target: u16) -> Compiled<()> {
        match self.place(name) {
            Place::Local(register) => self.copy(Operand { register, temporary: false }, target),
            Place::Cell(register) => {
                self.emit(Op::LoadCell, 0, target, register, 0);
            }
            Place::Global => {
                let site = self.raw_site(name)?;
                self.emit_wide(Op::LoadGlobal, 0, target, u32::from(site));
            }
            Place::Namespace => {
                let index = self.raw_name(name)?;
                self.emit(Op::LoadName, 0, target, index, 0);
            }
            Place::NamespaceOrCell(register) => {
                let index = self.raw_name(name)?;
                self.emit(Op::LoadClassCell, 0, target, index, register);
            }
        }
        Ok(())
    }

    fn raw_site(&mut self, name: &str) -> Compiled<u16> {
        let name = self.raw_name(name)?;
        let sites = &mut self.body.code.sites;
        sites.push(name);
        u16::try_from(sites.len() - 1)
            .map_err(|_| CompileError::too_large(TextRange::default(), "a function mentions names more than 65,535 times"))
    }

    /// Stores into a mangled name.
    pub(super) fn store_name(&mut self, name: &str, value: Operand) -> Compiled<()> {
        match self.place(name) {
            Place::Local(register) => self.copy(value, register),
            Place::Cell(register) => {
                self.emit(Op::StoreCell, value.flag(TEMP_B), register, value.register, 0);
            }
            Place::Global => {
                let index = self.raw_name(name)?;
                self.emit(Op::StoreGlobal, value.flag(TEMP_A), value.register, index, 0);
            }
            Place::Namespace | Place::NamespaceOrCell(_) => {
                let index = self.raw_name(name)?;
                self.emit(Op::StoreName, value.flag(TEMP_A), value.register, index, 0);
            }
        }
        Ok(())
    }

    /// Stores a walrus target: past the comprehensions that are open, into the frame.
    pub(super) fn store_walrus(&mut self, name: &str, value: Operand) -> Compiled<()> {
        let inline = std::mem::take(&mut self.body.inline);
        let result = self.store_name(name, value);
        self.body.inline = inline;
        result
    }

    /// Assigns to a target expression.
    pub(super) fn assign(&mut self, target: &'a Expr, value: Operand) -> Compiled<()> {
        self.nested(target.range(), |compiler| compiler.assign_inner(target, value))
    }

    fn assign_inner(&mut self, target: &'a Expr, value: Operand) -> Compiled<()> {
        let mark = self.mark();
        match target {
            Expr::Name(name) => {
                let mangled = mangle(self.class.as_deref(), &name.id);
                self.store_name(&mangled, value)?;
            }
            Expr::Attribute(attribute) => {
                let object = self.operand(&attribute.value)?;
                let site = self.site(&attribute.attr)?;
                let flags = object.flag(TEMP_A) | value.flag(TEMP_B);
                self.emit(Op::StoreAttr, flags, object.register, value.register, site);
            }
            Expr::Subscript(subscript) => {
                let object = self.operand(&subscript.value)?;
                if let Expr::Slice(slice) = &*subscript.slice {
                    let parts = self.slice_parts(slice)?;
                    self.emit(Op::SetSlice, object.flag(TEMP_A) | value.flag(TEMP_C), object.register, parts, value.register);
                    return Ok(());
                }
                let key = self.key(&subscript.slice)?;
                self.set_item(object, key, value);
            }
            Expr::Tuple(tuple) => self.unpack(&tuple.elts, value, tuple.range)?,
            Expr::List(list) => self.unpack(&list.elts, value, list.range)?,
            Expr::Starred(starred) => {
                return Err(CompileError::at(starred.range, "starred assignment target must be in a list or tuple"));
            }
            other => return Err(CompileError::at(other.range(), "cannot assign to this expression")),
        }
        self.reset(mark);
        Ok(())
    }

    /// The first of the registers of variables that follow one another.
    fn variables_in_a_row(&self, targets: &[Expr]) -> Option<u16> {
        let mut first = None;
        for (offset, target) in (0..).zip(targets) {
            let register = self.variable(target)?;
            let begin = register.checked_sub(offset)?;
            if *first.get_or_insert(begin) != begin {
                return None;
            }
        }
        first
    }

    /// The register of a target that is a local variable.
    pub(super) fn variable(&self, target: &Expr) -> Option<u16> {
        let Expr::Name(name) = target else { return None };
        match self.place(&mangle(self.class.as_deref(), &name.id)) {
            Place::Local(register) => Some(register),
            _ => None,
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], value: Operand, range: TextRange) -> Compiled<()> {
        let count = u16::try_from(targets.len()).map_err(|_| CompileError::too_large(range, "too many targets in one assignment"))?;
        if let Some(first) = self.variables_in_a_row(targets) {
            self.emit(Op::Unpack, value.flag(TEMP_B) | INPLACE, first, value.register, count);
            return Ok(());
        }
        let first = self.temporaries(count)?;
        match targets.iter().position(Expr::is_starred_expr) {
            None => {
                self.emit(Op::Unpack, value.flag(TEMP_B), first, value.register, count);
            }
            Some(before) => {
                if targets.iter().filter(|target| target.is_starred_expr()).count() > 1 {
                    return Err(CompileError::at(range, "multiple starred expressions in assignment"));
                }
                let before = u16::try_from(before).expect("no more than all targets");
                self.emit(Op::UnpackRest, value.flag(TEMP_B), first, value.register, 0);
                self.emit(Op::Nop, 0, 0, before, count - before - 1);
            }
        }
        for (register, target) in (first..).zip(targets) {
            let target = match target {
                Expr::Starred(starred) => &*starred.value,
                other => other,
            };
            self.assign(target, Operand { register, temporary: true })?;
        }
        Ok(())
    }

    fn delete(&mut self, target: &'a Expr) -> Compiled<()> {
        let mark = self.mark();
        match target {
            Expr::Name(name) => {
                let mangled = mangle(self.class.as_deref(), &name.id);
                self.delete_name(&mangled)?;
            }
            Expr::Attribute(attribute) => {
                let object = self.operand(&attribute.value)?;
                let name = self.name(&attribute.attr)?;
                self.emit(Op::DeleteAttr, object.flag(TEMP_A), object.register, name, 0);
            }
            Expr::Subscript(subscript) => {
                let object = self.operand(&subscript.value)?;
                let key = self.operand(&subscript.slice)?;
                let flags = object.flag(TEMP_A) | key.flag(TEMP_B);
                self.emit(Op::DeleteItem, flags, object.register, key.register, 0);
            }
            Expr::Tuple(tuple) => tuple.elts.iter().try_for_each(|target| self.delete(target))?,
            Expr::List(list) => list.elts.iter().try_for_each(|target| self.delete(target))?,
            other => return Err(CompileError::at(other.range(), "cannot delete this expression")),
        }
        self.reset(mark);
        Ok(())
    }

    fn delete_name(&mut self, name: &str) -> Compiled<()> {
        match self.place(name) {
            Place::Local(register) => self.emit(Op::Unbind, 0, register, 0, 0),
            Place::Cell(register) => self.emit(Op::DeleteCell, 0, register, 0, 0),
            Place::Global => {
                let index = self.raw_name(name)?;
                self.emit(Op::DeleteGlobal, 0, 0, index, 0)
            }
            Place::Namespace | Place::NamespaceOrCell(_) => {
                let index = self.raw_name(name)?;
                self.emit(Op::DeleteName, 0, 0, index, 0)
            }
        };
        Ok(())
    }

    fn augmented(&mut self, node: &'a StmtAugAssign) -> Compiled<()> {
        match &*node.target {
            Expr::Name(name) => {
                let mangled = mangle(self.class.as_deref(), &name.id);
                if let Place::Local(register) = self.place(&mangled) {
                    return self.binary_inplace(Operand { register, temporary: false }, node.op, &node.value, register);
                }
                let register = self.temporary()?;
                self.load_name(&mangled, register)?;
                let left = Operand { register, temporary: true };
                self.binary_inplace(left, node.op, &node.value, register)?;
                self.store_name(&mangled, left)
            }
            Expr::Attribute(attribute) => {
                let object = self.operand(&attribute.value)?;
                let register = self.temporary()?;
                let site = self.site(&attribute.attr)?;
                self.emit(Op::LoadAttr, 0, register, object.register, site);
                self.binary_inplace(Operand { register, temporary: true }, node.op, &node.value, register)?;
                let site = self.site(&attribute.attr)?;
                self.emit(Op::StoreAttr, object.flag(TEMP_A) | TEMP_B, object.register, register, site);
                Ok(())
            }
            Expr::Subscript(subscript) => {
                let object = self.operand(&subscript.value)?;
                let key = self.key(&subscript.slice)?;
                let register = self.temporary()?;
                match key {
                    Key::Register(key) => self.emit(Op::GetItem, 0, register, object.register, key.register),
                    Key::Int(number) => self.emit(Op::GetItemInt, 0, register, object.register, number),
                    Key::Const(index) => self.emit(Op::GetItemConst, 0, register, object.register, index),
                };
                let item = Operand { register, temporary: true };
                self.binary_inplace(item, node.op, &node.value, register)?;
                self.set_item(object, key, item);
                Ok(())
            }
            other => Err(CompileError::at(other.range(), "illegal expression for augmented assignment")),
        }
    }

    fn annotated(&mut self, node: &'a StmtAnnAssign) -> Compiled<()> {
        if let Some(value) = &node.value {
            let operand = self.operand(value)?;
            self.assign(&node.target, operand)?;
        }
        if self.scopes.all[self.body.scope].kind == ScopeKind::Function {
            return Ok(());
        }
        let mark = self.mark();
        let registers = self.temporaries(3)?;
        self.annotation(&node.annotation, registers)?;
        if let (Expr::Name(name), true) = (&*node.target, node.simple) {
            self.load_name("__annotations__", registers + 1)?;
            let name = mangle(self.class.as_deref(), &name.id);
            self.load_constant(Const::Str(name), registers + 2);
            self.emit(Op::SetItem, TEMP_A | TEMP_B | TEMP_C, registers + 1, registers + 2, registers);
        }
        self.reset(mark);
        Ok(())
    }

    fn if_statement(&mut self, node: &'a StmtIf) -> Compiled<()> {
        let end = self.label();
        let mut next = self.label();
        self.jump_if(&node.test, false, next)?;
        self.statements(&node.body)?;
        for clause in &node.elif_else_clauses {
            self.jump(Op::Jump, 0, 0, end);
            self.bind(next);
            next = self.label();
            if let Some(test) = &clause.test {
                self.at(test.range());
                self.jump_if(test, false, next)?;
            }
            self.statements(&clause.body)?;
        }
        self.bind(next);
        self.bind(end);
        Ok(())
    }

    /// Emits what leaving the blocks above `level` runs, innermost first.
    pub(super) fn unwind(&mut self, level: usize) -> Compiled<()> {
        let handled = self.body.handled;
        let mut left = Vec::new();
        while self.body.blocks.len() > level {
            let block = self.body.blocks.pop().expect("longer than the level");
            match &block {
                Block::Loop { .. } => {}
                Block::Try { range } => self.close_range(*range),
                Block::Finally { range, body } => {
                    let (range, body) = (*range, *body);
                    self.close_range(range);
                    let line = self.line();
                    self.statements(body)?;
                    self.set_line(line);
                }
                Block::With { range, exit, is_async } => {
                    let (range, exit, is_async) = (*range, *exit, *is_async);
                    self.close_range(range);
                    self.exit_normally(exit, is_async)?;
                }
                Block::Handled { register, name, name_index } => {
                    let (register, name, name_index) = (*register, *name, *name_index);
                    self.emit(Op::PopHandled, 0, register, 0, 0);
                    self.body.handled -= 1;
                    self.forget_exception(name, name_index)?;
                }
            }
            left.push(block);
        }
        for block in left.into_iter().rev() {
            if let Block::Try { range } | Block::Finally { range, .. } | Block::With { range, .. } = &block {
                self.reopen_range(*range);
            }
            self.body.blocks.push(block);
        }
        self.body.handled = handled;
        Ok(())
    }

    /// `e = None; del e` at the end of an except clause.
    fn forget_exception(&mut self, place: Option<Place>, name: u16) -> Compiled<()> {
        let Some(place) = place else { return Ok(()) };
        let mark = self.mark();
        match place {
            Place::Local(register) => {
                self.emit(Op::Clear, 0, register, 0, 0);
            }
            place => {
                let register = self.temporary()?;
                self.emit(Op::LoadNone, 0, register, 0, 0);
                let name = self.body.code.names[usize::from(name)].clone();
                debug_assert_eq!(self.place(&name), place, "the clause stores and forgets the same variable");
                self.store_name(&name, Operand { register, temporary: true })?;
                self.delete_name(&name)?;
            }
        }
        self.reset(mark);
        Ok(())
    }

    fn try_statement(&mut self, node: &'a StmtTry) -> Compiled<()> {
        if node.finalbody.is_empty() {
            return self.try_except(node);
        }
        let (handler, after) = (self.label(), self.label());
        let register = self.temporary()?;
        let range = self.open_range(handler, register);
        self.body.blocks.push(Block::Finally { range, body: &node.finalbody });
        if node.handlers.is_empty() {
            self.statements(&node.body)?;
        } else {
            self.try_except(node)?;
        }
        self.body.blocks.pop();
        self.close_range(range);
        self.statements(&node.finalbody)?;
        self.jump(Op::Jump, 0, 0, after);
        self.bind(handler);
        self.emit(Op::PushHandled, 0, register, 0, 0);
        self.body.handled += 1;
        self.body.blocks.push(Block::Handled { register, name: None, name_index: 0 });
        self.statements(&node.finalbody)?;
        self.body.blocks.pop();
        self.body.handled -= 1;
        self.emit(Op::Reraise, 0, register, 0, 0);
        self.bind(after);
        Ok(())
    }

    fn try_except(&mut self, node: &'a StmtTry) -> Compiled<()> {
        if node.is_star {
            return self.try_star(node);
        }
        let (handler, otherwise, end) = (self.label(), self.label(), self.label());
        let register = self.temporary()?;
        let range = self.open_range(handler, register);
        self.body.blocks.push(Block::Try { range });
        self.statements(&node.body)?;
        self.body.blocks.pop();
        self.close_range(range);
        self.jump(Op::Jump, 0, 0, otherwise);
        self.bind(handler);
        self.emit(Op::PushHandled, 0, register, 0, 0);
        self.body.handled += 1;
        for (index, clause) in node.handlers.iter().enumerate() {
            let ExceptHandler::ExceptHandler(clause) = clause;
            self.at(clause.range);
            let next = self.label();
            if let Some(kind) = &clause.type_ {
                let mark = self.mark();
                let operand = self.operand(kind)?;
                let matched = self.temporary()?;
                self.emit(Op::MatchException, operand.flag(TEMP_C), matched, register, operand.register);
                self.jump(Op::JumpIfFalse, TEMP_A, matched, next);
                self.reset(mark);
            } else if index + 1 < node.handlers.len() {
                return Err(CompileError::at(clause.range, "default 'except:' must be last"));
            }
            self.except_body(clause, register)?;
            self.jump(Op::Jump, 0, 0, end);
            self.bind(next);
        }
        self.body.handled -= 1;
        self.emit(Op::Reraise, 0, register, 0, 0);
        self.bind(otherwise);
        self.statements(&node.orelse)?;
        self.bind(end);
        Ok(())
    }

    /// The body of an except clause: the exception is bound, handled, and forgotten on every way out.
    fn except_body(&mut self, clause: &'a ruff_python_ast::ExceptHandlerExceptHandler, register: u16) -> Compiled<()> {
        let Some(name) = &clause.name else {
            self.body.blocks.push(Block::Handled { register, name: None, name_index: 0 });
            self.statements(&clause.body)?;
            self.body.blocks.pop();
            self.emit(Op::PopHandled, 0, register, 0, 0);
            return Ok(());
        };
        let mangled = mangle(self.class.as_deref(), name);
        self.store_name(&mangled, Operand { register, temporary: false })?;
        let place = self.place(&mangled);
        let name_index = self.raw_name(&mangled)?;
        let cleanup = self.label();
        let inner = self.temporary()?;
        self.body.blocks.push(Block::Handled { register, name: Some(place), name_index });
        let range = self.open_range(cleanup, inner);
        self.body.blocks.push(Block::Try { range });
        self.statements(&clause.body)?;
        self.body.blocks.pop();
        self.body.blocks.pop();
        self.close_range(range);
        let after = self.label();
        self.emit(Op::PopHandled, 0, register, 0, 0);
        self.forget_exception(Some(place), name_index)?;
        self.jump(Op::Jump, 0, 0, after);
        self.bind(cleanup);
        self.forget_exception(Some(place), name_index)?;
        self.emit(Op::Reraise, 0, inner, 0, 0);
        self.bind(after);
        Ok(())
    }

    /// `except*`: each clause takes its part of the group; what is left or raised anew is raised at the end.
    fn try_star(&mut self, node: &'a StmtTry) -> Compiled<()> {
        let (handler, otherwise, end) = (self.label(), self.label(), self.label());
        let register = self.temporary()?;
        let range = self.open_range(handler, register);
        self.body.blocks.push(Block::Try { range });
        self.statements(&node.body)?;
        self.body.blocks.pop();
        self.close_range(range);
        self.jump(Op::Jump, 0, 0, otherwise);
        self.bind(handler);
        self.emit(Op::PushHandled, 0, register, 0, 0);
        self.body.handled += 1;
        let rest = self.temporary()?;
        let raised = self.temporary()?;
        self.copy(Operand { register, temporary: false }, rest);
        self.emit(Op::BuildList, 0, raised, raised, 0);
        for clause in &node.handlers {
            let ExceptHandler::ExceptHandler(clause) = clause;
            self.at(clause.range);
            let mark = self.mark();
            let next = self.label();
            let kind = clause.type_.as_ref().ok_or_else(|| CompileError::at(clause.range, "expected one or more exception types"))?;
            let operand = self.operand(kind)?;
            let parts = self.temporaries(2)?;
            self.emit(Op::MatchGroup, operand.flag(TEMP_C), parts, rest, operand.register);
            self.copy(Operand { register: parts + 1, temporary: true }, rest);
            self.jump(Op::JumpIfNone, 0, parts, next);
            let failed = self.label();
            let inner = self.temporary()?;
            let range = self.open_range(failed, inner);
            self.emit(Op::PushHandled, 0, parts, 0, 0);
            self.body.handled += 1;
            self.except_body(clause, parts)?;
            self.body.handled -= 1;
            self.close_range(range);
            self.jump(Op::Jump, 0, 0, next);
            self.bind(failed);
            self.emit(Op::ListAppend, TEMP_B, raised, inner, 0);
            self.bind(next);
            self.reset(mark);
        }
        let result = self.temporary()?;
        self.emit(Op::ListAppend, TEMP_B, raised, rest, 0);
        self.emit(Op::PrepareReraiseStar, TEMP_C, result, register, raised);
        let clean = self.label();
        self.jump(Op::JumpIfNone, 0, result, clean);
        self.emit(Op::PopHandled, 0, register, 0, 0);
        self.emit(Op::Reraise, 0, result, 0, 0);
        self.bind(clean);
        self.emit(Op::PopHandled, 0, register, 0, 0);
        self.body.handled -= 1;
        self.jump(Op::Jump, 0, 0, end);
        self.bind(otherwise);
        self.statements(&node.orelse)?;
        self.bind(end);
        Ok(())
    }

    fn with_statement(&mut self, node: &'a StmtWith, index: usize) -> Compiled<()> {
        let Some(item) = node.items.get(index) else { return self.statements(&node.body) };
        if node.is_async {
            self.require_async(node.range, "'async with' outside async function")?;
        }
        self.at(item.range);
        let context = self.operand(&item.context_expr)?;
        let exit = self.temporaries(2)?;
        let enter = self.temporaries(2)?;
        let names = if node.is_async { ["__aenter__", "__aexit__"] } else { ["__enter__", "__exit__"] };
        let enter_name = self.raw_name(names[0])?;
        let exit_name = self.raw_name(names[1])?;
        self.emit(Op::LoadSpecial, 0, enter, context.register, enter_name);
        self.emit(Op::LoadSpecial, context.flag(TEMP_B), exit, context.register, exit_name);
        self.emit(Op::Call, METHOD, enter, enter, 0);
        if node.is_async {
            self.await_value(Operand { register: enter, temporary: true }, enter, 1)?;
        }
        let (handler, end) = (self.label(), self.label());
        self.reset(enter);
        let register = self.temporary()?;
        debug_assert_eq!(register, enter, "the value of the context arrives where an exception would");
        let range = self.open_range(handler, register);
        self.body.blocks.push(Block::With { range, exit, is_async: node.is_async });
        match &item.optional_vars {
            Some(target) => self.assign(target, Operand { register: enter, temporary: true })?,
            None => {
                self.emit(Op::Clear, 0, enter, 0, 0);
            }
        }
        self.nested(item.range, |compiler| compiler.with_statement(node, index + 1))?;
        self.body.blocks.pop();
        self.close_range(range);
        self.at(item.range);
        self.exit_normally(exit, node.is_async)?;
        self.jump(Op::Jump, 0, 0, end);
        self.bind(handler);
        self.emit(Op::PushHandled, 0, register, 0, 0);
        self.body.handled += 1;
        let call = self.temporaries(5)?;
        let class = self.site("__class__")?;
        let traceback = self.site("__traceback__")?;
        self.emit(Op::Move, TEMP_B, call, exit, 1);
        self.emit(Op::Move, TEMP_B, call + 1, exit + 1, 1);
        self.emit(Op::LoadAttr, 0, call + 2, register, class);
        self.emit(Op::Move, 0, call + 3, register, 0);
        self.emit(Op::LoadAttr, 0, call + 4, register, traceback);
        self.emit(Op::Call, METHOD, call, call, 3);
        if node.is_async {
            self.await_value(Operand { register: call, temporary: true }, call, 2)?;
        }
        let suppressed = self.label();
        self.jump(Op::JumpIfTrue, TEMP_A, call, suppressed);
        self.emit(Op::Reraise, 0, register, 0, 0);
        self.bind(suppressed);
        self.emit(Op::PopHandled, 0, register, 0, 0);
        self.body.handled -= 1;
        self.bind(end);
        Ok(())
    }

    /// `exit(None, None, None)`, the function being in registers `exit` and the next.
    fn exit_normally(&mut self, exit: u16, is_async: bool) -> Compiled<()> {
        let mark = self.mark();
        let call = self.temporaries(5)?;
        self.emit(Op::Move, 0, call, exit, 1);
        self.emit(Op::Move, 0, call + 1, exit + 1, 1);
        for offset in 2..5 {
            self.emit(Op::LoadNone, 0, call + offset, 0, 0);
        }
        self.emit(Op::Call, METHOD, call, call, 3);
        if is_async {
            self.await_value(Operand { register: call, temporary: true }, call, 2)?;
        }
        self.emit(Op::Clear, 0, call, 0, 0);
        self.reset(mark);
        Ok(())
    }

    fn import(&mut self, node: &'a StmtImport) -> Compiled<()> {
        for alias in &node.names {
            let mark = self.mark();
            let register = self.temporary()?;
            let path = self.raw_name(&alias.name)?;
            let name = match &alias.asname {
                Some(name) => {
                    self.emit(Op::Import, 0, register, path, 1);
                    name.to_string()
                }
                None => {
                    self.emit(Op::Import, 0, register, path, 0);
                    alias.name.split('.').next().unwrap_or_default().to_owned()
                }
            };
            let name = mangle(self.class.as_deref(), &name);
            self.store_name(&name, Operand { register, temporary: true })?;
            self.reset(mark);
        }
        Ok(())
    }

    fn import_from(&mut self, node: &'a StmtImportFrom) -> Compiled<()> {
        let module = node.module.as_ref().map_or("", |module| module.as_str());
        if module == "__future__" {
            for alias in &node.names {
                if alias.name.as_str() == "annotations" {
                    self.annotations_as_text = true;
                }
            }
            return Ok(());
        }
        // A relative import inside a package that comes with the VM.
        let path = format!("{}{module}", ".".repeat(sizes::saturating(node.level)));
        let path = self.raw_name(&path)?;
        let register = self.temporary()?;
        self.emit(Op::Import, 0, register, path, 1);
        for alias in &node.names {
            if alias.name.as_str() == "*" {
                self.emit(Op::ImportStar, 0, register, 0, 0);
                continue;
            }
            let mark = self.mark();
            let value = self.temporary()?;
            let name = self.raw_name(&alias.name)?;
            self.emit(Op::ImportFrom, 0, value, register, name);
            let target = mangle(self.class.as_deref(), alias.asname.as_ref().unwrap_or(&alias.name));
            self.store_name(&target, Operand { register: value, temporary: true })?;
            self.reset(mark);
        }
        self.emit(Op::Clear, 0, register, 0, 0);
        Ok(())
    }
}
