//! Code of units as objects of a heap.

use crate::heap::Heap;
use crate::image::{LinkedCode, Program, SourceFile};
use crate::payload::Payload;
use crate::types::ty;
use crate::value::Value;
use cowboy_compiler::code::{CodeKind, Const, Unit};
use std::sync::Arc;

/// Adds a unit to a program; its constants and names become objects of the heap. Returns the number of its code 0.
pub(crate) fn link(heap: &mut Heap, program: &mut Program, unit: &Unit) -> u32 {
    let first = u32::try_from(program.codes.len()).expect("bounded by the source limit");
    let unit_index = u32::try_from(program.files.len()).expect("bounded by the source limit");
    program.files.push(Arc::new(SourceFile { file: unit.file().to_owned(), source: unit.source().to_owned() }));
    for code in unit.codes() {
        let consts = code.consts.iter().map(|value| constant(heap, value)).collect();
        let names = code.names.iter().map(|name| heap.intern(name)).collect();
        let parameters = code.local_names.iter().take(code.parameters()).map(|name| heap.intern(name)).collect();
        let by_position = (code.parameters() == usize::from(code.positional)).then_some(code.positional);
        let (plain, lazy) = if code.kind == CodeKind::Plain { (by_position, None) } else { (None, by_position) };
        let linked = LinkedCode { code: code.clone(), consts, names, parameters, first, unit: unit_index, plain, lazy };
        program.codes.push(Arc::new(linked));
    }
    first
}

fn constant(heap: &mut Heap, value: &Const) -> Value {
    match value {
        Const::None => Value::None,
        Const::Ellipsis => Value::Ellipsis,
        Const::Bool(value) => Value::truth(*value),
        Const::Int(value) => Value::Int(*value),
        Const::BigInt(value) => heap.make(ty::INT, Payload::BigInt(value.clone())),
        Const::Float(value) => Value::Float(*value),
        Const::Imaginary(value) => {
            heap.make(ty::COMPLEX, Payload::Complex(cowboy_num::complex::Complex::new(cowboy_num::F64::ZERO, *value)))
        }
        Const::Str(text) if is_identifier(text) => Value::Obj(heap.intern(text)),
        Const::Str(text) => heap.str(text),
        Const::Bytes(bytes) if bytes.is_empty() => Value::Obj(crate::types::EMPTY_BYTES),
        Const::Bytes(bytes) => heap.make(ty::BYTES, Payload::Bytes(bytes.clone())),
        Const::Tuple(items) if items.is_empty() => Value::Obj(crate::types::EMPTY_TUPLE),
        Const::Tuple(items) => {
            let items: Vec<Value> = items.iter().map(|item| constant(heap, item)).collect();
            heap.make(ty::TUPLE, Payload::Tuple(items.into()))
        }
    }
}

fn is_identifier(text: &str) -> bool {
    text.len() <= 64 && !text.is_empty() && text.chars().all(|c| c == '_' || cowboy_unicode::is_alnum(c))
}
