//! Special methods, and the library's own Python that natives go on in: calls that the interpreter makes later.

use super::Vm;
use crate::error::{Outcome, PendingCall, Throw, Trap};
use crate::frame::{Expect, OnReturn, Pending};
use crate::payload::Payload;
use crate::runtime::native::NativeKind;
use crate::types::{TYPE_COUNT, ty};
use crate::value::{Ref, Value};

impl Vm {
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

    /// Does work on values and releases them, however it ends. What it gives is not one of them, unless retained.
    pub(crate) fn with_owned<T>(&mut self, values: Vec<Value>, work: impl FnOnce(&mut Vm, &[Value]) -> Outcome<T>) -> Outcome<T> {
        let outcome = work(self, &values);
        self.heap.release_all(values);
        outcome
    }

    /// A call to be made by the interpreter.
    pub(crate) fn call_later(&mut self, function: Value, arguments: &[Value], on_return: OnReturn) -> Throw {
        self.heap.retain(function);
        let arguments = self.heap.hold(arguments);
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
    pub(crate) fn bound_later(&mut self, found: Value, object: Value, class: Value) -> Value {
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
            Some(Payload::Native(row)) => self.native(*row).kind == NativeKind::Method,
            _ => false,
        }
    }

    /// A special method that a class sets itself; `None` where it has the one of its builtin base, or none. Python's `None` under its name
    /// is one that cannot be called, except where a protocol says otherwise: `__hash__`, `__iter__`, `__contains__` and `__reversed__`.
    pub(crate) fn own_special(&mut self, class: Ref, name: Ref) -> Option<Value> {
        let found = self.lookup(class, name)?;
        (!self.is_inherited(class, name, found)).then_some(found)
    }

    /// Whether what a class has under a name is what its builtin base has there.
    pub(crate) fn is_inherited(&mut self, class: Ref, name: Ref, found: Value) -> bool {
        if self.heap.native_row(found).is_none() && !found.is_none() {
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
}
