//! What objects are made of: one variant per builtin type, its modelled size and its references.

use crate::heap::Map;
use crate::objects::dict::Dict;
use crate::types::Layout;
use crate::value::{Link, Ref, Value};
use cowboy_num::hash::{hash_str, siphash13};
use dashu_int::IBig;
use std::sync::atomic::{AtomicI64, Ordering};

/// Text with its length in characters and, once needed, its hash.
#[derive(Debug)]
pub(crate) struct Str {
    /// The text.
    pub text: String,
    /// Number of code points.
    pub chars: u32,
    /// Whether it is the one object for its text.
    pub interned: bool,
    /// The largest byte: says how wide CPython would store the characters.
    widest: u8,
    /// The hash once it was asked for; 0 before. Atomic only because frozen texts are shared between runs.
    hash: AtomicI64,
}

impl Clone for Str {
    fn clone(&self) -> Self {
        let hash = AtomicI64::new(self.hash.load(Ordering::Relaxed));
        Self { text: self.text.clone(), chars: self.chars, interned: self.interned, widest: self.widest, hash }
    }
}

impl Str {
    /// Text, not yet hashed.
    pub(crate) fn new(text: String) -> Self {
        let (chars, widest) = if text.is_ascii() { (text.len(), 0) } else { (text.chars().count(), text.bytes().max().unwrap_or(0)) };
        Self { text, chars: u32::try_from(chars).unwrap_or(u32::MAX), interned: false, widest, hash: AtomicI64::new(0) }
    }

    /// The same for text that is known to be ASCII.
    #[inline]
    pub(crate) fn ascii_text(text: String) -> Self {
        let chars = u32::try_from(text.len()).unwrap_or(u32::MAX);
        Self { text, chars, interned: false, widest: 0, hash: AtomicI64::new(0) }
    }

    /// Whether every character is one byte.
    #[inline]
    pub(crate) fn ascii(&self) -> bool {
        self.chars as usize == self.text.len()
    }

    /// Whether it is the same text.
    #[inline(always)]
    pub(crate) fn same(&self, other: &Str) -> bool {
        let (a, b) = (self.text.as_bytes(), other.text.as_bytes());
        if a.len() != b.len() {
            return false;
        }
        // Most texts are short: two words that may overlap say it without a loop.
        if a.len() <= 16 {
            if let (Some(first), Some(last)) = (a.first_chunk::<8>(), a.last_chunk::<8>()) {
                return b.first_chunk::<8>() == Some(first) && b.last_chunk::<8>() == Some(last);
            }
            if let (Some(first), Some(last)) = (a.first_chunk::<4>(), a.last_chunk::<4>()) {
                return b.first_chunk::<4>() == Some(first) && b.last_chunk::<4>() == Some(last);
            }
            return a.iter().zip(b).all(|(a, b)| a == b);
        }
        a == b
    }

    /// Whether the hash was asked for before.
    #[inline]
    pub(crate) fn is_hashed(&self) -> bool {
        self.hash.load(Ordering::Relaxed) != 0
    }

    /// The hash, computed once.
    #[inline]
    pub(crate) fn hash(&self) -> i64 {
        match self.hash.load(Ordering::Relaxed) {
            0 => {
                let hash = if self.ascii() { siphash13(self.text.as_bytes()) } else { hash_str(&self.text) };
                self.hash.store(hash, Ordering::Relaxed);
                hash
            }
            hash => hash,
        }
    }

    /// The largest byte, where it is not ASCII.
    #[inline]
    pub(crate) fn widest(&self) -> u8 {
        self.widest
    }

    /// Takes its text back, to which so many characters were appended.
    #[inline]
    pub(crate) fn grow(&mut self, text: String, chars: u32, widest: u8) {
        // What is there has no buffer.
        std::mem::forget(std::mem::replace(&mut self.text, text));
        self.chars += chars;
        self.widest = self.widest.max(widest);
        *self.hash.get_mut() = 0;
    }

    /// Modelled bytes.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        if self.ascii() {
            return 49 + self.text.len();
        }
        // Two or four bytes a character, by the widest one, as CPython stores it.
        let chars = self.chars as usize;
        match self.widest {
            0xf0.. => 76 + 4 * chars,
            0xc4.. => 74 + 2 * chars,
            _ => 73 + chars,
        }
    }
}

/// A list: its items and the capacity that CPython's list would have.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    /// The items.
    pub items: Vec<Value>,
    /// Modelled capacity.
    pub allocated: usize,
}

impl List {
    /// A list of exactly these items.
    pub(crate) fn new(items: Vec<Value>) -> Self {
        Self { allocated: items.len(), items }
    }

    /// Follows CPython's `list_resize` after the length changed; says how the modelled size changed.
    #[inline]
    pub(crate) fn resized(&mut self) -> (usize, usize) {
        let length = self.items.len();
        if self.allocated >= length && length >= (self.allocated >> 1) {
            return (0, 0);
        }
        let before = self.allocated;
        self.allocated = if length == 0 { 0 } else { (length + (length >> 3) + 6) & !3 };
        if self.allocated < before {
            self.items.shrink_to(self.allocated);
        }
        (before * 8, self.allocated * 8)
    }
}

/// Attributes of an instance: by shape, or in a dict once somebody asked for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    /// Which attributes there are.
    pub shape: u32,
    /// The dict that replaces the shape.
    pub dict: Link,
    /// Values by position in the shape.
    pub values: Vec<Value>,
}

/// A class.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// `__name__`
    pub name: Box<str>,
    /// Direct bases.
    pub bases: Vec<Ref>,
    /// Method resolution order, itself first.
    pub mro: Vec<Ref>,
    /// Its own attributes.
    pub attributes: Map<Ref, Value>,
    /// What instances hold.
    pub layout: Layout,
    /// `__qualname__`
    pub qualname: Box<str>,
    /// Whether instances have arbitrary attributes.
    pub has_dict: bool,
    /// Whether a program made it.
    pub heap: bool,
    /// Of a class that a program made: the class that adds to what instances hold, itself or one above it.
    pub solid: Ref,
}

/// A function made by `def` or `lambda`.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Its code.
    pub code: u32,
    /// The module's dict.
    pub globals: Ref,
    /// Values of the last positional parameters.
    pub defaults: Vec<Value>,
    /// Values of keyword-only parameters.
    pub keyword_defaults: Vec<(Ref, Value)>,
    /// Cells of the closure.
    pub closure: Box<[Value]>,
    /// `__name__`
    pub name: Value,
    /// `__qualname__`
    pub qualname: Value,
    /// `__annotations__`
    pub annotations: Value,
    /// `__dict__`, once there is one.
    pub attributes: Attributes,
}

/// What a generator, coroutine or asynchronous generator is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeneratorState {
    /// Not started.
    Created,
    /// Between two values.
    Suspended,
    /// Its frame is on the stack.
    Running,
    /// Over.
    Done,
}

/// A generator, coroutine or asynchronous generator.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    /// Its code.
    pub code: u32,
    /// The module's dict.
    pub globals: Ref,
    /// Where it goes on.
    pub pc: u32,
    /// Its registers while it does not run.
    pub registers: Vec<Value>,
    /// Exceptions it is handling.
    pub handled: Vec<Value>,
    /// The register that takes what is sent.
    pub sent: u16,
    /// The register of the iterator it delegates to, when it does.
    pub delegate: Option<u16>,
    /// The arguments with which a builtin iterator begins again after an exception; empty for all others.
    pub again: Box<[Value]>,
    /// What it is doing.
    pub state: GeneratorState,
    /// Whether closing it runs code: it rests inside a `try` or `with`.
    pub guarded: bool,
    /// `__name__`
    pub name: Value,
    /// `__qualname__`
    pub qualname: Value,
}

/// An exception.
#[derive(Clone, Debug)]
pub(crate) struct Exception {
    /// `args`, a tuple.
    pub args: Value,
    /// `__cause__`
    pub cause: Value,
    /// `__context__`
    pub context: Value,
    /// `__suppress_context__`
    pub suppress: bool,
    /// Where it passed, innermost first: code and line.
    pub trace: Vec<(u32, u32)>,
    /// `__traceback__` since it was asked for; `None` before.
    pub shown: Value,
    /// Other attributes.
    pub attributes: Attributes,
}

/// A builtin iterator.
#[derive(Clone, Debug)]
pub(crate) enum Iter {
    /// Over a list, tuple, text or bytes by index.
    Sequence { sequence: Value, index: usize },
    /// Over a range.
    Range { next: i64, step: i64, left: u64 },
    /// Over a dict or set, which must keep its size.
    Dict { dict: Value, index: usize, size: usize, kind: DictPart },
    /// Over the items of a sequence from its end.
    Reversed { sequence: Value, left: usize },
    /// Over the entries of a dict from its end.
    ReversedDict { dict: Value, left: usize, size: usize, kind: DictPart },
    /// With a count. `nesting` is how many builtin iterators lie inside one another, this one included.
    Enumerate { inner: Value, count: i64, nesting: u8 },
    /// Side by side. `nesting` as for `Enumerate`, along the deepest way.
    Zip { inner: Vec<Value>, strict: bool, nesting: u8 },
    /// Nothing left.
    Done,
}

/// What of a dict is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DictPart {
    /// The keys.
    Keys,
    /// The values.
    Values,
    /// The pairs.
    Items,
}

/// A range of 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// First number.
    pub start: i64,
    /// Where it stops.
    pub stop: i64,
    /// Distance, never zero.
    pub step: i64,
}

impl Range {
    /// Number of numbers.
    pub(crate) fn len(&self) -> u64 {
        let (low, high, step) = if self.step > 0 {
            (self.start, self.stop, self.step.unsigned_abs())
        } else {
            (self.stop, self.start, self.step.unsigned_abs())
        };
        if low >= high { 0 } else { (high.abs_diff(low) - 1) / step + 1 }
    }

    /// The number at an index, which may count from the end.
    pub(crate) fn at(&self, index: i64) -> Option<i64> {
        let length = i128::from(self.len());
        let index = if index < 0 { i128::from(index) + length } else { i128::from(index) };
        // A number of the range fits 64 bits, whatever the product does.
        let number = i128::from(self.start).wrapping_add(index.wrapping_mul(i128::from(self.step)));
        if (0..length).contains(&index) { i64::try_from(number).ok() } else { None }
    }

    /// The numbers from one index up to another, by a step; `None` where it would have to hold a number beyond 64 bits.
    pub(crate) fn slice(&self, start: i64, stop: i64, step: i64) -> Option<Range> {
        let by = |factor: i64| i128::from(factor) * i128::from(self.step);
        let number = |index: i64| i64::try_from(i128::from(self.start).saturating_add(by(index))).ok();
        Some(Range { start: number(start)?, stop: number(stop)?, step: i64::try_from(by(step)).ok()? })
    }

    /// The same numbers from the last to the first.
    pub(crate) fn backwards(&self) -> Iter {
        let next = self.at(-1).unwrap_or(self.start);
        Iter::Range { next, step: self.step.wrapping_neg(), left: self.len() }
    }
}

/// What a `memoryview` shows of bytes or a bytearray.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The bytes; undefined once the view is released.
    pub object: Value,
    /// The first byte of the first item.
    pub start: usize,
    /// Number of items by dimension.
    pub shape: Vec<usize>,
    /// Bytes from an item to the next by dimension.
    pub strides: Vec<i64>,
    /// What an item is.
    pub format: crate::objects::memoryview::Format,
    /// Whether it only reads.
    pub is_readonly: bool,
    /// The hash once it was asked for.
    pub hash: Option<i64>,
}

/// A running hash of `hashlib`.
#[derive(Clone, Debug)]
pub(crate) struct HashState {
    /// The algorithm's name.
    pub name: &'static str,
    /// What was fed in.
    pub data: Vec<u8>,
    /// The options of BLAKE2.
    pub blake2: Option<Box<crate::modules::digests::Blake2>>,
}

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
    Regex(std::sync::Arc<crate::modules::regex::Program>),
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
            Payload::Class(class) => 1_064 + 16 * class.attributes.len(),
            Payload::Exception(exception) => 88 + attributes_size(&exception.attributes),
            Payload::Module { .. } => 72,
            // Its registers rest elsewhere while it runs, so they are not part of the size.
            Payload::Generator(_) => 192,
            Payload::Property(_) => 72,
            Payload::Hasher(state) => 48 + state.data.len(),
            Payload::Regex(program) => program.size(),
            Payload::Decimal(number) => 48 + number.bytes(),
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
                function.defaults.iter().for_each(|&value| visit(value));
                function.keyword_defaults.iter().for_each(|&(_, value)| visit(value));
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
