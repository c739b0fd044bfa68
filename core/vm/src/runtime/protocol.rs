//! What types ask of values of any type.
//!
//! The builtin types stand below the interpreter, whose operators know all of them. These traits are all that a type may ask of the
//! interpreter; each is implemented for `Vm` once, in the file of `interp` that its comment names. Calls are resolved when the VM is compiled
//! (decision 629).

use crate::error::Outcome;
use crate::frame::CompareOp;
use crate::runtime::operator::BinaryOp;
use crate::value::{Ref, Value};

/// Comparison and truth. In `interp/compare`.
pub(crate) trait Compare {
    /// `left == right` between values whose comparison needs no Python code.
    fn equal_native(&mut self, left: Value, right: Value) -> Outcome<bool>;

    /// The answer of the builtin types; `None` when they cannot be ordered; `Fallback` when Python code has to decide.
    fn compare_native(&mut self, op: CompareOp, left: Value, right: Value) -> Outcome<Option<bool>>;

    /// `bool(value)`; a call when a class written in Python decides.
    fn truth(&mut self, value: Value) -> Outcome<bool>;
}

/// Hashes. In `interp/hashing`.
pub(crate) trait Hashing {
    /// `hash(value)` when that needs no Python code.
    fn hash_native(&mut self, value: Value) -> Outcome<i64>;
}

/// Iteration. In `interp/iterate`.
pub(crate) trait Iterate {
    /// `iter(value)`, retained; a call when `__iter__` is written in Python.
    fn iterator(&mut self, value: Value) -> Outcome;

    /// The next item of a builtin iterator, retained. `Fallback` when one inside it is not builtin.
    fn next_native(&mut self, iterator: Value) -> Outcome<Option<Value>>;

    /// Every item of a builtin iterable, each retained; `Fallback` when Python code would have to run.
    fn collect(&mut self, value: Value) -> Outcome<Vec<Value>>;
}

/// Membership in containers. In `interp/membership`.
pub(crate) trait Membership {
    /// `item in container` for builtin containers.
    fn contains_native(&mut self, container: Value, item: Value) -> Outcome<bool>;
}

/// Binary operators. In `interp/operators`.
pub(crate) trait Operate {
    /// What the builtin types themselves do.
    fn binary_core(&mut self, op: BinaryOp, left: Value, right: Value) -> Outcome<Option<Value>>;
}

/// Items by index or key, and lengths. In `interp/subscript`.
pub(crate) trait Subscript {
    /// `object[key]` of the builtin types.
    fn get_item_native(&mut self, object: Value, key: Value) -> Outcome;

    /// `object[key] = value` of the builtin types.
    fn set_item_native(&mut self, object: Value, key: Value, value: Value) -> Outcome<()>;

    /// `del object[key]` of the builtin types.
    fn delete_item_native(&mut self, object: Value, key: Value) -> Outcome<()>;

    /// `len(value)`; a call when that is written in Python.
    fn length(&mut self, value: Value) -> Outcome;
}

/// Reading attributes. In `interp/attribute`.
pub(crate) trait GetAttributes {
    /// `object.__getattribute__(name)` of the builtin sort.
    fn get_attribute_plain(&mut self, object: Value, class: Ref, name: Ref) -> Outcome;
}

/// Setting and deleting attributes. In `interp/attribute_set`.
pub(crate) trait SetAttributes {
    /// `object.__setattr__(name, value)` of the builtin sort.
    fn set_attribute_plain(&mut self, object: Value, name: Ref, value: Value) -> Outcome<()>;

    /// `object.__delattr__(name)` of the builtin sort.
    fn delete_attribute_plain(&mut self, object: Value, name: Ref) -> Outcome<()>;
}

/// `str` and `format`. In `interp/text`.
pub(crate) trait Display {
    /// `str(value)`, retained; a call when it is written in Python.
    fn str_value(&mut self, value: Value) -> Outcome;

    /// What the builtin types' `__format__` does.
    fn format_builtin(&mut self, value: Value, spec: &str) -> Outcome;
}
