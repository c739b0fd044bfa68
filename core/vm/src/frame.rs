//! Activations of code bodies, and what happens with what they give.
//!
//! No Python call uses the native stack: what has to happen with a result is written in the [`Frame`] as [`OnReturn`].

use crate::costs::{Charge, REGISTER_LEFT};
use crate::types::nm;
use crate::value::{Link, Ref, Value};
use crate::window::afresh;
use std::cmp::Ordering;

/// What happens with the value that a frame returns.
#[derive(Debug)]
pub(crate) enum OnReturn {
    /// Into the destination register.
    Store,
    /// Nothing.
    Discard,
    /// It has to be `None`; the new instance goes into the destination register.
    Init(Value),
    /// Its truth, or the opposite, into the destination register.
    Truth { negate: bool },
    /// Its truth decides a jump.
    Jump { when: bool, target: u32 },
    /// The next item of a `for` loop; being exhausted jumps.
    ForIter { exit: u32 },
    /// A step of `yield from`: the delegate's return goes on at the target.
    Send { done: u32 },
    /// The frame is the entry's.
    Entry,
    /// Something rarer.
    Other(Box<Pending>),
}

/// Where the truth of a comparison goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    /// The value itself into the destination register.
    Store,
    /// Its truth decides a jump.
    Jump { when: bool, target: u32 },
}

/// What a special method has to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// `__repr__`: text.
    Repr,
    /// `__str__`: text.
    Str,
    /// `__format__`: text.
    Format,
    /// `__bool__`: a truth value.
    Bool,
    /// `__len__`: a length.
    Len,
    /// `__len__` in a truth test.
    LenTruth,
    /// `__hash__`: an integer.
    Hash,
    /// `__index__`: an integer.
    Index,
    /// `__int__`: an integer.
    Int,
    /// `__trunc__`: an integer.
    Trunc,
    /// `__float__`: a float.
    Float,
    /// `__iter__`: an iterator.
    Iter,
    /// `__bytes__`: bytes.
    Bytes,
    /// `__await__`: an iterator, and no coroutine.
    Await,
}

/// Rare things to do with a result.
#[derive(Debug)]
pub(crate) enum Pending {
    /// A binary operator's method; `NotImplemented` tries the next one.
    Binary { rest: Vec<Alternative>, left: Value, right: Value, symbol: &'static str },
    /// A comparison's method; `NotImplemented` tries the reflected one, then identity.
    Compare { rest: Vec<Alternative>, negate: bool, left: Value, right: Value, op: CompareOp, then: Then },
    /// `next()` with a default.
    NextDefault { default: Value },
    /// `next()` of a generator: its return is StopIteration.
    Next,
    /// The result has to be of a kind; its truth then decides, when asked.
    Check { expect: Expect, then: Option<Then>, negate: bool },
    /// An AttributeError means that `__getattr__` is asked.
    GetAttr { object: Value, name: Value, fallback: Value },
    /// `from package import name`, which asks the package's `__getattr__`: an AttributeError means that there is no such name.
    ImportFrom { package: Ref, name: Ref },
    /// The iterator for a `for` loop, whose registers begin at the destination.
    Iterator,
    /// `__new__` of a class: `__init__` follows.
    New { class: Ref, arguments: Vec<Value>, keywords: Vec<(Ref, Value)> },
    /// The tuple's items go into registers from the destination on.
    Unpack { count: usize },
    /// As above, with a list of the rest in the middle.
    UnpackRest { before: usize, after: usize },
    /// Closing a generator: StopIteration and GeneratorExit are fine, a value is not.
    Close,
    /// A builtin function takes every item of the generator.
    Drain(Drain),
}

/// What takes the items of a generator for a builtin function that is called with them then.
#[derive(Debug)]
pub(crate) struct Drain {
    /// The function.
    pub row: u16,
    /// Its arguments, of which the second is the generator. The references are the drain's.
    pub arguments: Vec<Value>,
    /// A list of the items so far. The reference is the drain's.
    pub items: Value,
    /// Whether the function hashes the items, so that each has to be hashable before the next one is asked for.
    pub hashed: bool,
    /// The price of an item.
    pub item: Charge,
    /// What happens with the function's result.
    pub then: OnReturn,
}

/// A method that may know the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alternative {
    /// The method. The reference is the alternative's.
    pub function: Value,
    /// Whether the right operand is the receiver.
    pub swapped: bool,
    /// Whether the answer is the opposite: `__eq__` asked for `!=`.
    pub negate: bool,
}

/// The six comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompareOp {
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// One activation of a code body.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The code.
    pub code: u32,
    /// The next instruction.
    pub pc: u32,
    /// The first register.
    pub base: u32,
    /// The register, counted from the stack's bottom, that gets the result.
    pub dest: u32,
    /// The module's dict.
    pub globals: Ref,
    /// How many exceptions were being handled when it began.
    pub handled: u32,
    /// The generator that it runs.
    pub generator: Link,
    /// The namespace of a class body.
    pub namespace: Value,
    /// What happens with the result.
    pub on_return: OnReturn,
}

/// Registers that the price of a call covers.
const USUAL_REGISTERS: u16 = 64;

/// The price of emptying the registers of a code body, or of moving them to where its generator rests.
#[inline(always)]
pub(crate) fn leaving(registers: u16) -> Charge {
    if registers <= USUAL_REGISTERS { Charge::NONE } else { REGISTER_LEFT.of(usize::from(registers - USUAL_REGISTERS)) }
}

// A frame is a line of the processor's cache.
const _: () = assert!(size_of::<Frame>() <= 64, "a cache line");

impl Frame {
    /// The register that the end of the frame writes and what it writes there, where that is all that it does when it returns `value`.
    #[inline(always)]
    pub(crate) fn lands(&self, value: &Value) -> Option<(usize, Value)> {
        if !self.generator.is_none() || !self.namespace.is_undefined() {
            return None;
        }
        match self.on_return {
            OnReturn::Store => Some((self.dest as usize, afresh(value))),
            OnReturn::Init(instance) if value.is_none() => Some((self.dest as usize, instance)),
            _ => None,
        }
    }
}

impl CompareOp {
    /// How messages write it.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }

    /// The special method.
    pub(crate) fn method(self) -> Ref {
        match self {
            CompareOp::Lt => nm::LT,
            CompareOp::Le => nm::LE,
            CompareOp::Eq => nm::EQ,
            CompareOp::Ne => nm::NE,
            CompareOp::Gt => nm::GT,
            CompareOp::Ge => nm::GE,
        }
    }

    /// The operator with the operands exchanged.
    pub(crate) fn reflected(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            same => same,
        }
    }

    /// Its answer for an ordering.
    pub(crate) fn holds(self, ordering: Ordering) -> bool {
        match self {
            CompareOp::Lt => ordering == Ordering::Less,
            CompareOp::Le => ordering != Ordering::Greater,
            CompareOp::Eq => ordering == Ordering::Equal,
            CompareOp::Ne => ordering != Ordering::Equal,
            CompareOp::Gt => ordering == Ordering::Greater,
            CompareOp::Ge => ordering != Ordering::Less,
        }
    }
}

/// What a generator is woken with.
#[derive(Debug)]
pub(crate) enum Wake {
    /// A value that its `yield` gives. The reference is taken over.
    Send(Value),
    /// An exception raised at its `yield`. The reference is taken over.
    Throw(Value),
}
