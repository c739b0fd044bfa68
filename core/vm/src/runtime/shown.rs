//! The repr of objects that hold others or have a name.

use super::Vm;
use crate::costs::{CLASS_DICT_SHOWN, SHOWN_INSIDE};
use crate::error::Outcome;
use crate::payload::{DictPart, Payload};
use crate::runtime::native::NativeKind;
use crate::types::ty;
use crate::value::{Ref, Value};

impl Vm {
    /// The repr of what holds other objects.
    pub(crate) fn write_container(&mut self, out: &mut String, object: Ref) -> Outcome<()> {
        let class = self.heap.slot(object).class;
        match self.heap.payload(object).core() {
            Payload::List(_) => self.write_items(out, object, object, "[", "]")?,
            Payload::Tuple(items) => {
                let close = if items.len() == 1 { ",)" } else { ")" };
                self.write_items(out, object, object, "(", close)?;
            }
            Payload::Dict(_) => self.write_dict(out, object)?,
            Payload::Set(dict) => {
                let is_empty = dict.len() == 0;
                let name = self.full_name(class);
                let frozen = class != ty::SET;
                if is_empty {
                    out.push_str(&name);
                    out.push_str("()");
                } else if frozen {
                    out.push_str(&name);
                    self.write_items(out, object, object, "({", "})")?;
                } else {
                    self.write_items(out, object, object, "{", "}")?;
                }
            }
            Payload::Slice(_) => self.write_items(out, object, object, "slice(", ")")?,
            Payload::Exception(row) => {
                let args = row.args;
                let name = self.full_name(class);
                out.push_str(&name);
                self.write_items(out, object, args.object().unwrap_or(object), "(", ")")?;
            }
            Payload::DictView { dict, part } => {
                let (dict, part) = (*dict, *part);
                self.write_dict_view(out, dict, part)?;
            }
            Payload::MappingProxy(inner) => {
                let inner = *inner;
                out.push_str("mappingproxy(");
                match inner {
                    Value::Obj(class) if matches!(self.heap.payload(class), Payload::Class(_)) => self.write_class_dict(out, class)?,
                    inner => self.write_repr(out, inner)?,
                }
                out.push(')');
            }
            Payload::GenericAlias { origin, arguments, starred } => {
                let (origin, arguments, starred) = (*origin, *arguments, *starred);
                self.write_alias(out, origin, arguments, starred)?;
            }
            Payload::Union(arguments) => {
                let arguments = *arguments;
                self.write_types(out, arguments, " | ")?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The item of a container at a place, or behind it where an entry was deleted, with its value in a dict, and the place after it.
    /// Nothing is copied: a repr that is left to Python soon would have copied all of it.
    fn next_shown(&self, holder: Ref, at: usize) -> Option<(Value, Value, usize)> {
        let item = match self.heap.payload(holder).core() {
            Payload::List(list) => list.items.get(at),
            Payload::Tuple(items) => items.get(at),
            Payload::Slice(parts) => parts.get(at),
            Payload::Dict(table) | Payload::Set(table) => {
                return table.live_from(at).map(|(position, entry)| (entry.key, entry.value, position + 1));
            }
            _ => None,
        };
        item.map(|&item| (item, Value::None, at + 1))
    }

    /// The items that `holder` has, as those of `object`.
    fn write_items(&mut self, out: &mut String, object: Ref, holder: Ref, open: &str, close: &str) -> Outcome<()> {
        if self.in_repr.contains(&object) {
            out.push_str(open);
            out.push_str("...");
            out.push_str(close);
            return Ok(());
        }
        // Each look for an object goes through those around it.
        self.spend(SHOWN_INSIDE.of(self.in_repr.len()))?;
        self.in_repr.push(object);
        out.push_str(open);
        let (mut outcome, mut at) = (Ok(()), 0);
        while let Some((item, _, next)) = self.next_shown(holder, at) {
            if at > 0 {
                out.push_str(", ");
            }
            at = next;
            outcome = self.write_repr(out, item);
            if outcome.is_err() {
                break;
            }
        }
        self.in_repr.pop();
        out.push_str(close);
        outcome
    }

    fn write_dict(&mut self, out: &mut String, object: Ref) -> Outcome<()> {
        if self.in_repr.contains(&object) {
            out.push_str("{...}");
            return Ok(());
        }
        self.in_repr.push(object);
        out.push('{');
        let (mut outcome, mut at) = (Ok(()), 0);
        while let Some((key, item, next)) = self.next_shown(object, at) {
            if at > 0 {
                out.push_str(", ");
            }
            at = next;
            outcome = self.write_repr(out, key);
            if outcome.is_ok() {
                out.push_str(": ");
                outcome = self.write_repr(out, item);
            }
            if outcome.is_err() {
                break;
            }
        }
        self.in_repr.pop();
        outcome?;
        out.push('}');
        Ok(())
    }

    fn write_dict_view(&mut self, out: &mut String, dict: Value, part: DictPart) -> Outcome<()> {
        let Value::Obj(dict) = dict else { return Ok(()) };
        out.push_str(match part {
            DictPart::Keys => "dict_keys",
            DictPart::Values => "dict_values",
            DictPart::Items => "dict_items",
        });
        out.push_str("([");
        let mut at = 0;
        while let Some((key, item, next)) = self.next_shown(dict, at) {
            if at > 0 {
                out.push_str(", ");
            }
            at = next;
            match part {
                DictPart::Keys => self.write_repr(out, key)?,
                DictPart::Values => self.write_repr(out, item)?,
                DictPart::Items => {
                    out.push('(');
                    self.write_repr(out, key)?;
                    out.push_str(", ");
                    self.write_repr(out, item)?;
                    out.push(')');
                }
            }
        }
        out.push_str("])");
        Ok(())
    }

    /// The types in a tuple.
    fn write_types(&mut self, out: &mut String, types: Value, between: &str) -> Outcome<()> {
        let mut at = 0;
        while let Some((item, _, next)) = types.object().and_then(|types| self.next_shown(types, at)) {
            if at > 0 {
                out.push_str(between);
            }
            at = next;
            self.write_type(out, item)?;
            // A class is written by its name, which may be long and stand there often.
            self.may_grow_on(out)?;
        }
        Ok(())
    }

    fn write_alias(&mut self, out: &mut String, origin: Value, arguments: Value, starred: bool) -> Outcome<()> {
        if starred {
            out.push('*');
        }
        self.write_type(out, origin)?;
        out.push('[');
        if self.heap.tuple_ref(arguments).is_empty() {
            out.push_str("()");
        }
        self.write_types(out, arguments, ", ")?;
        out.push(']');
        Ok(())
    }

    /// The attributes of a class as a dict would show them.
    fn write_class_dict(&mut self, out: &mut String, class: Ref) -> Outcome<()> {
        let pairs: Vec<(Ref, Value)> = match self.heap.payload(class) {
            Payload::Class(row) => row.attributes.iter().map(|(&name, &value)| (name, value)).collect(),
            _ => Vec::new(),
        };
        self.spend(CLASS_DICT_SHOWN.of(pairs.len()))?;
        out.push('{');
        for (index, (name, value)) in pairs.into_iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            self.write_repr(out, Value::Obj(name))?;
            out.push_str(": ");
            self.write_repr(out, value)?;
        }
        out.push('}');
        Ok(())
    }

    fn write_type(&mut self, out: &mut String, value: Value) -> Outcome<()> {
        match value {
            Value::Obj(ty::NONE) => {
                out.push_str("None");
                Ok(())
            }
            Value::Obj(object) if matches!(self.heap.payload(object), Payload::Class(_)) => {
                let name = self.qualified_name(object);
                out.push_str(&name);
                Ok(())
            }
            Value::Ellipsis => {
                out.push_str("...");
                Ok(())
            }
            value => self.write_repr(out, value),
        }
    }

    /// The repr of what is called or has a name: functions, methods, classes, modules, generators.
    pub(crate) fn write_named(&mut self, out: &mut String, object: Ref) -> Outcome<()> {
        match self.heap.payload(object).core() {
            Payload::Function(row) => {
                let name = row.qualname;
                let name = self.shown_text(name);
                out.push_str(&format!("<function {name} at {:#x}>", object.0));
            }
            Payload::Native(row) => {
                let native = self.native(*row);
                let text = if native.kind == NativeKind::Function {
                    format!("<built-in function {}>", native.short)
                } else {
                    let owner = native.name.split('.').next().unwrap_or_default();
                    format!("<method '{}' of '{owner}' objects>", native.short)
                };
                out.push_str(&text);
            }
            Payload::BoundMethod { function, receiver } => {
                let (function, receiver) = (*function, *receiver);
                self.write_bound_method(out, object, function, receiver)?;
            }
            Payload::Class(_) => {
                let name = self.qualified_name(object);
                out.push_str(&format!("<class '{name}'>"));
            }
            Payload::Module { name, .. } => {
                let name = *name;
                let name = self.shown_text(name);
                out.push_str(&format!("<module '{name}'>"));
            }
            Payload::Generator(row) => {
                let name = row.qualname;
                self.write_generator(out, object, name);
            }
            Payload::Super { class, receiver, .. } => {
                let (class, receiver) = (*class, *receiver);
                let receiver = if receiver.is_none() { "NULL".to_owned() } else { format!("<{} object>", self.heap.class_name(receiver)) };
                out.push_str(&format!("<super: <class '{}'>, {receiver}>", self.heap.name_of_class(class)));
            }
            _ => {}
        }
        Ok(())
    }

    /// A text that is a name.
    pub(crate) fn shown_text(&mut self, name: Value) -> String {
        self.owe_name(self.heap.text(name).map_or(0, str::len));
        self.heap.text(name).unwrap_or("?").to_owned()
    }

    fn write_bound_method(&mut self, out: &mut String, object: Ref, function: Value, receiver: Value) -> Outcome<()> {
        let name = match self.heap.payload(function.object().unwrap_or(object)) {
            Payload::Function(row) => {
                let name = row.qualname;
                self.shown_text(name)
            }
            Payload::Native(row) => {
                let (name, class) = (self.native(*row).short, self.heap.class_name(receiver));
                out.push_str(&format!("<built-in method {name} of {class} object at {:#x}>", object.0));
                return Ok(());
            }
            _ => "?".to_owned(),
        };
        out.push_str(&format!("<bound method {name} of "));
        self.write_repr(out, receiver)?;
        out.push('>');
        Ok(())
    }

    fn write_generator(&mut self, out: &mut String, object: Ref, qualname: Value) {
        let class = self.heap.slot(object).class;
        let name = self.shown_text(qualname);
        let word = match class {
            ty::COROUTINE => "coroutine",
            ty::ASYNC_GENERATOR => "async_generator",
            ty::GENERATOR => "generator",
            // Builtin iterators that run on a generator of ours.
            _ => {
                let name = self.qualified_name(class);
                out.push_str(&format!("<{name} object at {:#x}>", object.0));
                return;
            }
        };
        out.push_str(&format!("<{word} object {name} at {:#x}>", object.0));
    }
}
