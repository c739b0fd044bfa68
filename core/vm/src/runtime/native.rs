//! What a native function is: a row with signature and cost. The rows live beside the types and modules they belong to, above the
//! interpreter; a run is given the table of all of them.

use super::Vm;
use crate::costs::Priced;
use crate::error::Outcome;
use crate::runtime::draining::Draining;
use crate::types::TYPES;
use crate::value::{Ref, Value};

/// Nanoseconds of weight of a call of a native function, beside those of its cycles: its arguments and its result (decision 363).
const CALL_WEIGHT: u32 = 200;
/// The same for those that are called without binding arguments: see [`Role`].
const QUICK_CALL_WEIGHT: u32 = 100;

/// Most parameters that are passed without allocating.
pub(crate) const NATIVE_PARAMETERS: usize = 8;

/// A function written in Rust. Its arguments are borrowed; its result is owned by the caller.
pub(crate) type NativeFunction = fn(&mut Vm, &[Value]) -> Outcome;

/// How a native function behaves as attribute of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NativeKind {
    /// Binds its instance.
    Method,
    /// Binds its class.
    ClassMethod,
    /// Binds nothing.
    Static,
    /// A function of a module.
    Function,
}

/// A row: `owner.name`, signature, cycles, weight, function, and the helper written in Python that takes over when the arguments
/// need Python code to run (empty when there is none).
pub(crate) struct NativeRow(pub NativeKind, pub &'static str, pub &'static str, pub u32, pub NativeFunction, pub &'static str);

/// What a native function does when its class is called, or which of the most frequent ones it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing of this.
    None,
    /// `object.__new__`
    ObjectNew,
    /// `object.__init__`
    ObjectInit,
    /// `object.__lt__` and the like, which compare nothing
    ObjectOrder,
    /// `__new__` of a container that `__init__` fills.
    ContainerNew,
    /// `BaseException.__new__`
    ExceptionNew,
    /// `BaseException.__init__`
    ExceptionInit,
    /// `len`
    Length,
    /// `list.append`
    Append,
    /// `dict.get`
    Get,
}

impl Role {
    fn of(name: &str) -> Self {
        match name {
            "object.__new__" => Role::ObjectNew,
            "object.__init__" => Role::ObjectInit,
            "object.__lt__" | "object.__le__" | "object.__gt__" | "object.__ge__" => Role::ObjectOrder,
            "list.__new__" | "dict.__new__" | "set.__new__" | "bytearray.__new__" => Role::ContainerNew,
            "BaseException.__new__" => Role::ExceptionNew,
            "BaseException.__init__" => Role::ExceptionInit,
            "len" => Role::Length,
            "list.append" => Role::Append,
            "dict.get" => Role::Get,
            _ => Role::None,
        }
    }
}

/// Parameters of a native function.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Names, by position.
    pub names: Vec<&'static str>,
    /// How many must be given.
    pub required: usize,
    /// How many may be given by position.
    pub positional: usize,
    /// How many may only be given by position.
    pub positional_only: usize,
    /// Whether further positional arguments are taken.
    pub var_positional: bool,
    /// Whether further keywords are taken.
    pub var_keyword: bool,
    /// Whether plain positional calls need no binding.
    pub simple: bool,
}

impl Signature {
    /// How many values `count` positional arguments become, where they need no binding: one for each parameter, then those that are left.
    #[inline]
    pub(crate) fn spread(&self, count: usize) -> Option<usize> {
        let width = self.names.len() + count.saturating_sub(self.positional);
        let fits = self.var_positional && !self.var_keyword && count >= self.required && width <= NATIVE_PARAMETERS;
        fits.then_some(width)
    }
}

/// What the first argument of a native function has to be, before the function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// Anything: the function looks for itself.
    Any,
    /// An instance of this type: the receiver of a method.
    Instance(Ref),
    /// This type or a class below it: what a `__new__` makes instances of.
    Class(Ref),
}

impl First {
    fn of(kind: NativeKind, name: &str) -> Self {
        let Some((owner, method)) = name.rsplit_once('.') else { return First::Any };
        let Some(owner) = TYPES.iter().position(|row| row.name == owner).map(Ref::fixed) else { return First::Any };
        match kind {
            NativeKind::Method => First::Instance(owner),
            NativeKind::Static if method == "__new__" => First::Class(owner),
            _ => First::Any,
        }
    }
}

/// Methods of builtin types with the name of a special method that CPython counts among the other methods: their errors have other words.
const PLAIN_METHODS: &[&str] = &[
    "__bytes__",
    "__ceil__",
    "__class_getitem__",
    "__complex__",
    "__contains__",
    "__dir__",
    "__enter__",
    "__exit__",
    "__floor__",
    "__format__",
    "__getitem__",
    "__getnewargs__",
    "__init_subclass__",
    "__instancecheck__",
    "__prepare__",
    "__reduce__",
    "__reversed__",
    "__round__",
    "__sizeof__",
    "__subclasscheck__",
    "__subclasshook__",
    "__trunc__",
];

/// A row with its signature parsed.
#[derive(Debug)]
pub(crate) struct Native {
    /// How it binds.
    pub kind: NativeKind,
    /// `owner.name`, or the name alone for builtin functions.
    pub name: &'static str,
    /// The type or module that it belongs to; empty for a builtin function.
    pub owner: &'static str,
    /// The name without its owner.
    pub short: &'static str,
    /// Cycles charged before it runs, beside the 10 of the call.
    pub cycles: u32,
    /// Weight in nanoseconds.
    pub weight: u32,
    /// The function.
    pub function: NativeFunction,
    /// Its parameters.
    pub signature: Signature,
    /// The helper's name.
    pub helper: &'static str,
    /// What it does when its class is called.
    pub role: Role,
    /// What its first argument has to be.
    pub first: First,
    /// How it takes all items of its second argument, if it does.
    pub draining: Option<&'static Draining>,
}

impl Priced for Native {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    fn weight(&self) -> u32 {
        self.weight
    }
}

impl Native {
    /// The row with what follows from it.
    pub(crate) fn from_row(row: &NativeRow) -> Self {
        let NativeRow(kind, name, signature, cycles, function, helper) = row;
        let role = Role::of(name);
        let call = if matches!(role, Role::Length | Role::Append | Role::Get) { QUICK_CALL_WEIGHT } else { CALL_WEIGHT };
        let weight = call + cycles * 4;
        let first = First::of(*kind, name);
        let (signature, draining) = (parse(signature), crate::runtime::draining::draining(name));
        let (owner, short) = name.rsplit_once('.').unwrap_or(("", name));
        Self { kind: *kind, name, owner, short, cycles: *cycles, weight, function: *function, signature, helper, role, first, draining }
    }

    /// Whether it is one of the methods that CPython calls slots: `list.__len__`, but not `list.append`.
    pub(crate) fn is_slot(&self) -> bool {
        let (owner, name) = (self.owner, self.short);
        // `__getitem__` and `__contains__` are methods of lists, dicts and sets, and slots of all others.
        let is_method = match name {
            "__getitem__" => matches!(owner, "list" | "dict"),
            "__contains__" => matches!(owner, "dict" | "set" | "frozenset"),
            _ => PLAIN_METHODS.contains(&name),
        };
        name.starts_with("__") && name.ends_with("__") && !is_method
    }
}

fn parse(signature: &'static str) -> Signature {
    let mut parsed = Signature {
        names: Vec::new(),
        required: 0,
        positional: 0,
        positional_only: 0,
        var_positional: false,
        var_keyword: false,
        simple: true,
    };
    let mut keyword_only = false;
    for part in signature.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if part == "/" {
            parsed.positional_only = parsed.names.len();
        } else if part == "*" {
            keyword_only = true;
        } else if part.starts_with("**") {
            parsed.var_keyword = true;
        } else if part.starts_with('*') {
            parsed.var_positional = true;
            keyword_only = true;
        } else {
            let name = part.trim_end_matches('=');
            parsed.names.push(name);
            if !keyword_only {
                parsed.positional += 1;
                if name == part {
                    parsed.required += 1;
                }
            }
        }
    }
    parsed.simple = !parsed.var_positional && !parsed.var_keyword && parsed.names.len() <= NATIVE_PARAMETERS;
    parsed
}

impl Vm {
    /// A native function by number.
    #[inline]
    pub(crate) fn native(&self, row: u16) -> &'static Native {
        &self.natives[usize::from(row)]
    }
}
