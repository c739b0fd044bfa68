//! `pvm_host.cbor_encode` and `cbor_decode`: canonical CBOR of Python values, by the one codec of `cowboy-cbor`.
//!
//! Neither direction recurses. Both charge each object before its bytes are copied, and check memory as the result grows: the same list may
//! stand in many places of a value, so an encoding can be much larger than what it is of.

use crate::costs::{CBOR_BYTE, CBOR_COPIED, CBOR_OBJECT};
use crate::error::{Outcome, Throw};
use crate::escapes::write_text;
use crate::heap::numbers::Number;
use crate::host::HostError;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::types::ty;
use crate::value::{Ref, Value};
use cowboy_cbor::{CborError, Fault, Item, MAX_DEPTH, Reader};
use cowboy_num::int;
use dashu_int::{IBig, Sign};

/// Bytes that a value takes in a list while the list is read.
const ITEM: usize = 16;

/// A list, tuple or dict that is being written.
enum Open {
    /// The position of the next item.
    Items(Ref, usize),
    /// Encoded keys with their values, the next one last, and the key whose value is written.
    Pairs(Vec<(Vec<u8>, Value)>, Vec<u8>),
}

/// What a value may be, for messages.
const ENCODABLE: &str = "None, bool, int, finite float, bytes, str, list, tuple or dict";
/// Characters of a path in a message; of a longer one the end stays.
const PATH_SHOWN: usize = 120;

/// The canonical bytes of a value. `Fallback` when an object inside says itself how it is encoded; `HostError` when there is no encoding.
pub(crate) fn encode(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    let (mut out, mut open) = (Vec::new(), Vec::new());
    let mut next = Some(value);
    loop {
        if let Some(value) = next.take() {
            let before = out.len();
            if let Some(inner) = write(vm, value, &mut out, &open)? {
                open.push(inner);
            }
            vm.spend(CBOR_BYTE.of(out.len() - before))?;
            vm.reserve(out.len())?;
        }
        next = match open.last_mut() {
            None => return Ok(out),
            Some(Open::Items(object, index)) => {
                *index += 1;
                item(vm, *object, *index - 1)
            }
            Some(Open::Pairs(pairs, current)) => pairs.pop().map(|(key, value)| {
                out.extend_from_slice(&key);
                *current = key;
                value
            }),
        };
        if next.is_none() {
            open.pop();
        }
    }
}

fn item(vm: &Vm, object: Ref, index: usize) -> Option<Value> {
    match vm.heap.payload(object).core() {
        Payload::List(list) => list.items.get(index).copied(),
        Payload::Tuple(items) => items.get(index).copied(),
        _ => None,
    }
}

/// Writes a scalar, or the head of a list, tuple or dict whose content has to follow.
fn write(vm: &mut Vm, value: Value, out: &mut Vec<u8>, open: &[Open]) -> Outcome<Option<Open>> {
    let depth = open.len();
    let Value::Obj(object) = value else {
        write_scalar(vm, value, out, open)?;
        return Ok(None);
    };
    visit(vm, object)?;
    let count = match vm.heap.payload(object).core() {
        Payload::List(list) => list.items.len(),
        Payload::Tuple(items) => items.len(),
        Payload::Dict(table) => table.len(),
        _ => {
            write_scalar(vm, value, out, open)?;
            return Ok(None);
        }
    };
    deeper(vm, depth)?;
    if !matches!(vm.heap.payload(object).core(), Payload::Dict(_)) {
        cowboy_cbor::write_array(out, count);
        return Ok(Some(Open::Items(object, 0)));
    }
    cowboy_cbor::write_map(out, count);
    let mut pairs = Vec::with_capacity(count);
    let mut size = out.len().saturating_add(count.saturating_mul(2 * ITEM));
    for (key, value) in vm.heap.dict_pairs(value) {
        let encoded = write_key(vm, key, open)?;
        vm.spend(CBOR_BYTE.of(encoded.len()))?;
        size = size.saturating_add(encoded.len());
        vm.reserve(size)?;
        pairs.push((encoded, value));
    }
    pairs.sort_by(|(left, _), (right, _)| cowboy_cbor::key_order(left, right));
    if let Err(fault) = cowboy_cbor::check_keys(pairs.iter().map(|(key, _)| key.as_slice())) {
        let words =
            if fault == Fault::KeyOrder { "Duplicate CBOR map key after freezing a key subclass".to_owned() } else { fault.to_string() };
        return Err(refuse(vm, words));
    }
    pairs.reverse();
    Ok(Some(Open::Pairs(pairs, Vec::new())))
}

fn write_key(vm: &mut Vm, key: Value, open: &[Open]) -> Outcome<Vec<u8>> {
    if let Value::Obj(object) = key {
        visit(vm, object)?;
        let frozen = match vm.heap.payload(object).core() {
            Payload::List(_) | Payload::Tuple(_) => Some("list"),
            Payload::Dict(_) => Some("dict"),
            Payload::ByteArray(..) => Some("bytearray"),
            _ => None,
        };
        if let Some(frozen) = frozen {
            let words = format!("CBOR map key of type '{}' is unhashable once frozen to '{frozen}'", vm.heap.class_name(key));
            return Err(refuse(vm, words));
        }
    }
    let mut out = Vec::new();
    if write_plain(vm, key, &mut out, open.len() + 1)? { Ok(out) } else { Err(unencodable(vm, key, open, "a key")) }
}

/// Charges an object, and gives up where it says itself how it is encoded.
fn visit(vm: &mut Vm, object: Ref) -> Outcome<()> {
    let bytes = match vm.heap.payload(object).core() {
        Payload::Str(text) => text.text.len(),
        Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => bytes.len(),
        Payload::List(list) => list.items.len().saturating_mul(2 * ITEM),
        Payload::Tuple(items) => items.len().saturating_mul(2 * ITEM),
        Payload::Dict(table) => table.len().saturating_mul(4 * ITEM),
        _ => 0,
    };
    vm.spend(CBOR_OBJECT.once() + CBOR_COPIED.of(bytes))?;
    if vm.heap.is_python_instance(Value::Obj(object)) {
        let name = vm.heap.intern("__cbor_reduce__");
        let class = vm.heap.class_of(Value::Obj(object));
        if vm.lookup(class, name).is_some() {
            return Err(Throw::Fallback);
        }
    }
    Ok(())
}

/// Writes what holds no other values. `open` says where it stands.
fn write_scalar(vm: &mut Vm, value: Value, out: &mut Vec<u8>, open: &[Open]) -> Outcome<()> {
    if write_plain(vm, value, out, open.len())? { Ok(()) } else { Err(unencodable(vm, value, open, "the value")) }
}

/// The same; false for what has no encoding.
fn write_plain(vm: &mut Vm, value: Value, out: &mut Vec<u8>, depth: usize) -> Outcome<bool> {
    match value {
        Value::None => cowboy_cbor::write_null(out),
        Value::Bool(truth) => cowboy_cbor::write_bool(out, truth.into()),
        Value::Int(number) => {
            let magnitude = if number < 0 { !number } else { number };
            integer(vm, out, number < 0, &magnitude.to_be_bytes())?;
        }
        Value::Float(number) => float(vm, out, number.0)?,
        Value::Obj(object) => match vm.heap.payload(object).core() {
            Payload::Str(text) => {
                let length = text.text.len();
                vm.reserve(out.len().saturating_add(length))?;
                cowboy_cbor::write_text(out, vm.heap.text(value).unwrap_or_default());
            }
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => {
                let length = bytes.len();
                vm.reserve(out.len().saturating_add(length))?;
                if let Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) = vm.heap.payload(object).core() {
                    cowboy_cbor::write_bytes(out, bytes);
                }
            }
            _ => match vm.heap.number(value) {
                Some(Number::Float(number)) => float(vm, out, number.0)?,
                Some(number) => large(vm, out, &number.into_big(), depth)?,
                None => return Ok(false),
            },
        },
        _ => return Ok(false),
    }
    Ok(true)
}

/// Writes an integer; one beyond 64 bits is a tag around bytes, and the tag counts as a level.
fn large(vm: &mut Vm, out: &mut Vec<u8>, number: &IBig, depth: usize) -> Outcome<()> {
    let negative = number.sign() == Sign::Negative;
    let magnitude = if negative { -number - IBig::ONE } else { number.clone() };
    let length = int::bit_length(&magnitude).div_ceil(8);
    if length > 8 {
        deeper(vm, depth)?;
    }
    match int::to_bytes(&magnitude, length, true, false) {
        Ok(bytes) => integer(vm, out, negative, &bytes),
        Err(_) => Err(refuse(vm, Fault::IntegerSize.to_string())),
    }
}

fn integer(vm: &mut Vm, out: &mut Vec<u8>, negative: bool, magnitude: &[u8]) -> Outcome<()> {
    cowboy_cbor::write_integer(out, negative, magnitude).map_err(|fault| refuse(vm, fault.to_string()))
}

fn float(vm: &mut Vm, out: &mut Vec<u8>, bits: u64) -> Outcome<()> {
    cowboy_cbor::write_float(out, bits).map_err(|fault| refuse(vm, fault.to_string()))
}

fn deeper(vm: &mut Vm, depth: usize) -> Outcome<()> {
    if depth >= MAX_DEPTH { Err(refuse(vm, Fault::TooDeep.to_string())) } else { Ok(()) }
}

fn unencodable(vm: &mut Vm, value: Value, open: &[Open], what: &str) -> Throw {
    let words = format!("Cannot CBOR-encode type {}: {what}{} must be {ENCODABLE}", vm.heap.class_name(value), path(open));
    refuse(vm, words)
}

/// Where a value stands, as Python would reach it: ` at ['members'][3]`. Empty for the whole.
fn path(open: &[Open]) -> String {
    let step = |open: &Open| match open {
        Open::Items(_, next) => format!("[{}]", next.saturating_sub(1)),
        Open::Pairs(_, key) => match cowboy_cbor::Reader::new(key).next_item() {
            Ok(Some(Item::Text(text))) => {
                let mut step = String::from("[");
                write_text(&mut step, text);
                step.push(']');
                step
            }
            Ok(Some(Item::Integer { negative, magnitude })) => {
                let magnitude = i128::from(magnitude);
                format!("[{}]", if negative { -1 - magnitude } else { magnitude })
            }
            Ok(Some(Item::Bytes(bytes))) => format!("[0x{}]", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
            _ => "[…]".to_owned(),
        },
    };
    // The outermost steps of a deep value say the least.
    let (mut shown, mut length) = (Vec::new(), 0);
    for step in open.iter().rev().map(step) {
        length += step.chars().count();
        if length > PATH_SHOWN {
            shown.push("…".to_owned());
            break;
        }
        shown.push(step);
    }
    shown.reverse();
    if shown.is_empty() { String::new() } else { format!(" at {}", shown.concat()) }
}

/// HostError 2: what has no canonical form. The SDK makes a `CodecError` of it.
pub(crate) fn refuse(vm: &mut Vm, message: String) -> Throw {
    let error = HostError { code: 2, name: "invalid_input", message };
    Throw::Raise(vm.host_error(&error))
}

/// A list or dict that is being read.
enum Partial {
    /// What it holds until now, and how much is to come.
    List(Vec<Value>, u64),
    /// The dict, the key whose value is next, and how many pairs are to come.
    Dict(Ref, Option<Value>, u64),
}

/// The value that canonical bytes encode. `HostError` when they are not canonical.
pub(crate) fn decode(vm: &mut Vm, data: &[u8]) -> Outcome {
    let mut open = Vec::new();
    match read(vm, data, &mut open) {
        Ok(value) => Ok(value),
        Err(throw) => {
            for partial in open {
                match partial {
                    Partial::List(items, _) => vm.heap.release_all(items),
                    Partial::Dict(dict, key, _) => {
                        vm.heap.release(key.unwrap_or(Value::None));
                        vm.heap.release(Value::Obj(dict));
                    }
                }
            }
            Err(throw)
        }
    }
}

fn read(vm: &mut Vm, data: &[u8], open: &mut Vec<Partial>) -> Outcome {
    let mut reader = Reader::new(data);
    // Values in lists that are not whole: nothing else counts them.
    let (mut whole, mut held) = (Value::None, 0_usize);
    loop {
        let item = match reader.next_item() {
            Ok(Some(item)) => item,
            Ok(None) => return Ok(whole),
            Err(error) => {
                vm.heap.release(whole);
                return Err(malformed(vm, error));
            }
        };
        let mut value = match item {
            Item::Array(left @ 1..) => {
                open.push(Partial::List(Vec::new(), left));
                continue;
            }
            Item::Map(left @ 1..) => {
                vm.spend(CBOR_OBJECT.once())?;
                open.push(Partial::Dict(vm.heap.new_dict(), None, left));
                continue;
            }
            item => scalar(vm, &item)?,
        };
        loop {
            let full = match open.last_mut() {
                None => {
                    whole = value;
                    break;
                }
                Some(Partial::List(items, left)) => {
                    items.push(value);
                    *left -= 1;
                    held += 1;
                    *left == 0
                }
                Some(Partial::Dict(_, key @ None, _)) => {
                    *key = Some(value);
                    false
                }
                Some(Partial::Dict(dict, key, left)) => {
                    let key = key.take().unwrap_or(Value::None);
                    *left -= 1;
                    let (dict, is_last) = (*dict, *left == 0);
                    vm.dict_insert(dict, key, value)?;
                    is_last
                }
            };
            vm.reserve(held.saturating_mul(ITEM))?;
            if !full {
                break;
            }
            value = match open.pop() {
                Some(Partial::List(items, _)) => {
                    held -= items.len();
                    vm.spend(CBOR_OBJECT.once())?;
                    vm.heap.list(items)
                }
                Some(Partial::Dict(dict, ..)) => Value::Obj(dict),
                None => Value::None,
            };
        }
    }
}

/// The object of an item that holds no others.
fn scalar(vm: &mut Vm, item: &Item<'_>) -> Outcome {
    Ok(match *item {
        Item::Null => Value::None,
        Item::Bool(truth) => Value::truth(truth),
        Item::Integer { negative, magnitude } => {
            let magnitude = i128::from(magnitude);
            return vm.int_value(IBig::from(if negative { -1 - magnitude } else { magnitude }));
        }
        Item::Bignum { negative, magnitude } => {
            let magnitude = int::from_bytes(magnitude, true, false);
            return vm.int_value(if negative { -magnitude - IBig::ONE } else { magnitude });
        }
        Item::Float(bits) => Value::Float(cowboy_num::F64(bits)),
        Item::Bytes(bytes) => {
            vm.spend(CBOR_OBJECT.once())?;
            vm.reserve(bytes.len())?;
            vm.heap.make(ty::BYTES, Payload::Bytes(bytes.to_vec()))
        }
        Item::Text(text) => {
            vm.spend(CBOR_OBJECT.once())?;
            vm.reserve(text.len())?;
            vm.heap.str(text)
        }
        Item::Array(_) => {
            vm.spend(CBOR_OBJECT.once())?;
            vm.heap.list(Vec::new())
        }
        Item::Map(_) => {
            vm.spend(CBOR_OBJECT.once())?;
            Value::Obj(vm.heap.new_dict())
        }
    })
}

fn malformed(vm: &mut Vm, error: CborError) -> Throw {
    refuse(vm, error.to_string())
}
