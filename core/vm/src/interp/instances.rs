//! Instances: what calling a class does.

use super::{OnReturn, Pending, Vm};
use crate::costs::EXCEPTION_MADE;
use crate::error::{Outcome, PendingCall, Throw};
use crate::payload::Payload;
use crate::runtime::native::Role;
use crate::runtime::operator::BinaryOp;
use crate::types::{nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// The helper for `target op= right` where a builtin sequence, which takes everything in, leaves the precedence to a reflected method.
    pub(super) fn asks_right_first(&mut self, op: BinaryOp, target: Ref, right: Value) -> Option<&'static str> {
        let is_sequence = match self.heap.payload(target) {
            Payload::List(_) | Payload::ByteArray(..) => true,
            // A class below list has the precedence of list for `*=` alone: what CPython does there.
            Payload::Extended(_) => {
                let is_list = matches!(self.heap.payload(target).core(), Payload::List(_));
                op == BinaryOp::Mul && is_list && self.python_method(Value::Obj(target), nm::IMUL).is_none()
            }
            _ => false,
        };
        if !is_sequence || !self.heap.is_python_instance(right) {
            return None;
        }
        let (name, helper) = match op {
            BinaryOp::Add => (nm::RADD, "iadd_reflected"),
            BinaryOp::Mul => (nm::RMUL, "imul_reflected"),
            _ => return None,
        };
        self.python_method(right, name).map(|_| helper)
    }

    /// Calls a class: the arguments are in registers from `at` on. The reference to the class is taken over.
    pub(crate) fn call_class(
        &mut self,
        class: Ref,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let meta = self.heap.slot(class).class;
        if meta != ty::TYPE {
            if let Some(function) = self.lookup(meta, nm::CALL) {
                if function.object().is_some_and(|f| matches!(self.heap.payload(f), Payload::Function(_))) {
                    return self.call_with([function, Value::Obj(class)], at, count, names, dest, on_return);
                }
                if !self.is_plain_method(function) {
                    return self.bind_and_dispatch([function, Value::Obj(class), Value::Obj(meta)], at, count, names, dest, on_return);
                }
            }
        }
        if class == ty::TYPE && count == 1 && names.is_none() {
            let argument = self.registers[at];
            let result = Value::Obj(self.heap.class_of(argument));
            self.heap.retain(result);
            self.clear_registers(at, 1);
            self.give_back(result, on_return, dest)?;
            return Ok(true);
        }
        if self.heap.is_subclass(class, ty::TYPE) {
            return self.call_metaclass(class, at, count, names, dest, on_return);
        }
        let new = self.lookup(class, nm::NEW).unwrap_or(Value::Undefined);
        let init = self.lookup(class, nm::INIT).unwrap_or(Value::Undefined);
        let new_native = self.heap.native_row(new);
        let init_native = self.heap.native_row(init);
        let object_new = new_native.is_some_and(|row| self.native(row).role == Role::ObjectNew);
        let object_init = init_native.is_some_and(|row| self.native(row).role == Role::ObjectInit);
        if object_new {
            if object_init && count > 0 {
                let message = format!("{}() takes no arguments", self.heap.name_of_class(class));
                let throw = self.type_error(message);
                return self.unmade(class, throw, [at, count, dest], on_return);
            }
            let instance = match self.new_instance(class) {
                Ok(instance) => instance,
                Err(throw) => return self.unmade(class, throw, [at, count, dest], on_return),
            };
            self.heap.release(Value::Obj(class));
            if object_init {
                self.give_back(instance, on_return, dest)?;
                return Ok(true);
            }
            return self.run_init(init, instance, at, count, names, dest, on_return);
        }
        // A builtin's __new__, or one written in Python.
        if let Some(row) = new_native {
            let role = self.native(row).role;
            if matches!(role, Role::ContainerNew | Role::ExceptionNew) {
                let instance = match self.new_builtin(class) {
                    Ok(instance) => instance,
                    Err(throw) => return self.unmade(class, throw, [at, count, dest], on_return),
                };
                if role == Role::ExceptionNew {
                    self.owe(EXCEPTION_MADE.once());
                    // The arguments are kept even when __init__ never calls its base.
                    let positional = count - names.map_or(0, |names| self.heap.tuple_ref(Value::Obj(names)).len());
                    let items: Vec<Value> = self.registers[at..at + positional].to_vec();
                    let items = self.heap.retain_all(&items);
                    let args = self.heap.tuple(items);
                    if let Some(row) = self.heap.exception_row(instance) {
                        row.args = args;
                    }
                    if count == positional && init_native.is_some_and(|row| self.native(row).role == Role::ExceptionInit) {
                        self.heap.release(Value::Obj(class));
                        self.clear_registers(at, count);
                        self.give_back(instance, on_return, dest)?;
                        return Ok(true);
                    }
                }
                self.heap.release(Value::Obj(class));
                return self.run_init(init, instance, at, count, names, dest, on_return);
            }
            if object_init {
                let at = self.insert_receiver(Value::Obj(class), at, count);
                return self.call_native(row, at, count + 1, names, dest, on_return);
            }
        }
        let (arguments, keywords) = self.take_arguments(at, count, names);
        let function = match new {
            Value::Obj(object) => match self.heap.payload(object) {
                Payload::StaticMethod(inner) => *inner,
                _ => new,
            },
            other => other,
        };
        let mut with_class = vec![Value::Obj(class)];
        with_class.extend(self.heap.retain_all(&arguments));
        let for_new: Vec<(Ref, Value)> = keywords.iter().map(|&(name, value)| (name, value)).collect();
        for &(_, value) in &for_new {
            self.heap.retain(value);
        }
        self.heap.retain(function);
        let dest = match on_return {
            OnReturn::Store => dest,
            on_return => self.push_trampoline(on_return, dest)?,
        };
        let pending = Pending::New { class, arguments, keywords };
        let call = PendingCall {
            function,
            arguments: with_class,
            keywords: for_new,
            namespace: Value::Undefined,
            on_return: OnReturn::Other(Box::new(pending)),
        };
        self.begin_call(call, dest)?;
        Ok(true)
    }

    /// An instance of a class that cannot be made: what the call has taken over is released, and what waits for its result sees why.
    fn unmade(&mut self, class: Ref, throw: Throw, [at, count, dest]: [usize; 3], on_return: OnReturn) -> Outcome<bool> {
        self.clear_registers(at, count);
        self.heap.release(Value::Obj(class));
        self.fail(throw, on_return, dest)
    }

    /// Calls a class whose instances are classes, as `type(name, bases, namespace)` does.
    fn call_metaclass(
        &mut self,
        class: Ref,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let positional = count - names.map_or(0, |names| self.heap.tuple_ref(Value::Obj(names)).len());
        if class == ty::TYPE && positional != 3 {
            self.clear_registers(at, count);
            let problem = if positional == 1 { "no keyword arguments" } else { "1 or 3 arguments" };
            let throw = self.type_error(format!("type() takes {problem}"));
            return self.fail(throw, on_return, dest);
        }
        let function = self.helper("type_call");
        self.call_with([function, Value::Obj(class)], at, count, names, dest, on_return)
    }

    /// Calls a function with another argument, whose reference is taken over, before those in the registers.
    fn call_with(
        &mut self,
        [function, first]: [Value; 2],
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let (mut arguments, keywords) = self.take_arguments(at, count, names);
        arguments.insert(0, first);
        self.heap.retain(function);
        let call = PendingCall { function, arguments, keywords, namespace: Value::Undefined, on_return };
        self.begin_call(call, dest)?;
        Ok(true)
    }

    /// Moves arguments out of registers.
    fn take_arguments(&mut self, at: usize, count: usize, names: Option<Ref>) -> (Vec<Value>, Vec<(Ref, Value)>) {
        let names = match names {
            Some(names) => self.heap.tuple_items(Value::Obj(names)),
            None => Vec::new(),
        };
        let mut arguments: Vec<Value> =
            (at..at + count).map(|index| std::mem::replace(&mut self.registers[index], Value::Undefined)).collect();
        let values = arguments.split_off(count - names.len());
        let mut keywords = Vec::with_capacity(names.len());
        for (name, value) in names.into_iter().zip(values) {
            if let Some(name) = name.object().and_then(|name| self.heap.intern_object(name)) {
                keywords.push((name, value));
            }
        }
        (arguments, keywords)
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one call")]
    fn run_init(
        &mut self,
        init: Value,
        instance: Value,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        self.heap.retain(instance);
        if !matches!(on_return, OnReturn::Store) || !self.is_plain_method(init) {
            // Rare: the instance itself goes on to another continuation, or what `__init__` is has to be bound.
            let (arguments, keywords) = self.take_arguments(at, count, names);
            let dest = match on_return {
                OnReturn::Store => dest,
                on_return => self.push_trampoline(on_return, dest)?,
            };
            let call = self.init_call(init, instance, arguments, keywords);
            self.begin_call(call, dest)?;
            return Ok(true);
        }
        self.heap.retain(init);
        let at = self.insert_receiver(instance, at, count);
        self.dispatch_deeper(init, at, count + 1, names, dest, OnReturn::Init(instance))
    }

    /// The call of an `__init__`, whose result is the instance. Takes over one reference to the instance and those to the arguments.
    fn init_call(&mut self, init: Value, instance: Value, arguments: Vec<Value>, keywords: Vec<(Ref, Value)>) -> PendingCall {
        let mut all = vec![instance];
        let mut function = init;
        if !self.is_plain_method(init) {
            let class = Value::Obj(self.heap.class_of(instance));
            all = vec![init, instance, class];
            self.heap.retain(init);
            self.heap.retain(class);
            function = self.helper("bound_special");
        }
        self.heap.retain(function);
        all.extend(arguments);
        PendingCall { function, arguments: all, keywords, namespace: Value::Undefined, on_return: OnReturn::Init(instance) }
    }

    /// After `__new__`: runs `__init__` when the result is an instance of the class.
    pub(crate) fn initialise(
        &mut self,
        class: Ref,
        instance: Value,
        arguments: Vec<Value>,
        keywords: Vec<(Ref, Value)>,
        dest: usize,
    ) -> Outcome<()> {
        let init = self.lookup(class, nm::INIT).unwrap_or(Value::Undefined);
        let object_init = self.heap.native_row(init).is_some_and(|row| self.native(row).name == "object.__init__");
        if !self.heap.is_instance(instance, class) || object_init || init.is_undefined() {
            self.heap.release_all(arguments);
            for (_, value) in keywords {
                self.heap.release(value);
            }
            return self.give_back(instance, OnReturn::Store, dest);
        }
        self.heap.retain(instance);
        let call = self.init_call(init, instance, arguments, keywords);
        self.begin_call(call, dest)
    }
}
