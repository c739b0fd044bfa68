//! `tuple`, `range` and `slice`.

use crate::costs::{ITEM_LOOKED_AT, TEXT_COMPARED, sequences_joined};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::objects::list;
use crate::payload::{Payload, Range};
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Hashing, Iterate, Membership, Subscript};
use crate::types::{EMPTY_TUPLE, ty};
use crate::value::Value;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `tuple`, `range` and `slice`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "tuple.__new__", "cls, iterable=, /", 2, new, "tuple_new"),
    NativeRow(M, "tuple.count", "self, value, /", 2, list::count, "sequence_count"),
    NativeRow(M, "tuple.index", "self, value, start=, stop=, /", 2, list::index, "sequence_index"),
    NativeRow(M, "tuple.__len__", "self, /", 1, len, ""),
    NativeRow(M, "tuple.__iter__", "self, /", 1, list::iter, ""),
    NativeRow(M, "tuple.__getitem__", "self, key, /", 2, list::getitem, ""),
    NativeRow(M, "tuple.__contains__", "self, key, /", 2, list::contains, "contains_items"),
    NativeRow(M, "tuple.__hash__", "self, /", 2, hash, "tuple_hash"),
    NativeRow(M, "tuple.__repr__", "self, /", 2, repr, "repr_slow"),
    NativeRow(M, "tuple.__getnewargs__", "self, /", 2, newargs, ""),
    NativeRow(C, "tuple.__class_getitem__", "cls, item, /", 10, list::class_getitem, ""),
    NativeRow(M, "list.__repr__", "self, /", 2, repr, "repr_slow"),
    NativeRow(S, "range.__new__", "cls, start, stop=, step=, /", 2, range, ""),
    NativeRow(M, "range.count", "self, value, /", 2, range_count, "range_count"),
    NativeRow(M, "range.index", "self, value, /", 2, range_index, "range_index"),
    NativeRow(M, "range.__len__", "self, /", 1, len, ""),
    NativeRow(M, "range.__iter__", "self, /", 1, list::iter, ""),
    NativeRow(M, "range.__reversed__", "self, /", 1, list::reversed, ""),
    NativeRow(M, "range.__getitem__", "self, key, /", 2, list::getitem, ""),
    NativeRow(M, "range.__contains__", "self, key, /", 2, list::contains, "contains_items"),
    NativeRow(S, "slice.__new__", "cls, start, stop=, step=, /", 2, slice, ""),
    NativeRow(M, "slice.indices", "self, length, /", 2, slice_indices, "slice_bounds"),
];

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let exact = class == ty::TUPLE;
    if exact && vm.heap.class_of(args[1]) == ty::TUPLE {
        return Ok(vm.heap.retain(args[1]));
    }
    let items = if args[1].is_undefined() { Vec::new() } else { vm.collect(args[1])? };
    if exact {
        return Ok(vm.heap.tuple(items));
    }
    let value = vm.heap.wrap_builtin(class, Payload::Tuple(items.into()));
    vm.heap.label_children(value);
    Ok(value)
}

fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    let plain = super::plain(vm, args[0]);
    let outcome = vm.length(plain);
    vm.heap.release(plain);
    outcome
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    let plain = super::plain(vm, args[0]);
    let outcome = vm.hash_native(plain);
    vm.heap.release(plain);
    outcome.map(Value::Int)
}

/// `__repr__` of the builtin content.
pub(crate) fn repr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let plain = super::plain(vm, args[0]);
    let outcome = vm.repr_native(plain);
    vm.heap.release(plain);
    outcome.map(|text| vm.heap.string(text))
}

fn newargs(vm: &mut Vm, args: &[Value]) -> Outcome {
    let plain = super::plain(vm, args[0]);
    Ok(vm.heap.tuple(vec![plain]))
}

/// `a + b`
pub(crate) fn concatenate(vm: &mut Vm, left: Value, right: Value) -> Outcome {
    if right.is(Value::Obj(EMPTY_TUPLE)) && vm.heap.class_of(left) == ty::TUPLE {
        return Ok(vm.heap.retain(left));
    }
    let length = |vm: &Vm, side: Value| side.object().map_or(0, |object| vm.heap.sequence_length(object));
    let count = length(vm, left) + length(vm, right);
    vm.spend(sequences_joined(count))?;
    vm.reserve(count * 8)?;
    let mut items = Vec::with_capacity(count);
    for side in [left, right] {
        if let Some(Payload::Tuple(row)) = side.object().map(|object| vm.heap.payload(object).core()) {
            items.extend_from_slice(row);
        }
    }
    vm.heap.retain_each(&items);
    Ok(vm.heap.tuple(items))
}

fn whole(vm: &mut Vm, value: Value) -> Outcome<i64> {
    match vm.heap.number(value) {
        Some(Number::Small(number)) => Ok(number),
        Some(Number::Big(_)) => Err(vm.raise(ty::OVERFLOW_ERROR, "range() takes numbers of at most 64 bits here")),
        _ => Err(vm.not_an_integer(value)),
    }
}

fn range(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut numbers = [0; 3];
    for (number, &value) in numbers.iter_mut().zip(&args[1..]) {
        if !value.is_undefined() {
            let large = matches!(vm.heap.number(value), Some(Number::Big(_)));
            if large || vm.python_method(value, crate::types::nm::INDEX).is_some() {
                return vm.call_helper("range_slow", &[args[1], args[2].or(Value::None), args[3].or(Value::None)]);
            }
            *number = whole(vm, value)?;
        }
    }
    let (start, stop) = if args[2].is_undefined() { (0, numbers[0]) } else { (numbers[0], numbers[1]) };
    let step = if args[3].is_undefined() { 1 } else { numbers[2] };
    if step == 0 {
        return Err(vm.value_error("range() arg 3 must not be zero"));
    }
    let range = Range { start, stop, step };
    if i64::try_from(range.len()).is_err() {
        return vm.call_helper("range_slow", &[Value::Int(start), Value::Int(stop), Value::Int(step)]);
    }
    Ok(vm.heap.make(ty::RANGE, Payload::Range(range)))
}

fn range_count(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.contains_native(args[0], args[1]).map(|found| Value::Int(i64::from(found)))
}

fn range_index(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let (true, Value::Obj(object), Some(Number::Small(value))) =
        (vm.contains_native(args[0], args[1])?, args[0], vm.heap.number(args[1]))
    {
        if let Payload::Range(range) = vm.heap.payload(object) {
            let place = (i128::from(value) - i128::from(range.start)) / i128::from(range.step);
            return Ok(Value::Int(i64::try_from(place).unwrap_or(i64::MAX)));
        }
    }
    if vm.heap.as_int(args[1]).is_none() {
        return Err(vm.value_error("sequence.index(x): x not in sequence"));
    }
    let shown = vm.repr_native(args[1])?;
    Err(vm.value_error(format!("{shown} is not in range")))
}

fn slice(vm: &mut Vm, args: &[Value]) -> Outcome {
    let parts = if args[2].is_undefined() { [Value::None, args[1], Value::None] } else { [args[1], args[2], args[3].or(Value::None)] };
    for part in parts {
        vm.heap.retain(part);
    }
    Ok(vm.heap.make(ty::SLICE, Payload::Slice(Box::new(parts))))
}

fn slice_indices(vm: &mut Vm, args: &[Value]) -> Outcome {
    let parts = match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Slice(parts)) => **parts,
        _ => [Value::None; 3],
    };
    let small = |vm: &Vm, value: Value| value.is_none() || matches!(vm.heap.number(value), Some(Number::Small(_)));
    if !(small(vm, args[1]) && parts.iter().all(|&part| small(vm, part))) {
        return Err(Throw::Fallback);
    }
    let length = whole(vm, args[1])?;
    if length < 0 {
        return Err(vm.value_error("length should not be negative"));
    }
    let (start, step, _) = vm.slice_span(&parts, length)?;
    let stop = vm.slice_stop(parts[1], step, length);
    Ok(vm.heap.tuple(vec![Value::Int(start), Value::Int(stop), Value::Int(step)]))
}

/// How many texts or bytes an argument stands for that is one of them or a tuple of them.
pub(super) fn alternatives(vm: &Vm, value: Value) -> usize {
    if vm.heap.is_instance(value, ty::TUPLE) { vm.heap.tuple_ref(value).len() } else { 1 }
}

/// One of them. Each item of a tuple is charged, with what is compared of it: no more than the other text has.
pub(super) fn alternative(vm: &mut Vm, value: Value, index: usize, most: usize) -> Outcome {
    if !vm.heap.is_instance(value, ty::TUPLE) {
        return Ok(value);
    }
    let Some(&item) = vm.heap.tuple_ref(value).get(index) else { return Ok(Value::None) };
    let length = vm.heap.text(item).map_or(0, str::len);
    vm.spend(ITEM_LOOKED_AT.once() + TEXT_COMPARED.of(length.min(most)))?;
    Ok(item)
}
