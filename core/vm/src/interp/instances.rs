//! Instances: what calling a class does.

use super::native::Role;
use super::operators::{BinaryOp, Number};
use super::{OnReturn, Pending, Vm};
use crate::costs::EXCEPTION_MADE;
use crate::error::{Outcome, PendingCall, Throw};
use crate::payload::{Attributes, Exception, List, Payload, Str};
use crate::types::{EMPTY_BYTES, EMPTY_TUPLE, FIXED_COUNT, Layout, nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// The truth of an option of a native function, false where it is not given. `Fallback` where only Python code knows it: what a native
    /// function calls in between would become its own result.
    pub(crate) fn option(&mut self, value: Value) -> Outcome<bool> {
        if self.python_method(value, nm::BOOL).is_some() || self.python_method(value, nm::LEN).is_some() {
            return Err(Throw::Fallback);
        }
        self.truth(value)
    }

    /// The same for an option that has to be an integer.
    pub(crate) fn integer_option(&mut self, value: Value) -> Outcome<bool> {
        if value.is_undefined() {
            return Ok(false);
        }
        if let Some(number) = self.as_int(value) {
            let number = i32::try_from(number);
            return number
                .map(|number| number != 0)
                .map_err(|_| self.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C int"));
        }
        Err(self.not_an_integer(value))
    }

    /// An argument that is a position, or counts something.
    pub(crate) fn whole(&mut self, value: Value) -> Outcome<i64> {
        match self.number(value) {
            Some(Number::Small(number)) => Ok(number),
            Some(Number::Big(_)) => Err(self.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C ssize_t")),
            _ => Err(self.not_an_integer(value)),
        }
    }

    /// TypeError for an argument that is no integer; `Fallback` where its `__index__` has to be asked first.
    pub(crate) fn not_an_integer(&mut self, value: Value) -> Throw {
        if self.python_method(value, nm::INDEX).is_some() {
            return Throw::Fallback;
        }
        let message = format!("'{}' object cannot be interpreted as an integer", self.class_name(value));
        self.type_error(message)
    }

    /// Whether the value is of a class that a program made.
    #[inline]
    pub(crate) fn is_python_instance(&self, value: Value) -> bool {
        match value {
            Value::Obj(object) => {
                matches!(self.heap.payload(object), Payload::Instance(_) | Payload::Extended(_))
                    || self.heap.slot(object).class.0 >= crate::types::FIXED_COUNT
            }
            _ => false,
        }
    }

    /// The helper for `target op= right` where a builtin sequence, which takes everything in, leaves the precedence to a reflected method.
    pub(super) fn asks_right_first(&mut self, op: BinaryOp, target: Ref, right: Value) -> Option<&'static str> {
        if !self.is_python_instance(right) || !matches!(self.heap.payload(target), Payload::List(_) | Payload::ByteArray(..)) {
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
                    let (mut arguments, keywords) = self.take_arguments(at, count, names);
                    arguments.insert(0, Value::Obj(class));
                    self.heap.retain(function);
                    let call = PendingCall { function, arguments, keywords, namespace: Value::Undefined, on_return };
                    self.begin_call(call, dest)?;
                    return Ok(true);
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
        if self.is_subclass(class, ty::TYPE) {
            let (mut arguments, keywords) = self.take_arguments(at, count, names);
            arguments.insert(0, Value::Obj(class));
            let function = self.helper("type_call");
            self.heap.retain(function);
            let call = PendingCall { function, arguments, keywords, namespace: Value::Undefined, on_return };
            self.begin_call(call, dest)?;
            return Ok(true);
        }
        let new = self.lookup(class, nm::NEW).unwrap_or(Value::Undefined);
        let init = self.lookup(class, nm::INIT).unwrap_or(Value::Undefined);
        let new_native = self.native_row(new);
        let init_native = self.native_row(init);
        let object_new = new_native.is_some_and(|row| self.native(row).role == Role::ObjectNew);
        let object_init = init_native.is_some_and(|row| self.native(row).role == Role::ObjectInit);
        if object_new {
            if object_init && count > 0 {
                self.clear_registers(at, count);
                let message = format!("{}() takes no arguments", self.name_of_class(class));
                self.heap.release(Value::Obj(class));
                return Err(self.type_error(message));
            }
            let instance = match self.new_instance(class) {
                Ok(instance) => instance,
                Err(throw) => {
                    self.clear_registers(at, count);
                    return Err(throw);
                }
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
                let instance = self.new_builtin(class)?;
                if role == Role::ExceptionNew {
                    self.owe(EXCEPTION_MADE.once());
                    // The arguments are kept even when __init__ never calls its base.
                    let positional = count - names.map_or(0, |names| self.tuple_ref(Value::Obj(names)).len());
                    let items: Vec<Value> = self.registers[at..at + positional].to_vec();
                    let items = self.heap.retain_all(&items);
                    let args = self.tuple(items);
                    if let Some(row) = self.exception_row(instance) {
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

    /// Moves arguments out of registers.
    fn take_arguments(&mut self, at: usize, count: usize, names: Option<Ref>) -> (Vec<Value>, Vec<(Ref, Value)>) {
        let names = match names {
            Some(names) => self.tuple_items(Value::Obj(names)),
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

    /// The row of a native function.
    pub(crate) fn native_row(&self, value: Value) -> Option<u16> {
        match self.heap.payload(value.object()?) {
            Payload::Native(row) => Some(*row),
            _ => None,
        }
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
        let object_init = self.native_row(init).is_some_and(|row| self.native(row).name == "object.__init__");
        if !self.is_instance(instance, class) || object_init || init.is_undefined() {
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

    /// A fresh instance of a class that inherits from `object` alone.
    pub(crate) fn new_instance(&mut self, class: Ref) -> Outcome {
        self.check_abstract(class)?;
        if class.0 < FIXED_COUNT && class != ty::OBJECT {
            let message = format!("cannot create '{}' instances", self.name_of_class(class));
            return Err(self.type_error(message));
        }
        self.heap.retain(Value::Obj(class));
        if class == ty::OBJECT {
            return Ok(self.heap.make(class, Payload::Plain));
        }
        Ok(self.heap.instance(class))
    }

    fn check_abstract(&mut self, class: Ref) -> Outcome<()> {
        if class.0 < FIXED_COUNT {
            return Ok(());
        }
        let Some(methods) = self.lookup(class, nm::ABSTRACT_METHODS) else { return Ok(()) };
        let mut names: Vec<String> = Vec::new();
        for item in self.sequence_snapshot(methods) {
            names.push(self.text(item).unwrap_or_default().to_owned());
        }
        if names.is_empty() {
            return Ok(());
        }
        names.sort();
        let plural = if names.len() == 1 { "" } else { "s" };
        let message =
            format!("Can't instantiate abstract class {} with abstract method{plural} {}", self.name_of_class(class), names.join(", "));
        Err(self.type_error(message))
    }

    /// A fresh, empty instance of a builtin class or a class below it.
    pub(crate) fn new_builtin(&mut self, class: Ref) -> Outcome {
        self.check_abstract(class)?;
        let layout = self.heap.layout(class);
        let inner = match layout {
            Layout::Object => return self.new_instance(class),
            Layout::Int => Payload::Scalar(Value::Int(0)),
            Layout::Float => Payload::Scalar(Value::Float(cowboy_num::F64::ZERO)),
            Layout::Complex => Payload::Complex(cowboy_num::complex::Complex::new(cowboy_num::F64::ZERO, cowboy_num::F64::ZERO)),
            Layout::Str => Payload::Str(Str::new(String::new())),
            Layout::Bytes => Payload::Bytes(Vec::new()),
            Layout::ByteArray => Payload::ByteArray(Vec::new(), 0),
            Layout::List => Payload::List(List::default()),
            Layout::Tuple => Payload::Tuple(Box::default()),
            Layout::Dict => Payload::Dict(Box::default()),
            Layout::Set | Layout::FrozenSet => Payload::Set(Box::default()),
            Layout::Exception => {
                self.heap.retain(Value::Obj(class));
                let exception = Exception {
                    args: Value::Obj(EMPTY_TUPLE),
                    cause: Value::None,
                    context: Value::None,
                    suppress: false,
                    trace: Vec::new(),
                    shown: Value::None,
                    attributes: Attributes::default(),
                };
                return Ok(self.heap.make(class, Payload::Exception(Box::new(exception))));
            }
            Layout::StaticMethod => Payload::StaticMethod(Value::None),
            Layout::ClassMethod => Payload::ClassMethod(Value::None),
            Layout::Property => Payload::Property(Box::new([Value::None; 5])),
            Layout::Alias | Layout::Type | Layout::Sealed => {
                let message = format!("cannot create '{}' instances", self.name_of_class(class));
                return Err(self.type_error(message));
            }
        };
        Ok(self.wrap_builtin(class, inner))
    }

    /// An object of a builtin class, or of a class below it with attributes around the builtin content.
    pub(crate) fn wrap_builtin(&mut self, class: Ref, inner: Payload) -> Value {
        self.heap.retain(Value::Obj(class));
        if class.0 < crate::types::TYPE_COUNT {
            match &inner {
                Payload::Str(text) if text.text.is_empty() => return Value::Obj(nm::EMPTY),
                Payload::Tuple(items) if items.is_empty() => return Value::Obj(EMPTY_TUPLE),
                Payload::Bytes(bytes) if bytes.is_empty() => return Value::Obj(EMPTY_BYTES),
                Payload::Scalar(value) => return *value,
                _ => {}
            }
            return self.heap.make(class, inner);
        }
        self.heap.make(class, Payload::Extended(Box::new((Attributes::default(), inner))))
    }

    // ---- making classes ----
}
