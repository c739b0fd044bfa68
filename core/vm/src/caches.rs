//! Inline caches and the method cache: what a run has found out and need not find out again.

use crate::value::{Ref, Value};

/// Epochs that a run begins with.
pub(crate) const FIRST_EPOCH: u32 = 1;

/// What an inline cache knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheKind {
    /// Nothing yet.
    Empty,
    /// The attribute is a field of instances with this class and shape.
    Field,
    /// The attribute is this function of the class, which instances with this shape do not hide.
    Method,
    /// Storing adds the field and leads to the shape in `index`.
    Transition,
    /// The attribute of this very class object.
    ClassAttribute,
    /// The attribute is this value of the class, which instances with this shape do not hide and nothing binds.
    Constant,
    /// The name is at this position of this very module's dict; until some module's dict changes it has this value.
    ModuleAttribute,
    /// The global is at this position of the module's dict; until some module's dict changes it has this value.
    Global,
    /// The builtin has this value until some module's dict changes.
    Builtin,
}

/// An inline cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cache {
    pub kind: CacheKind,
    pub class: Ref,
    pub epoch: u32,
    pub shape: u32,
    pub index: u32,
    pub value: Value,
}

pub(crate) const NO_CACHE: Cache =
    Cache { kind: CacheKind::Empty, class: Ref(u64::MAX), epoch: 0, shape: 0, index: 0, value: Value::Undefined };

/// What a call of a builtin class does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// Nobody has asked yet.
    Unknown,
    /// What `Vm::call_class` says.
    General,
    /// This native `__new__`.
    New(u16),
    /// An empty container, and this native `__init__`.
    Filled(u16),
}

/// An entry of the method cache: class, name, epoch, result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MethodEntry {
    pub class: Ref,
    pub name: Ref,
    pub epoch: u32,
    pub value: Value,
}

pub(crate) const NO_METHOD: MethodEntry = MethodEntry { class: Ref(u64::MAX), name: Ref(0), epoch: 0, value: Value::Undefined };

/// Entries of the method cache: those that it begins with, and those of a run that needs more. Powers of two.
pub(crate) const FIRST_METHODS: usize = 64;
pub(crate) const METHOD_CACHE: usize = 512;
/// Stands for a name in the entries that know a class's `__init__` by way of `Vm::constructor`.
pub(crate) const CONSTRUCTOR: Ref = Ref(u64::MAX);

/// What one handler has found out about an image and hands on to the next one.
#[derive(Debug)]
pub(crate) struct Known {
    /// Numbers of codes, and where their inline caches begin.
    pub codes: Vec<(u32, u32)>,
    /// Inline caches; the first one is nobody's.
    pub caches: Vec<Cache>,
    /// The method cache.
    pub methods: Vec<MethodEntry>,
}
