//! `dict` and its views.

use crate::costs::{ATTRIBUTE_NAME, ENTRY_COPIED, ENTRY_FOLDED};
use crate::error::{Outcome, Throw};
use crate::objects::list;
use crate::objects::tables::{clear, copy_table, dict, len};
use crate::payload::{DictPart, Iter, Payload};
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Hashing, Iterate};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use crate::window::afresh;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `dict` and its views.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "dict.__new__", "cls, /, *args, **kwargs", 3, new, ""),
    NativeRow(M, "dict.__init__", "self, /, *args, **kwargs", 3, init, "dict_init"),
    NativeRow(M, "dict.get", "self, key, default=, /", 3, get, "dict_get"),
    NativeRow(M, "dict.setdefault", "self, key, default=, /", 3, setdefault, "dict_setdefault"),
    NativeRow(M, "dict.pop", "self, key, default=, /", 3, pop, "dict_pop"),
    NativeRow(M, "dict.popitem", "self, /", 3, popitem, ""),
    NativeRow(M, "dict.update", "self, /, *args, **kwargs", 6, update, "dict_init"),
    NativeRow(M, "dict.clear", "self, /", 3, clear, ""),
    NativeRow(M, "dict.copy", "self, /", 3, copy, "dict_copy"),
    NativeRow(M, "dict.keys", "self, /", 3, keys, ""),
    NativeRow(M, "dict.values", "self, /", 3, values, ""),
    NativeRow(M, "dict.items", "self, /", 3, items, ""),
    NativeRow(C, "dict.fromkeys", "cls, iterable, value=, /", 8, fromkeys, "dict_fromkeys"),
    NativeRow(M, "dict.__len__", "self, /", 1, len, ""),
    NativeRow(M, "dict.__iter__", "self, /", 1, list::iter, ""),
    NativeRow(M, "dict.__reversed__", "self, /", 1, reversed, ""),
    NativeRow(M, "dict.__getitem__", "self, key, /", 3, list::getitem, "dict_getitem"),
    NativeRow(M, "dict.__setitem__", "self, key, value, /", 3, list::setitem, "dict_setitem"),
    NativeRow(M, "dict.__delitem__", "self, key, /", 3, list::delitem, "dict_delitem"),
    NativeRow(M, "dict.__contains__", "self, key, /", 3, contains, "dict_contains"),
    NativeRow(M, "dict.__repr__", "self, /", 3, super::tuple::repr, "repr_slow"),
    NativeRow(M, "dict.__ior__", "self, value, /", 6, ior, ""),
    NativeRow(C, "dict.__class_getitem__", "cls, item, /", 10, list::class_getitem, ""),
    NativeRow(M, "dict_keys.isdisjoint", "self, other, /", 10, super::set::isdisjoint, "set_isdisjoint"),
    NativeRow(M, "dict_keys.__reversed__", "self, /", 1, reversed, ""),
    NativeRow(M, "dict_values.__reversed__", "self, /", 1, reversed, ""),
    NativeRow(M, "dict_items.__reversed__", "self, /", 1, reversed, ""),
    NativeRow(M, "dict_keys.__len__", "self, /", 1, len, ""),
    NativeRow(M, "dict_keys.__iter__", "self, /", 1, iter, ""),
    NativeRow(M, "dict_values.__iter__", "self, /", 1, iter, ""),
    NativeRow(M, "dict_items.__iter__", "self, /", 1, iter, ""),
    NativeRow(M, "mappingproxy.keys", "self, /", 2, proxy_keys, ""),
    NativeRow(M, "mappingproxy.values", "self, /", 2, proxy_values, ""),
    NativeRow(M, "mappingproxy.items", "self, /", 2, proxy_items, ""),
    NativeRow(M, "mappingproxy.get", "self, key, default=, /", 3, proxy_get, ""),
    NativeRow(M, "mappingproxy.__iter__", "self, /", 1, iter, ""),
];

fn iter(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.iterator(args[0])
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn init(vm: &mut Vm, args: &[Value]) -> Outcome {
    fill(vm, args, "dict")
}

fn update(vm: &mut Vm, args: &[Value]) -> Outcome {
    fill(vm, args, "update")
}

/// Puts the entries of the argument into a dict, for a function of that name.
fn fill(vm: &mut Vm, args: &[Value], function: &str) -> Outcome {
    let target = dict(vm, args[0])?;
    if args.len() > 3 {
        let message = format!("{function} expected at most 1 argument, got {}", args.len() - 2);
        return Err(vm.type_error(message));
    }
    if let Some(&source) = args.get(2) {
        let exact = matches!(source, Value::Obj(object) if vm.heap.slot(object).class == ty::DICT);
        if !exact {
            return Err(Throw::Fallback);
        }
        let pairs = vm.heap.dict_pairs(source);
        vm.spend(ENTRY_COPIED.of(pairs.len()))?;
        // Nothing may have changed when a key turns out to need Python code.
        for &(key, _) in &pairs {
            vm.hash_native(key)?;
        }
        for (key, value) in pairs {
            insert(vm, target, key, value)?;
        }
    }
    for (key, value) in vm.heap.dict_pairs(args[1]) {
        insert(vm, target, key, value)?;
    }
    Ok(Value::None)
}

/// Sets a key; both borrowed.
pub(crate) fn insert(vm: &mut Vm, target: Ref, key: Value, value: Value) -> Outcome<()> {
    let hash = vm.hash_native(key)?;
    let found = vm.dict_find(target, key, hash)?;
    vm.dict_store(target, key, value, hash, found)
}

fn find(vm: &mut Vm, args: &[Value]) -> Outcome<(Ref, Option<usize>)> {
    let target = dict(vm, args[0])?;
    let hash = vm.hash_native(args[1])?;
    Ok((target, vm.dict_find(target, args[1], hash)?))
}

fn get(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Value::Obj(object) = args[0] {
        if let Payload::Dict(table) = vm.heap.payload(object) {
            if let Some(found) = vm.heap.find_known(table, &args[1]) {
                let value = match found {
                    Some(position) => &table.entries[position].value,
                    None if args[2].is_undefined() => &Value::None,
                    None => &args[2],
                };
                let value = afresh(value);
                return Ok(vm.heap.retain(value));
            }
        }
    }
    let (target, found) = find(vm, args)?;
    let value = match found {
        Some(position) => vm.heap.dict_value_at(target, position),
        None => args[2].or(Value::None),
    };
    Ok(vm.heap.retain(value))
}

fn contains(vm: &mut Vm, args: &[Value]) -> Outcome {
    find(vm, args).map(|(_, found)| Value::truth(found.is_some()))
}

fn setdefault(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (target, found) = find(vm, args)?;
    if let Some(position) = found {
        let value = vm.heap.dict_value_at(target, position);
        return Ok(vm.heap.retain(value));
    }
    let value = args[2].or(Value::None);
    insert(vm, target, args[1], value)?;
    Ok(vm.heap.retain(value))
}

fn pop(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (target, found) = find(vm, args)?;
    match found {
        Some(position) => {
            let value = vm.heap.dict_value_at(target, position);
            vm.heap.retain(value);
            vm.dict_remove_at(target, position);
            Ok(value)
        }
        None if args[2].is_undefined() => Err(vm.key_error(args[1])),
        None => Ok(vm.heap.retain(args[2])),
    }
}

fn popitem(vm: &mut Vm, args: &[Value]) -> Outcome {
    let target = dict(vm, args[0])?;
    let last = vm.heap.table(target).and_then(|table| table.live_before(usize::MAX));
    match last {
        Some((position, entry)) => {
            vm.heap.retain(entry.key);
            vm.heap.retain(entry.value);
            vm.dict_remove_at(target, position);
            Ok(vm.heap.tuple(vec![entry.key, entry.value]))
        }
        None => {
            let message = vm.heap.str("popitem(): dictionary is empty");
            let exception = vm.exception(ty::KEY_ERROR, message);
            Err(Throw::Raise(exception))
        }
    }
}

fn copy(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.python_method(args[0], nm::ITER).is_some() {
        return Err(Throw::Fallback);
    }
    copy_table(vm, args[0], ty::DICT)
}

fn view(vm: &mut Vm, value: Value, class: Ref, part: DictPart) -> Outcome {
    vm.heap.retain(value);
    Ok(vm.heap.make(class, Payload::DictView { dict: value, part }))
}

fn keys(vm: &mut Vm, args: &[Value]) -> Outcome {
    view(vm, args[0], ty::DICT_KEYS, DictPart::Keys)
}

fn values(vm: &mut Vm, args: &[Value]) -> Outcome {
    view(vm, args[0], ty::DICT_VALUES, DictPart::Values)
}

fn items(vm: &mut Vm, args: &[Value]) -> Outcome {
    view(vm, args[0], ty::DICT_ITEMS, DictPart::Items)
}

fn fromkeys(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    if class != ty::DICT {
        return Err(Throw::Fallback);
    }
    let items = vm.collect(args[1])?;
    vm.owe(ENTRY_FOLDED.of(items.len()));
    vm.with_owned(items, |vm, items| of_keys(vm, items, args[2].or(Value::None)))
}

/// A dict with the same value under each of some keys.
fn of_keys(vm: &mut Vm, keys: &[Value], value: Value) -> Outcome {
    for &key in keys {
        vm.hash_native(key)?;
    }
    let target = vm.heap.new_dict();
    for &key in keys {
        if let Err(throw) = insert(vm, target, key, value) {
            vm.heap.release(Value::Obj(target));
            return Err(throw);
        }
    }
    Ok(Value::Obj(target))
}

fn reversed(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = dict(vm, args[0])?;
    let (source, kind) = match vm.heap.payload(object).core() {
        Payload::DictView { dict, part } => (*dict, *part),
        _ => (args[0], DictPart::Keys),
    };
    let Value::Obj(table) = source else { return Err(Throw::Fallback) };
    let size = vm.heap.dict_len(table);
    let left = vm.heap.table(table).map_or(0, |table| table.entries.len());
    vm.heap.retain(source);
    let class = match kind {
        DictPart::Keys => ty::DICT_REVERSE_KEY_ITERATOR,
        DictPart::Values => ty::DICT_REVERSE_VALUE_ITERATOR,
        DictPart::Items => ty::DICT_REVERSE_ITEM_ITERATOR,
    };
    Ok(vm.heap.make(class, Payload::Iterator(Box::new(Iter::ReversedDict { dict: source, left, size, kind }))))
}

pub(super) fn ior(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.heap.is_instance(args[1], ty::DICT) {
        return vm.call_helper("dict_ior", &[args[0], args[1]]);
    }
    match vm.dict_merge_native(args[0], args[1], false, Value::None) {
        Err(Throw::Fallback) => vm.call_helper("dict_ior", &[args[0], args[1]]),
        outcome => outcome.map(|_| vm.heap.retain(args[0])),
    }
}

/// `a | b`
pub(crate) fn merged(vm: &mut Vm, left: Value, right: Value) -> Outcome {
    if vm.python_method(left, nm::ITER).is_some() {
        return Err(Throw::Fallback);
    }
    let result = copy_table(vm, left, ty::DICT)?;
    match vm.dict_merge_native(result, right, false, Value::None) {
        Ok(_) => Ok(result),
        Err(throw) => {
            vm.heap.release(result);
            Err(throw)
        }
    }
}

/// What a read-only view shows: a dict, or a class.
fn proxied(vm: &Vm, value: Value) -> Value {
    match value.object().map(|object| vm.heap.payload(object)) {
        Some(Payload::MappingProxy(inner)) => *inner,
        _ => value,
    }
}

/// The dict behind a read-only view, retained: of a class, one that is made of its attributes.
fn proxy_dict(vm: &mut Vm, value: Value) -> Outcome {
    let inner = proxied(vm, value);
    if vm.heap.is_instance(inner, ty::DICT) {
        return Ok(vm.heap.retain(inner));
    }
    let count = value.object().map_or(0, |object| vm.heap.sequence_length(object));
    vm.spend(ENTRY_FOLDED.of(count))?;
    let attributes: Vec<(Ref, Value)> = match inner.object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Class(row)) => row.attributes.iter().map(|(&name, &value)| (name, value)).collect(),
        _ => Vec::new(),
    };
    let dict = vm.heap.new_dict();
    for (name, value) in attributes {
        vm.heap.retain(value);
        vm.dict_set_name(dict, name, value);
    }
    Ok(Value::Obj(dict))
}

fn proxy_view(vm: &mut Vm, value: Value, class: Ref, part: DictPart) -> Outcome {
    let dict = proxy_dict(vm, value)?;
    let view = view(vm, dict, class, part);
    vm.heap.release(dict);
    view
}

fn proxy_keys(vm: &mut Vm, args: &[Value]) -> Outcome {
    proxy_view(vm, args[0], ty::DICT_KEYS, DictPart::Keys)
}

fn proxy_values(vm: &mut Vm, args: &[Value]) -> Outcome {
    proxy_view(vm, args[0], ty::DICT_VALUES, DictPart::Values)
}

fn proxy_items(vm: &mut Vm, args: &[Value]) -> Outcome {
    proxy_view(vm, args[0], ty::DICT_ITEMS, DictPart::Items)
}

fn proxy_get(vm: &mut Vm, args: &[Value]) -> Outcome {
    let inner = proxied(vm, args[0]);
    if vm.heap.is_instance(inner, ty::DICT) {
        return get(vm, &[inner, args[1], args[2]]);
    }
    vm.hash_native(args[1])?;
    let length = vm.heap.text(args[1]).map_or(0, str::len);
    vm.spend(ATTRIBUTE_NAME.of(length))?;
    // A text that is no name of anything is no attribute either.
    let name = vm.heap.text(args[1]).and_then(|text| vm.heap.interned_name(text));
    let found = match inner.object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Class(row)) => name.and_then(|name| row.attributes.get(&name).copied()),
        _ => None,
    };
    Ok(vm.heap.retain(found.unwrap_or(args[2].or(Value::None))))
}
