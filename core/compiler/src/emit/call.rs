//! Calls, functions and classes: everything about arguments and parameters.

use super::syntax::{docstring, has_annotation};
use super::{Compiled, Compiler, Operand, Place};
use crate::CompileError;
use crate::code::{CodeKind, Const};
use crate::opcode::{HAS_ANNOTATIONS, HAS_CLOSURE, HAS_DEFAULTS, HAS_KEYWORD_DEFAULTS, METHOD, Op, TEMP_A, TEMP_B};
use crate::scope::{NodeKind, mangle};
use ruff_python_ast::{Arguments, Decorator, Expr, ExprCall, Parameters, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;

/// Most arguments that get a register each; longer lists go through a tuple.
const ARGUMENT_LIMIT: usize = 200;

impl<'a> Compiler<'a> {
    /// A call expression.
    pub(super) fn call(&mut self, call: &'a ExprCall, target: u16) -> Compiled<()> {
        if let Expr::Name(name) = &*call.func {
            if name.id.as_str() == "super" && call.arguments.is_empty() && self.body.scope != 0 {
                return self.zero_argument_super(call, target);
            }
        }
        let spread = needs_spread(&call.arguments);
        let base = self.temporary()?;
        let mut method = 0;
        match &*call.func {
            Expr::Attribute(attribute) if !spread => {
                let receiver = self.temporary()?;
                let mark = self.mark();
                let object = self.operand(&attribute.value)?;
                let line = self.line();
                self.at(attribute.attr.range);
                let site = self.site(&attribute.attr)?;
                self.emit(Op::LoadMethod, object.flag(TEMP_B), base, object.register, site);
                self.set_line(line);
                self.reset(mark);
                debug_assert_eq!(receiver, base + 1, "registers of a call lie in a row");
                method = METHOD;
            }
            function => self.into(function, base)?,
        }
        self.arguments(&call.arguments, base, method, spread, target)
    }

    /// Emits arguments after the prepared callee and the call itself.
    fn arguments(&mut self, arguments: &'a Arguments, base: u16, method: u8, spread: bool, target: u16) -> Compiled<()> {
        if spread {
            return self.spread_call(arguments, base, 0, target);
        }
        let before = u16::from(method != 0) + 1;
        let first = base + before;
        for argument in &arguments.args {
            let register = self.temporary()?;
            self.into(argument, register)?;
        }
        self.keyword_call(arguments, base, first, method, target)
    }

    /// Keyword values after the positional ones, then the call.
    fn keyword_call(&mut self, arguments: &'a Arguments, base: u16, first: u16, method: u8, target: u16) -> Compiled<()> {
        let mut names = Vec::new();
        for keyword in &arguments.keywords {
            let name = keyword.arg.as_ref().expect("a spread is not handled here");
            let name = mangle(self.class.as_deref(), name);
            if names.contains(&name) {
                return Err(CompileError::at(keyword.range, format!("keyword argument repeated: {name}")));
            }
            names.push(name);
            let register = self.temporary()?;
            self.into(&keyword.value, register)?;
        }
        let count = self.mark() - first;
        if names.is_empty() {
            self.emit(Op::Call, method, target, base, count);
        } else {
            let names = self.constant(Const::Tuple(names.into_iter().map(Const::Str).collect()));
            self.emit(Op::CallKeyword, method, target, base, count);
            self.emit_wide(Op::Nop, 0, 0, names);
        }
        Ok(())
    }

    /// A call with `*` or `**`: a list of positional values and a dict of keywords. `prefix` values already stand after the callee.
    fn spread_call(&mut self, arguments: &'a Arguments, base: u16, prefix: u16, target: u16) -> Compiled<()> {
        let list = if prefix == 0 {
            let list = self.temporary()?;
            self.emit(Op::BuildList, 0, list, list, 0);
            list
        } else {
            self.emit(Op::BuildList, 0, base + 1, base + 1, prefix);
            self.reset(base + 2);
            base + 1
        };
        let keywords = self.temporary()?;
        for argument in &arguments.args {
            let mark = self.mark();
            if let Expr::Starred(starred) = argument {
                let operand = self.operand(&starred.value)?;
                self.emit(Op::ListExtend, operand.flag(TEMP_B), list, operand.register, base + 1);
            } else {
                let operand = self.operand(argument)?;
                self.emit(Op::ListAppend, operand.flag(TEMP_B), list, operand.register, 0);
            }
            self.reset(mark);
        }
        self.emit(Op::BuildDict, 0, keywords, keywords, 0);
        for keyword in &arguments.keywords {
            let mark = self.mark();
            if let Some(name) = &keyword.arg {
                let pair = self.temporaries(2)?;
                let name = mangle(self.class.as_deref(), name);
                self.load_constant(Const::Str(name), pair);
                self.into(&keyword.value, pair + 1)?;
                self.emit(Op::BuildDict, 0, pair, pair, 1);
                self.emit(Op::DictMerge, TEMP_B, keywords, pair, base);
            } else {
                let operand = self.operand(&keyword.value)?;
                self.emit(Op::DictMerge, operand.flag(TEMP_B), keywords, operand.register, base);
            }
            self.reset(mark);
        }
        self.emit(Op::CallSpread, 0, target, base, 0);
        Ok(())
    }

    fn zero_argument_super(&mut self, call: &'a ExprCall, target: u16) -> Compiled<()> {
        let base = self.temporaries(3)?;
        self.load_name("super", base)?;
        let cell = self.cell_register("__class__");
        let first = match (cell, self.body.code.parameters()) {
            (Some(cell), 1..) => {
                self.emit(Op::LoadCell, 0, base + 1, cell, 0);
                0
            }
            _ => {
                self.emit(Op::Call, 0, target, base, 0);
                return Ok(());
            }
        };
        // The first parameter may itself have been captured.
        let is_cell = self.body.places.values().any(|place| *place == Place::Cell(first));
        if is_cell {
            self.emit(Op::LoadCell, 0, base + 2, first, 0);
        } else {
            self.emit(Op::Move, 0, base + 2, first, 0);
        }
        let _ = call;
        self.emit(Op::Call, 0, target, base, 2);
        Ok(())
    }

    /// Defaults and annotations of a function, in registers from the returned one on.
    pub(super) fn defaults(&mut self, parameters: &'a Parameters) -> Compiled<(u8, u16)> {
        let first = self.mark();
        let mut flags = 0;
        let positional: Vec<&'a Expr> =
            parameters.posonlyargs.iter().chain(parameters.args.iter()).filter_map(|parameter| parameter.default()).collect();
        if !positional.is_empty() {
            flags |= HAS_DEFAULTS;
            let register = self.temporary()?;
            for default in &positional {
                let item = self.temporary()?;
                self.into(default, item)?;
            }
            let count = self.mark() - register - 1;
            self.emit(Op::BuildTuple, 0, register, register + 1, count);
            self.reset(register + 1);
        }
        let named: Vec<_> = parameters.kwonlyargs.iter().filter(|parameter| parameter.default().is_some()).collect();
        if !named.is_empty() {
            flags |= HAS_KEYWORD_DEFAULTS;
            let register = self.temporary()?;
            for parameter in &named {
                let pair = self.temporaries(2)?;
                let name = mangle(self.class.as_deref(), &parameter.parameter.name);
                self.load_constant(Const::Str(name), pair);
                self.into(parameter.default().expect("filtered above"), pair + 1)?;
            }
            let count = (self.mark() - register - 1) / 2;
            self.emit(Op::BuildDict, 0, register, register + 1, count);
            self.reset(register + 1);
        }
        Ok((flags, first))
    }

    /// The annotations dict of a function, in the next register, when there is any.
    fn annotations(&mut self, def: &'a StmtFunctionDef) -> Compiled<u8> {
        let mut annotated: Vec<(String, &'a Expr)> = Vec::new();
        for parameter in def.parameters.iter() {
            if let Some(annotation) = parameter.annotation() {
                annotated.push((mangle(self.class.as_deref(), parameter.name()), annotation));
            }
        }
        if let Some(returns) = &def.returns {
            annotated.push(("return".to_owned(), returns));
        }
        if annotated.is_empty() {
            return Ok(0);
        }
        let register = self.temporary()?;
        self.emit(Op::BuildDict, 0, register, register, 0);
        for (name, annotation) in annotated {
            let mark = self.mark();
            let pair = self.temporaries(2)?;
            self.load_constant(Const::Str(name), pair);
            self.annotation(annotation, pair + 1)?;
            self.emit(Op::DictSet, crate::opcode::TEMP_B | crate::opcode::TEMP_C, register, pair, pair + 1);
            self.reset(mark);
        }
        Ok(HAS_ANNOTATIONS)
    }

    /// The value of an annotation: its text when annotations are postponed.
    pub(super) fn annotation(&mut self, annotation: &'a Expr, target: u16) -> Compiled<()> {
        if self.annotations_as_text {
            let range = annotation.range();
            let text = self.source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
            self.load_constant(Const::Str(text.to_owned()), target);
            return Ok(());
        }
        if let Expr::Starred(starred) = annotation {
            // `*args: *Ts` has the one item that unpacking `Ts` gives.
            let operand = self.operand(&starred.value)?;
            let first = self.temporary()?;
            self.emit(Op::Unpack, operand.flag(TEMP_B), first, operand.register, 1);
            self.emit(Op::Move, 0, target, first, 1);
            return Ok(());
        }
        self.into(annotation, target)
    }

    /// Declares the parameters of the body just entered, in call order: positional, keyword-only, `*`, `**`.
    pub(super) fn parameters(&mut self, parameters: &'a Parameters) -> Compiled<()> {
        let too_many = |_| CompileError::too_large(parameters.range, "more than 65,535 parameters");
        let count = |length: usize| u16::try_from(length).map_err(too_many);
        self.body.code.positional_only = count(parameters.posonlyargs.len())?;
        self.body.code.positional = count(parameters.posonlyargs.len() + parameters.args.len())?;
        self.body.code.keyword_only = count(parameters.kwonlyargs.len())?;
        self.body.code.var_positional = parameters.vararg.is_some();
        self.body.code.var_keyword = parameters.kwarg.is_some();
        let class = self.class.clone();
        let names: Vec<String> = parameters
            .posonlyargs
            .iter()
            .chain(parameters.args.iter())
            .chain(parameters.kwonlyargs.iter())
            .map(|parameter| &parameter.parameter)
            .chain(parameters.vararg.as_deref())
            .chain(parameters.kwarg.as_deref())
            .map(|parameter| mangle(class.as_deref(), &parameter.name))
            .collect();
        self.parameter_registers(&names)
    }

    /// Emits the function object for a finished code body.
    pub(super) fn make_function(&mut self, code: u16, flags: u8, first: u16, target: u16) -> Compiled<()> {
        let free: Vec<String> = self.codes[usize::from(code)].as_ref().expect("finished").free_names.clone();
        let mut flags = flags;
        if !free.is_empty() {
            flags |= HAS_CLOSURE;
            let tuple = self.temporary()?;
            for name in &free {
                let register = self.temporary()?;
                let cell = self
                    .cell_register(name)
                    .ok_or_else(|| CompileError::at(ruff_text_size::TextRange::default(), format!("no cell for the name '{name}'")))?;
                self.emit(Op::Move, 0, register, cell, 1);
            }
            let count = u16::try_from(free.len()).unwrap_or(u16::MAX);
            self.emit(Op::BuildTuple, 0, tuple, tuple + 1, count);
            self.reset(tuple + 1);
        }
        self.emit(Op::MakeFunction, flags, target, first, code);
        Ok(())
    }

    /// Decorators into registers, each ready to be called with what follows.
    fn decorators(&mut self, decorators: &'a [Decorator]) -> Compiled<Vec<u16>> {
        let mut registers = Vec::new();
        for decorator in decorators {
            let register = self.temporary()?;
            self.into(&decorator.expression, register)?;
            registers.push(register);
        }
        Ok(registers)
    }

    /// `def`
    pub(super) fn function(&mut self, def: &'a StmtFunctionDef) -> Compiled<()> {
        if let Some(parameters) = &def.type_params {
            return Err(CompileError::at(parameters.range, "type parameters are newer than Python 3.11"));
        }
        let mark = self.mark();
        let line = self.line();
        let decorators = self.decorators(&def.decorator_list)?;
        let result = self.temporary()?;
        let (mut flags, first) = self.defaults(&def.parameters)?;
        flags |= self.annotations(def)?;
        let scope = self.scopes.of(def.range, NodeKind::Def);
        let name_range = def.name.range;
        self.at(if def.decorator_list.is_empty() { name_range } else { def.decorator_list[0].range });
        let outer = self.enter(scope, &def.name);
        let depth = std::mem::take(&mut self.depth);
        self.parameters(&def.parameters)?;
        let yields = self.scopes.all[scope].yields;
        self.body.code.kind = match (def.is_async, yields) {
            (false, false) => CodeKind::Plain,
            (false, true) => CodeKind::Generator,
            (true, false) => CodeKind::Coroutine,
            (true, true) => CodeKind::AsyncGenerator,
        };
        self.assign_registers()?;
        self.body.code.doc = docstring(&def.body);
        self.statements(&def.body)?;
        self.emit(Op::ReturnNone, 0, 0, 0, 0);
        self.depth = depth;
        let code = self.leave(outer)?;
        self.set_line(line);
        self.make_function(code, flags, first, result)?;
        self.apply_decorators(&decorators, result);
        let name = mangle(self.class.as_deref(), &def.name);
        let register = decorators.first().copied().unwrap_or(result);
        self.store_name(&name, Operand { register, temporary: true })?;
        self.reset(mark);
        Ok(())
    }

    fn apply_decorators(&mut self, decorators: &[u16], result: u16) {
        // Each decorator is followed by its argument: the result of the one after it.
        let _ = result;
        for &register in decorators.iter().rev() {
            self.emit(Op::Call, 0, register, register, 1);
        }
    }

    /// `class`
    pub(super) fn class_definition(&mut self, class: &'a StmtClassDef) -> Compiled<()> {
        if let Some(parameters) = &class.type_params {
            return Err(CompileError::at(parameters.range, "type parameters are newer than Python 3.11"));
        }
        let mark = self.mark();
        let line = self.line();
        let decorators = self.decorators(&class.decorator_list)?;
        let base = self.temporaries(3)?;
        self.emit(Op::LoadBuildClass, 0, base, 0, 0);
        let scope = self.scopes.of(class.range, NodeKind::Class);
        let name = mangle(self.class.as_deref(), &class.name);
        let outer = self.enter(scope, &class.name);
        let outer_class = self.class.replace(class.name.to_string());
        let depth = std::mem::take(&mut self.depth);
        self.assign_registers()?;
        self.class_body(class)?;
        self.depth = depth;
        self.class = outer_class;
        let code = self.leave(outer)?;
        self.set_line(line);
        let inner = self.mark();
        self.make_function(code, 0, inner, base + 1)?;
        self.reset(inner);
        self.load_constant(Const::Str(class.name.to_string()), base + 2);
        match &class.arguments {
            Some(arguments) if needs_spread(arguments) => self.spread_call(arguments, base, 2, base)?,
            Some(arguments) => {
                for argument in &arguments.args {
                    let register = self.temporary()?;
                    self.into(argument, register)?;
                }
                self.keyword_call(arguments, base, base + 1, 0, base)?;
            }
            None => {
                self.emit(Op::Call, 0, base, base, 2);
            }
        }
        self.apply_decorators(&decorators, base);
        let register = decorators.first().copied().unwrap_or(base);
        self.store_name(&name, Operand { register, temporary: true })?;
        self.reset(mark);
        Ok(())
    }

    fn class_body(&mut self, class: &'a StmtClassDef) -> Compiled<()> {
        let register = self.temporary()?;
        self.load_name("__name__", register)?;
        let name = self.raw_name("__module__")?;
        self.emit(Op::StoreName, TEMP_A, register, name, 0);
        let qualname = self.body.code.qualname.clone();
        self.load_constant(Const::Str(qualname), register);
        let name = self.raw_name("__qualname__")?;
        self.emit(Op::StoreName, TEMP_A, register, name, 0);
        if let Some(doc) = docstring(&class.body) {
            self.load_constant(Const::Str(doc), register);
            let name = self.raw_name("__doc__")?;
            self.emit(Op::StoreName, TEMP_A, register, name, 0);
        }
        self.reset(register);
        if class.body.iter().any(has_annotation) {
            self.emit(Op::SetupAnnotations, 0, 0, 0, 0);
        }
        self.statements(&class.body)?;
        match self.body.places.get("__class__") {
            Some(Place::Cell(register)) => {
                let register = *register;
                self.emit(Op::Return, TEMP_B, 0, register, 0);
            }
            _ => {
                self.emit(Op::ReturnNone, 0, 0, 0, 0);
            }
        }
        Ok(())
    }
}

fn needs_spread(arguments: &Arguments) -> bool {
    arguments.args.len() + arguments.keywords.len() > ARGUMENT_LIMIT
        || arguments.args.iter().any(Expr::is_starred_expr)
        || arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
}
