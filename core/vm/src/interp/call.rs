//! Calls: finding what runs, binding arguments to parameters, pushing frames, and taking results back.
//!
//! Arguments already lie in the registers where the callee's parameters will be, so a plain call moves nothing.

use super::window::push;
use super::{Expect, Frame, OnReturn, Pending, Vm};
use crate::compile::code::{Code, CodeKind};
use crate::error::{Exit, Outcome, PendingCall, Throw, Trap};
use crate::image::LinkedCode;
use crate::native::{First, NATIVE_PARAMETERS, Native, NativeKind};
use crate::objects::payload::{Attributes, Function, Generator, GeneratorState, Payload};
use crate::opcode::{CYCLES, Instruction, Op};
use crate::types::{TYPE_COUNT, nm, ty};
use crate::value::{Link, Ref, Value};
use std::sync::Arc;

/// Calls inside one another before any of them has a frame.
const CALL_DEPTH: usize = 64;
/// Calls inside one another that making an instance takes, and the cycles of each one more.
const USUAL_DEPTH: usize = 2;
const INNER_CALL: usize = 60;
/// Cycles of a callee that only stands for another one, beside the first of a call, and how many arguments are moved for one more.
const PASSED: usize = 10;
const PASSED_ARGUMENTS: usize = 8;

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
        // A call that no call instruction has paid for: of a special method, of a property, of a helper.
        if !self.is_calling() {
            self.spend(usize::from(CYCLES[Op::Call as usize]))?;
        }
        self.begin_free_call(call, dest)
    }

    /// The same for a call that nobody made: when it comes depends on when the loop looks, so it costs nothing.
    pub(crate) fn begin_free_call(&mut self, call: PendingCall, dest: usize) -> Outcome<()> {
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
        let outcome = self.dispatch_deeper(call.function, top + 1, count, names, dest, call.on_return);
        if let Some(names) = names {
            self.heap.release(Value::Obj(names));
        }
        outcome.map(|_| ())
    }

    /// Calls what a call under way needs first, such as `__new__` of a class that is called. Where that is a class as well, and so on,
    /// calls lie inside one another before any frame is pushed.
    pub(super) fn dispatch_deeper(
        &mut self,
        callee: Value,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        if self.native_depth >= CALL_DEPTH {
            return Err(self.recursion_error(callee, at, count));
        }
        if self.native_depth > USUAL_DEPTH {
            self.spend(INNER_CALL)?;
        }
        self.native_depth += 1;
        let outcome = self.dispatch(callee, at, count, names, dest, on_return);
        self.native_depth -= 1;
        outcome
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
        let (mut callee, mut at, mut count) = (callee, at, count);
        // What a callee stands for is called in its place: an endless chain of them is a RecursionError.
        let mut passed = 0;
        loop {
            let Value::Obj(object) = callee else { return self.not_callable(callee, at, count) };
            let next = match self.heap.payload(object) {
                Payload::Function(_) => return self.call_function(callee, object, at, count, names, dest, on_return),
                Payload::Native(row) => {
                    let row = *row;
                    let outcome = self.call_native(row, at, count, names, dest, on_return);
                    self.heap.release(callee);
                    return outcome;
                }
                Payload::Class(_) => return self.call_class(object, at, count, names, dest, on_return),
                Payload::BoundMethod { function, receiver } => {
                    let (function, receiver) = (*function, *receiver);
                    self.heap.retain(receiver);
                    (function, Some(receiver))
                }
                Payload::StaticMethod(inner) => (*inner, None),
                _ => {
                    let Some(function) = self.special(callee, nm::CALL) else {
                        return self.not_callable(callee, at, count);
                    };
                    if !self.is_plain_method(function) {
                        let class = Value::Obj(self.heap.class_of(callee));
                        return self.bind_and_dispatch([function, callee, class], at, count, names, dest, on_return);
                    }
                    (function, Some(self.heap.retain(callee)))
                }
            };
            let (function, receiver) = next;
            self.heap.retain(function);
            self.heap.release(callee);
            callee = function;
            if let Some(receiver) = receiver {
                at = self.insert_receiver(receiver, at, count);
                count += 1;
            }
            if passed > 0 {
                if passed >= self.limits.recursion {
                    return Err(self.recursion_error(callee, at, count));
                }
                // The arguments may have been moved for each.
                self.spend(PASSED + count / PASSED_ARGUMENTS)?;
            }
            passed += 1;
        }
    }

    /// Calls a special method that has to be bound first: what the class has, the instance whose reference is taken over, and the class
    /// go before the arguments of the helper that does both.
    #[cold]
    pub(super) fn bind_and_dispatch(
        &mut self,
        [found, instance, class]: [Value; 3],
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        self.heap.retain(found);
        self.heap.retain(class);
        let at = self.insert_receiver(class, at, count);
        let at = self.insert_receiver(instance, at, count + 1);
        let at = self.insert_receiver(found, at, count + 2);
        let helper = self.helper("bound_special");
        self.heap.retain(helper);
        let Value::Obj(function) = helper else { return Err(Throw::Trap(Trap::Internal)) };
        self.call_function(helper, function, at, count + 3, names, dest, on_return)
    }

    /// Calls a function written in Python, `callee`, which is `function`.
    #[allow(clippy::too_many_arguments, reason = "the parts of one call")]
    #[inline]
    fn call_function(
        &mut self,
        callee: Value,
        function: Ref,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let Payload::Function(row) = self.heap.payload(function) else { return Err(Throw::Trap(Trap::Internal)) };
        let (code, globals) = (row.code, row.globals);
        let linked = &self.program.codes[code as usize].code;
        let plain = names.is_none()
            && linked.kind == CodeKind::Plain
            && usize::from(linked.positional) == count
            && linked.keyword_only == 0
            && !linked.var_positional
            && !linked.var_keyword;
        if !plain {
            self.push_general(function, at, count, names, dest, on_return)?;
            self.heap.release(callee);
            return Ok(true);
        }
        if self.frames.len() >= self.limits.recursion {
            return Err(self.recursion_error(callee, at, count));
        }
        let top = at + usize::from(linked.registers);
        let free = usize::from(linked.free_start);
        if self.registers.len() < top {
            self.registers.resize(top + 256, Value::Undefined);
        }
        if !linked.free_names.is_empty() {
            self.copy_closure(function, at + free);
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
                generator: Link::NONE,
                namespace: Value::Undefined,
                on_return,
            },
        );
        self.heap.release(callee);
        Ok(true)
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
        let cell = |vm: &Vm, index: usize| match vm.heap.payload(function) {
            Payload::Function(row) => row.closure.get(index).copied(),
            _ => None,
        };
        let mut index = 0;
        while let Some(cell) = cell(self, index) {
            self.registers[at + index] = self.heap.retain(cell);
            index += 1;
        }
    }

    /// Gives the parameters that a plain call leaves out their defaults, in the registers after those of its `count` arguments; whether
    /// there is one for each.
    #[inline(never)]
    pub(super) fn fill_missing(&mut self, function: Ref, at: usize, count: u16, parameters: u16) -> bool {
        let missing = usize::from(parameters.saturating_sub(count));
        let default = |vm: &Vm, back: usize| match vm.heap.payload(function) {
            Payload::Function(row) => row.defaults.len().checked_sub(back).map(|index| row.defaults[index]),
            _ => None,
        };
        if default(self, missing).is_none() {
            return false;
        }
        let end = at + usize::from(parameters);
        for back in (1..=missing).rev() {
            self.registers[end - back] = self.heap.retain(default(self, back).unwrap_or(Value::Undefined));
        }
        true
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
        let code = &linked.code;
        let mut bound = Vec::new();
        // Where each parameter has its argument, they are in their places.
        if names.is_some() || code.parameters() != count || usize::from(code.positional) != count {
            let arguments = (at..at + count).map(|index| std::mem::replace(&mut self.registers[index], Value::Undefined)).collect();
            bound = self.bind(function, linked, arguments, names)?;
        }
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
                generator: Link::NONE,
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
            again: Box::default(),
            state: GeneratorState::Created,
            guarded: false,
            name,
            qualname,
        };
        let generator = self.heap.make(class, Payload::Generator(Box::new(generator)));
        self.give_back(generator, on_return, dest)
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
            let outcome = self.run_native(native, &fixed[..parameters]);
            return self.finish_native(row, &fixed[..parameters], outcome, at, count, dest, on_return);
        } else {
            match self.bind_native(row, at, count, names) {
                Ok((arguments, dict)) => {
                    let outcome = match self.run_native(native, &arguments) {
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

    /// Runs a builtin function, after a look at its first argument: nobody else has checked the receiver of a method that was taken from
    /// its class, or the class that a `__new__` is given.
    #[inline]
    pub(super) fn run_native(&mut self, native: &Native, arguments: &[Value]) -> Outcome {
        match (native.first, arguments.first()) {
            (First::Instance(owner), Some(&receiver)) => {
                let class = self.heap.class_of(receiver);
                if class != owner && !self.is_subclass(class, owner) {
                    return Err(self.wrong_receiver(native, owner, receiver));
                }
            }
            (First::Class(owner), Some(&class)) => self.check_made(owner, class)?,
            _ => {}
        }
        (native.function)(self, arguments)
    }

    /// TypeError for a method of a builtin type that is called with something else before its arguments.
    #[cold]
    fn wrong_receiver(&mut self, native: &Native, owner: Ref, receiver: Value) -> Throw {
        let (name, owner, class) = (native.short(), self.name_of_class(owner), self.class_name(receiver));
        self.type_error(if native.is_slot() {
            format!("descriptor '{name}' requires a '{owner}' object but received a '{class}'")
        } else {
            format!("descriptor '{name}' for '{owner}' objects doesn't apply to a '{class}' object")
        })
    }

    /// TypeError where `owner.__new__` is to make an instance of something else than its own classes.
    fn check_made(&mut self, owner: Ref, class: Value) -> Outcome<()> {
        let is_class = crate::objects::object::is_class(self, class);
        if class.object().is_some_and(|class| is_class && self.is_subclass(class, owner)) {
            return Ok(());
        }
        let owner = self.name_of_class(owner);
        let name = if is_class { class.object().map_or_else(String::new, |class| self.name_of_class(class)) } else { "X".to_owned() };
        let problem = if is_class {
            format!("{name} is not a subtype of {owner}")
        } else {
            format!("X is not a type object ({})", self.class_name(class))
        };
        Err(self.type_error(format!("{owner}.__new__({name}): {problem}")))
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
            generator: Link::NONE,
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
        self.spend(arguments.len() + keywords.len().saturating_mul(12))?;
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
        let (name, qualname) = self.function_names(number, linked);
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

    /// `__name__` and `__qualname__` of the functions of a code, which are found by their texts once.
    fn function_names(&mut self, number: u32, code: &Code) -> (Value, Value) {
        let (name, qualname) = match self.function_names.get(&number) {
            Some(&known) => known,
            None => {
                let names = (self.heap.intern(&code.name), self.heap.intern(&code.qualname));
                self.function_names.insert(number, names);
                names
            }
        };
        (Value::Obj(name), Value::Obj(qualname))
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

    /// A call of a special method as a class has it: what is no plain function is bound first, as its own type says.
    pub(crate) fn call_special(&mut self, found: Value, arguments: &[Value], on_return: OnReturn) -> Throw {
        if self.is_plain_method(found) {
            return self.call_later(found, arguments, on_return);
        }
        let helper = self.helper("bound_special");
        let class = Value::Obj(self.heap.class_of(arguments[0]));
        let arguments = [&[found, arguments[0], class], &arguments[1..]].concat();
        self.call_later(helper, &arguments, on_return)
    }

    /// A special method that needs Python code to be bound: it is bound when it is called.
    pub(super) fn bound_later(&mut self, found: Value, object: Value, class: Value) -> Value {
        let helper = self.helper("bound_special");
        let mut function = self.heap.retain(helper);
        for receiver in [found, object, class] {
            self.heap.retain(receiver);
            function = self.heap.make(ty::METHOD, Payload::BoundMethod { function, receiver });
        }
        function
    }

    /// Whether an attribute of a class binds an instance by going before the arguments, and does nothing else.
    #[inline]
    pub(crate) fn is_plain_method(&self, found: Value) -> bool {
        match found.object().map(|object| self.heap.payload(object)) {
            Some(Payload::Function(_)) => true,
            Some(Payload::Native(row)) => self.natives[usize::from(*row)].kind == NativeKind::Method,
            _ => false,
        }
    }

    /// A special method that a class sets itself; `None` where it has the one of its builtin base, or none.
    pub(crate) fn own_special(&mut self, class: Ref, name: Ref) -> Option<Value> {
        let found = self.lookup(class, name)?;
        (!found.is_none() && !self.is_inherited(class, name, found)).then_some(found)
    }

    /// Whether what a class has under a name is what its builtin base has there.
    pub(crate) fn is_inherited(&mut self, class: Ref, name: Ref, found: Value) -> bool {
        if self.native_row(found).is_none() {
            return false;
        }
        let base = match self.heap.payload(class) {
            Payload::Class(row) => row.mro.iter().copied().find(|base| base.0 < TYPE_COUNT).unwrap_or(ty::OBJECT),
            _ => return true,
        };
        base == class || self.lookup(base, name).is_some_and(|own| own.is(found))
    }

    /// The same as [`Vm::call_special`], with a check of the result.
    pub(crate) fn call_expecting(&mut self, function: Value, arguments: &[Value], expect: Expect) -> Throw {
        let pending = Pending::Check { expect, then: None, negate: false };
        self.call_special(function, arguments, OnReturn::Other(Box::new(pending)))
    }

    /// Whether the instruction under way is a call, whose row has paid for it. So is what begins a run.
    fn is_calling(&self) -> bool {
        let Some(frame) = self.frames.last() else { return true };
        let instructions = &self.program.codes[frame.code as usize].code.instructions;
        let mut place = frame.pc.saturating_sub(1);
        // A second word belongs to the instruction before it.
        if place > 0 && instructions.get(place as usize).is_some_and(|ins| ins.op == Op::Nop) {
            place -= 1;
        }
        let op = instructions.get(place as usize).map_or(Op::Nop, |ins| ins.op);
        let op = if op == Op::Line { self.hidden_op(frame.code, place) } else { op };
        matches!(op, Op::Call | Op::CallKeyword | Op::CallSpread)
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
        self.leave_knowledge();
        let host = self.to_host(value);
        self.heap.release(value);
        Some(match host {
            Ok(value) => Exit::Return(value),
            Err(_) => Exit::Return(crate::host::HostValue::None),
        })
    }
}
