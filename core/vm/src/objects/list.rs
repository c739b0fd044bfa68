//! `list`.

use crate::costs::{ITEM_LOOKED_AT, ITEM_MADE, ITEMS_DELETED, ITEMS_PASSED, ITEMS_SLICED, ITEMS_WRITTEN, sequences_joined};
use crate::error::{Outcome, Throw};
use crate::objects::sorting;
use crate::payload::{Iter, Payload};
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Compare, Iterate, Membership, Subscript};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use cowboy_num::sizes;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `list`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "list.__new__", "cls, /, *args, **kwargs", 2, new, ""),
    NativeRow(M, "list.__init__", "self, iterable=, /", 2, init, "list_init"),
    NativeRow(M, "list.append", "self, object, /", 2, append, ""),
    NativeRow(M, "list.extend", "self, iterable, /", 2, extend, "list_extend"),
    NativeRow(M, "list.insert", "self, index, object, /", 2, insert, "retry_first"),
    NativeRow(M, "list.pop", "self, index=, /", 2, pop, "retry_last"),
    NativeRow(M, "list.remove", "self, value, /", 2, remove, "list_remove"),
    NativeRow(M, "list.clear", "self, /", 2, clear, ""),
    NativeRow(M, "list.copy", "self, /", 2, copy, ""),
    NativeRow(M, "list.count", "self, value, /", 2, count, "sequence_count"),
    NativeRow(M, "list.index", "self, value, start=, stop=, /", 2, index, "sequence_index"),
    NativeRow(M, "list.reverse", "self, /", 2, reverse, ""),
    NativeRow(M, "list.sort", "self, /, *, key=, reverse=", 5, sort, "list_sort"),
    NativeRow(M, "list.__len__", "self, /", 1, len, ""),
    NativeRow(M, "list.__iter__", "self, /", 1, iter, ""),
    NativeRow(M, "list.__reversed__", "self, /", 1, reversed, ""),
    NativeRow(M, "list.__getitem__", "self, key, /", 2, getitem, ""),
    NativeRow(M, "list.__setitem__", "self, key, value, /", 2, setitem, "setitem_slow"),
    NativeRow(M, "list.__delitem__", "self, key, /", 2, delitem, "delitem_slow"),
    NativeRow(M, "list.__contains__", "self, key, /", 2, contains, "contains_items"),
    NativeRow(M, "list.__iadd__", "self, value, /", 2, iadd, "list_iadd"),
    NativeRow(M, "list.__imul__", "self, value, /", 2, imul, "retry_index"),
    NativeRow(C, "list.__class_getitem__", "cls, item, /", 10, class_getitem, ""),
];

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn init(vm: &mut Vm, args: &[Value]) -> Outcome {
    let items = if args[1].is_undefined() { Vec::new() } else { vm.collect(args[1])? };
    clear(vm, args)?;
    fill(vm, args[0], items)?;
    Ok(Value::None)
}

/// Appends items, whose references are taken over.
pub(crate) fn fill(vm: &mut Vm, list: Value, items: Vec<Value>) -> Outcome<()> {
    let Value::Obj(object) = list else { return Ok(()) };
    let items = vm.admitted(object, items)?;
    let mut change = (0, 0);
    if let Payload::List(row) = vm.heap.payload_mut(object).core_mut() {
        if row.items.is_empty() && row.allocated == 0 {
            row.allocated = items.len();
            row.items = items;
            change = (0, row.allocated * 8);
        } else {
            row.items.extend(items);
            change = row.resized();
        }
    }
    vm.heap.resize_memory(change.0, change.1);
    Ok(())
}

fn append(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = vm.heap.retain(args[1]);
    vm.list_push(args[0], value).map(|()| Value::None)
}

fn extend(vm: &mut Vm, args: &[Value]) -> Outcome {
    let items = vm.collect(args[1])?;
    fill(vm, args[0], items).map(|()| Value::None)
}

fn iadd(vm: &mut Vm, args: &[Value]) -> Outcome {
    let items = vm.collect(args[1])?;
    fill(vm, args[0], items)?;
    Ok(vm.heap.retain(args[0]))
}

fn imul(vm: &mut Vm, args: &[Value]) -> Outcome {
    match (args[0], super::sequences::repeat(vm, args[0], args[1])?) {
        (Value::Obj(target), Some(product)) => {
            replace(vm, target, product);
            Ok(vm.heap.retain(args[0]))
        }
        _ if vm.python_method(args[1], nm::INDEX).is_some() => Err(Throw::Fallback),
        _ => Err(vm.not_an_integer(args[1])),
    }
}

fn length(vm: &Vm, list: Value) -> usize {
    match list.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::List(row)) => row.items.len(),
        _ => 0,
    }
}

/// After a list's length changed: its modelled size.
fn resized(vm: &mut Vm, object: Ref) {
    let change = match vm.heap.payload_mut(object).core_mut() {
        Payload::List(row) => row.resized(),
        _ => (0, 0),
    };
    vm.heap.resize_memory(change.0, change.1);
}

fn insert(vm: &mut Vm, args: &[Value]) -> Outcome {
    let index = vm.whole(args[1])?;
    let Value::Obj(object) = args[0] else { return Ok(Value::None) };
    let length = length(vm, args[0]);
    let signed = i64::try_from(length).unwrap_or(i64::MAX);
    let position = if index < 0 { (index + signed).max(0) } else { index.min(signed) };
    let position = sizes::saturating(position);
    vm.spend(ITEMS_PASSED.of(length - position))?;
    vm.store_barrier(object, args[2])?;
    vm.heap.retain(args[2]);
    if let Payload::List(row) = vm.heap.payload_mut(object).core_mut() {
        row.items.insert(position, args[2]);
    }
    resized(vm, object);
    Ok(Value::None)
}

/// Takes an item out; the reference becomes the caller's.
pub(crate) fn remove_at(vm: &mut Vm, object: Ref, position: usize) -> Value {
    let removed = match vm.heap.payload_mut(object).core_mut() {
        Payload::List(row) => row.items.remove(position),
        _ => Value::None,
    };
    resized(vm, object);
    removed
}

fn pop(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Value::Obj(object) = args[0] else { return Ok(Value::None) };
    let index = if args[1].is_undefined() { -1 } else { vm.whole(args[1])? };
    let length = length(vm, args[0]);
    if length == 0 {
        return Err(vm.raise(ty::INDEX_ERROR, "pop from empty list"));
    }
    let Some(position) = crate::runtime::sequences::absolute(index, length) else {
        return Err(vm.raise(ty::INDEX_ERROR, "pop index out of range"));
    };
    vm.spend(ITEMS_PASSED.of(length - position))?;
    Ok(remove_at(vm, object, position))
}

/// The items of a list or tuple, whose copy is charged.
fn snapshot(vm: &mut Vm, sequence: Value) -> Outcome<Vec<Value>> {
    let length = match sequence.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::List(row)) => row.items.len(),
        Some(Payload::Tuple(items)) => items.len(),
        _ => 0,
    };
    vm.spend(ITEMS_PASSED.of(length))?;
    Ok(vm.heap.sequence_snapshot(sequence))
}

fn find(vm: &mut Vm, items: &[Value], value: Value) -> Outcome<Option<usize>> {
    for (position, &item) in items.iter().enumerate() {
        vm.spend(ITEM_LOOKED_AT.once())?;
        if vm.equal_native(item, value)? {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

fn remove(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Value::Obj(object) = args[0] else { return Ok(Value::None) };
    let items = snapshot(vm, args[0])?;
    match find(vm, &items, args[1])? {
        Some(position) => {
            let removed = remove_at(vm, object, position);
            vm.heap.release(removed);
            Ok(Value::None)
        }
        None => Err(vm.value_error("list.remove(x): x not in list")),
    }
}

fn clear(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Value::Obj(object) = args[0] else { return Ok(Value::None) };
    let items = match vm.heap.payload_mut(object).core_mut() {
        Payload::List(row) => std::mem::take(&mut row.items),
        _ => Vec::new(),
    };
    resized(vm, object);
    vm.heap.release_all(items);
    Ok(Value::None)
}

/// Puts the items of another list, which is consumed, in place of a list's own.
pub(crate) fn replace(vm: &mut Vm, object: Ref, other: Value) {
    let items = vm.heap.sequence_snapshot(other);
    let items = vm.heap.retain_all(&items);
    vm.heap.release(other);
    let old = match vm.heap.payload_mut(object).core_mut() {
        Payload::List(row) => std::mem::replace(&mut row.items, items),
        _ => Vec::new(),
    };
    resized(vm, object);
    vm.heap.release_all(old);
}

fn copy(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.spend(ITEMS_SLICED.of(length(vm, args[0])))?;
    let items = snapshot(vm, args[0])?;
    vm.reserve(items.len() * 8)?;
    let items = vm.heap.retain_all(&items);
    Ok(vm.heap.list(items))
}

/// `count` of lists and tuples.
pub(crate) fn count(vm: &mut Vm, args: &[Value]) -> Outcome {
    let items = snapshot(vm, args[0])?;
    let mut count = 0;
    for item in items {
        vm.spend(ITEM_LOOKED_AT.once())?;
        if vm.equal_native(item, args[1])? {
            count += 1;
        }
    }
    Ok(Value::Int(count))
}

/// `index` of lists and tuples.
pub(crate) fn index(vm: &mut Vm, args: &[Value]) -> Outcome {
    let parts = [args[2].or(Value::None), args[3].or(Value::None), Value::None];
    let length = args[0].object().map_or(0, |object| vm.heap.sequence_length(object));
    for part in [args[2], args[3]] {
        if !part.is_undefined() && vm.heap.as_int(part).is_none() {
            let asked = vm.python_method(part, nm::INDEX).is_some();
            return Err(if asked { Throw::Fallback } else { vm.type_error("slice indices must be integers or have an __index__ method") });
        }
    }
    let (start, _, count) = vm.slice_bounds(&parts, length)?;
    let start = sizes::saturating(start);
    let items = snapshot(vm, args[0])?;
    match find(vm, &items[start..start + count], args[1])? {
        Some(position) => Ok(Value::Int(i64::try_from(start + position).unwrap_or(i64::MAX))),
        None => {
            let message = if vm.heap.is_instance(args[0], ty::TUPLE) {
                "tuple.index(x): x not in tuple".to_owned()
            } else {
                let shown = vm.repr_native(args[1])?;
                format!("{shown} is not in list")
            };
            Err(vm.value_error(message))
        }
    }
}

fn reverse(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.spend(ITEMS_PASSED.of(length(vm, args[0])))?;
    if let Value::Obj(object) = args[0] {
        if let Payload::List(row) = vm.heap.payload_mut(object).core_mut() {
            row.items.reverse();
        }
    }
    Ok(Value::None)
}

fn sort(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !args[1].is_undefined() && !args[1].is_none() {
        return Err(Throw::Fallback);
    }
    let reverse = vm.integer_option(args[2])?;
    let Value::Obj(object) = args[0] else { return Ok(Value::None) };
    let items = vm.heap.sequence_snapshot(args[0]);
    let sorted = sorting::sorted(vm, items, reverse)?;
    if let Payload::List(row) = vm.heap.payload_mut(object).core_mut() {
        row.items = sorted;
    }
    Ok(Value::None)
}

fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::Int(i64::try_from(length(vm, args[0])).unwrap_or(i64::MAX)))
}

/// `__iter__` of builtin sequences and mappings: of the content, whatever the class overrides.
pub(crate) fn iter(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Value::Obj(object) = args[0] else { return Err(vm.not_iterable(args[0])) };
    let (class, state) = match vm.heap.payload(object).core() {
        Payload::List(_) => (ty::LIST_ITERATOR, Iter::Sequence { sequence: args[0], index: 0 }),
        Payload::Tuple(_) => (ty::TUPLE_ITERATOR, Iter::Sequence { sequence: args[0], index: 0 }),
        Payload::Str(_) => (ty::STR_ITERATOR, Iter::Sequence { sequence: args[0], index: 0 }),
        Payload::Bytes(_) => (ty::BYTES_ITERATOR, Iter::Sequence { sequence: args[0], index: 0 }),
        Payload::ByteArray(..) => (ty::BYTEARRAY_ITERATOR, Iter::Sequence { sequence: args[0], index: 0 }),
        Payload::Dict(dict) => {
            (ty::DICT_KEY_ITERATOR, Iter::Dict { dict: args[0], index: 0, size: dict.len(), kind: crate::payload::DictPart::Keys })
        }
        Payload::Set(dict) => {
            (ty::SET_ITERATOR, Iter::Dict { dict: args[0], index: 0, size: dict.len(), kind: crate::payload::DictPart::Keys })
        }
        _ => return vm.iterator(args[0]),
    };
    vm.heap.retain(args[0]);
    Ok(vm.heap.make(class, Payload::Iterator(Box::new(state))))
}

/// `__reversed__` of builtin sequences.
pub(crate) fn reversed(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(Payload::Range(range)) = args[0].object().map(|object| vm.heap.payload(object)) {
        let numbers = range.backwards();
        return Ok(vm.heap.make(ty::RANGE_ITERATOR, Payload::Iterator(Box::new(numbers))));
    }
    let left = args[0].object().map_or(0, |sequence| vm.heap.sequence_word(sequence).1);
    vm.heap.retain(args[0]);
    let class = if vm.heap.is_instance(args[0], ty::LIST) { ty::LIST_REVERSE_ITERATOR } else { ty::REVERSED };
    Ok(vm.heap.make(class, Payload::Iterator(Box::new(Iter::Reversed { sequence: args[0], left }))))
}

/// `__getitem__` of the builtin content.
pub(crate) fn getitem(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.get_item_native(args[0], args[1])
}

/// `__setitem__` of the builtin content.
pub(crate) fn setitem(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.set_item_native(args[0], args[1], args[2]).map(|()| Value::None)
}

/// `__delitem__` of the builtin content.
pub(crate) fn delitem(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.delete_item_native(args[0], args[1]).map(|()| Value::None)
}

/// `__contains__` of the builtin content.
pub(crate) fn contains(vm: &mut Vm, args: &[Value]) -> Outcome {
    let plain = super::plain(vm, args[0]);
    let outcome = vm.contains_native(plain, args[1]);
    vm.heap.release(plain);
    outcome.map(Value::truth)
}

/// `list[int]`
pub(crate) fn class_getitem(vm: &mut Vm, args: &[Value]) -> Outcome {
    let arguments = if vm.heap.is_instance(args[1], ty::TUPLE) {
        vm.heap.retain(args[1])
    } else {
        vm.heap.retain(args[1]);
        vm.heap.tuple(vec![args[1]])
    };
    vm.heap.retain(args[0]);
    Ok(vm.heap.make(ty::GENERIC_ALIAS, Payload::GenericAlias { origin: args[0], arguments, starred: false }))
}

/// `a + b`
pub(crate) fn concatenate(vm: &mut Vm, left: Value, right: Value) -> Outcome {
    let count = length(vm, left) + length(vm, right);
    vm.spend(sequences_joined(count))?;
    vm.reserve(count * 8)?;
    let mut items = vm.heap.spares.values(count);
    for side in [left, right] {
        if let Some(Payload::List(row)) = side.object().map(|object| vm.heap.payload(object).core()) {
            items.extend_from_slice(&row.items);
        }
    }
    vm.heap.retain_each(&items);
    Ok(vm.heap.list(items))
}

/// `list[a:b:c] = value`
pub(crate) fn set_slice(vm: &mut Vm, object: Ref, parts: &[Value; 3], value: Value) -> Outcome<()> {
    let length = length(vm, Value::Obj(object));
    let (start, step, count) = vm.slice_bounds(parts, length)?;
    if step == 1 && vm.heap.slot(object).class == ty::LIST && overwrites(vm, object, value, count) {
        return overwrite(vm, object, sizes::saturating(start), value);
    }
    let items = match vm.collect(value) {
        Ok(items) => items,
        Err(Throw::Raise(exception)) if vm.heap.is_instance(exception, ty::TYPE_ERROR) => {
            vm.heap.release(exception);
            return Err(vm.type_error(if step == 1 { "can only assign an iterable" } else { "must assign iterable to extended slice" }));
        }
        Err(throw) => return Err(throw),
    };
    vm.spend(ITEMS_WRITTEN.of(length))?;
    let items = vm.admitted(object, items)?;
    let mut old = Vec::new();
    if step == 1 {
        let first = sizes::saturating(start);
        if let Payload::List(row) = vm.heap.payload_mut(object).core_mut() {
            old = items;
            if old.len() == count {
                row.items[first..first + count].swap_with_slice(&mut old);
            } else {
                old = row.items.splice(first..first + count, old).collect();
            }
        }
        resized(vm, object);
    } else {
        if items.len() != count {
            let got = items.len();
            vm.heap.release_all(items);
            let message = format!("attempt to assign sequence of size {got} to extended slice of size {count}");
            return Err(vm.value_error(message));
        }
        if let Payload::List(row) = vm.heap.payload_mut(object).core_mut() {
            let mut at = start;
            for item in items {
                if let Some(place) = sizes::index(at).and_then(|at| row.items.get_mut(at)) {
                    old.push(std::mem::replace(place, item));
                }
                at = at.saturating_add(step);
            }
        }
    }
    vm.heap.release_all(old);
    Ok(())
}

/// Whether another plain list or tuple has as many items as are replaced.
fn overwrites(vm: &Vm, object: Ref, value: Value, count: usize) -> bool {
    let Value::Obj(source) = value else { return false };
    let plain = matches!(vm.heap.slot(source).class, ty::LIST | ty::TUPLE);
    plain && source != object && vm.heap.items(source).is_some_and(|items| items.len() == count)
}

/// Replaces items of a list by those of another sequence, one by one.
fn overwrite(vm: &mut Vm, object: Ref, first: usize, value: Value) -> Outcome<()> {
    let Value::Obj(source) = value else { return Ok(()) };
    let (length, count) = (vm.heap.items(object).map_or(0, <[Value]>::len), vm.heap.items(source).map_or(0, <[Value]>::len));
    vm.spend(ITEM_MADE.of(count))?;
    vm.reserve(count.saturating_mul(8))?;
    vm.spend(ITEMS_PASSED.of(length))?;
    let mut items = vm.heap.spares.values(count);
    items.extend_from_slice(vm.heap.items(source).unwrap_or_default());
    // Numbers are neither counted nor part of a cycle.
    if items.iter().any(|item| item.object().is_some()) {
        for &item in &items {
            vm.store_barrier(object, item)?;
        }
        vm.heap.retain_each(&items);
    }
    if let Payload::List(row) = vm.heap.payload_mut(object) {
        row.items[first..first + count].swap_with_slice(&mut items);
    }
    for old in &items {
        if let Value::Obj(old) = *old {
            vm.heap.release_object(old);
        }
    }
    vm.heap.spares.keep_values(items);
    Ok(())
}

/// `del list[a:b:c]`
pub(crate) fn delete_slice(vm: &mut Vm, object: Ref, parts: &[Value; 3]) -> Outcome<()> {
    let length = length(vm, Value::Obj(object));
    let (start, step, count) = vm.slice_bounds(parts, length)?;
    vm.spend(ITEMS_DELETED.of(length))?;
    let mut doomed = vec![false; length];
    for index in 0..count {
        let at = start.saturating_add(step.saturating_mul(i64::try_from(index).unwrap_or(0)));
        if let Some(mark) = sizes::index(at).and_then(|at| doomed.get_mut(at)) {
            *mark = true;
        }
    }
    let mut old = Vec::new();
    if let Payload::List(row) = vm.heap.payload_mut(object).core_mut() {
        let mut kept = Vec::with_capacity(length - count);
        for (item, dead) in row.items.drain(..).zip(doomed) {
            if dead {
                old.push(item);
            } else {
                kept.push(item);
            }
        }
        row.items = kept;
    }
    resized(vm, object);
    vm.heap.release_all(old);
    Ok(())
}
