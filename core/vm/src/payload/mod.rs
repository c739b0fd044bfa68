//! What objects are made of: one variant per builtin type, its modelled size and its references.

mod contents;
pub(crate) mod dict;
mod map;
mod slot;
mod view;

pub(crate) use contents::{
    Attributes, Class, DictPart, Exception, Function, Generator, GeneratorState, HashState, Iter, List, Range, Str, USUAL_NAME,
};
pub(crate) use map::Map;
pub(crate) use slot::{Shape, Slot};
pub(crate) use view::{Format, View};

use crate::value::{Ref, Value};
use dashu_int::IBig;
use dict::Dict;

/// What an object holds. Its tag is a whole word for the reason that [`Value`] has.
#[derive(Clone, Debug)]
#[repr(u64)]
pub(crate) enum Payload {
    /// An unused slot.
    Free,
    /// `object()`, and instances of classes without attributes.
    Plain,
    /// An instance of a class.
    Instance(Attributes),
    /// An instance of a subclass of a builtin type.
    Extended(Box<(Attributes, Payload)>),
    /// The number in an instance of a subclass of `int` or `float`.
    Scalar(Value),
    /// A complex number.
    Complex(cowboy_num::complex::Complex),
    /// Text.
    Str(Str),
    /// An integer beyond 64 bits.
    BigInt(IBig),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Mutable bytes, and how many views of them there are.
    ByteArray(Vec<u8>, u32),
    /// A view of bytes.
    MemoryView(Box<View>),
    /// A list.
    List(List),
    /// A tuple.
    Tuple(Box<[Value]>),
    /// A dict.
    Dict(Box<Dict>),
    /// A set or frozenset: a dict without values.
    Set(Box<Dict>),
    /// A range.
    Range(Range),
    /// A slice: start, stop, step.
    Slice(Box<[Value; 3]>),
    /// A variable that closures share.
    Cell(Value),
    /// A function.
    Function(Box<Function>),
    /// A builtin function, by row.
    Native(u16),
    /// A function with its receiver.
    BoundMethod { function: Value, receiver: Value },
    /// A class.
    Class(Box<Class>),
    /// An exception.
    Exception(Box<Exception>),
    /// A module: name and dict.
    Module { name: Value, dict: Ref },
    /// A generator or coroutine.
    Generator(Box<Generator>),
    /// A step of an asynchronous generator: the generator and what to send.
    AsyncStep { generator: Value, sent: Value, kind: u8 },
    /// A builtin iterator.
    Iterator(Box<Iter>),
    /// A property: getter, setter, deleter, documentation, name.
    Property(Box<[Value; 5]>),
    /// `staticmethod`
    StaticMethod(Value),
    /// `classmethod`
    ClassMethod(Value),
    /// `super(class, receiver)`
    Super { class: Ref, receiver: Value, start: Ref },
    /// A view of a dict.
    DictView { dict: Value, part: DictPart },
    /// A read-only view of a class's attributes.
    MappingProxy(Value),
    /// A slot of `__slots__`: its name and class, and whether only the library sets it.
    Member { name: Ref, class: Ref, read_only: bool },
    /// `list[int]`: origin, arguments, and whether a star stands before it.
    GenericAlias { origin: Value, arguments: Value, starred: bool },
    /// `int | str`
    Union(Value),
    /// A running hash.
    Hasher(Box<HashState>),
    /// A compiled regular expression.
    Regex(std::sync::Arc<crate::regex::Program>),
    /// The number in a `Decimal`.
    Decimal(Box<cowboy_num::decimal::Decimal>),
}

impl Payload {
    /// The builtin content, past the attributes of a subclass instance.
    #[inline]
    pub(crate) fn core(&self) -> &Payload {
        match self {
            Payload::Extended(extended) => &extended.1,
            payload => payload,
        }
    }

    /// The builtin content, to be changed.
    #[inline]
    pub(crate) fn core_mut(&mut self) -> &mut Payload {
        match self {
            Payload::Extended(extended) => &mut extended.1,
            payload => payload,
        }
    }

    /// The attributes of an instance.
    #[inline]
    pub(crate) fn attributes(&self) -> Option<&Attributes> {
        match self {
            Payload::Instance(attributes) => Some(attributes),
            Payload::Extended(extended) => match &extended.1 {
                Payload::Exception(exception) => Some(&exception.attributes),
                _ => Some(&extended.0),
            },
            Payload::Exception(exception) => Some(&exception.attributes),
            Payload::Function(function) => Some(&function.attributes),
            _ => None,
        }
    }

    /// The attributes of an instance, to be changed.
    #[inline]
    pub(crate) fn attributes_mut(&mut self) -> Option<&mut Attributes> {
        match self {
            Payload::Instance(attributes) => Some(attributes),
            Payload::Extended(extended) => {
                let (attributes, inner) = &mut **extended;
                match inner {
                    Payload::Exception(exception) => Some(&mut exception.attributes),
                    _ => Some(attributes),
                }
            }
            Payload::Exception(exception) => Some(&mut exception.attributes),
            Payload::Function(function) => Some(&mut function.attributes),
            _ => None,
        }
    }

    /// Modelled bytes, by CPython 3.11's `sys.getsizeof`.
    pub(crate) fn size(&self) -> usize {
        match self {
            Payload::Free => 0,
            Payload::Plain => 16,
            Payload::Instance(attributes) => 56 + attributes_size(attributes),
            Payload::Extended(extended) => 16 + attributes_size(&extended.0) + extended.1.size(),
            Payload::Scalar(_) | Payload::Complex(_) => 32,
            Payload::Str(string) => string.size(),
            Payload::BigInt(value) => big_size(cowboy_num::int::bit_length(value)),
            Payload::Bytes(bytes) => 33 + bytes.len(),
            Payload::ByteArray(bytes, _) => 57 + bytes.len(),
            Payload::MemoryView(view) => 160 + 24 * view.shape.len(),
            Payload::List(list) => 56 + 8 * list.allocated,
            Payload::Tuple(items) => 40 + 8 * items.len(),
            Payload::Dict(dict) => dict.size(),
            Payload::Set(dict) => dict.set_size(),
            Payload::Range(_) => 48,
            Payload::Slice(_) => 56,
            Payload::Cell(_) => 40,
            Payload::Function(function) => 152 + 8 * function.closure.len() + attributes_size(&function.attributes),
            Payload::Native(_) => 72,
            Payload::BoundMethod { .. } => 64,
            Payload::Class(class) => 1_064 + 16 * class.attributes.len() + class.names_size(),
            Payload::Exception(exception) => 88 + attributes_size(&exception.attributes),
            Payload::Module { .. } => 72,
            Payload::Generator(generator) => 192 + 8 * usize::from(generator.room),
            Payload::Property(_) => 72,
            Payload::Hasher(state) => 48 + state.data.len(),
            Payload::Regex(program) => program.size(),
            Payload::Decimal(number) => 48 + number.bytes(),
            Payload::Iterator(iterator) => match &**iterator {
                Iter::Zip { inner, .. } => 64 + 8 * inner.len(),
                _ => 64,
            },
            _ => 64,
        }
    }

    /// Calls `visit` with every value held.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(Value)) {
        fn attributes(attributes: &Attributes, visit: &mut dyn FnMut(Value)) {
            attributes.values.iter().for_each(|&value| visit(value));
            if let Some(dict) = attributes.dict.get() {
                visit(Value::Obj(dict));
            }
        }
        match self {
            Payload::Free
            | Payload::Plain
            | Payload::Str(_)
            | Payload::BigInt(_)
            | Payload::Complex(_)
            | Payload::Bytes(_)
            | Payload::ByteArray(..)
            | Payload::Range(_)
            | Payload::Native(_)
            | Payload::Hasher(_)
            | Payload::Regex(_)
            | Payload::Decimal(_) => {}
            Payload::Instance(inner) => attributes(inner, visit),
            Payload::Extended(extended) => {
                attributes(&extended.0, visit);
                extended.1.each(visit);
            }
            Payload::Scalar(value)
            | Payload::Cell(value)
            | Payload::StaticMethod(value)
            | Payload::ClassMethod(value)
            | Payload::MappingProxy(value)
            | Payload::Union(value)
            | Payload::DictView { dict: value, .. } => visit(*value),
            Payload::MemoryView(view) => visit(view.object),
            Payload::List(list) => list.items.iter().for_each(|&value| visit(value)),
            Payload::Tuple(items) => items.iter().for_each(|&value| visit(value)),
            Payload::Dict(dict) | Payload::Set(dict) => dict.each(visit),
            Payload::Slice(parts) => parts.iter().for_each(|&value| visit(value)),
            Payload::Function(function) => {
                visit(function.defaults);
                visit(function.keyword_defaults);
                function.closure.iter().for_each(|&value| visit(value));
                visit(function.name);
                visit(function.qualname);
                visit(function.annotations);
                attributes(&function.attributes, visit);
            }
            Payload::BoundMethod { function, receiver } => {
                visit(*function);
                visit(*receiver);
            }
            Payload::Class(class) => {
                class.attributes.values().for_each(|&value| visit(value));
                class.bases.iter().for_each(|&base| visit(Value::Obj(base)));
                class.mro.iter().skip(1).for_each(|&base| visit(Value::Obj(base)));
            }
            Payload::Exception(exception) => {
                visit(exception.args);
                visit(exception.cause);
                visit(exception.context);
                visit(exception.shown);
                attributes(&exception.attributes, visit);
            }
            Payload::Module { name, dict } => {
                visit(*name);
                visit(Value::Obj(*dict));
            }
            Payload::Generator(generator) => {
                generator.registers.iter().for_each(|&value| visit(value));
                generator.handled.iter().for_each(|&value| visit(value));
                generator.again.iter().for_each(|&value| visit(value));
                visit(generator.name);
                visit(generator.qualname);
            }
            Payload::AsyncStep { generator, sent, .. } => {
                visit(*generator);
                visit(*sent);
            }
            Payload::Iterator(iterator) => match &**iterator {
                Iter::Sequence { sequence: value, .. }
                | Iter::Dict { dict: value, .. }
                | Iter::Reversed { sequence: value, .. }
                | Iter::ReversedDict { dict: value, .. }
                | Iter::Enumerate { inner: value, .. } => visit(*value),
                Iter::Zip { inner, .. } => inner.iter().for_each(|&value| visit(value)),
                Iter::Range { .. } | Iter::Done => {}
            },
            Payload::Property(parts) => parts.iter().for_each(|&value| visit(value)),
            Payload::Super { class, receiver, start } => {
                visit(Value::Obj(*class));
                visit(*receiver);
                visit(Value::Obj(*start));
            }
            Payload::Member { name, class, .. } => {
                visit(Value::Obj(*name));
                // The class owns its members; a reference back would keep it alive for ever.
                let _ = class;
            }
            Payload::GenericAlias { origin, arguments, .. } => {
                visit(*origin);
                visit(*arguments);
            }
        }
    }

    /// Gives up every object held.
    pub(crate) fn take_apart(self, into: &mut Vec<Value>) {
        self.each(&mut |value| {
            if let Value::Obj(_) = value {
                into.push(value);
            }
        });
    }
}

/// Modelled bytes of an integer with so many bits, which CPython keeps in digits of 30.
#[inline]
pub(crate) fn big_size(bits: usize) -> usize {
    24 + 4 * (bits / 30 + 1)
}

fn attributes_size(attributes: &Attributes) -> usize {
    8 * attributes.values.len()
}
