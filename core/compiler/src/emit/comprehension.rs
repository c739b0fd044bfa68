//! Comprehensions and generator expressions.

use super::{Compiled, Compiler, Operand, Place};
use crate::code::CodeKind;
use crate::opcode::{Op, TEMP_B, TEMP_C};
use crate::scope::{NodeKind, ScopeKind};
use ruff_python_ast::{Comprehension, Expr};
use ruff_text_size::TextRange;
use std::collections::BTreeMap;

/// What a comprehension makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Collects {
    List,
    Set,
    Dict,
    Lazily,
}

impl<'a> Compiler<'a> {
    pub(super) fn comprehension(
        &mut self,
        range: TextRange,
        generators: &'a [Comprehension],
        collects: Collects,
        result: &'a Expr,
        key: Option<&'a Expr>,
        target: u16,
    ) -> Compiled<()> {
        let scope = self.scopes.of(range, NodeKind::Comprehension);
        let mut is_async = generators.iter().any(|generator| generator.is_async);
        if collects == Collects::Lazily {
            let conditions = generators.iter().flat_map(|generator| &generator.ifs);
            let later = generators.iter().skip(1).map(|generator| &generator.iter);
            is_async |= conditions.chain(later).chain([result]).any(super::awaits::awaits);
        }
        if is_async && collects != Collects::Lazily {
            self.require_async(range, "asynchronous comprehension outside of an asynchronous function")?;
        }
        if self.scopes.all[scope].kind == ScopeKind::Inline {
            let first = &generators[0];
            let iterable = self.operand(&first.iter)?;
            return self.inline_comprehension(scope, generators, collects, result, key, target, iterable);
        }
        // A frame of its own, called with the first iterable.
        let name = match collects {
            Collects::List => "<listcomp>",
            Collects::Set => "<setcomp>",
            Collects::Dict => "<dictcomp>",
            Collects::Lazily => "<genexpr>",
        };
        let function = self.temporary()?;
        let argument = self.temporary()?;
        let outer = self.enter(scope, name);
        self.body.code.positional = 1;
        self.body.code.positional_only = 1;
        self.parameter_registers(&[".0".to_owned()])?;
        if collects == Collects::Lazily {
            self.body.code.kind = if is_async { CodeKind::AsyncGenerator } else { CodeKind::Generator };
        } else if is_async {
            self.body.code.kind = CodeKind::Coroutine;
        }
        self.comprehension_registers(scope)?;
        let register = self.temporary()?;
        let iterable = Operand { register: 0, temporary: true };
        self.inline_comprehension(scope, generators, collects, result, key, register, iterable)?;
        if collects == Collects::Lazily {
            self.emit(Op::ReturnNone, 0, 0, 0, 0);
        } else {
            self.emit(Op::Return, TEMP_B, 0, register, 0);
        }
        let code = self.leave(outer)?;
        let mark = self.mark();
        self.make_function(code, 0, mark, function)?;
        self.into(&generators[0].iter, argument)?;
        self.emit(Op::Call, 0, target, function, 1);
        Ok(())
    }

    /// Registers of a comprehension that has its own frame: closure cells only, the targets come with the loops.
    pub(super) fn comprehension_registers(&mut self, scope: usize) -> Compiled<()> {
        let scopes = self.scopes;
        self.body.code.free_start = self.mark();
        for (name, symbol) in &scopes.all[scope].symbols {
            if symbol.free {
                let register = self.named_register(name)?;
                self.body.code.free_names.push(name.clone());
                self.body.places.insert(name.clone(), Place::Cell(register));
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one comprehension")]
    pub(super) fn inline_comprehension(
        &mut self,
        scope: usize,
        generators: &'a [Comprehension],
        collects: Collects,
        result: &'a Expr,
        key: Option<&'a Expr>,
        target: u16,
        iterable: Operand,
    ) -> Compiled<()> {
        let building = self.temporary()?;
        match collects {
            Collects::List => self.emit(Op::BuildList, 0, building, building, 0),
            Collects::Set => self.emit(Op::BuildSet, 0, building, building, 0),
            Collects::Dict => self.emit(Op::BuildDict, 0, building, building, 0),
            Collects::Lazily => 0,
        };
        let scopes = self.scopes;
        let mut places = BTreeMap::new();
        for name in &scopes.all[scope].order {
            let symbol = scopes.all[scope].symbols[name];
            let register = self.temporary()?;
            self.emit(Op::Clear, 0, register, 0, 0);
            let names = &mut self.body.code.local_names;
            while names.len() <= usize::from(register) {
                names.push(String::new());
            }
            names[usize::from(register)].clone_from(name);
            if symbol.cell {
                self.emit(Op::MakeCell, 0, register, 0, 0);
                places.insert(name.clone(), Place::Cell(register));
            } else {
                places.insert(name.clone(), Place::Local(register));
            }
        }
        self.body.inline.push((scope, places));
        // What the first loop goes over belongs to the scope around: its iterator is made by the first instruction.
        let start = self.here() + 1;
        self.comprehension_loop(generators, 0, collects, result, key, building, Some(iterable))?;
        if self.scopes.all[scope].kind == ScopeKind::Inline {
            let end = self.here();
            self.body.code.comprehensions.push((start, end));
        }
        let (_, places) = self.body.inline.pop().expect("pushed above");
        for place in places.values() {
            if let Place::Local(register) | Place::Cell(register) = place {
                self.emit(Op::Clear, 0, *register, 0, 0);
            }
        }
        if collects != Collects::Lazily {
            self.copy(Operand { register: building, temporary: true }, target);
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one comprehension")]
    pub(super) fn comprehension_loop(
        &mut self,
        generators: &'a [Comprehension],
        index: usize,
        collects: Collects,
        result: &'a Expr,
        key: Option<&'a Expr>,
        building: u16,
        iterable: Option<Operand>,
    ) -> Compiled<()> {
        let Some(generator) = generators.get(index) else {
            let mark = self.mark();
            match collects {
                Collects::Dict => {
                    let key = self.operand(key.expect("dict comprehensions have keys"))?;
                    let value = self.operand(result)?;
                    let flags = key.flag(TEMP_B) | value.flag(TEMP_C);
                    self.emit(Op::DictSet, flags, building, key.register, value.register);
                }
                Collects::List | Collects::Set => {
                    let value = self.operand(result)?;
                    let op = if collects == Collects::List { Op::ListAppend } else { Op::SetAdd };
                    self.emit(op, value.flag(TEMP_B), building, value.register, 0);
                }
                Collects::Lazily => {
                    let value = self.operand(result)?;
                    let sent = self.temporary()?;
                    self.emit(Op::Yield, value.flag(TEMP_B), sent, value.register, 0);
                    self.emit(Op::Clear, 0, sent, 0, 0);
                }
            }
            self.reset(mark);
            return Ok(());
        };
        let mark = self.mark();
        let iterable = match iterable {
            Some(operand) => operand,
            None => self.operand(&generator.iter)?,
        };
        let (again, done) = (self.label(), self.label());
        let item = self.begin_loop(iterable, generator.is_async, again, done)?;
        self.assign_item(&generator.target, &item)?;
        for condition in &generator.ifs {
            self.jump_if(condition, false, again)?;
        }
        self.nested(generator.range, |compiler| compiler.comprehension_loop(generators, index + 1, collects, result, key, building, None))?;
        self.end_loop(&item, again, done)?;
        self.reset(mark);
        Ok(())
    }
}
