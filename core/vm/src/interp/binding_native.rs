//! Arguments become the parameters of builtin functions. What does not fit is refused in the words and in the order of CPython.

use super::Vm;
use crate::error::Outcome;
use crate::runtime::native::{Native, NativeKind};
use crate::types::{FIXED_COUNT, nm};
use crate::value::{Ref, Value};

/// The slots of all types that name nothing in messages about the number of their arguments: CPython unpacks a tuple there.
const UNNAMED: &[&str] = &["__setitem__", "__setattr__", "__pow__", "__rpow__", "__ipow__", "__get__", "__set__"];
/// The same of sequences only.
const UNNAMED_OF_SEQUENCES: &[&str] = &["__mul__", "__rmul__", "__imul__"];

/// The methods of text and bytes whose number of arguments CPython calls otherwise.
const PARSED: &[&str] = &["count", "find", "index", "rfind", "rindex", "startswith", "endswith"];
/// The same of deques.
const PARSED_OF_DEQUES: &[&str] = &["insert", "index"];

/// Classes with one object each, which take no arguments, as our types and CPython's messages name them.
const SINGLETONS: &[(&str, &str)] = &[("NoneType", "NoneType"), ("NotImplementedType", "NotImplementedType"), ("ellipsis", "EllipsisType")];

/// How a builtin function takes its arguments, which decides what CPython says about a wrong number of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taking {
    /// A slot of a type: by position.
    Slot,
    /// All by position.
    Positions,
    /// At least one that has a name.
    Names,
    /// Any number.
    Any,
}

/// A builtin function as messages show it.
pub(super) struct Shown {
    taking: Taking,
    /// Its name alone, or that of the class that it makes.
    name: &'static str,
    /// The same, with the type or module.
    full: &'static str,
    /// How many parameters the caller does not see.
    hidden: usize,
    is_constructor: bool,
    /// Whether messages about a number of arguments call it "function": CPython's `decimal` gives its functions no names there.
    is_unnamed: bool,
}

impl Shown {
    pub(super) fn of(native: &Native) -> Self {
        let signature = &native.signature;
        let is_constructor = matches!(native.short, "__new__" | "__init__");
        let hidden = usize::from(native.kind != NativeKind::Function && (is_constructor || native.kind != NativeKind::Static));
        let has_names = signature.names.len() > signature.positional_only.max(hidden);
        let taking = match () {
            () if signature.var_positional || signature.var_keyword => Taking::Any,
            // `sorted` takes one argument, and leaves its keywords to `list.sort`.
            () if has_names && native.name != "sorted" => Taking::Names,
            () if native.is_slot() && !is_constructor && native.kind == NativeKind::Method => Taking::Slot,
            () => Taking::Positions,
        };
        let (name, full) = match native.name {
            "super.__new__" => ("super()", native.owner),
            // Old functions leave their modules out.
            "math.log" | "_functools.reduce" => (native.short, native.short),
            "deque.rotate" => (native.name, native.name),
            _ if is_constructor => (native.owner, native.owner),
            _ => (native.short, native.name),
        };
        let has_several = taking == Taking::Names || signature.names.len() > hidden + 1;
        let is_unnamed = matches!(native.owner, "Decimal" | "Context") && has_several;
        Self { taking, name, full, hidden, is_constructor, is_unnamed }
    }

    /// What was called, in messages about a number of arguments.
    fn called(&self) -> String {
        if self.is_unnamed { "function".to_owned() } else { format!("{}()", self.name) }
    }

    /// What is wrong with a call with `given` positional arguments, of which the receiver is one, and keywords of these names; `None` where
    /// nothing is.
    pub(super) fn refusal(&self, native: &Native, given: usize, keywords: &[&str]) -> Option<String> {
        let signature = &native.signature;
        let miscounted =
            if native.name == "enumerate.__new__" { miscounted_enumerate(given.saturating_sub(self.hidden), keywords) } else { None };
        if let Some(message) = miscounted.or_else(|| self.miscounted(native, given, keywords.len())) {
            return Some(message);
        }
        let mut bound: Vec<bool> = (0..signature.names.len()).map(|index| index < given.min(signature.positional)).collect();
        let mut problem = None;
        for text in keywords {
            match signature.names.iter().position(|parameter| parameter == text) {
                Some(index) if index >= signature.positional_only && !bound[index] => bound[index] = true,
                _ if signature.var_keyword => {}
                known => problem = problem.or_else(|| Some(self.wrong_keyword(native, text, known))),
            }
        }
        let missing = bound[..signature.required].iter().position(|is_bound| !is_bound);
        missing
            .map(|index| {
                format!("{} missing required argument '{}' (pos {})", self.called(), signature.names[index], index + 1 - self.hidden)
            })
            .or(problem)
    }

    /// What is wrong with the number of arguments, of which the receiver is one, and of keywords beside them.
    fn miscounted(&self, native: &Native, given: usize, keywords: usize) -> Option<String> {
        let signature = &native.signature;
        let given = given.saturating_sub(self.hidden);
        let fewest = signature.required.saturating_sub(self.hidden);
        let most = signature.positional.saturating_sub(self.hidden);
        let fits = (fewest..=most).contains(&given);
        let named = signature.names.len() - signature.positional_only.max(self.hidden).min(signature.names.len());
        if let Some((_, name)) = SINGLETONS.iter().find(|row| row.0 == native.owner && self.is_constructor && given + keywords > 0) {
            return Some(format!("{name} takes no arguments"));
        }
        match self.taking {
            Taking::Names => return self.miscounted_names(native, given, keywords),
            Taking::Slot if keywords > 0 => return Some(format!("wrapper {}() takes no keyword arguments", native.short)),
            Taking::Positions if keywords > 0 && native.name != "sorted" => {
                return Some(format!("{}() takes no keyword arguments", self.full));
            }
            Taking::Any if keywords > 0 && !signature.var_keyword && signature.names.len() == signature.positional_only => {
                return Some(format!("{}() takes no keyword arguments", self.full));
            }
            // `print` counts no keywords.
            Taking::Any if keywords > named && !signature.var_keyword && native.name != "print" => {
                return Some(format!("{}() takes at most {named} keyword argument{} ({keywords} given)", self.full, plural(named)));
            }
            _ if fits => return None,
            Taking::Any if given >= fewest && signature.var_positional => return None,
            _ => {}
        }
        let (name, full) = (self.name, self.full);
        let is_sequence = !matches!(native.owner, "int" | "bool" | "float" | "complex");
        // Of these two, further arguments are for the `__init__` of a class below.
        let is_exact = fewest == most && (self.taking != Taking::Any || matches!(native.owner, "staticmethod" | "classmethod"));
        let bound = match () {
            () if is_exact => "",
            () if given < fewest => "at least ",
            () => "at most ",
        };
        let count = if given < fewest { fewest } else { most };
        let expected = format!("expected {bound}{count} argument{}, got {given}", plural(count));
        Some(match self.taking {
            _ if matches!(native.name, "_struct.pack" | "_struct.pack_into") => "missing format argument".to_owned(),
            _ if native.name == "math.log" => format!("{} requires {fewest} to {most} arguments", native.name),
            Taking::Slot if UNNAMED.contains(&name) || is_sequence && UNNAMED_OF_SEQUENCES.contains(&name) => format!(" {expected}"),
            Taking::Slot => expected,
            _ if signature.names.len() == self.hidden && !signature.var_positional => {
                format!("{full}() takes no arguments ({given} given)")
            }
            Taking::Positions if fewest == 1 && most == 1 && !self.is_constructor && native.name != "sorted" => {
                format!("{full}() takes exactly one argument ({given} given)")
            }
            _ if self.is_unnamed => {
                let bound = if is_exact { "exactly " } else { bound };
                format!("function takes {bound}{count} argument{} ({given} given)", plural(count))
            }
            _ if name.starts_with("Unicode") && self.is_constructor => format!("function takes exactly {most} arguments ({given} given)"),
            _ if matches!(native.owner, "str" | "bytes" | "bytearray") && PARSED.contains(&name)
                || native.owner == "deque" && PARSED_OF_DEQUES.contains(&name) =>
            {
                let bound = if is_exact { "exactly " } else { bound };
                format!("{name}() takes {bound}{count} argument{} ({given} given)", plural(count))
            }
            _ => format!("{name} {expected}"),
        })
    }

    /// The same of a function whose parameters have names.
    fn miscounted_names(&self, native: &Native, given: usize, keywords: usize) -> Option<String> {
        let (signature, name) = (&native.signature, self.called());
        let [all, most, fewest, unnamed] =
            [signature.names.len(), signature.positional, signature.required, signature.positional_only.min(signature.required)]
                .map(|count| count.saturating_sub(self.hidden));
        let bound = |is_exact: bool, word: &'static str| if is_exact { "exactly" } else { word };
        if given + keywords > all {
            let sort = if given == 0 { "keyword " } else { "" };
            return Some(format!("{name} takes at most {all} {sort}argument{} ({} given)", plural(all), given + keywords));
        }
        if given > most && most == 0 {
            return Some(format!("{name} takes no positional arguments"));
        }
        let (bound, count) = match () {
            () if given > most => (bound(fewest == most, "at most"), most),
            () if given < unnamed => (bound(unnamed == most, "at least"), unnamed),
            () => return None,
        };
        Some(format!("{name} takes {bound} {count} positional argument{} ({given} given)", plural(count)))
    }

    /// What is wrong with a keyword: `known` is the number of the parameter that has its name.
    fn wrong_keyword(&self, native: &Native, text: &str, known: Option<usize>) -> String {
        let name = if native.name == "sorted" { "sort()".to_owned() } else { self.called() };
        match known.filter(|&index| index >= native.signature.positional_only) {
            Some(index) => format!("argument for {name} given by name ('{text}') and position ({})", index + 1 - self.hidden),
            None if self.is_unnamed => format!("'{text}' is an invalid keyword argument for this function"),
            None => format!("'{text}' is an invalid keyword argument for {name}"),
        }
    }
}

/// What `enumerate` says about keywords, which it looks at by itself, and where it gets nothing to go through.
fn miscounted_enumerate(given: usize, keywords: &[&str]) -> Option<String> {
    let expected: &[&str] = match (given, keywords.len()) {
        (0, 0 | 3..) => return Some("enumerate() missing required argument 'iterable'".to_owned()),
        (0, 1) => &["iterable"],
        (0, _) => &["iterable", "start"],
        (1, 1) => &["start"],
        _ => return None,
    };
    let wrong = keywords.iter().find(|name| !expected.contains(name))?;
    Some(format!("'{wrong}' is an invalid keyword argument for enumerate()"))
}

/// What a method or `__new__` says where it is called with no argument at all.
pub(super) fn without_receiver(native: &Native) -> String {
    let Native { name, short, owner, .. } = native;
    match () {
        () if *short == "__new__" => format!("{name}(): not enough arguments"),
        () if native.is_slot() => format!("descriptor '{short}' of '{owner}' object needs an argument"),
        () => format!("unbound method {name}() needs an argument"),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl Vm {
    /// Binds the arguments of a builtin function: one value per parameter, then the extra positional ones. Not retained,
    /// but for the dict of extra keywords.
    pub(super) fn bind_native(&mut self, row: u16, at: usize, count: usize, names: Option<Ref>) -> Outcome<(Vec<Value>, Option<Value>)> {
        let native = self.native(row);
        let signature = &native.signature;
        let names: Vec<Value> = match names {
            Some(names) => self.heap.tuple_items(Value::Obj(names)),
            None => Vec::new(),
        };
        let given = count - names.len();
        let shown = Shown::of(native);
        self.check_given_first(native, &shown, self.registers[at..at + given].first().copied())?;
        let is_ignored = shown.is_constructor && !names.is_empty() && self.ignores_keywords(native, self.registers[at]);
        // These two miss their arguments before they look at keywords.
        let is_ignored = is_ignored || given == 0 && matches!(native.name, "max" | "min");
        let names = if is_ignored { Vec::new() } else { names };
        let texts: Vec<&str> = names.iter().map(|&name| self.heap.text(name).unwrap_or_default()).collect();
        if let Some(message) = shown.refusal(native, given, &texts) {
            return Err(self.type_error(message));
        }
        let mut bound = vec![Value::Undefined; signature.names.len()];
        let mut extra = Vec::new();
        for (index, &value) in self.registers[at..at + given].iter().enumerate() {
            match bound.get_mut(index).filter(|_| index < signature.positional) {
                Some(parameter) => *parameter = value,
                None => extra.push(value),
            }
        }
        let mut others = Vec::new();
        for (offset, &name) in names.iter().enumerate() {
            let value = self.registers[at + given + offset];
            let text = self.heap.text(name).unwrap_or_default();
            match signature.names.iter().position(|parameter| *parameter == text) {
                Some(index) if index >= signature.positional_only && bound[index].is_undefined() => bound[index] = value,
                _ => others.push((name, value)),
            }
        }
        let mut dict = None;
        if signature.var_keyword {
            let keywords = self.heap.new_dict();
            for (name, value) in others {
                let key = self.heap.retain(name);
                self.heap.retain(value);
                self.dict_insert_text(keywords, key, value);
            }
            bound.push(Value::Obj(keywords));
            dict = Some(Value::Obj(keywords));
        }
        bound.extend(extra);
        Ok((bound, dict))
    }

    /// A receiver, or the class to make an instance of, is missed and looked at before all other arguments.
    fn check_given_first(&mut self, native: &Native, shown: &Shown, first: Option<Value>) -> Outcome<()> {
        if first.is_some() || shown.hidden == 0 {
            return self.check_first(native, first);
        }
        Err(self.type_error(without_receiver(native)))
    }

    /// Whether a constructor leaves keywords that it does not know to its partner: a class with an `__init__` of its own may take keywords
    /// that its builtin `__new__` does not know, and the other way round.
    fn ignores_keywords(&mut self, native: &Native, first: Value) -> bool {
        if native.signature.names.len() != native.signature.positional_only {
            return false;
        }
        let (class, partner) = match (first, native.short) {
            (Value::Obj(class), "__new__") => (class, nm::INIT),
            (instance, _) => (self.heap.class_of(instance), nm::NEW),
        };
        class.0 >= FIXED_COUNT && self.lookup(class, partner).is_some_and(|partner| self.heap.native_row(partner).is_none())
    }
}
