//! Modules written in Rust: their functions as rows, their constants.

pub(crate) mod cbor;
mod decimal;
pub(crate) mod files;
mod functools;
mod hashlib;
mod json;
mod math;
mod pvm_host;
mod re;
pub(crate) mod structs;

use crate::runtime::Vm;
use crate::runtime::native::NativeRow;
use crate::value::Value;

use crate::types::ty;

/// The functions of all modules, table by table.
pub(crate) const ROWS: &[&[NativeRow]] = &[
    files::ROWS,
    functools::ROWS,
    json::ROWS,
    math::UNARY,
    math::ROWS,
    hashlib::TABLES[0],
    hashlib::TABLES[1],
    re::ROWS,
    decimal::TABLES[0],
    decimal::TABLES[1],
    structs::ROWS,
    pvm_host::PURE,
];

/// Rows that are made from other tables.
pub(crate) fn derived_rows() -> Vec<NativeRow> {
    pvm_host::rows()
}

/// Enters the modules' constants.
pub(crate) fn constants(vm: &mut Vm) {
    pvm_host::constants(vm);
    let module = vm.native_module("hashlib");
    let names = hashlib::GUARANTEED.map(|name| Value::Obj(vm.heap.intern(name)));
    for key in ["algorithms_guaranteed", "algorithms_available"] {
        let set = Value::Obj(vm.heap.new_set(ty::SET));
        for name in names {
            let added = vm.set_add(set, name);
            debug_assert!(added.is_ok(), "names hash without Python code");
        }
        let key = vm.heap.intern(key);
        vm.dict_set_name(module, key, set);
    }
    let module = vm.native_module("math");
    for (name, value) in math::CONSTANTS {
        let name = vm.heap.intern(name);
        vm.dict_set_name(module, name, Value::Float(value));
    }
}
