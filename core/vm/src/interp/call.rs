//! Calls: finding what runs, binding arguments to parameters, pushing frames, and taking results back.
//!
//! Arguments already lie in the registers where the callee's parameters will be, so a plain call moves nothing.

use super::window::push;
use super::{Expect, Frame, OnReturn, Pending, Then, Vm};
use crate::compile::code::CodeKind;
use crate::error::{Exit, Outcome, PendingCall, Throw, Trap};
use crate::image::LinkedCode;
use crate::native::{NATIVE_PARAMETERS, NativeKind};
use crate::objects::payload::{Attributes, Function, Generator, GeneratorState, Payload};
use crate::opcode::{Instruction, Op};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use std::sync::Arc;

impl Vm {
    /// Calls what register `at` holds with the `count` arguments after it, the last ones named by the tuple `names`.
    /// Says whether the top frame has to be loaded anew.
    pub(crate) fn call_registers(&mut self, at: usize, count: usize, names: Option<Ref>, dest: usize) -> Outcome<bool> {
        let callee = std::mem::replace(&mut self.registers[at], Value::Undefined);
        self.dispatch(callee, at + 1, count, names, dest, OnReturn::Store)
    }

    /// The register above everything the top frame uses.
    pub(crate) fn stack_top(&self) -> usize {
        match self.frames.last() {
            Some(frame) => frame.base as usize + usize::from(self.program.codes[frame.code as usize].code.registers),
            None => 0,
        }
    }

    /// Starts a call whose arguments are not in registers yet.
    pub(crate) fn begin_call(&mut self, call: PendingCall, dest: usize) -> Outcome<()> {
        let top = self.stack_top();
        let count = call.arguments.len() + call.keywords.len();
        self.ensure_registers(top + count + 2);
        let mut names = Vec::new();
        let positional = call.arguments.len();
        for (index, value) in call.arguments.into_iter().enumerate() {
            self.registers[top + 1 + index] = value;
        }
        for (index, (name, value)) in call.keywords.into_iter().enumerate() {
            self.registers[top + 1 + positional + index] = value;
            names.push(self.heap.retain(Value::Obj(name)));
        }
        let names = if names.is_empty() { None } else { self.tuple(names).object() };
        if !call.namespace.is_undefined() {
            return self.push_class_body(call.function, call.namespace, top + 1, dest, call.on_return);
        }
        let outcome = self.dispatch(call.function, top + 1, count, names, dest, call.on_return);
        if let Some(names) = names {
            self.heap.release(Value::Obj(names));
        }
        outcome.map(|_| ())
    }

    pub(crate) fn ensure_registers(&mut self, needed: usize) {
        if self.registers.len() < needed {
            self.registers.resize(needed + 256, Value::Undefined);
        }
    }

    fn push_class_body(&mut self, function: Value, namespace: Value, at: usize, dest: usize, on_return: OnReturn) -> Outcome<()> {
        self.dispatch(function, at, 0, None, dest, on_return)?;
        self.frames.last_mut().expect("the class body was pushed").namespace = namespace;
        Ok(())
    }

    /// Calls `callee` (whose reference is taken over) with the arguments in registers from `at` on. The register before `at` is free.
    pub(crate) fn dispatch(
        &mut self,
        callee: Value,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let Value::Obj(object) = callee else { return self.not_callable(callee, at, count) };
        match self.heap.payload(object) {
            Payload::Function(function) => {
                let (code, globals) = (function.code, function.globals);
                let linked = &self.program.codes[code as usize].code;
                let plain = names.is_none()
                    && linked.kind == CodeKind::Plain
                    && usize::from(linked.positional) == count
                    && linked.keyword_only == 0
                    && !linked.var_positional
                    && !linked.var_keyword;
                if plain {
                    if self.frames.len() >= self.limits.recursion {
                        return Err(self.recursion_error(callee, at, count));
                    }
                    let top = at + usize::from(linked.registers);
                    let free = usize::from(linked.free_start);
                    if self.registers.len() < top {
                        self.registers.resize(top + 256, Value::Undefined);
                    }
                    if !linked.free_names.is_empty() {
                        self.copy_closure(object, at + free);
                    }
                    push(
                        &mut self.frames,
                        Frame {
                            code,
                            pc: 0,
                            base: at as u32,
                            dest: dest as u32,
                            globals,
                            handled: self.handled.len() as u32,
                            generator: None,
                            namespace: Value::Undefined,
                            on_return,
                        },
                    );
                    self.heap.release(callee);
                    return Ok(true);
                }
                self.push_general(object, at, count, names, dest, on_return)?;
                self.heap.release(callee);
                Ok(true)
            }
            Payload::Native(row) => {
                let row = *row;
                let outcome = self.call_native(row, at, count, names, dest, on_return);
                self.heap.release(callee);
                outcome
            }
            Payload::BoundMethod { function, receiver } => {
                let (function, receiver) = (*function, *receiver);
                self.heap.retain(function);
                self.heap.retain(receiver);
                self.heap.release(callee);
                let at = self.insert_receiver(receiver, at, count);
                self.dispatch_deeper(function, at, count + 1, names, dest, on_return)
            }
            Payload::Class(_) => self.call_class(object, at, count, names, dest, on_return),
            Payload::StaticMethod(inner) => {
                let inner = *inner;
                self.heap.retain(inner);
                self.heap.release(callee);
                self.dispatch_deeper(inner, at, count, names, dest, on_return)
            }
            _ => {
                let Some(function) = self.special(callee, nm::CALL) else {
                    return self.not_callable(callee, at, count);
                };
                let at = self.insert_receiver(callee, at, count);
                self.heap.retain(function);
                self.dispatch_deeper(function, at, count + 1, names, dest, on_return)
            }
        }
    }

    /// What a callee stands for, called in its place: an endless chain of them is a RecursionError.
    fn dispatch_deeper(
        &mut self,
        callee: Value,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        if self.native_depth >= self.limits.recursion {
            return Err(self.recursion_error(callee, at, count));
        }
        self.native_depth += 1;
        let outcome = self.dispatch(callee, at, count, names, dest, on_return);
        self.native_depth -= 1;
        outcome
    }

    /// Puts a receiver before the arguments; where they begin now. The register before the result may not be free any more.
    pub(super) fn insert_receiver(&mut self, receiver: Value, at: usize, count: usize) -> usize {
        if at > 0 && self.registers[at - 1].is_undefined() && !self.in_use(at - 1) {
            self.registers[at - 1] = receiver;
            return at - 1;
        }
        self.ensure_registers(at + count + 2);
        for index in (at..at + count).rev() {
            self.registers[index + 1] = std::mem::replace(&mut self.registers[index], Value::Undefined);
        }
        self.registers[at] = receiver;
        at
    }

    /// Whether a register is a variable of the top frame rather than the place where a callee stood.
    fn in_use(&self, register: usize) -> bool {
        match self.frames.last() {
            Some(frame) => {
                let named = self.program.codes[frame.code as usize].code.free_start;
                register < frame.base as usize + usize::from(named)
            }
            None => false,
        }
    }

    fn not_callable(&mut self, callee: Value, at: usize, count: usize) -> Outcome<bool> {
        let message = format!("'{}' object is not callable", self.class_name(callee));
        self.heap.release(callee);
        self.clear_registers(at, count);
        Err(self.type_error(message))
    }

    /// Releases registers.
    pub(crate) fn clear_registers(&mut self, at: usize, count: usize) {
        for index in at..at + count {
            let old = std::mem::replace(&mut self.registers[index], Value::Undefined);
            self.heap.release(old);
        }
    }

    #[cold]
    fn recursion_error(&mut self, callee: Value, at: usize, count: usize) -> Throw {
        self.heap.release(callee);
        self.clear_registers(at, count);
        self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded")
    }

    pub(super) fn copy_closure(&mut self, function: Ref, at: usize) {
        let Payload::Function(row) = self.heap.payload(function) else { return };
        let cells: Vec<Value> = row.closure.to_vec();
        for (index, cell) in cells.into_iter().enumerate() {
            self.heap.retain(cell);
            self.registers[at + index] = cell;
        }
    }

    /// Binds arguments the general way and pushes the frame, or makes the generator.
    fn push_general(
        &mut self,
        function: Ref,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<()> {
        let program = Arc::clone(&self.program);
        let (code_number, globals) = match self.heap.payload(function) {
            Payload::Function(row) => (row.code, row.globals),
            _ => return Err(Throw::Trap(Trap::Internal)),
        };
        let linked: &LinkedCode = &program.codes[code_number as usize];
        let mut arguments = Vec::with_capacity(count);
        for index in at..at + count {
            arguments.push(std::mem::replace(&mut self.registers[index], Value::Undefined));
        }
        let bound = self.bind(function, linked, arguments, names)?;
        let code = &linked.code;
        if self.frames.len() >= self.limits.recursion && code.kind == CodeKind::Plain {
            self.heap.release_all(bound);
            return Err(self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded"));
        }
        let top = at + usize::from(code.registers).max(bound.len());
        self.ensure_registers(top + 1);
        for (index, value) in bound.into_iter().enumerate() {
            self.registers[at + index] = value;
        }
        if !code.free_names.is_empty() {
            self.copy_closure(function, at + usize::from(code.free_start));
        }
        if code.kind == CodeKind::Plain {
            self.frames.push(Frame {
                code: code_number,
                pc: 0,
                base: at as u32,
                dest: dest as u32,
                globals,
                handled: self.handled.len() as u32,
                generator: None,
                namespace: Value::Undefined,
                on_return,
            });
            return Ok(());
        }
        let registers: Vec<Value> =
            (at..at + usize::from(code.registers)).map(|index| std::mem::replace(&mut self.registers[index], Value::Undefined)).collect();
        let class = match code.kind {
            CodeKind::Generator | CodeKind::Plain => ty::GENERATOR,
            CodeKind::Coroutine => ty::COROUTINE,
            CodeKind::AsyncGenerator => ty::ASYNC_GENERATOR,
        };
        let (name, qualname) = match self.heap.payload(function) {
            Payload::Function(row) => (row.name, row.qualname),
            _ => (Value::None, Value::None),
        };
        self.heap.retain(name);
        self.heap.retain(qualname);
        let generator = Generator {
            code: code_number,
            globals,
            pc: 0,
            registers,
            handled: Vec::new(),
            sent: 0,
            delegate: None,
            state: GeneratorState::Created,
            guarded: false,
            name,
            qualname,
        };
        let generator = self.heap.make(class, Payload::Generator(Box::new(generator)));
        self.give_back(generator, on_return, dest)
    }

    /// Binds arguments to parameters. Takes the references over; the result is one value per parameter register.
    fn bind(&mut self, function: Ref, linked: &LinkedCode, arguments: Vec<Value>, names: Option<Ref>) -> Outcome<Vec<Value>> {
        let code = &linked.code;
        let positional = usize::from(code.positional);
        let named = positional + usize::from(code.keyword_only);
        let mut bound = vec![Value::Undefined; code.parameters()];
        let names: Vec<Value> = match names {
            Some(names) => self.tuple_items(Value::Obj(names)),
            None => Vec::new(),
        };
        let given = arguments.len() - names.len();
        let mut extra = Vec::new();
        let mut rest = arguments.into_iter();
        for (index, value) in rest.by_ref().take(given).enumerate() {
            if index < positional {
                bound[index] = value;
            } else {
                extra.push(value);
            }
        }
        let too_many = !extra.is_empty() && !code.var_positional;
        let var_keyword = if code.var_keyword { Some(self.new_dict()) } else { None };
        let mut error: Option<Throw> = None;
        for (name, value) in names.iter().zip(rest) {
            if error.is_some() {
                self.heap.release(value);
                continue;
            }
            let known = name
                .object()
                .and_then(|name| self.heap.intern_object(name))
                .and_then(|name| linked.parameters[..named].iter().position(|&parameter| parameter == name));
            match known {
                Some(index) if index >= usize::from(code.positional_only) => {
                    if bound[index].is_undefined() {
                        bound[index] = value;
                    } else {
                        self.heap.release(value);
                        let message = format!(
                            "{}() got multiple values for argument '{}'",
                            self.function_name(function),
                            self.text(*name).unwrap_or_default()
                        );
                        error = Some(self.type_error(message));
                    }
                }
                known => match var_keyword {
                    Some(dict) => {
                        let key = self.heap.retain(*name);
                        self.dict_insert_text(dict, key, value);
                    }
                    None => {
                        self.heap.release(value);
                        let message = if known.is_some() {
                            format!(
                                "{}() got some positional-only arguments passed as keyword arguments: '{}'",
                                self.function_name(function),
                                self.text(*name).unwrap_or_default()
                            )
                        } else {
                            format!(
                                "{}() got an unexpected keyword argument '{}'",
                                self.function_name(function),
                                self.text(*name).unwrap_or_default()
                            )
                        };
                        error = Some(self.type_error(message));
                    }
                },
            }
        }
        if error.is_none() && too_many {
            error = Some(self.too_many_error(function, linked, given, &bound));
        }
        if error.is_none() {
            error = self.fill_defaults(function, linked, &mut bound);
        }
        if let Some(error) = error {
            self.heap.release_all(extra);
            self.heap.release_all(bound);
            if let Some(dict) = var_keyword {
                self.heap.release(Value::Obj(dict));
            }
            return Err(error);
        }
        let mut next = named;
        if code.var_positional {
            bound[next] = self.tuple(extra);
            next += 1;
        }
        if let Some(dict) = var_keyword {
            bound[next] = Value::Obj(dict);
        }
        Ok(bound)
    }

    fn function_name(&self, function: Ref) -> String {
        match self.heap.payload(function) {
            Payload::Function(row) => self.text(row.qualname).unwrap_or("?").to_owned(),
            _ => "?".to_owned(),
        }
    }

    fn fill_defaults(&mut self, function: Ref, linked: &LinkedCode, bound: &mut [Value]) -> Option<Throw> {
        let code = &linked.code;
        let positional = usize::from(code.positional);
        let named = positional + usize::from(code.keyword_only);
        if bound[..named].iter().all(|value| !value.is_undefined()) {
            return None;
        }
        let (defaults, keyword_defaults) = match self.heap.payload(function) {
            Payload::Function(row) => (row.defaults.clone(), row.keyword_defaults.clone()),
            _ => (Vec::new(), Vec::new()),
        };
        let first_default = positional.saturating_sub(defaults.len());
        for (index, &value) in defaults.iter().enumerate() {
            let index = first_default + index;
            if index < positional && bound[index].is_undefined() {
                bound[index] = self.heap.retain(value);
            }
        }
        for (name, value) in keyword_defaults {
            if let Some(index) = linked.parameters[positional..named].iter().position(|&parameter| parameter == name) {
                if bound[positional + index].is_undefined() {
                    bound[positional + index] = self.heap.retain(value);
                }
            }
        }
        for (range, sort) in [(0..positional, "positional"), (positional..named, "keyword-only")] {
            let missing: Vec<String> =
                range.filter(|&index| bound[index].is_undefined()).map(|index| format!("'{}'", code.local_names[index])).collect();
            if !missing.is_empty() {
                let list = match missing.as_slice() {
                    [one] => one.clone(),
                    [one, two] => format!("{one} and {two}"),
                    [first @ .., last] => format!("{}, and {last}", first.join(", ")),
                    [] => String::new(),
                };
                let message = format!(
                    "{}() missing {} required {sort} argument{}: {list}",
                    self.function_name(function),
                    missing.len(),
                    if missing.len() == 1 { "" } else { "s" }
                );
                return Some(self.type_error(message));
            }
        }
        None
    }

    fn too_many_error(&mut self, function: Ref, linked: &LinkedCode, given: usize, bound: &[Value]) -> Throw {
        let code = &linked.code;
        let positional = usize::from(code.positional);
        let defaults = match self.heap.payload(function) {
            Payload::Function(row) => row.defaults.len(),
            _ => 0,
        };
        let takes = if defaults > 0 { format!("from {} to {positional}", positional - defaults) } else { positional.to_string() };
        let plural = if defaults == 0 && positional == 1 { "" } else { "s" };
        let keyword_only =
            bound[positional..positional + usize::from(code.keyword_only)].iter().filter(|value| !value.is_undefined()).count();
        let message = if keyword_only > 0 {
            format!(
                "{}() takes {takes} positional argument{plural} but {given} positional argument{} (and {keyword_only} keyword-only argument{}) were given",
                self.function_name(function),
                if given == 1 { "" } else { "s" },
                if keyword_only == 1 { "" } else { "s" },
            )
        } else {
            format!(
                "{}() takes {takes} positional argument{plural} but {given} {} given",
                self.function_name(function),
                if given == 1 { "was" } else { "were" }
            )
        };
        self.type_error(message)
    }

    /// Calls a builtin function.
    pub(super) fn call_native(
        &mut self,
        row: u16,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let native = &self.natives[usize::from(row)];
        self.cycles -= i64::from(native.cycles);
        self.weight -= i64::from(native.weight);
        let signature = &native.signature;
        let mut fixed = [Value::Undefined; NATIVE_PARAMETERS];
        let outcome = if names.is_none() && count >= signature.required && count <= signature.positional && signature.simple {
            fixed[..count].copy_from_slice(&self.registers[at..at + count]);
            let parameters = signature.names.len();
            let outcome = (native.function)(self, &fixed[..parameters]);
            return self.finish_native(row, &fixed[..parameters], outcome, at, count, dest, on_return);
        } else {
            match self.bind_native(row, at, count, names) {
                Ok((arguments, dict)) => {
                    let outcome = match (native.function)(self, &arguments) {
                        Err(Throw::Fallback) => self.native_fallback(row, &arguments),
                        outcome => outcome,
                    };
                    if let Some(dict) = dict {
                        self.heap.release(dict);
                    }
                    outcome
                }
                Err(throw) => Err(throw),
            }
        };
        self.finish_native(row, &[], outcome, at, count, dest, on_return)
    }

    /// Takes back what a builtin function gave, or does what it left to do; its arguments are in `count` registers from `at` on.
    #[allow(clippy::too_many_arguments, reason = "the call, and where its result goes")]
    pub(super) fn finish_native(
        &mut self,
        row: u16,
        arguments: &[Value],
        outcome: Outcome,
        at: usize,
        count: usize,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let outcome = match outcome {
            Err(Throw::Fallback) => self.native_fallback(row, arguments),
            outcome => outcome,
        };
        if let Err(Throw::Resume(generator, _)) = &outcome {
            self.heap.retain(Value::Obj(*generator));
        }
        self.clear_registers(at, count);
        match outcome {
            Ok(value) => {
                if matches!(on_return, OnReturn::Store) {
                    let old = std::mem::replace(&mut self.registers[dest], value);
                    self.heap.release(old);
                    if self.cycles < 0 {
                        return Err(Throw::Trap(Trap::OutOfCycles));
                    }
                    return Ok(self.heap.exhausted());
                }
                self.give_back(value, on_return, dest)?;
                Ok(true)
            }
            Err(Throw::Call(call)) => {
                self.chain(*call, on_return, dest)?;
                Ok(true)
            }
            Err(Throw::Resume(generator, wake)) => {
                let (wake, own) = *wake;
                let dest = if matches!(on_return, OnReturn::Store) { dest } else { self.push_trampoline(on_return, dest)? };
                let outcome = self.resume_generator(generator, wake, own, dest);
                self.heap.release(Value::Obj(generator));
                outcome?;
                Ok(true)
            }
            Err(Throw::Host(call)) => {
                let dest = if matches!(on_return, OnReturn::Store) { dest } else { self.push_trampoline(on_return, dest)? };
                self.waiting = Some(dest);
                Err(Throw::Host(call))
            }
            Err(throw) => self.fail(throw, on_return, dest),
        }
    }

    /// An exception of a native function, seen by what waits for its result.
    fn fail(&mut self, throw: Throw, on_return: OnReturn, dest: usize) -> Outcome<bool> {
        let Throw::Raise(exception) = throw else { return Err(throw) };
        match self.absorb(exception, on_return, dest, false)? {
            None => Ok(true),
            Some(exception) => Err(Throw::Raise(exception)),
        }
    }

    /// Makes a call whose result goes through both its own and an outer continuation.
    fn chain(&mut self, mut call: PendingCall, on_return: OnReturn, dest: usize) -> Outcome<()> {
        if matches!(on_return, OnReturn::Store) {
            return self.begin_call(call, dest);
        }
        if matches!(call.on_return, OnReturn::Store) {
            call.on_return = on_return;
            return self.begin_call(call, dest);
        }
        let dest = self.push_trampoline(on_return, dest)?;
        self.begin_call(call, dest)
    }

    /// Pushes a frame that only hands on what arrives in its register; gives that register.
    pub(crate) fn push_trampoline(&mut self, on_return: OnReturn, dest: usize) -> Outcome<usize> {
        let Value::Obj(function) = self.helper("identity") else { return Err(Throw::Trap(Trap::Internal)) };
        let (code, globals) = match self.heap.payload(function) {
            Payload::Function(row) => (row.code, row.globals),
            _ => return Err(Throw::Trap(Trap::Internal)),
        };
        let top = self.stack_top();
        self.ensure_registers(top + 4);
        self.frames.push(Frame {
            code,
            pc: 0,
            base: top as u32,
            dest: dest as u32,
            globals,
            handled: self.handled.len() as u32,
            generator: None,
            namespace: Value::Undefined,
            on_return,
        });
        Ok(top)
    }

    fn native_fallback(&mut self, row: u16, arguments: &[Value]) -> Outcome {
        let function = self.helpers.get(usize::from(row)).copied().unwrap_or(Value::Undefined);
        if function.is_undefined() {
            let native = crate::native::native(row);
            let message = format!("{}() cannot take an object implemented in Python here", native.name);
            return Err(self.type_error(message));
        }
        let used = arguments.iter().rposition(|value| !value.is_undefined()).map_or(0, |index| index + 1);
        let arguments = arguments[..used].iter().map(|value| value.or(Value::None)).collect::<Vec<_>>();
        self.heap.retain(function);
        let mut arguments = self.heap.retain_all(&arguments);
        if crate::native::native(row).helper.starts_with("retry_") {
            // It turns the arguments into builtin ones and calls the same native function again.
            arguments.insert(0, self.heap.make(ty::NATIVE, Payload::Native(row)));
        }
        Err(Throw::Call(Box::new(PendingCall {
            function,
            arguments,
            keywords: Vec::new(),
            namespace: Value::Undefined,
            on_return: OnReturn::Store,
        })))
    }

    /// Binds the arguments of a builtin function: one value per parameter, then the extra positional ones. Not retained,
    /// but for the dict of extra keywords.
    fn bind_native(&mut self, row: u16, at: usize, count: usize, names: Option<Ref>) -> Outcome<(Vec<Value>, Option<Value>)> {
        let native = crate::native::native(row);
        let signature = &native.signature;
        let names: Vec<Value> = match names {
            Some(names) => self.tuple_items(Value::Obj(names)),
            None => Vec::new(),
        };
        let given = count - names.len();
        let mut bound = vec![Value::Undefined; signature.names.len()];
        let mut extra = Vec::new();
        for (index, &value) in self.registers[at..at + given].iter().enumerate() {
            match bound.get_mut(index).filter(|_| index < signature.positional) {
                Some(parameter) => *parameter = value,
                None => extra.push(value),
            }
        }
        // How messages call it, and how many parameters the caller does not see.
        let constructor = matches!(native.short(), "__new__" | "__init__");
        let owner = native.name.rsplit_once('.').map_or("", |(owner, _)| owner);
        let (shown, full) = if constructor { (owner, owner) } else { (native.short(), native.name) };
        let method = usize::from(native.kind != NativeKind::Function && (constructor || native.kind != NativeKind::Static));
        let by_name = signature.positional > signature.positional_only.max(method);
        if !extra.is_empty() && !signature.var_positional {
            let (given, most) = ((given + names.len()).saturating_sub(method), signature.positional - method.min(signature.positional));
            let plural = if most == 1 { "" } else { "s" };
            let message = if signature.names.len() == method {
                format!("{full}() takes no arguments ({given} given)")
            } else if by_name {
                let bound = if signature.required == signature.positional { "exactly" } else { "at most" };
                let sort = if signature.positional < signature.names.len() { "positional " } else { "" };
                format!("{shown}() takes {bound} {most} {sort}argument{plural} ({given} given)")
            } else if most == 1 && signature.required == method + 1 && signature.names.len() == most + method {
                format!("{full}() takes exactly one argument ({given} given)")
            } else if signature.required == signature.positional {
                format!("{shown} expected {most} argument{plural}, got {given}")
            } else {
                format!("{shown} expected at most {most} argument{plural}, got {given}")
            };
            return Err(self.type_error(message));
        }
        // A class with an `__init__` of its own may take keywords that its builtin `__new__` does not know, and the other way round.
        let ignored = constructor && !names.is_empty() && signature.names.len() == signature.positional_only && {
            let (class, partner) = match (bound[0], native.short()) {
                (Value::Obj(class), "__new__") => (class, nm::INIT),
                (instance, _) => (self.heap.class_of(instance), nm::NEW),
            };
            class.0 >= crate::types::FIXED_COUNT && self.lookup(class, partner).is_some_and(|partner| self.native_row(partner).is_none())
        };
        let names = if ignored { Vec::new() } else { names };
        let mut dict = None;
        if signature.var_keyword {
            dict = Some(Value::Obj(self.new_dict()));
        }
        for (offset, name) in names.iter().enumerate() {
            let value = self.registers[at + given + offset];
            let text = self.text(*name).unwrap_or_default().to_owned();
            let known = signature.names.iter().position(|parameter| *parameter == text);
            match (known, dict) {
                (Some(index), _) if index >= signature.positional_only && bound[index].is_undefined() => bound[index] = value,
                (_, Some(Value::Obj(dict))) => {
                    let key = self.heap.retain(*name);
                    self.heap.retain(value);
                    self.dict_insert_text(dict, key, value);
                }
                (known, _) => {
                    let message = if signature.names.len() == signature.positional_only {
                        format!("{full}() takes no keyword arguments")
                    } else if let Some(index) = known.filter(|&index| index >= signature.positional_only) {
                        format!("argument for {shown}() given by name ('{text}') and position ({})", index + 1 - method)
                    } else {
                        format!("'{text}' is an invalid keyword argument for {shown}()")
                    };
                    return Err(self.type_error(message));
                }
            }
        }
        for (index, value) in bound.iter().enumerate().take(signature.required) {
            if value.is_undefined() {
                if index < method {
                    let message = if native.short() == "__new__" {
                        format!("{}(): not enough arguments", native.name)
                    } else {
                        format!("unbound method {}() needs an argument", native.name)
                    };
                    return Err(self.type_error(message));
                }
                let given = given.saturating_sub(method);
                let required = signature.required - method;
                let plural = if required == 1 { "" } else { "s" };
                let message = if index >= signature.positional_only {
                    format!("{shown}() missing required argument '{}' (pos {})", signature.names[index], index + 1 - method)
                } else if required == 1 && signature.positional == method + 1 && signature.names.len() == method + 1 {
                    format!("{full}() takes exactly one argument ({given} given)")
                } else if signature.required == signature.positional && !signature.var_positional {
                    format!("{shown} expected {required} argument{plural}, got {given}")
                } else {
                    format!("{shown} expected at least {required} argument{plural}, got {given}")
                };
                return Err(self.type_error(message));
            }
        }
        if let Some(dict) = dict {
            bound.push(dict);
        }
        bound.extend(extra);
        Ok((bound, dict))
    }

    /// `f(*list, **dict)`, the three being in registers from `at` on.
    pub(crate) fn call_spread(&mut self, at: usize, dest: usize) -> Outcome<()> {
        let take = |vm: &mut Vm, index: usize| std::mem::replace(&mut vm.registers[index], Value::Undefined);
        let (function, list, dict) = (take(self, at), take(self, at + 1), take(self, at + 2));
        let items = self.list_items(list);
        let arguments = self.heap.retain_all(&items);
        self.heap.release(list);
        let pairs: Vec<(Value, Value)> = self.dict_pairs(dict);
        let mut keywords = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let name = key.object().and_then(|key| self.heap.intern_object(key));
            if let Some(name) = name {
                keywords.push((name, self.heap.retain(value)));
            }
        }
        self.heap.release(dict);
        self.spend(arguments.len() + keywords.len())?;
        let call = PendingCall { function, arguments, keywords, namespace: Value::Undefined, on_return: OnReturn::Store };
        self.begin_call(call, dest)
    }

    /// Makes the function of a `MakeFunction` instruction.
    pub(crate) fn make_function(&mut self, code: &LinkedCode, ins: Instruction, base: usize) -> Value {
        use crate::compile::{HAS_ANNOTATIONS, HAS_CLOSURE, HAS_DEFAULTS, HAS_KEYWORD_DEFAULTS};
        let number = code.first + u32::from(ins.c);
        let program = Arc::clone(&self.program);
        let linked = &program.codes[number as usize].code;
        let mut next = base + usize::from(ins.b);
        let mut part = |vm: &mut Vm, flag: u8| {
            if ins.flags & flag == 0 {
                return Value::Undefined;
            }
            next += 1;
            std::mem::replace(&mut vm.registers[next - 1], Value::Undefined)
        };
        let defaults = part(self, HAS_DEFAULTS);
        let keyword_defaults = part(self, HAS_KEYWORD_DEFAULTS);
        let annotations = part(self, HAS_ANNOTATIONS);
        let closure = part(self, HAS_CLOSURE);
        let unpack = |vm: &mut Vm, tuple: Value| {
            let items = if tuple.is_undefined() { Vec::new() } else { vm.tuple_items(tuple) };
            let items = vm.heap.retain_all(&items);
            vm.heap.release(tuple);
            items
        };
        let defaults = unpack(self, defaults);
        let closure = unpack(self, closure).into_boxed_slice();
        let mut named = Vec::new();
        if !keyword_defaults.is_undefined() {
            for (key, value) in self.dict_pairs(keyword_defaults) {
                if let Some(name) = key.object().and_then(|key| self.heap.intern_object(key)) {
                    named.push((name, self.heap.retain(value)));
                }
            }
            self.heap.release(keyword_defaults);
        }
        let name = Value::Obj(self.heap.intern(&linked.name));
        let qualname = Value::Obj(self.heap.intern(&linked.qualname));
        self.heap.retain(name);
        self.heap.retain(qualname);
        let globals = self.frames.last().expect("an instruction is running").globals;
        let function = Function {
            code: number,
            globals,
            defaults,
            keyword_defaults: named,
            closure,
            name,
            qualname,
            annotations: annotations.or(Value::None),
            attributes: Attributes::default(),
        };
        self.heap.make(ty::FUNCTION, Payload::Function(Box::new(function)))
    }

    // ---- results ----

    /// Leaves the top frame with a value.
    pub(crate) fn return_value(&mut self, value: Value, code: &LinkedCode) -> Outcome<()> {
        let frame = self.frames.pop().expect("an instruction is running");
        let base = frame.base as usize;
        for index in base..base + usize::from(code.code.registers) {
            if let Value::Obj(_) = self.registers[index] {
                let old = std::mem::replace(&mut self.registers[index], Value::Undefined);
                self.heap.release(old);
            } else {
                self.registers[index] = Value::Undefined;
            }
        }
        if !frame.namespace.is_undefined() {
            self.heap.release(frame.namespace);
        }
        let dest = frame.dest as usize;
        if let Some(generator) = frame.generator {
            let asynchronous = self.heap.slot(generator).class == ty::ASYNC_GENERATOR;
            self.finish_generator(generator);
            if asynchronous {
                let exception = self.exception(ty::STOP_ASYNC_ITERATION, Value::Undefined);
                return Err(Throw::Raise(exception));
            }
            return self.generator_returned(value, frame.on_return, dest);
        }
        if matches!(frame.on_return, OnReturn::Store) {
            let old = std::mem::replace(&mut self.registers[dest], value);
            if let Value::Obj(_) = old {
                self.heap.release(old);
            }
            return Ok(());
        }
        self.give_back(value, frame.on_return, dest)
    }

    /// Does what a call's result was wanted for.
    pub(crate) fn give_back(&mut self, value: Value, on_return: OnReturn, dest: usize) -> Outcome<()> {
        match on_return {
            OnReturn::Store | OnReturn::ForIter { .. } | OnReturn::Send { .. } => {
                let old = std::mem::replace(&mut self.registers[dest], value);
                self.heap.release(old);
                Ok(())
            }
            OnReturn::Discard => {
                self.heap.release(value);
                Ok(())
            }
            OnReturn::Init(instance) => {
                if !value.is_none() {
                    let message = format!("__init__() should return None, not '{}'", self.class_name(value));
                    self.heap.release(value);
                    self.heap.release(instance);
                    return Err(self.type_error(message));
                }
                let old = std::mem::replace(&mut self.registers[dest], instance);
                self.heap.release(old);
                Ok(())
            }
            OnReturn::Truth { negate } => self.decide(value, Then::Store, negate, dest),
            OnReturn::Jump { when, target } => self.decide(value, Then::Jump { when, target }, false, dest),
            OnReturn::Entry => {
                self.result = Some(value);
                Ok(())
            }
            OnReturn::Other(pending) => self.give_back_other(value, *pending, dest),
        }
    }

    /// Stores the truth of a value (or the opposite), or jumps by it; the value is consumed.
    pub(crate) fn decide(&mut self, value: Value, then: Then, negate: bool, dest: usize) -> Outcome<()> {
        let on_return = match then {
            Then::Store => OnReturn::Truth { negate },
            Then::Jump { when, target } => OnReturn::Jump { when, target },
        };
        let outcome = self.truth_or_call(value, on_return);
        self.heap.release(value);
        match outcome {
            Ok(truth) => {
                self.settle(truth != negate, then, dest);
                Ok(())
            }
            Err(Throw::Call(call)) => self.begin_call(*call, dest),
            Err(throw) => Err(throw),
        }
    }

    /// Stores a truth or jumps by it.
    pub(crate) fn settle(&mut self, truth: bool, then: Then, dest: usize) {
        match then {
            Then::Store => {
                let old = std::mem::replace(&mut self.registers[dest], Value::Bool(truth));
                self.heap.release(old);
            }
            Then::Jump { when, target } => {
                if truth == when {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.pc = target;
                    }
                }
            }
        }
    }

    fn give_back_other(&mut self, value: Value, pending: Pending, dest: usize) -> Outcome<()> {
        match pending {
            Pending::Binary { rest, left, right, symbol } => {
                if matches!(value, Value::NotImplemented) {
                    return self.next_binary(rest, left, right, symbol, dest);
                }
                self.release_alternatives(rest);
                self.heap.release(left);
                self.heap.release(right);
                self.give_back(value, OnReturn::Store, dest)
            }
            Pending::Compare { rest, negate, left, right, op, then } => {
                if matches!(value, Value::NotImplemented) {
                    return self.next_compare(rest, left, right, op, then, dest);
                }
                self.release_alternatives(rest);
                self.heap.release(left);
                self.heap.release(right);
                match then {
                    Then::Store if !negate => self.give_back(value, OnReturn::Store, dest),
                    then => self.decide(value, then, negate, dest),
                }
            }
            Pending::NextDefault { default } => {
                self.heap.release(default);
                self.give_back(value, OnReturn::Store, dest)
            }
            Pending::Next => self.give_back(value, OnReturn::Store, dest),
            Pending::Check { expect, then, negate } => self.check_result(value, expect, then, negate, dest),
            Pending::GetAttr { object, name, fallback } => {
                self.heap.release(object);
                self.heap.release(name);
                self.heap.release(fallback);
                self.give_back(value, OnReturn::Store, dest)
            }
            Pending::Iterator => self.iterator_arrived(value, dest),
            Pending::Unpack { count } => {
                let outcome = self.unpack(value, count, dest);
                self.heap.release(value);
                outcome
            }
            Pending::UnpackRest { before, after } => {
                let outcome = self.unpack_rest(value, before, after, dest);
                self.heap.release(value);
                outcome
            }
            Pending::New { class, arguments, keywords } => self.initialise(class, value, arguments, keywords, dest),
            Pending::Close => {
                self.heap.release(value);
                self.give_back(Value::None, OnReturn::Store, dest)
            }
        }
    }

    fn check_result(&mut self, value: Value, expect: Expect, then: Option<Then>, negate: bool, dest: usize) -> Outcome<()> {
        let is_text = self.text(value).is_some();
        let (fine, message) = match expect {
            Expect::Repr => (is_text, "__repr__ returned non-string (type {})"),
            Expect::Str => (is_text, "__str__ returned non-string (type {})"),
            Expect::Format => (is_text, "__format__ must return a str, not {}"),
            Expect::Bool => (matches!(value, Value::Bool(_)), "__bool__ should return bool, returned {}"),
            Expect::Len | Expect::LenTruth => (self.as_int(value).is_some(), "'{}' object cannot be interpreted as an integer"),
            Expect::Hash => (self.as_int(value).is_some(), "__hash__ method should return an integer"),
            Expect::Index => (self.as_int(value).is_some(), "__index__ returned non-int (type {})"),
            Expect::Int => (self.as_int(value).is_some(), "__int__ returned non-int (type {})"),
            Expect::Float => (self.is_instance(value, ty::FLOAT), "{}.__float__ returned non-float (type {})"),
            Expect::Iter => (self.is_iterator(value), "iter() returned non-iterator of type '{}'"),
            Expect::Await if self.heap.class_of(value) == ty::COROUTINE => (false, "__await__() returned a coroutine"),
            Expect::Await => (self.is_iterator(value), "__await__() returned non-iterator of type '{}'"),
            Expect::Bytes => (self.is_instance(value, ty::BYTES), "__bytes__ returned non-bytes (type {})"),
        };
        if !fine {
            let message = message.replace("{}", &self.class_name(value));
            self.heap.release(value);
            return Err(self.type_error(message));
        }
        if let (Expect::Len | Expect::LenTruth, Some(length)) = (expect, self.as_int(value)) {
            if length.sign() == dashu_int::Sign::Negative {
                self.heap.release(value);
                return Err(self.value_error("__len__() should return >= 0"));
            }
            if i64::try_from(&length).is_err() {
                self.heap.release(value);
                return Err(self.raise(ty::OVERFLOW_ERROR, "cannot fit 'int' into an index-sized integer"));
            }
        }
        if expect == Expect::Hash {
            // What fits a word is the hash itself; only -1 means something else to CPython.
            let hash = match self.as_int(value) {
                Some(number) => match i64::try_from(&number) {
                    Ok(-1) => -2,
                    Ok(hash) => hash,
                    Err(_) => crate::num::hash_int(&number),
                },
                None => 0,
            };
            self.heap.release(value);
            return self.give_back(Value::Int(hash), OnReturn::Store, dest);
        }
        match then {
            Some(then) => self.decide(value, then, negate, dest),
            None if negate || expect == Expect::LenTruth => self.decide(value, Then::Store, negate, dest),
            None => self.give_back(value, OnReturn::Store, dest),
        }
    }

    // ---- helpers ----

    /// A helper function written in Python, by name.
    pub(crate) fn helper(&mut self, name: &str) -> Value {
        match self.helper_position(name) {
            Some(index) => self.helpers.get(index).copied().unwrap_or(Value::Undefined),
            None => Value::Undefined,
        }
    }

    /// The call of a helper function.
    pub(crate) fn call_helper(&mut self, name: &str, arguments: &[Value]) -> Outcome {
        let function = self.helper(name);
        if function.is_undefined() {
            return Err(Throw::Trap(Trap::Internal));
        }
        Err(self.call_later(function, arguments, OnReturn::Store))
    }

    /// Does the work natively, or by the helper when that needs Python code.
    pub(crate) fn helper_or(&mut self, name: &str, arguments: &[Value], native: impl FnOnce(&mut Vm, &[Value]) -> Outcome) -> Outcome {
        match native(self, arguments) {
            Err(Throw::Fallback) => self.call_helper(name, arguments),
            outcome => outcome,
        }
    }

    /// A call to be made by the interpreter.
    pub(crate) fn call_later(&mut self, function: Value, arguments: &[Value], on_return: OnReturn) -> Throw {
        self.heap.retain(function);
        let arguments = self.heap.retain_all(arguments);
        Throw::Call(Box::new(PendingCall { function, arguments, keywords: Vec::new(), namespace: Value::Undefined, on_return }))
    }

    /// The same, with a check of the result.
    pub(crate) fn call_expecting(&mut self, function: Value, arguments: &[Value], expect: Expect) -> Throw {
        let pending = Pending::Check { expect, then: None, negate: false };
        self.call_later(function, arguments, OnReturn::Other(Box::new(pending)))
    }

    /// The instruction that is running in the top frame.
    pub(crate) fn current_instruction(&self) -> Option<Instruction> {
        let frame = self.frames.last()?;
        let code = &self.program.codes[frame.code as usize].code;
        let index = (frame.pc as usize).checked_sub(1)?;
        let ins = *code.instructions.get(index)?;
        // A second word belongs to the instruction before it.
        if ins.op == Op::Nop && index > 0 { code.instructions.get(index - 1).copied() } else { Some(ins) }
    }

    /// Deals with what an instruction threw.
    pub(crate) fn thrown(&mut self, throw: Throw) -> Option<Exit> {
        let mut throw = throw;
        loop {
            throw = match throw {
                Throw::Trap(trap) => return Some(self.trapped(trap)),
                Throw::Raise(exception) => match self.unwind(exception) {
                    Ok(None) => return self.finished(),
                    Ok(Some(exit)) => return Some(exit),
                    Err(throw) => throw,
                },
                Throw::Call(call) => {
                    let Some(ins) = self.current_instruction() else { return Some(Exit::Trap(Trap::Internal)) };
                    let base = self.frames.last().map_or(0, |frame| frame.base as usize);
                    match self.begin_call(*call, base + usize::from(ins.a)) {
                        Ok(()) => return self.finished(),
                        Err(throw) => throw,
                    }
                }
                Throw::Reload => return self.finished(),
                Throw::Resume(..) => return Some(Exit::Trap(Trap::Internal)),
                Throw::Fallback | Throw::Line => return Some(Exit::Trap(Trap::Internal)),
                Throw::Host(call) => {
                    if !self.host_allowed {
                        self.waiting = None;
                        self.raise(
                            ty::RUNTIME_ERROR,
                            "host functions cannot be called while the module is loaded: move the call into a handler",
                        )
                    } else {
                        return Some(Exit::HostCall(*call));
                    }
                }
            };
        }
    }

    /// The exit of an entry that is over.
    pub(crate) fn finished(&mut self) -> Option<Exit> {
        if !self.frames.is_empty() || self.close_abandoned() {
            return None;
        }
        if let Err(trap) = self.check_limits() {
            return Some(self.trapped(trap));
        }
        let value = self.result.take()?;
        let host = self.to_host(value, 0);
        self.heap.release(value);
        Some(match host {
            Ok(value) => Exit::Return(value),
            Err(_) => Exit::Return(crate::host::HostValue::None),
        })
    }
}
