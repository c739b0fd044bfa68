//! Calls: finding what runs, binding arguments to parameters, pushing frames, and taking results back.
//!
//! Arguments already lie in the registers where the callee's parameters will be, so a plain call moves nothing.

use super::{Frame, OnReturn, Vm};
use crate::costs::{ARGUMENT_MOVED, ARGUMENT_SPREAD, CALL_FORWARDED, Charge, INNER_CALL, KEYWORD_SPREAD};
use crate::error::{Outcome, PendingCall, Throw, Trap};
use crate::image::LinkedCode;
use crate::payload::Payload;
use crate::types::{nm, ty};
use crate::value::{Link, Ref, Value};
use crate::window::push;
use cowboy_compiler::code::CodeKind;
use cowboy_compiler::opcode::Op;
use std::sync::Arc;

/// Calls inside one another before any of them has a frame.
const CALL_DEPTH: usize = 64;
/// Calls inside one another that making an instance takes.
const USUAL_DEPTH: usize = 2;

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
            self.spend(Charge::of_instruction(Op::Call))?;
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
        let mut arguments = call.arguments;
        for (index, value) in arguments.drain(..).enumerate() {
            self.registers[top + 1 + index] = value;
        }
        self.heap.spares.keep_values(arguments);
        for (index, (name, value)) in call.keywords.into_iter().enumerate() {
            self.registers[top + 1 + positional + index] = value;
            names.push(self.heap.retain(Value::Obj(name)));
        }
        let names = if names.is_empty() { None } else { self.heap.tuple(names).object() };
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
            let throw = self.recursion_error(callee, at, count);
            return self.fail(throw, on_return, dest);
        }
        if self.native_depth > USUAL_DEPTH {
            self.spend(INNER_CALL.once())?;
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
        if let Err(throw) = self.dispatch(function, at, 0, None, dest, on_return) {
            self.heap.release(namespace);
            return Err(throw);
        }
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
            let Value::Obj(object) = callee else {
                let throw = self.not_callable(callee, at, count);
                return self.fail(throw, on_return, dest);
            };
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
                        let throw = self.not_callable(callee, at, count);
                        return self.fail(throw, on_return, dest);
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
                if passed >= self.meter.limits.recursion {
                    let throw = self.recursion_error(callee, at, count);
                    return self.fail(throw, on_return, dest);
                }
                // The arguments may have been moved for each.
                self.spend(CALL_FORWARDED.once() + ARGUMENT_MOVED.of(count))?;
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
            let outcome = self.push_general(function, at, count, names, dest, on_return);
            self.heap.release(callee);
            return outcome.map(|()| true);
        }
        if self.frames.len() >= self.meter.limits.recursion {
            let throw = self.recursion_error(callee, at, count);
            return self.fail(throw, on_return, dest);
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

    fn not_callable(&mut self, callee: Value, at: usize, count: usize) -> Throw {
        let message = format!("'{}' object is not callable", self.heap.class_name(callee));
        self.heap.release(callee);
        self.clear_registers(at, count);
        self.type_error(message)
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
            Payload::Function(row) => {
                let defaults = vm.heap.tuple_ref(row.defaults);
                defaults.len().checked_sub(back).map(|index| defaults[index])
            }
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
            bound = match self.bind(function, linked, arguments, names) {
                Ok(bound) => bound,
                Err(throw) => return self.fail(throw, on_return, dest).map(|_| ()),
            };
        }
        if self.frames.len() >= self.meter.limits.recursion && code.kind == CodeKind::Plain {
            self.heap.release_all(bound);
            let throw = self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded");
            return self.fail(throw, on_return, dest).map(|_| ());
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
        self.rest_new_generator(function, linked, code_number, at, on_return, dest)
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

    /// `f(*list, **dict)`, the three being in registers from `at` on.
    pub(crate) fn call_spread(&mut self, at: usize, dest: usize) -> Outcome<()> {
        let take = |vm: &mut Vm, index: usize| std::mem::replace(&mut vm.registers[index], Value::Undefined);
        let (function, list, dict) = (take(self, at), take(self, at + 1), take(self, at + 2));
        let items = self.heap.list_items(list);
        let arguments = self.heap.retain_all(&items);
        self.heap.release(list);
        let pairs: Vec<(Value, Value)> = self.heap.dict_pairs(dict);
        let mut keywords = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let name = key.object().and_then(|key| self.heap.intern_object(key));
            if let Some(name) = name {
                keywords.push((name, self.heap.retain(value)));
            }
        }
        self.heap.release(dict);
        self.spend(ARGUMENT_SPREAD.of(arguments.len()) + KEYWORD_SPREAD.of(keywords.len()))?;
        let call = PendingCall { function, arguments, keywords, namespace: Value::Undefined, on_return: OnReturn::Store };
        self.begin_call(call, dest)
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
}
