//! Classes: making instances, making classes, and the attributes that every builtin object has.

use super::{OnReturn, Pending, Vm};
use crate::error::{Outcome, PendingCall, Throw, Trap};
use crate::heap::Map;
use crate::native::Role;
use crate::objects::payload::{Attributes, Class, Exception, List, Payload, Str};
use crate::types::{EMPTY_BYTES, EMPTY_TUPLE, FIXED_COUNT, Layout, nm, ty};
use crate::value::{Ref, Value};

impl Vm {
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
        let object_new = new_native.is_some_and(|row| self.natives[usize::from(row)].role == Role::ObjectNew);
        let object_init = init_native.is_some_and(|row| self.natives[usize::from(row)].role == Role::ObjectInit);
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
            let role = self.natives[usize::from(row)].role;
            if matches!(role, Role::ContainerNew | Role::ExceptionNew) {
                let instance = self.new_builtin(class)?;
                if role == Role::ExceptionNew {
                    // The arguments are kept even when __init__ never calls its base.
                    let positional = count - names.map_or(0, |names| self.tuple_ref(Value::Obj(names)).len());
                    let items: Vec<Value> = self.registers[at..at + positional].to_vec();
                    let items = self.heap.retain_all(&items);
                    let args = self.tuple(items);
                    if let Some(row) = self.exception_row(instance) {
                        row.args = args;
                    }
                    if count == positional && init_native.is_some_and(|row| self.natives[usize::from(row)].role == Role::ExceptionInit) {
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
        self.heap.retain(init);
        let then = match on_return {
            OnReturn::Store => OnReturn::Init(instance),
            on_return => {
                // Rare: the instance itself goes on to another continuation.
                let (mut arguments, keywords) = self.take_arguments(at, count, names);
                arguments.insert(0, instance);
                let dest = self.push_trampoline(on_return, dest)?;
                let call =
                    PendingCall { function: init, arguments, keywords, namespace: Value::Undefined, on_return: OnReturn::Init(instance) };
                self.begin_call(call, dest)?;
                return Ok(true);
            }
        };
        let at = self.receiver_before(instance, at, count);
        self.dispatch(init, at, count + 1, names, dest, then)
    }

    fn receiver_before(&mut self, receiver: Value, at: usize, count: usize) -> usize {
        if at > 0 && self.registers[at - 1].is_undefined() {
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
        let object_init = self.native_row(init).is_some_and(|row| crate::native::native(row).name == "object.__init__");
        if !self.is_instance(instance, class) || object_init || init.is_undefined() {
            self.heap.release_all(arguments);
            for (_, value) in keywords {
                self.heap.release(value);
            }
            return self.give_back(instance, OnReturn::Store, dest);
        }
        let mut all = vec![self.heap.retain(instance)];
        all.extend(arguments);
        self.heap.retain(init);
        let call =
            PendingCall { function: init, arguments: all, keywords, namespace: Value::Undefined, on_return: OnReturn::Init(instance) };
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
            Layout::Float => Payload::Scalar(Value::Float(crate::num::F64::ZERO)),
            Layout::Complex => Payload::Complex(crate::num::complex::Complex::new(crate::num::F64::ZERO, crate::num::F64::ZERO)),
            Layout::Str => Payload::Str(Str::new(String::new())),
            Layout::Bytes => Payload::Bytes(Vec::new()),
            Layout::ByteArray => Payload::ByteArray(Vec::new()),
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

    /// `type(name, bases, namespace)` without hooks: the class object, whose reference is the caller's.
    pub(crate) fn create_class(&mut self, meta: Ref, name: &str, bases: &[Ref], namespace: Ref) -> Outcome {
        let bases: Vec<Ref> = if bases.is_empty() { vec![ty::OBJECT] } else { bases.to_vec() };
        if name.contains('\0') {
            return Err(self.value_error("type name must not contain null characters"));
        }
        let mut layout = Layout::Object;
        let mut has_dict = false;
        let mut qualname: Box<str> = name.into();
        for &base in &bases {
            let Payload::Class(row) = self.heap.payload(base) else {
                return Err(self.type_error("bases must be types"));
            };
            // Trusted code alone makes a second sort of range.
            if base == ty::RANGE && self.loader {
                continue;
            }
            if row.layout == Layout::Sealed {
                let message = format!("type '{}' is not an acceptable base type", row.name);
                return Err(self.type_error(message));
            }
            has_dict |= row.has_dict;
            if row.layout != Layout::Object {
                if layout != Layout::Object && layout != row.layout {
                    return Err(self.type_error("multiple bases have instance lay-out conflict"));
                }
                layout = row.layout;
            }
        }
        if self.best_base(&bases).is_none() {
            return Err(self.type_error("multiple bases have instance lay-out conflict"));
        }
        let base_has_dict = has_dict;
        for (index, base) in bases.iter().enumerate() {
            if bases[..index].contains(base) {
                let message = format!("duplicate base class {}", self.name_of_class(*base));
                return Err(self.type_error(message));
            }
        }
        let object = self.heap.alloc(meta, Payload::Free);
        self.heap.retain(Value::Obj(meta));
        let mro = match self.linearise(object, &bases) {
            Some(mro) => mro,
            None => {
                let names = self.conflicting(&bases);
                self.heap.release(Value::Obj(object));
                let message = format!("Cannot create a consistent method resolution\norder (MRO) for bases {}", names.join(", "));
                return Err(self.type_error(message));
            }
        };
        let mut attributes: Map<Ref, Value> = Map::default();
        let pairs = self.dict_pairs(Value::Obj(namespace));
        let mut slots = None;
        let mut class_cell = Value::Undefined;
        for (key, value) in pairs {
            let Some(key) = key.object().and_then(|key| self.heap.intern_object(key)) else { continue };
            let text = self.name_text(key).to_owned();
            if text == "__classcell__" {
                if !matches!(value, Value::Obj(cell) if matches!(self.heap.payload(cell), Payload::Cell(_))) {
                    let message =
                        format!("type.__new__(): __classcell__ must be a nonlocal cell, not <class '{}'>", self.class_name(value));
                    return Err(self.type_error(message));
                }
                class_cell = value;
                continue;
            }
            if key == nm::QUALNAME {
                match self.text(value) {
                    Some(text) => qualname = text.into(),
                    None => {
                        let message = format!("type __qualname__ must be a str, not {}", self.class_name(value));
                        return Err(self.type_error(message));
                    }
                }
                continue;
            }
            if key == nm::SLOTS {
                slots = Some(value);
            }
            self.heap.retain(value);
            self.heap.retain(Value::Obj(key));
            // Three methods are class or static methods without saying so.
            let is_function = value.object().is_some_and(|f| matches!(self.heap.payload(f), Payload::Function(_)));
            let value = match (is_function, key) {
                (true, nm::NEW) => self.heap.make(ty::STATICMETHOD, Payload::StaticMethod(value)),
                (true, nm::INIT_SUBCLASS | nm::CLASS_GETITEM) => self.heap.make(ty::CLASSMETHOD, Payload::ClassMethod(value)),
                _ => value,
            };
            attributes.insert(key, value);
        }
        if attributes.contains_key(&nm::EQ) && !attributes.contains_key(&nm::HASH) {
            attributes.insert(nm::HASH, Value::None);
        }
        match slots {
            None => has_dict = true,
            Some(slots) => {
                let names = self.slot_names(name, slots)?;
                if !names.is_empty() && matches!(layout, Layout::Int | Layout::Bytes | Layout::Tuple | Layout::Type) {
                    let base = self.best_base(&bases).map(|base| self.name_of_class(base)).unwrap_or_default();
                    return Err(self.type_error(format!("nonempty __slots__ not supported for subtype of '{base}'")));
                }
                let (mut listed, mut weak) = (false, false);
                for slot in names {
                    if slot == nm::DICT {
                        if base_has_dict || std::mem::replace(&mut listed, true) {
                            return Err(self.type_error("__dict__ slot disallowed: we already got one"));
                        }
                        has_dict = true;
                    } else if slot == nm::WEAKREF {
                        // Accepted, and good for nothing: there are no weak references.
                        if base_has_dict || std::mem::replace(&mut weak, true) {
                            let message = "__weakref__ slot disallowed: either we already got one, or __itemsize__ != 0";
                            return Err(self.type_error(message));
                        }
                        continue;
                    } else if attributes.contains_key(&slot) {
                        let message = format!("'{}' in __slots__ conflicts with class variable", self.name_text(slot));
                        return Err(self.value_error(message));
                    } else {
                        self.heap.retain(Value::Obj(slot));
                        let member = self.heap.make(ty::MEMBER, Payload::Member { name: slot, class: object });
                        attributes.insert(slot, member);
                    }
                }
            }
        }
        if !attributes.contains_key(&nm::DOC) {
            attributes.insert(nm::DOC, Value::None);
        }
        for &base in &bases {
            self.heap.retain(Value::Obj(base));
        }
        for &base in mro.iter().skip(1) {
            self.heap.retain(Value::Obj(base));
        }
        let class = Class { name: name.into(), bases, mro, attributes, layout, qualname, has_dict, heap: true };
        let payload = Payload::Class(Box::new(class));
        self.heap.use_memory(payload.size());
        *self.heap.payload_mut(object) = payload;
        self.heap.type_epoch += 1;
        if let Value::Obj(cell) = class_cell {
            self.heap.retain(Value::Obj(object));
            if let Payload::Cell(content) = self.heap.payload_mut(cell) {
                *content = Value::Obj(object);
            }
        }
        Ok(Value::Obj(object))
    }

    /// The names that `__slots__` lists, private ones as the class spells them.
    fn slot_names(&mut self, class: &str, slots: Value) -> Outcome<Vec<Ref>> {
        let listed = if self.text(slots).is_some() { vec![slots] } else { self.sequence_snapshot(slots) };
        if listed.is_empty() && self.text(slots).is_none() && !self.is_listing(slots) {
            return Err(self.not_iterable(slots));
        }
        let mut names = Vec::new();
        for item in listed {
            let Some(text) = self.text(item).map(str::to_owned) else {
                let message = format!("__slots__ items must be strings, not '{}'", self.class_name(item));
                return Err(self.type_error(message));
            };
            if !crate::unicode::is_identifier(&text) {
                return Err(self.type_error("__slots__ must be identifiers"));
            }
            let owner = class.trim_start_matches('_');
            let private = text.starts_with("__") && !text.ends_with("__") && !owner.is_empty();
            names.push(if private { self.heap.intern(&format!("_{owner}{text}")) } else { self.heap.intern(&text) });
        }
        Ok(names)
    }

    fn is_listing(&self, value: Value) -> bool {
        value.object().is_some_and(|object| {
            matches!(
                self.heap.payload(object).core(),
                Payload::Tuple(_) | Payload::List(_) | Payload::Dict(_) | Payload::Set(_) | Payload::Iterator(_) | Payload::DictView { .. }
            )
        })
    }

    /// The class in the line of first bases that adds to what instances hold: a builtin one, or one with slots.
    fn solid_base(&self, class: Ref) -> Ref {
        let mut class = class;
        for _ in 0..256 {
            let Payload::Class(row) = self.heap.payload(class) else { return class };
            let adds = row
                .attributes
                .values()
                .any(|value| matches!(value, Value::Obj(member) if matches!(self.heap.payload(*member), Payload::Member { .. })));
            match self.best_base(&row.bases) {
                Some(base) if row.heap && !adds => class = base,
                Some(base) if !row.heap && row.layout == self.heap.layout(base) => class = base,
                _ => return class,
            }
        }
        class
    }

    /// Which base decides about what instances hold; `None` when two of them do not go together.
    pub(crate) fn best_base(&self, bases: &[Ref]) -> Option<Ref> {
        let (first, rest) = bases.split_first()?;
        if rest.is_empty() {
            return Some(*first);
        }
        let (mut winner, mut solid) = (*first, self.solid_base(*first));
        for &base in rest {
            let other = self.solid_base(base);
            if self.is_subclass(solid, other) {
                continue;
            }
            if !self.is_subclass(other, solid) {
                return None;
            }
            (winner, solid) = (base, other);
        }
        Some(winner)
    }

    /// Puts another order of resolution in a class.
    pub(crate) fn replace_mro(&mut self, class: Ref, order: Vec<Ref>) {
        for &base in order.iter().skip(1) {
            self.heap.retain(Value::Obj(base));
        }
        let mut old = Vec::new();
        if let Payload::Class(row) = self.heap.payload_mut(class) {
            old = std::mem::replace(&mut row.mro, order);
        }
        for base in old.into_iter().skip(1) {
            self.heap.release(Value::Obj(base));
        }
        self.heap.type_epoch += 1;
    }

    /// Names of the bases that stand in each other's way, as CPython lists them.
    fn conflicting(&self, bases: &[Ref]) -> Vec<String> {
        let mut heads: Vec<Ref> = Vec::new();
        let mut sequences: Vec<Vec<Ref>> = bases
            .iter()
            .map(|&base| match self.heap.payload(base) {
                Payload::Class(row) => row.mro.clone(),
                _ => Vec::new(),
            })
            .collect();
        sequences.push(bases.to_vec());
        loop {
            sequences.retain(|sequence| !sequence.is_empty());
            let next = sequences
                .iter()
                .map(|sequence| sequence[0])
                .find(|candidate| sequences.iter().all(|sequence| !sequence[1..].contains(candidate)));
            let Some(next) = next else { break };
            for sequence in &mut sequences {
                if sequence[0] == next {
                    sequence.remove(0);
                }
            }
        }
        for sequence in &sequences {
            if !heads.contains(&sequence[0]) {
                heads.push(sequence[0]);
            }
        }
        heads.into_iter().map(|class| self.name_of_class(class)).collect()
    }

    /// C3 linearisation.
    fn linearise(&self, class: Ref, bases: &[Ref]) -> Option<Vec<Ref>> {
        let mut sequences: Vec<Vec<Ref>> = bases
            .iter()
            .map(|&base| match self.heap.payload(base) {
                Payload::Class(row) => row.mro.clone(),
                _ => Vec::new(),
            })
            .collect();
        sequences.push(bases.to_vec());
        let mut result = vec![class];
        loop {
            sequences.retain(|sequence| !sequence.is_empty());
            if sequences.is_empty() {
                return Some(result);
            }
            let next = sequences
                .iter()
                .map(|sequence| sequence[0])
                .find(|candidate| sequences.iter().all(|sequence| !sequence[1..].contains(candidate)))?;
            result.push(next);
            for sequence in &mut sequences {
                if sequence[0] == next {
                    sequence.remove(0);
                }
            }
        }
    }

    /// Module and name of a class.
    pub(crate) fn qualified_name(&mut self, class: Ref) -> String {
        let (name, is_heap) = match self.heap.payload(class) {
            Payload::Class(row) => (row.name.to_string(), row.heap),
            _ => ("object".to_owned(), false),
        };
        if !is_heap {
            return name;
        }
        let own = |vm: &Vm, key: Ref| match vm.heap.payload(class) {
            Payload::Class(row) => row.attributes.get(&key).copied(),
            _ => None,
        };
        let _ = name;
        let qualname = match self.heap.payload(class) {
            Payload::Class(row) => row.qualname.to_string(),
            _ => String::new(),
        };
        match own(self, nm::MODULE).and_then(|value| self.text(value).map(str::to_owned)) {
            Some(module) => format!("{module}.{qualname}"),
            None => qualname,
        }
    }

    // ---- attributes of builtin objects ----

    fn text_value(&mut self, text: &str) -> Value {
        self.heap.str(text)
    }

    fn refs_tuple(&mut self, items: &[Ref]) -> Value {
        let values: Vec<Value> = items.iter().map(|&item| Value::Obj(item)).collect();
        let values = self.heap.retain_all(&values);
        self.tuple(values)
    }

    /// A builtin attribute, retained; `None` when the object has none of that name.
    #[allow(clippy::too_many_lines, reason = "a table of attributes by type")]
    pub(crate) fn builtin_attribute(&mut self, object: Value, name: Ref) -> Outcome<Option<Value>> {
        if name == nm::CLASS {
            let class = Value::Obj(self.heap.class_of(object));
            return Ok(Some(self.heap.retain(class)));
        }
        if matches!(name, nm::REAL | nm::IMAG | nm::NUMERATOR | nm::DENOMINATOR) {
            if let Some(number) = self.number(object) {
                return Ok(match (number, name) {
                    (super::operators::Number::Float(number), nm::REAL) => Some(Value::Float(number)),
                    (super::operators::Number::Float(_), nm::IMAG) => Some(Value::Float(crate::num::F64::ZERO)),
                    (super::operators::Number::Float(_), _) => None,
                    (_, nm::IMAG) => Some(Value::Int(0)),
                    (_, nm::DENOMINATOR) => Some(Value::Int(1)),
                    (number, _) => Some(self.int_value(number.into_big())?),
                });
            }
        }
        let Value::Obj(receiver) = object else {
            return Ok(match (name, object) {
                (nm::DOC, _) => Some(Value::None),
                _ => None,
            });
        };
        let payload = self.heap.payload(receiver);
        let found = match (payload, name) {
            (Payload::Class(row), nm::NAME) => {
                let text = row.name.to_string();
                Some(self.text_value(&text))
            }
            (Payload::Class(row), nm::QUALNAME) => {
                let text = row.qualname.to_string();
                Some(self.text_value(&text))
            }
            (Payload::Class(row), nm::MODULE) => match row.attributes.get(&nm::MODULE).copied() {
                Some(value) => Some(self.heap.retain(value)),
                None => Some(self.text_value("builtins")),
            },
            (Payload::Class(row), nm::BASES) => {
                let bases = row.bases.clone();
                Some(self.refs_tuple(&bases))
            }
            (Payload::Class(row), nm::BASE) => {
                let bases = row.bases.clone();
                let base = self.best_base(&bases).map_or(Value::None, Value::Obj);
                Some(self.heap.retain(base))
            }
            (Payload::Class(row), nm::MRO) => {
                let mro = row.mro.clone();
                Some(self.refs_tuple(&mro))
            }
            (Payload::Class(row), nm::DOC) => {
                let value = row.attributes.get(&nm::DOC).copied().unwrap_or(Value::None);
                return self.bind_to_class(value, receiver).map(Some);
            }
            (Payload::Class(_), nm::DICT) => {
                self.heap.retain(object);
                Some(self.heap.make(ty::MAPPING_PROXY, Payload::MappingProxy(object)))
            }
            (Payload::Function(row), nm::NAME) => {
                let value = row.name;
                Some(self.heap.retain(value))
            }
            (Payload::Function(row), nm::QUALNAME) => {
                let value = row.qualname;
                Some(self.heap.retain(value))
            }
            (Payload::Function(_), nm::DOC) => {
                if let Some(value) = self.instance_attribute(object, nm::DOC) {
                    return Ok(Some(self.heap.retain(value)));
                }
                let program = std::sync::Arc::clone(&self.program);
                match &program.codes[row_code(self.heap.payload(receiver))].code.doc {
                    // Interned, so that it is the same text each time.
                    Some(doc) => {
                        let doc = Value::Obj(self.heap.intern(doc));
                        Some(self.heap.retain(doc))
                    }
                    None => Some(Value::None),
                }
            }
            (Payload::Function(row), nm::MODULE) => {
                let globals = row.globals;
                if let Some(value) = self.instance_attribute(object, nm::MODULE) {
                    return Ok(Some(self.heap.retain(value)));
                }
                let value = self.dict_get_name(globals, nm::NAME).unwrap_or(Value::None);
                Some(self.heap.retain(value))
            }
            (Payload::Function(row), nm::PARAMETERS) => {
                let program = std::sync::Arc::clone(&self.program);
                let code = &program.codes[row.code as usize].code;
                let mut names: Vec<Value> = Vec::new();
                for name in code.local_names.iter().take(usize::from(code.positional)) {
                    names.push(self.heap.str(name));
                }
                if code.var_positional {
                    let index = usize::from(code.positional) + usize::from(code.keyword_only);
                    names.push(self.heap.string(format!("*{}", code.local_names[index])));
                }
                Some(self.tuple(names))
            }
            (Payload::Function(row), nm::DEFAULTS) => {
                let defaults = row.defaults.clone();
                if defaults.is_empty() {
                    Some(Value::None)
                } else {
                    let items = self.heap.retain_all(&defaults);
                    Some(self.tuple(items))
                }
            }
            (Payload::Function(row), nm::KWDEFAULTS) => {
                let pairs = row.keyword_defaults.clone();
                if pairs.is_empty() {
                    Some(Value::None)
                } else {
                    let dict = self.new_dict();
                    for (name, value) in pairs {
                        self.heap.retain(value);
                        self.dict_set_name(dict, name, value);
                    }
                    Some(Value::Obj(dict))
                }
            }
            (Payload::Function(row), nm::ANNOTATIONS) => {
                let annotations = row.annotations;
                if annotations.is_none() {
                    let dict = Value::Obj(self.new_dict());
                    self.heap.retain(dict);
                    if let Payload::Function(row) = self.heap.payload_mut(receiver) {
                        row.annotations = dict;
                    }
                    Some(dict)
                } else {
                    Some(self.heap.retain(annotations))
                }
            }
            (Payload::Native(row), nm::NAME) => {
                let text = crate::native::native(*row).short().to_owned();
                Some(self.text_value(&text))
            }
            (Payload::Native(row), nm::QUALNAME) => {
                let text = crate::native::native(*row).name.to_owned();
                Some(self.text_value(&text))
            }
            (Payload::Native(_), nm::MODULE) => Some(self.text_value("builtins")),
            (Payload::Native(_), nm::DOC) => Some(Value::None),
            (Payload::BoundMethod { function, .. }, nm::FUNC) => {
                let function = *function;
                Some(self.heap.retain(function))
            }
            (Payload::BoundMethod { receiver, .. }, nm::SELF) => {
                let receiver = *receiver;
                Some(self.heap.retain(receiver))
            }
            (Payload::BoundMethod { function, .. }, _) => {
                let function = *function;
                return self.get_attribute(function, name).map(Some);
            }
            (Payload::StaticMethod(inner) | Payload::ClassMethod(inner), nm::FUNC | nm::WRAPPED) => {
                let inner = *inner;
                Some(self.heap.retain(inner))
            }
            (
                Payload::StaticMethod(inner) | Payload::ClassMethod(inner),
                nm::NAME | nm::QUALNAME | nm::DOC | nm::MODULE | nm::ANNOTATIONS | nm::IS_ABSTRACT,
            ) => {
                let inner = *inner;
                return match self.get_attribute(inner, name) {
                    Ok(value) => Ok(Some(value)),
                    Err(Throw::Raise(exception)) if name == nm::IS_ABSTRACT => {
                        self.heap.release(exception);
                        Ok(Some(Value::Bool(false)))
                    }
                    Err(throw) => Err(throw),
                };
            }
            (Payload::Module { name, .. }, nm::NAME) => {
                let name = *name;
                Some(self.heap.retain(name))
            }
            (Payload::Module { dict, .. }, nm::DICT) => {
                let dict = Value::Obj(*dict);
                Some(self.heap.retain(dict))
            }
            (Payload::Generator(row), nm::NAME) => {
                let value = row.name;
                Some(self.heap.retain(value))
            }
            (Payload::Generator(row), nm::QUALNAME) => {
                let value = row.qualname;
                Some(self.heap.retain(value))
            }
            (payload, nm::REAL) if matches!(payload.core(), Payload::Complex(_)) => {
                crate::objects::complex::content(self, object).map(|z| Value::Float(z.real))
            }
            (payload, nm::IMAG) if matches!(payload.core(), Payload::Complex(_)) => {
                crate::objects::complex::content(self, object).map(|z| Value::Float(z.imaginary))
            }
            (Payload::Range(range), nm::START) => Some(Value::Int(range.start)),
            (Payload::Range(range), nm::STOP) => Some(Value::Int(range.stop)),
            (Payload::Range(range), nm::STEP) => Some(Value::Int(range.step)),
            (Payload::Slice(parts), nm::START | nm::STOP | nm::STEP) => {
                let value = match name {
                    nm::START => parts[0],
                    nm::STOP => parts[1],
                    _ => parts[2],
                };
                Some(self.heap.retain(value))
            }
            (Payload::Union(arguments), nm::PARAMETERS) => {
                let arguments = *arguments;
                return self.call_helper("alias_parameters", &[arguments]).map(Some);
            }
            (Payload::Union(arguments), nm::ALIAS_ARGS) => {
                let arguments = *arguments;
                Some(self.heap.retain(arguments))
            }
            (Payload::DictView { dict, .. }, nm::MAPPING) => {
                let dict = *dict;
                self.heap.retain(dict);
                Some(self.heap.make(ty::MAPPING_PROXY, Payload::MappingProxy(dict)))
            }
            (Payload::Super { receiver, .. }, nm::SELF) => {
                let receiver = *receiver;
                Some(self.heap.retain(receiver))
            }
            (Payload::Member { name, .. }, nm::NAME) => {
                let name = Value::Obj(*name);
                Some(self.heap.retain(name))
            }
            (Payload::Hasher(_), nm::NAME_ATTR | nm::DIGEST_SIZE | nm::BLOCK_SIZE) => crate::modules::hash_attribute(self, object, name),
            (payload, _) => match (payload.core(), name) {
                (Payload::Property(parts), nm::FGET | nm::FSET | nm::FDEL | nm::DOC) => {
                    let value = match name {
                        nm::FGET => parts[0],
                        nm::FSET => parts[1],
                        nm::FDEL => parts[2],
                        _ => parts[3],
                    };
                    if name == nm::DOC && value.is_none() && !parts[0].is_none() {
                        let getter = parts[0];
                        return self.get_attribute(getter, nm::DOC).map(Some);
                    }
                    Some(self.heap.retain(value))
                }
                (Payload::Property(parts), nm::IS_ABSTRACT) => {
                    let parts = **parts;
                    for part in &parts[..3] {
                        let marked = self.instance_attribute(*part, nm::IS_ABSTRACT);
                        if matches!(marked, Some(Value::Bool(true))) {
                            return Ok(Some(Value::Bool(true)));
                        }
                    }
                    Some(Value::Bool(false))
                }
                (Payload::Exception(_), _) => self.exception_attribute(object, name),
                (Payload::GenericAlias { .. }, _) => return self.alias_attribute(receiver, name),
                (Payload::Free, _) => None,
                (_, nm::DICT) if payload_has_dict(self, receiver) => {
                    let dict = Value::Obj(self.attributes_dict(receiver));
                    Some(self.heap.retain(dict))
                }
                _ => None,
            },
        };
        if found.is_none() && name == nm::DOC {
            if let Some(own) = self.instance_attribute(object, nm::DOC) {
                return Ok(Some(self.heap.retain(own)));
            }
            let class = self.heap.class_of(object);
            let doc = self.lookup(class, nm::DOC).unwrap_or(Value::None);
            return self.bind_attribute(doc, object, class, nm::DOC).map(Some);
        }
        if found.is_none() && name == nm::DICT && payload_has_dict(self, receiver) {
            let dict = Value::Obj(self.attributes_dict(receiver));
            return Ok(Some(self.heap.retain(dict)));
        }
        Ok(found)
    }

    fn alias_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        let Payload::GenericAlias { origin, arguments, starred } = self.heap.payload(receiver).core() else { return Ok(None) };
        let (origin, arguments, starred) = (*origin, *arguments, *starred);
        Ok(match name {
            nm::ORIGIN => Some(self.heap.retain(origin)),
            nm::ALIAS_ARGS => Some(self.heap.retain(arguments)),
            nm::PARAMETERS => return self.call_helper("alias_parameters", &[arguments]).map(Some),
            nm::UNPACKED => Some(Value::Bool(starred)),
            nm::UNPACKED_ARGS if starred && origin.is(Value::Obj(ty::TUPLE)) => Some(self.heap.retain(arguments)),
            nm::UNPACKED_ARGS => Some(Value::None),
            _ => None,
        })
    }

    fn exception_attribute(&mut self, object: Value, name: Ref) -> Option<Value> {
        let row = self.exception_data(object)?;
        let value = match name {
            nm::ARGS => row.args,
            nm::CAUSE => row.cause,
            nm::CONTEXT => row.context,
            nm::SUPPRESS_CONTEXT => Value::Bool(row.suppress),
            nm::TRACEBACK => {
                return Some(self.traceback_of(object));
            }
            nm::VALUE if self.is_instance(object, ty::STOP_ITERATION) => self.stop_value(object),
            nm::CODE if self.is_instance(object, ty::SYSTEM_EXIT) => self.stop_value(object),
            nm::MSG if self.is_instance(object, ty::IMPORT_ERROR) || self.is_instance(object, ty::SYNTAX_ERROR) => self.stop_value(object),
            nm::MESSAGE | nm::EXCEPTIONS if self.is_instance(object, ty::BASE_EXCEPTION_GROUP) => {
                let index = usize::from(name == nm::EXCEPTIONS);
                let value = self.tuple_ref(row.args).get(index).copied().unwrap_or(Value::None);
                if name == nm::EXCEPTIONS {
                    let items = self.sequence_snapshot(value);
                    let items = self.heap.retain_all(&items);
                    return Some(self.tuple(items));
                }
                value
            }
            nm::NAME_ATTR | nm::OBJ | nm::PATH
                if self.is_instance(object, ty::NAME_ERROR)
                    || self.is_instance(object, ty::ATTRIBUTE_ERROR)
                    || self.is_instance(object, ty::IMPORT_ERROR) =>
            {
                self.instance_attribute(object, name).unwrap_or(Value::None)
            }
            nm::DICT => {
                let dict = Value::Obj(self.attributes_dict(object.object()?));
                return Some(self.heap.retain(dict));
            }
            _ => return None,
        };
        Some(self.heap.retain(value))
    }

    /// The traceback of an exception, retained: the same object until the exception passes further frames.
    pub(crate) fn traceback_of(&mut self, exception: Value) -> Value {
        let (empty, shown) = match self.exception_data(exception) {
            Some(row) => (row.trace.is_empty(), row.shown),
            None => return Value::None,
        };
        if !shown.is_none() || empty {
            return self.heap.retain(shown);
        }
        let made = self.heap.make(ty::TRACEBACK, Payload::Plain);
        self.heap.retain(made);
        if let Some(row) = self.exception_row(exception) {
            row.shown = made;
        }
        made
    }

    /// What decides whether an instance can change from one class to another: whether there is a dict, and the slots.
    fn fields_of(&self, class: Ref) -> (bool, Vec<Ref>) {
        let Payload::Class(row) = self.heap.payload(class) else { return (false, Vec::new()) };
        let mut slots = Vec::new();
        for &base in &row.mro {
            if let Payload::Class(base) = self.heap.payload(base) {
                for value in base.attributes.values() {
                    if let Value::Obj(member) = value {
                        if let Payload::Member { name, .. } = self.heap.payload(*member) {
                            slots.push(*name);
                        }
                    }
                }
            }
        }
        slots.sort_unstable();
        (row.has_dict, slots)
    }

    /// Sets a builtin attribute; says whether there was one. The value is borrowed.
    pub(crate) fn set_builtin_attribute(&mut self, object: Value, name: Ref, value: Value) -> Outcome<bool> {
        let Value::Obj(receiver) = object else { return Ok(false) };
        match (self.heap.payload(receiver), name) {
            (Payload::Function(_), nm::NAME | nm::QUALNAME | nm::ANNOTATIONS) => {
                self.heap.retain(value);
                let mut old = Value::Undefined;
                if let Payload::Function(row) = self.heap.payload_mut(receiver) {
                    let place = match name {
                        nm::NAME => &mut row.name,
                        nm::QUALNAME => &mut row.qualname,
                        _ => &mut row.annotations,
                    };
                    old = std::mem::replace(place, value);
                }
                self.heap.release(old);
                Ok(true)
            }
            (Payload::Function(_), nm::DEFAULTS) => {
                let items = self.tuple_items(value);
                let items = self.heap.retain_all(&items);
                if let Payload::Function(row) = self.heap.payload_mut(receiver) {
                    let old = std::mem::replace(&mut row.defaults, items);
                    self.heap.release_all(old);
                }
                Ok(true)
            }
            (Payload::Function(_), nm::KWDEFAULTS) => {
                let mut named = Vec::new();
                for (key, value) in self.dict_pairs(value) {
                    if let Some(name) = key.object().and_then(|key| self.heap.intern_object(key)) {
                        named.push((name, self.heap.retain(value)));
                    }
                }
                if let Payload::Function(row) = self.heap.payload_mut(receiver) {
                    row.keyword_defaults = named;
                }
                Ok(true)
            }
            (Payload::Class(row), nm::NAME | nm::QUALNAME | nm::BASES | nm::MRO) => {
                let word = self.name_text(name).to_owned();
                if !row.heap {
                    let message = format!("cannot set '{word}' attribute of immutable type '{}'", row.name);
                    return Err(self.type_error(message));
                }
                if name == nm::MRO {
                    return Err(self.raise(ty::ATTRIBUTE_ERROR, "attribute '__mro__' of 'type' objects is not writable"));
                }
                if name == nm::BASES {
                    return Err(self.type_error("the bases of a class are fixed when it is made"));
                }
                let Some(text) = self.text(value).map(str::to_owned) else {
                    let message =
                        format!("can only assign string to {}.{word}, not '{}'", self.name_of_class(receiver), self.class_name(value));
                    return Err(self.type_error(message));
                };
                if name == nm::NAME && text.contains('\0') {
                    return Err(self.value_error("type name must not contain null characters"));
                }
                if let Payload::Class(row) = self.heap.payload_mut(receiver) {
                    let place = if name == nm::NAME { &mut row.name } else { &mut row.qualname };
                    *place = text.into();
                }
                Ok(true)
            }
            (Payload::Generator(_), nm::NAME | nm::QUALNAME) => {
                if self.text(value).is_none() {
                    let message = format!("{} must be set to a string object", self.name_text(name));
                    return Err(self.type_error(message));
                }
                self.heap.retain(value);
                let mut old = Value::Undefined;
                if let Payload::Generator(row) = self.heap.payload_mut(receiver) {
                    let place = if name == nm::NAME { &mut row.name } else { &mut row.qualname };
                    old = std::mem::replace(place, value);
                }
                self.heap.release(old);
                Ok(true)
            }
            (_, nm::CLASS) => {
                let Some(class) = value.object().filter(|&class| matches!(self.heap.payload(class), Payload::Class(_))) else {
                    let message = format!("__class__ must be set to a class, not '{}' object", self.class_name(value));
                    return Err(self.type_error(message));
                };
                let old = self.heap.slot(receiver).class;
                if class.0 < FIXED_COUNT || old.0 < FIXED_COUNT {
                    return Err(self.type_error("__class__ assignment only supported for mutable types or ModuleType subclasses"));
                }
                if self.heap.layout(class) != self.heap.layout(old) || self.fields_of(class) != self.fields_of(old) {
                    let message = format!(
                        "__class__ assignment: '{}' object layout differs from '{}'",
                        self.name_of_class(class),
                        self.name_of_class(old)
                    );
                    return Err(self.type_error(message));
                }
                self.heap.retain(value);
                self.heap.slot_mut(receiver).class = class;
                self.heap.release(Value::Obj(old));
                Ok(true)
            }
            (payload, nm::DICT) if payload.attributes().is_some() => {
                if self.heap.class_of(value) != ty::DICT {
                    let message = format!("__dict__ must be set to a dictionary, not a '{}'", self.class_name(value));
                    return Err(self.type_error(message));
                }
                let old = self.attributes_dict(receiver);
                self.store_barrier(receiver, value)?;
                self.heap.retain(value);
                if let Some(row) = self.heap.payload_mut(receiver).attributes_mut() {
                    row.dict = value.object();
                }
                self.heap.release(Value::Obj(old));
                Ok(true)
            }
            (payload, nm::MESSAGE | nm::EXCEPTIONS)
                if matches!(payload.core(), Payload::Exception(_)) && self.is_instance(object, ty::BASE_EXCEPTION_GROUP) =>
            {
                Err(self.raise(ty::ATTRIBUTE_ERROR, "readonly attribute"))
            }
            (payload, nm::ARGS | nm::CAUSE | nm::CONTEXT | nm::SUPPRESS_CONTEXT | nm::TRACEBACK)
                if matches!(payload.core(), Payload::Exception(_)) =>
            {
                let problem = match name {
                    nm::CAUSE | nm::CONTEXT if !value.is_none() && !self.is_instance(value, ty::BASE_EXCEPTION) => {
                        let which = if name == nm::CAUSE { "cause" } else { "context" };
                        format!("exception {which} must be None or derive from BaseException")
                    }
                    nm::TRACEBACK if !value.is_none() && !self.is_instance(value, ty::TRACEBACK) => {
                        "__traceback__ must be a traceback or None".to_owned()
                    }
                    nm::SUPPRESS_CONTEXT if !matches!(value, Value::Bool(_)) => "attribute value type must be bool".to_owned(),
                    _ => String::new(),
                };
                if !problem.is_empty() {
                    return Err(self.type_error(problem));
                }
                self.heap.retain(value);
                let converted = if name == nm::ARGS {
                    let items = self.sequence_snapshot(value);
                    let items = self.heap.retain_all(&items);
                    self.heap.release(value);
                    self.tuple(items)
                } else {
                    value
                };
                let truth = matches!(value, Value::Bool(true));
                let mut old = Value::Undefined;
                if let Some(row) = self.exception_row(object) {
                    match name {
                        nm::ARGS => old = std::mem::replace(&mut row.args, converted),
                        nm::CAUSE => {
                            old = std::mem::replace(&mut row.cause, converted);
                            row.suppress = true;
                        }
                        nm::CONTEXT => old = std::mem::replace(&mut row.context, converted),
                        nm::SUPPRESS_CONTEXT => row.suppress = truth,
                        _ => {
                            if converted.is_none() {
                                row.trace.clear();
                            }
                            old = std::mem::replace(&mut row.shown, converted);
                        }
                    }
                }
                self.heap.release(old);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The class and instance that `super` was made for, checked.
    pub(crate) fn make_super(&mut self, class: Value, receiver: Value) -> Outcome {
        let Some(class) = class.object().filter(|&class| matches!(self.heap.payload(class), Payload::Class(_))) else {
            let message = format!("super() argument 1 must be a type, not {}", self.class_name(class));
            return Err(self.type_error(message));
        };
        if receiver.is_none() {
            self.heap.retain(Value::Obj(class));
            self.heap.retain(Value::Obj(class));
            return Ok(self.heap.make(ty::SUPER, Payload::Super { class, receiver, start: class }));
        }
        let own = self.heap.class_of(receiver);
        let start = match receiver {
            Value::Obj(object) if matches!(self.heap.payload(object), Payload::Class(_)) && self.is_subclass(object, class) => object,
            _ if self.is_subclass(own, class) => own,
            _ => return Err(self.type_error("super(type, obj): obj must be an instance or subtype of type")),
        };
        self.heap.retain(Value::Obj(class));
        self.heap.retain(receiver);
        self.heap.retain(Value::Obj(start));
        Ok(self.heap.make(ty::SUPER, Payload::Super { class, receiver, start }))
    }

    /// Runs a class body in a namespace.
    pub(crate) fn run_class_body(&mut self, function: Value, namespace: Value) -> Throw {
        self.heap.retain(function);
        self.heap.retain(namespace);
        Throw::Call(Box::new(PendingCall { function, arguments: Vec::new(), keywords: Vec::new(), namespace, on_return: OnReturn::Store }))
    }

    /// The handle of a class argument.
    pub(crate) fn class_argument(&self, value: Value) -> Outcome<Ref> {
        value.object().ok_or(Throw::Trap(Trap::Internal))
    }
}

fn row_code(payload: &Payload) -> usize {
    match payload {
        Payload::Function(row) => row.code as usize,
        _ => 0,
    }
}

fn payload_has_dict(vm: &Vm, receiver: Ref) -> bool {
    let slot = vm.heap.slot(receiver);
    let class_has = match vm.heap.payload(slot.class) {
        Payload::Class(row) => row.has_dict,
        _ => false,
    };
    slot.payload.attributes().is_some() && (class_has || matches!(slot.payload, Payload::Function(_)))
}
