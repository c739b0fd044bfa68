//! Modules written in Rust: their functions as rows, their constants.

mod hashlib;
mod math;
mod pvm_host;

use crate::interp::Vm;
use crate::native::NativeRow;
use crate::value::Value;

pub(crate) use hashlib::facts as hash_facts;

/// The functions of all modules, table by table.
pub(crate) const ROWS: &[&[NativeRow]] = &[math::UNARY, math::ROWS, hashlib::TABLES[0], hashlib::TABLES[1], pvm_host::PURE];

/// Rows that are made from other tables.
pub(crate) fn derived_rows() -> Vec<NativeRow> {
    pvm_host::rows()
}

/// Enters the modules' constants.
pub(crate) fn constants(vm: &mut Vm) {
    pvm_host::constants(vm);
    let module = vm.native_module("math");
    for (name, value) in math::CONSTANTS {
        let name = vm.heap.intern(name);
        vm.dict_set_name(module, name, Value::Float(value));
    }
}
