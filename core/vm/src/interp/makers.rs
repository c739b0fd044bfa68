//! Calls of builtin classes, `list(items)` or `float(text)`: what making their instances means is found out once a run.

use super::{OnReturn, Vm};
use crate::caches::Maker;
use crate::costs::{Charge, TEXT_WRITTEN};
use crate::error::{Throw, Trap};
use crate::image::Program;
use crate::runtime::native::{NATIVE_PARAMETERS, Role};
use crate::types::{TYPE_COUNT, nm, ty};
use crate::value::{Ref, Value};
use crate::window::afresh;

impl Vm {
    /// What a call of a builtin class does. Nothing changes such a class.
    fn maker(&mut self, class: Ref) -> Maker {
        let index = usize::try_from(class.0).expect("a handle fits a word");
        match self.makers.get(index) {
            Some(Maker::Unknown) => {}
            Some(&maker) => return maker,
            None => self.makers.resize(usize::try_from(TYPE_COUNT).expect("a handle fits a word"), Maker::Unknown),
        }
        let row = |vm: &mut Self, name| vm.lookup(class, name).and_then(|function| vm.heap.native_row(function));
        let role = |vm: &Self, row: u16| vm.native(row).role;
        let maker = if self.heap.slot(class).class != ty::TYPE || self.heap.is_subclass(class, ty::TYPE) {
            Maker::General
        } else {
            match (row(self, nm::NEW), row(self, nm::INIT)) {
                (Some(new), Some(init)) => match (role(self, new), role(self, init)) {
                    (Role::None, Role::ObjectInit) => Maker::New(new),
                    (Role::ContainerNew, Role::None) => Maker::Filled(init),
                    _ => Maker::General,
                },
                _ => Maker::General,
            }
        };
        self.makers[index] = maker;
        maker
    }

    /// Calls a class with the `count` arguments from register `at` on, the class before them; says whether to go on, or `None`, and nothing
    /// has changed, where that takes the general form.
    #[inline(never)]
    pub(super) fn make(&mut self, class: Ref, at: usize, count: u16, dest: usize, program: &Program) -> Option<bool> {
        if class.0 < TYPE_COUNT {
            return self.make_builtin(class, at, usize::from(count), dest);
        }
        let is_pushed = self.construct(class, at, count, dest, program);
        self.reload = is_pushed;
        is_pushed.then_some(true)
    }

    /// Calls a builtin class with the `count` arguments from register `at` on, the class before them; says whether to go on, or `None`,
    /// and nothing has changed, where that takes the general form.
    fn make_builtin(&mut self, class: Ref, at: usize, count: usize, dest: usize) -> Option<bool> {
        let maker = self.maker(class);
        let (Maker::New(row) | Maker::Filled(row)) = maker else { return None };
        let native = self.native(row);
        if let (ty::STR, 1, Some(&Value::Int(number))) = (class, count, self.registers.get(at)) {
            let (text, length) = self.heap.decimal(number);
            self.owe(Charge::of_function(native) + TEXT_WRITTEN.of(length));
            self.clear_registers(at - 1, 2);
            let old = std::mem::replace(&mut self.registers[dest], text);
            self.heap.release(old);
            return Some(true);
        }
        let signature = &native.signature;
        let (first, count) = (at - 1, count + 1);
        if !signature.simple || count < signature.required || count > signature.positional {
            return None;
        }
        let (parameters, function) = (signature.names.len(), native.function);
        self.owe(Charge::of_function(native));
        let mut instance = Value::Undefined;
        if matches!(maker, Maker::Filled(_)) {
            instance = self.new_builtin(class).ok()?;
            self.registers[first] = self.heap.retain(instance);
        }
        let mut arguments = [Value::Undefined; NATIVE_PARAMETERS];
        for (argument, register) in arguments.iter_mut().zip(&self.registers[first..first + count]) {
            *argument = afresh(register);
        }
        let outcome = function(self, &arguments[..parameters]);
        let value = match (&outcome, instance.is_undefined()) {
            (Ok(value), true) => afresh(value),
            (Ok(Value::None), false) => instance,
            _ => {
                let on_return = if instance.is_undefined() { OnReturn::Store } else { OnReturn::Init(instance) };
                let outcome = self.finish_native(row, &arguments[..parameters], outcome, first, count, dest, on_return);
                return Some(match outcome {
                    Ok(reload) => {
                        self.reload = reload;
                        true
                    }
                    Err(throw) => self.goes_on(Err(throw)),
                });
            }
        };
        self.clear_registers(first, count);
        let old = std::mem::replace(&mut self.registers[dest], value);
        self.heap.release(old);
        self.reload = self.heap.exhausted();
        Some(self.meter.cycles >= 0 || self.goes_on(Err(Throw::Trap(Trap::OutOfCycles))))
    }
}
