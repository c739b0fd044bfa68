//! `set` and `frozenset`: dicts without values, so they keep insertion order.

mod pairs;

use crate::costs::{CHARACTER_MADE, CHARACTER_SEEN, ENTRY_COMBINED, ENTRY_COPIED, ENTRY_FOLDED};
use crate::error::{Outcome, Throw};
use crate::frame::CompareOp;
use crate::objects::set_plain::inside;
use crate::objects::tables::entries;
use crate::objects::{list, tables};
use crate::payload::{DictPart, Payload};
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::operator::BinaryOp;
use crate::runtime::protocol::{Hashing, Iterate};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use pairs::compare_pairs;
use std::collections::BTreeSet;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `set` and `frozenset`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "set.__new__", "cls, /, *args, **kwargs", 5, new, ""),
    NativeRow(M, "set.__init__", "self, iterable=, /", 5, init, "set_init"),
    NativeRow(S, "frozenset.__new__", "cls, iterable=, /", 5, frozen_new, "frozenset_new"),
    NativeRow(M, "set.add", "self, value, /", 3, add, "set_add"),
    NativeRow(M, "set.discard", "self, value, /", 3, discard, "set_discard"),
    NativeRow(M, "set.remove", "self, value, /", 3, remove, "set_remove"),
    NativeRow(M, "set.pop", "self, /", 3, pop, ""),
    NativeRow(M, "set.clear", "self, /", 3, tables::clear, ""),
    NativeRow(M, "set.copy", "self, /", 3, copy, ""),
    NativeRow(M, "set.update", "self, /, *others", 3, update, "set_update_all"),
    NativeRow(M, "set.intersection_update", "self, /, *others", 35, intersection_update, "set_intersection_update"),
    NativeRow(M, "set.difference_update", "self, /, *others", 35, difference_update, "set_difference_update"),
    NativeRow(M, "set.symmetric_difference_update", "self, other, /", 35, symmetric_update, "set_symmetric_difference_update"),
    NativeRow(M, "set.union", "self, /, *others", 30, union, "set_union"),
    NativeRow(M, "set.intersection", "self, /, *others", 30, intersection, "set_intersection"),
    NativeRow(M, "set.difference", "self, /, *others", 30, difference, "set_difference"),
    NativeRow(M, "set.symmetric_difference", "self, other, /", 30, symmetric, "set_symmetric_difference"),
    NativeRow(M, "set.issubset", "self, other, /", 15, issubset, "set_issubset"),
    NativeRow(M, "set.issuperset", "self, other, /", 15, issuperset, "set_issuperset"),
    NativeRow(M, "set.isdisjoint", "self, other, /", 15, isdisjoint, "set_isdisjoint"),
    NativeRow(M, "set.__len__", "self, /", 1, tables::len, ""),
    NativeRow(M, "set.__iter__", "self, /", 1, list::iter, ""),
    NativeRow(M, "set.__contains__", "self, value, /", 3, list::contains, "set_contains"),
    NativeRow(M, "set.__repr__", "self, /", 3, super::tuple::repr, "repr_slow"),
    NativeRow(C, "set.__class_getitem__", "cls, item, /", 10, list::class_getitem, ""),
    NativeRow(M, "frozenset.copy", "self, /", 3, copy, ""),
    NativeRow(M, "frozenset.union", "self, /, *others", 30, union, "set_union"),
    NativeRow(M, "frozenset.intersection", "self, /, *others", 30, intersection, "set_intersection"),
    NativeRow(M, "frozenset.difference", "self, /, *others", 30, difference, "set_difference"),
    NativeRow(M, "frozenset.symmetric_difference", "self, other, /", 30, symmetric, "set_symmetric_difference"),
    NativeRow(M, "frozenset.issubset", "self, other, /", 15, issubset, "set_issubset"),
    NativeRow(M, "frozenset.issuperset", "self, other, /", 15, issuperset, "set_issuperset"),
    NativeRow(M, "frozenset.isdisjoint", "self, other, /", 15, isdisjoint, "set_isdisjoint"),
    NativeRow(M, "frozenset.__len__", "self, /", 1, tables::len, ""),
    NativeRow(M, "frozenset.__iter__", "self, /", 1, list::iter, ""),
    NativeRow(M, "frozenset.__contains__", "self, value, /", 3, list::contains, "set_contains"),
    NativeRow(C, "frozenset.__class_getitem__", "cls, item, /", 10, list::class_getitem, ""),
];

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn init(vm: &mut Vm, args: &[Value]) -> Outcome {
    let items = if args[1].is_undefined() { Vec::new() } else { hashable(vm, args[1])? };
    tables::clear(vm, args)?;
    insert_all(vm, args[0], items)
}

/// Items of an iterable with their hashes; those of a dict or set are known.
fn hashable(vm: &mut Vm, source: Value) -> Outcome<Vec<(Value, i64)>> {
    if let Some(entries) = entries(vm, source) {
        vm.spend(ENTRY_COPIED.of(entries.len()))?;
        entries.iter().for_each(|&(key, _)| _ = vm.heap.retain(key));
        return Ok(entries);
    }
    if let Some(pairs) = characters(vm, source)? {
        return Ok(pairs);
    }
    let items = vm.collect(source)?;
    vm.owe(ENTRY_COPIED.of(items.len()));
    let mut pairs = std::mem::take(&mut vm.heap.spares.pairs);
    pairs.reserve(items.len());
    for &item in &items {
        match vm.hash_native(item) {
            Ok(hash) => pairs.push((item, hash)),
            Err(throw) => {
                vm.heap.release_all(items);
                return Err(throw);
            }
        }
    }
    vm.heap.spares.keep_values(items);
    Ok(pairs)
}

/// The different characters of text beyond ASCII with their hashes; `None` for everything else.
fn characters(vm: &mut Vm, source: Value) -> Outcome<Option<Vec<(Value, i64)>>> {
    if vm.heap.is_python_instance(source) {
        return Ok(None);
    }
    let length = vm.heap.text(source).filter(|text| !text.is_ascii()).map_or(0, str::len);
    if length == 0 {
        return Ok(None);
    }
    // As many as it has bytes, two at least for each.
    vm.spend(CHARACTER_SEEN.of(length))?;
    let text = vm.heap.text(source).unwrap_or_default().to_owned();
    let (mut seen, mut pairs) = (BTreeSet::new(), Vec::new());
    for character in text.chars() {
        if !seen.insert(character) {
            continue;
        }
        vm.spend(CHARACTER_MADE.once())?;
        vm.reserve(pairs.len().saturating_mul(size_of::<u64>()))?;
        let item = vm.heap.str(character.encode_utf8(&mut [0; 4]));
        pairs.push((item, vm.hash_native(item)?));
    }
    Ok(Some(pairs))
}

fn release_pairs(vm: &mut Vm, items: &[(Value, i64)]) {
    for &(item, _) in items {
        vm.heap.release(item);
    }
}

/// Adds items; the references are taken over.
fn insert_all(vm: &mut Vm, set: Value, items: Vec<(Value, i64)>) -> Outcome {
    let target = vm.class_argument(set)?;
    for (at, &(item, hash)) in items.iter().enumerate() {
        let outcome = match vm.dict_find(target, item, hash) {
            Ok(Some(_)) => {
                vm.heap.release(item);
                continue;
            }
            Ok(None) => vm.dict_put(target, item, Value::None, hash, None),
            Err(throw) => Err(throw),
        };
        if let Err(throw) = outcome {
            release_pairs(vm, &items[at..]);
            return Err(throw);
        }
    }
    vm.heap.spares.keep_pairs(items);
    Ok(Value::None)
}

fn frozen_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    if class == ty::FROZENSET && vm.heap.class_of(args[1]) == ty::FROZENSET {
        return Ok(vm.heap.retain(args[1]));
    }
    let items = if args[1].is_undefined() { Vec::new() } else { hashable(vm, args[1])? };
    let set = vm.new_builtin(class)?;
    filled(vm, set, items)
}

/// A set looked for in a set stands for its frozen twin.
pub(crate) fn frozen_key(vm: &mut Vm, container: crate::value::Ref, item: Value) -> Outcome {
    let is_set = matches!(vm.heap.payload(container).core(), Payload::Set(_));
    if is_set && vm.heap.is_instance(item, ty::SET) && vm.python_method(item, nm::HASH).is_none() {
        return tables::copy_table(vm, item, ty::FROZENSET);
    }
    Ok(vm.heap.retain(item))
}

fn add(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (Value::Obj(target), key) = (args[0], args[1]) else { return Ok(Value::None) };
    let hash = vm.hash_native(key)?;
    let found = vm.dict_find(target, key, hash)?;
    if found.is_none() {
        vm.dict_store(target, key, Value::None, hash, None)?;
    }
    Ok(Value::None)
}

fn take(vm: &mut Vm, args: &[Value]) -> Outcome<bool> {
    let target = vm.class_argument(args[0])?;
    let key = frozen_key(vm, target, args[1])?;
    let found = vm.hash_native(key).and_then(|hash| vm.dict_find(target, key, hash));
    vm.heap.release(key);
    match found? {
        Some(position) => {
            vm.dict_remove_at(target, position);
            Ok(true)
        }
        None => Ok(false),
    }
}

fn discard(vm: &mut Vm, args: &[Value]) -> Outcome {
    take(vm, args).map(|_| Value::None)
}

fn remove(vm: &mut Vm, args: &[Value]) -> Outcome {
    if take(vm, args)? { Ok(Value::None) } else { Err(vm.key_error(args[1])) }
}

fn pop(vm: &mut Vm, args: &[Value]) -> Outcome {
    let target = vm.class_argument(args[0])?;
    match vm.heap.table(target).and_then(|table| table.live_from(0)) {
        Some((position, entry)) => {
            vm.heap.retain(entry.key);
            vm.dict_remove_at(target, position);
            Ok(entry.key)
        }
        None => {
            let message = vm.heap.str("pop from an empty set");
            let exception = vm.exception(ty::KEY_ERROR, message);
            Err(Throw::Raise(exception))
        }
    }
}

fn class_for(vm: &Vm, value: Value) -> Ref {
    if vm.heap.is_instance(value, ty::FROZENSET) { ty::FROZENSET } else { ty::SET }
}

fn copy(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.class_of(args[0]) == ty::FROZENSET {
        return Ok(vm.heap.retain(args[0]));
    }
    let class = class_for(vm, args[0]);
    tables::copy_table(vm, args[0], class)
}

/// Adds every item of an iterable; nothing has changed when Python code is needed.
pub(crate) fn update_in_place(vm: &mut Vm, set: Value, source: Value) -> Outcome {
    let items = hashable(vm, source)?;
    insert_all(vm, set, items)
}

fn update(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut all: Vec<Vec<(Value, i64)>> = Vec::new();
    let mut outcome = Ok(Value::None);
    for &other in &args[1..] {
        match hashable(vm, other) {
            Ok(items) => all.push(items),
            Err(throw) => {
                outcome = Err(throw);
                break;
            }
        }
    }
    for items in all {
        if outcome.is_ok() {
            outcome = insert_all(vm, args[0], items);
        } else {
            release_pairs(vm, &items);
        }
    }
    outcome
}

/// A set of the items of any iterable.
fn as_set(vm: &mut Vm, value: Value) -> Outcome {
    if matches!(value.object().map(|object| vm.heap.payload(object).core()), Some(Payload::Set(_))) {
        return Ok(vm.heap.retain(value));
    }
    let items = hashable(vm, value)?;
    let set = Value::Obj(vm.heap.new_set(ty::SET));
    filled(vm, set, items)
}

/// A fresh set with items, both of which are taken over.
fn filled(vm: &mut Vm, set: Value, items: Vec<(Value, i64)>) -> Outcome {
    match insert_all(vm, set, items) {
        Ok(_) => Ok(set),
        Err(throw) => {
            vm.heap.release(set);
            Err(throw)
        }
    }
}

/// The sets of the items of two iterables.
fn as_sets(vm: &mut Vm, left: Value, right: Value) -> Outcome<(Value, Value)> {
    let left = as_set(vm, left)?;
    match as_set(vm, right) {
        Ok(right) => Ok((left, right)),
        Err(throw) => {
            vm.heap.release(left);
            Err(throw)
        }
    }
}

/// `left op right` on sets, as a new set of the left one's sort; with a view of a dict, on any iterables, as a set.
pub(crate) fn operate(vm: &mut Vm, op: BinaryOp, left: Value, right: Value) -> Outcome {
    let class = if is_view(vm, right) { ty::SET } else { class_for(vm, left) };
    combine(vm, op, left, right, class)
}

/// Whether a value is a view of a dict's keys or pairs.
pub(crate) fn is_view(vm: &Vm, value: Value) -> bool {
    view_of(vm, value).is_some_and(|(_, part)| matches!(part, Some(DictPart::Keys | DictPart::Items)))
}

/// The table of a set, or of the dict that a view shows, and what the view shows of it.
fn view_of(vm: &Vm, value: Value) -> Option<(Ref, Option<DictPart>)> {
    let object = value.object()?;
    match vm.heap.payload(object).core() {
        Payload::Set(_) => Some((object, None)),
        Payload::DictView { dict, part } => Some((dict.object()?, Some(*part))),
        _ => None,
    }
}

fn combine(vm: &mut Vm, op: BinaryOp, left: Value, right: Value, class: Ref) -> Outcome {
    let (a, b) = as_sets(vm, left, right)?;
    let (Value::Obj(x), Value::Obj(y)) = (a, b) else { return Err(Throw::Fallback) };
    vm.spend(ENTRY_COMBINED.of(vm.heap.dict_len(x) + vm.heap.dict_len(y)))?;
    if let Some(set) = vm.combine_plain(op, x, y, class)? {
        vm.heap.release(a);
        vm.heap.release(b);
        return Ok(set);
    }
    let mine = entries(vm, a).unwrap_or_default();
    let theirs = entries(vm, b).unwrap_or_default();
    let mut kept = Vec::new();
    let mut outcome = Ok(());
    let sides = [(&mine, y, true), (&theirs, x, false)];
    'all: for (pairs, other, left_side) in sides {
        if !left_side && !matches!(op, BinaryOp::Or | BinaryOp::Xor) {
            break;
        }
        for &(item, hash) in pairs {
            if left_side && op == BinaryOp::Or {
                kept.push((item, hash));
                continue;
            }
            match vm.dict_find(other, item, hash) {
                Ok(found) if found.is_some() == (op == BinaryOp::And) => kept.push((item, hash)),
                Ok(_) => {}
                Err(throw) => {
                    outcome = Err(throw);
                    break 'all;
                }
            }
        }
    }
    for (item, _) in &kept {
        vm.heap.retain(*item);
    }
    let set = Value::Obj(vm.heap.new_set(class));
    let outcome = match outcome {
        Ok(()) => insert_all(vm, set, kept).map(|_| set),
        Err(throw) => {
            kept.into_iter().for_each(|(item, _)| vm.heap.release(item));
            Err(throw)
        }
    };
    vm.heap.release(a);
    vm.heap.release(b);
    outcome.inspect_err(|_| vm.heap.release(set))
}

/// Puts another set's items in place of a set's own; the other one is consumed.
pub(crate) fn replace(vm: &mut Vm, target: Ref, other: Value) {
    let items = entries(vm, other).unwrap_or_default();
    vm.owe(ENTRY_FOLDED.of(items.len()));
    for (item, _) in &items {
        vm.heap.retain(*item);
    }
    vm.heap.release(other);
    let cleared = tables::clear(vm, &[Value::Obj(target)]);
    debug_assert!(cleared.is_ok(), "clearing a set cannot fail");
    for (item, hash) in items {
        // The items were in one set before, so no two of them are equal.
        let added = vm.dict_put(target, item, Value::None, hash, None);
        debug_assert!(added.is_ok(), "the items were in a set before");
    }
}

fn fold(vm: &mut Vm, op: BinaryOp, args: &[Value]) -> Outcome {
    let class = class_for(vm, args[0]);
    let mut result = tables::copy_table(vm, args[0], class)?;
    for &other in &args[1..] {
        let next = combine(vm, op, result, other, class);
        vm.heap.release(result);
        result = next?;
    }
    Ok(result)
}

fn union(vm: &mut Vm, args: &[Value]) -> Outcome {
    fold(vm, BinaryOp::Or, args)
}

fn intersection(vm: &mut Vm, args: &[Value]) -> Outcome {
    fold(vm, BinaryOp::And, args)
}

fn difference(vm: &mut Vm, args: &[Value]) -> Outcome {
    fold(vm, BinaryOp::Sub, args)
}

fn symmetric(vm: &mut Vm, args: &[Value]) -> Outcome {
    fold(vm, BinaryOp::Xor, args)
}

fn fold_in_place(vm: &mut Vm, op: BinaryOp, args: &[Value]) -> Outcome {
    let target = vm.class_argument(args[0])?;
    let result = fold(vm, op, args)?;
    replace(vm, target, result);
    Ok(Value::None)
}

fn intersection_update(vm: &mut Vm, args: &[Value]) -> Outcome {
    fold_in_place(vm, BinaryOp::And, args)
}

fn difference_update(vm: &mut Vm, args: &[Value]) -> Outcome {
    fold_in_place(vm, BinaryOp::Sub, args)
}

fn symmetric_update(vm: &mut Vm, args: &[Value]) -> Outcome {
    fold_in_place(vm, BinaryOp::Xor, args)
}

/// `left op right` as subset relations.
pub(crate) fn compare(vm: &mut Vm, op: CompareOp, left: Value, right: Value) -> Outcome<bool> {
    if let Some(holds) = compare_pairs(vm, op, left, right)? {
        return Ok(holds);
    }
    let (a, b) = as_sets(vm, left, right)?;
    let (x, y) = (a.object().map_or(0, |a| vm.heap.dict_len(a)), b.object().map_or(0, |b| vm.heap.dict_len(b)));
    let outcome = match op {
        CompareOp::Eq => {
            if x == y {
                inside(vm, a, b)
            } else {
                Ok(false)
            }
        }
        CompareOp::Ne => {
            if x == y {
                inside(vm, a, b).map(|same| !same)
            } else {
                Ok(true)
            }
        }
        CompareOp::Le => inside(vm, a, b),
        CompareOp::Lt => {
            if x < y {
                inside(vm, a, b)
            } else {
                Ok(false)
            }
        }
        CompareOp::Ge => inside(vm, b, a),
        CompareOp::Gt => {
            if x > y {
                inside(vm, b, a)
            } else {
                Ok(false)
            }
        }
    };
    vm.heap.release(a);
    vm.heap.release(b);
    outcome
}

fn issubset(vm: &mut Vm, args: &[Value]) -> Outcome {
    compare(vm, CompareOp::Le, args[0], args[1]).map(Value::truth)
}

fn issuperset(vm: &mut Vm, args: &[Value]) -> Outcome {
    compare(vm, CompareOp::Ge, args[0], args[1]).map(Value::truth)
}

/// Whether nothing is in both.
pub(crate) fn isdisjoint(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.python_method(args[1], nm::ITER).is_some() {
        return Err(Throw::Fallback);
    }
    let common = combine(vm, BinaryOp::And, args[0], args[1], ty::SET)?;
    let empty = common.object().is_none_or(|common| vm.heap.dict_len(common) == 0);
    vm.heap.release(common);
    Ok(Value::truth(empty))
}
