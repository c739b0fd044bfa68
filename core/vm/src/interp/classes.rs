//! Making classes: bases, order of bases, slots; `super`.

use super::{OnReturn, Vm};
use crate::costs::{CLASS_ANCESTOR, CLASS_ENTRY, CLASS_MADE, CLASS_ORDER, CLASS_SLOT};
use crate::error::{Outcome, PendingCall, Throw};
use crate::payload::Map;
use crate::payload::{Class, Payload};
use crate::types::{Layout, nm, ty};
use crate::value::{Ref, Value};

/// Most classes in the order of another one: each look-up of an attribute may go through all of them.
const MOST_ANCESTORS: usize = 32;

/// What the namespace of a class body says.
struct Body {
    /// `__slots__`
    slots: Option<Value>,
    /// The cell of `__class__`, or undefined.
    cell: Value,
    /// `__qualname__`
    qualname: Box<str>,
}

impl Vm {
    /// `type(name, bases, namespace)` without hooks: the class object, whose reference is the caller's.
    pub(crate) fn create_class(&mut self, meta: Ref, name: &str, bases: &[Ref], namespace: Ref) -> Outcome {
        self.owe(CLASS_MADE.once());
        self.owe_name(name.len());
        let bases: Vec<Ref> = if bases.is_empty() { vec![ty::OBJECT] } else { bases.to_vec() };
        if name.contains('\0') {
            return Err(self.value_error("type name must not contain null characters"));
        }
        let (layout, base_has_dict) = self.layout_of_bases(&bases)?;
        let Some(best) = self.best_base(&bases) else {
            return Err(self.type_error("multiple bases have instance lay-out conflict"));
        };
        self.check_bases(&bases, namespace)?;
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
        let made = self.class_body(name, namespace, &mut attributes).and_then(|body| {
            let Some(slots) = body.slots else { return Ok((body, true)) };
            let names = self.slot_names(name, slots)?;
            self.spend(CLASS_SLOT.of(names.len()))?;
            if !names.is_empty() && matches!(layout, Layout::Int | Layout::Bytes | Layout::Tuple | Layout::Type) {
                let base = self.heap.name_of_class(best);
                return Err(self.type_error(format!("nonempty __slots__ not supported for subtype of '{base}'")));
            }
            let has_dict = base_has_dict | self.add_slots(object, names, base_has_dict, &mut attributes)?;
            Ok((body, has_dict))
        });
        let (Body { cell: class_cell, qualname, .. }, has_dict) = match made {
            Ok(made) => made,
            Err(throw) => {
                self.give_up_class(object, attributes);
                return Err(throw);
            }
        };
        if !attributes.contains_key(&nm::DOC) {
            attributes.insert(nm::DOC, Value::None);
        }
        for &base in &bases {
            self.heap.retain(Value::Obj(base));
        }
        for &base in mro.iter().skip(1) {
            self.heap.retain(Value::Obj(base));
        }
        let is_member = |value: &Value| matches!(value, Value::Obj(member) if matches!(self.heap.payload(*member), Payload::Member { .. }));
        let solid = if attributes.values().any(is_member) { object } else { self.solid_base(best) };
        let class = Class { name: name.into(), bases, mro, attributes, layout, qualname, has_dict, heap: true, solid };
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

    /// What instances of a class with these bases hold, and whether those of a base have arbitrary attributes.
    fn layout_of_bases(&mut self, bases: &[Ref]) -> Outcome<(Layout, bool)> {
        let (mut layout, mut has_dict) = (Layout::Object, false);
        for &base in bases {
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
        Ok((layout, has_dict))
    }

    /// Refuses bases that come twice or have too many ancestors, and charges for the order of all of them and for the namespace.
    fn check_bases(&mut self, bases: &[Ref], namespace: Ref) -> Outcome<()> {
        // Each base is looked for among those before it: more than a class may have are refused at once.
        if bases.len() > MOST_ANCESTORS {
            return Err(self.too_many_ancestors());
        }
        for (index, base) in bases.iter().enumerate() {
            if bases[..index].contains(base) {
                let message = format!("duplicate base class {}", self.heap.name_of_class(*base));
                return Err(self.type_error(message));
            }
        }
        let ancestors: usize = bases.iter().map(|&base| self.ancestors(base)).sum();
        let entries = self.heap.dict_len(namespace);
        let order = CLASS_ORDER.of(ancestors.saturating_mul(bases.len()));
        self.spend(order + CLASS_ANCESTOR.of(ancestors) + CLASS_ENTRY.of(entries))?;
        if bases.iter().any(|&base| self.ancestors(base) > MOST_ANCESTORS) {
            return Err(self.too_many_ancestors());
        }
        Ok(())
    }

    fn too_many_ancestors(&mut self) -> Throw {
        self.type_error(format!("a class may have at most {MOST_ANCESTORS} others in its method resolution order"))
    }

    /// What a namespace says about the class with this name; its attributes, which get a reference of their own, are put into a map.
    fn class_body(&mut self, name: &str, namespace: Ref, attributes: &mut Map<Ref, Value>) -> Outcome<Body> {
        let mut qualname: Box<str> = name.into();
        let pairs = self.heap.dict_pairs(Value::Obj(namespace));
        let mut slots = None;
        let mut cell = Value::Undefined;
        for (key, value) in pairs {
            self.owe_name(self.heap.text(key).map_or(0, str::len));
            let Some(key) = key.object().and_then(|key| self.heap.intern_object(key)) else { continue };
            let text = self.heap.name_text(key).to_owned();
            if text == "__classcell__" {
                if !matches!(value, Value::Obj(cell) if matches!(self.heap.payload(cell), Payload::Cell(_))) {
                    let message =
                        format!("type.__new__(): __classcell__ must be a nonlocal cell, not <class '{}'>", self.heap.class_name(value));
                    return Err(self.type_error(message));
                }
                cell = value;
                continue;
            }
            if key == nm::QUALNAME {
                self.owe_name(self.heap.text(value).map_or(0, str::len));
                match self.heap.text(value) {
                    Some(text) => qualname = text.into(),
                    None => {
                        let message = format!("type __qualname__ must be a str, not {}", self.heap.class_name(value));
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
        Ok(Body { slots, cell, qualname })
    }

    /// Releases what a class that is refused would have become.
    fn give_up_class(&mut self, object: Ref, attributes: Map<Ref, Value>) {
        // Its names are interned, and stay.
        for value in attributes.into_values() {
            self.heap.release(value);
        }
        self.heap.release(Value::Obj(object));
    }

    /// Adds the members that slots are; whether `__dict__` is among the slots.
    fn add_slots(&mut self, object: Ref, names: Vec<Ref>, base_has_dict: bool, attributes: &mut Map<Ref, Value>) -> Outcome<bool> {
        let (mut listed, mut weak) = (false, false);
        for slot in names {
            if slot == nm::DICT {
                if base_has_dict || std::mem::replace(&mut listed, true) {
                    return Err(self.type_error("__dict__ slot disallowed: we already got one"));
                }
            } else if slot == nm::WEAKREF {
                // Accepted, and good for nothing: there are no weak references.
                if base_has_dict || std::mem::replace(&mut weak, true) {
                    let message = "__weakref__ slot disallowed: either we already got one, or __itemsize__ != 0";
                    return Err(self.type_error(message));
                }
            } else if self.is_slot_of(object, attributes.get(&slot)) {
                // Listed twice.
            } else if attributes.contains_key(&slot) {
                let message = format!("'{}' in __slots__ conflicts with class variable", self.heap.name_text(slot));
                return Err(self.value_error(message));
            } else {
                self.heap.retain(Value::Obj(slot));
                let member = self.heap.make(ty::MEMBER, Payload::Member { name: slot, class: object, read_only: false });
                attributes.insert(slot, member);
            }
        }
        Ok(listed)
    }

    /// Whether an attribute is a slot that the class itself has.
    fn is_slot_of(&self, owner: Ref, attribute: Option<&Value>) -> bool {
        let Some(&Value::Obj(attribute)) = attribute else { return false };
        matches!(self.heap.payload(attribute), Payload::Member { class, .. } if *class == owner)
    }

    /// The names that `__slots__` lists, private ones as the class spells them.
    fn slot_names(&mut self, class: &str, slots: Value) -> Outcome<Vec<Ref>> {
        let listed = if self.heap.text(slots).is_some() { vec![slots] } else { self.heap.sequence_snapshot(slots) };
        if listed.is_empty() && self.heap.text(slots).is_none() && !self.is_listing(slots) {
            return Err(self.not_iterable(slots));
        }
        let mut names = Vec::new();
        for item in listed {
            let Some(text) = self.heap.text(item).map(str::to_owned) else {
                let message = format!("__slots__ items must be strings, not '{}'", self.heap.class_name(item));
                return Err(self.type_error(message));
            };
            if !cowboy_unicode::is_identifier(&text) {
                return Err(self.type_error("__slots__ must be identifiers"));
            }
            let owner = class.trim_start_matches('_');
            let private = text.starts_with("__") && !text.ends_with("__") && !owner.is_empty();
            names.push(if private { self.heap.intern(&format!("_{owner}{text}")) } else { self.heap.intern(&text) });
        }
        Ok(names)
    }

    pub(super) fn is_listing(&self, value: Value) -> bool {
        value.object().is_some_and(|object| {
            matches!(
                self.heap.payload(object).core(),
                Payload::Tuple(_) | Payload::List(_) | Payload::Dict(_) | Payload::Set(_) | Payload::Iterator(_) | Payload::DictView { .. }
            )
        })
    }

    /// The class in the line of bases that adds to what instances hold: a builtin one, or one with slots.
    fn solid_base(&self, class: Ref) -> Ref {
        let mut class = class;
        while let Payload::Class(row) = self.heap.payload(class) {
            match row.bases.first() {
                // Found out when it was made: a search through the bases of the bases would take as long as there are ways up.
                _ if row.heap => return row.solid,
                Some(&base) if row.layout == self.heap.layout(base) => class = base,
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
            if self.heap.is_subclass(solid, other) {
                continue;
            }
            if !self.heap.is_subclass(other, solid) {
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
        heads.into_iter().map(|class| self.heap.name_of_class(class)).collect()
    }

    /// How many classes an attribute of a class is looked for in.
    fn ancestors(&self, class: Ref) -> usize {
        match self.heap.payload(class) {
            Payload::Class(row) => row.mro.len(),
            _ => 0,
        }
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

    pub(super) fn text_value(&mut self, text: &str) -> Value {
        self.heap.str(text)
    }

    pub(super) fn refs_tuple(&mut self, items: &[Ref]) -> Value {
        let values: Vec<Value> = items.iter().map(|&item| Value::Obj(item)).collect();
        let values = self.heap.retain_all(&values);
        self.heap.tuple(values)
    }

    /// Runs a class body in a namespace.
    pub(crate) fn run_class_body(&mut self, function: Value, namespace: Value) -> Throw {
        self.heap.retain(function);
        self.heap.retain(namespace);
        Throw::Call(Box::new(PendingCall { function, arguments: Vec::new(), keywords: Vec::new(), namespace, on_return: OnReturn::Store }))
    }
}
