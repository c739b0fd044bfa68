//! The scratch space `/tmp` of one run (003 §3.1, A-78): files in memory, gone when the run is over.
//!
//! Every byte written costs one cell, and all files together hold at most [`crate::Rules::scratch_bytes`]. `frozen/io.py` has the file objects;
//! it alone decides which paths there are.

use crate::costs::BYTES_COPIED;
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::NativeKind::Function;
use crate::runtime::native::NativeRow;
use crate::types::ty;
use crate::value::Value;
use cowboy_num::sizes;

/// Files of a run.
const MOST_FILES: usize = 256;

/// Rows of the module `_files`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(Function, "_files.exists", "path, /", 5, |vm, a| with(vm, a[0], |_, file| Value::truth(file.is_some())), ""),
    NativeRow(Function, "_files.size", "path, /", 5, |vm, a| with(vm, a[0], |_, file| size_of(file)), ""),
    NativeRow(Function, "_files.read", "path, start, count, /", 10, read, ""),
    NativeRow(Function, "_files.line", "path, start, ending, /", 10, line, ""),
    NativeRow(Function, "_files.create", "path, /", 20, create, ""),
    NativeRow(Function, "_files.write", "path, start, data, /", 10, write, ""),
    NativeRow(Function, "_files.resize", "path, size, /", 10, resize, ""),
];

fn path(vm: &Vm, value: Value) -> String {
    vm.heap.text(value).unwrap_or_default().to_owned()
}

fn number(value: Value) -> usize {
    match value {
        Value::Int(number) => sizes::saturating(number),
        _ => usize::MAX,
    }
}

fn size_of(file: Option<&Vec<u8>>) -> Value {
    Value::Int(file.map_or(-1, |file| i64::try_from(file.len()).unwrap_or(i64::MAX)))
}

fn with(vm: &mut Vm, name: Value, look: fn(&Vm, Option<&Vec<u8>>) -> Value) -> Outcome {
    let name = path(vm, name);
    Ok(look(vm, vm.scratch.files.get(&name)))
}

fn bytes(vm: &mut Vm, data: Vec<u8>) -> Value {
    vm.heap.make(ty::BYTES, Payload::Bytes(data))
}

/// Bytes from a place on, as many as there are up to a count.
fn read(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let name = path(vm, arguments[0]);
    let length = vm.scratch.files.get(&name).map_or(0, Vec::len);
    let start = number(arguments[1]).min(length);
    let count = number(arguments[2]).min(length - start);
    vm.spend(BYTES_COPIED.of(count))?;
    vm.reserve(count)?;
    let data = vm.scratch.files.get(&name).map_or(Vec::new(), |file| file[start..start + count].to_vec());
    Ok(bytes(vm, data))
}

/// Bytes from a place on, up to and with the first ending.
fn line(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let name = path(vm, arguments[0]);
    let ending = vm.heap.text(arguments[2]).and_then(|text| text.bytes().next()).unwrap_or(b'\n');
    let Some(file) = vm.scratch.files.get(&name) else { return Ok(bytes(vm, Vec::new())) };
    let rest = &file[number(arguments[1]).min(file.len())..];
    let count = rest.iter().position(|&byte| byte == ending).map_or(rest.len(), |place| place + 1);
    let data = rest[..count].to_vec();
    vm.spend(BYTES_COPIED.of(count))?;
    vm.reserve(count)?;
    Ok(bytes(vm, data))
}

/// Makes an empty file, or empties the one there is. Says whether there was room for it.
fn create(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let name = path(vm, arguments[0]);
    if !vm.scratch.files.contains_key(&name) && vm.scratch.files.len() >= MOST_FILES {
        return Ok(Value::truth(false));
    }
    let freed = vm.scratch.files.insert(name, Vec::new()).map_or(0, |old| old.len());
    vm.scratch.used -= freed;
    vm.heap.free_memory(freed);
    Ok(Value::truth(true))
}

/// Writes at a place, with zeros before it where the file is shorter. Says whether there was room.
fn write(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let name = path(vm, arguments[0]);
    let data = crate::objects::bytes::bytes_like(vm, arguments[2])?;
    let start = number(arguments[1]);
    let length = vm.scratch.files.get(&name).map_or(0, Vec::len);
    let end = start.saturating_add(data.len());
    if !grow(vm, length, end.max(length), data.len())? {
        return Ok(Value::truth(false));
    }
    if let Some(file) = vm.scratch.files.get_mut(&name) {
        if file.len() < end {
            file.resize(end, 0);
        }
        file[start..end].copy_from_slice(&data);
    }
    Ok(Value::truth(true))
}

fn resize(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let name = path(vm, arguments[0]);
    let length = vm.scratch.files.get(&name).map_or(0, Vec::len);
    let size = number(arguments[1]);
    if !grow(vm, length, size, size.saturating_sub(length))? {
        return Ok(Value::truth(false));
    }
    if let Some(file) = vm.scratch.files.get_mut(&name) {
        file.resize(size, 0);
    }
    Ok(Value::truth(true))
}

/// Charges for a file that gets another length, `written` bytes of it new. False when the scratch space would be too full.
fn grow(vm: &mut Vm, before: usize, after: usize, written: usize) -> Outcome<bool> {
    let used = vm.scratch.used - before;
    if used.saturating_add(after) > vm.meter.limits.rules.scratch_bytes {
        return Ok(false);
    }
    vm.spend(BYTES_COPIED.of(written))?;
    vm.meter.spend_cells(written).map_err(Throw::Trap)?;
    if after > before {
        vm.reserve(after - before)?;
    }
    vm.heap.resize_memory(before, after);
    vm.scratch.used = used + after;
    Ok(true)
}
