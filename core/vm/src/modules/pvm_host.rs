//! The module `pvm_host`: pure functions are answered here, all others leave to the host.

use super::cbor;
use crate::costs::{CBOR_BYTE, Charge, KECCAK_BLOCK};
use crate::error::{Outcome, Throw};
use crate::host::{HOST_FUNCTIONS, HostCall, HostRow};
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::types::ty;
use crate::value::Value;
use sha3::Digest as _;

const F: NativeKind = NativeKind::Function;

/// Functions answered inside the VM.
pub(crate) const PURE: &[NativeRow] = &[
    NativeRow(F, "pvm_host.keccak256", "data, /", 6, keccak256, ""),
    NativeRow(F, "pvm_host.cbor_encode", "value, /", 10, cbor_encode, "cbor_encode"),
    NativeRow(F, "pvm_host.cbor_decode", "data, /", 10, cbor_decode, ""),
];

/// Bytes of one permutation of Keccak-256.
const KECCAK_BLOCK_BYTES: usize = 136;

fn keccak256(vm: &mut Vm, args: &[Value]) -> Outcome {
    let data = crate::objects::bytes::bytes_like(vm, args[0])?;
    // 003 §3.5 fixes the price, which is below the work: the weight of decision 132 stands for the rest.
    let blocks = KECCAK_BLOCK.of(data.len() / KECCAK_BLOCK_BYTES + 1);
    vm.spend(Charge::by_rule(vm.meter.limits.rules.keccak_word, data.len().div_ceil(32)) + blocks)?;
    let digest = sha3::Keccak256::digest(&data).to_vec();
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(digest)))
}

fn cbor_encode(vm: &mut Vm, args: &[Value]) -> Outcome {
    let out = cbor::encode(vm, args[0])?;
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(out)))
}

fn cbor_decode(vm: &mut Vm, args: &[Value]) -> Outcome {
    let data = match crate::objects::bytes::bytes_like(vm, args[0]) {
        Ok(data) => data,
        Err(Throw::Raise(exception)) => {
            vm.heap.release(exception);
            let words = format!("CBOR data must be a bytes-like object, got '{}'", vm.heap.class_name(args[0]));
            return Err(cbor::refuse(vm, words));
        }
        Err(throw) => return Err(throw),
    };
    vm.spend(CBOR_BYTE.of(data.len()))?;
    cbor::decode(vm, &data)
}

/// Leaves to the host.
fn leave(vm: &mut Vm, row: &HostRow, args: &[Value]) -> Outcome {
    vm.owe(Charge::of_function(row));
    let mut values = Vec::with_capacity(args.len());
    for &argument in args {
        let value = if argument.is_undefined() { Value::None } else { argument };
        values.push(vm.to_host(value)?);
    }
    Err(Throw::Host(Box::new(HostCall { function: row.function, args: values })))
}

macro_rules! host_natives {
    ($($index:literal)*) => {
        /// One native row for each host function.
        pub(crate) fn rows() -> Vec<NativeRow> {
            vec![$(NativeRow(F, names()[$index], HOST_FUNCTIONS[$index].signature, HOST_FUNCTIONS[$index].cycles, |vm, args| leave(vm, &HOST_FUNCTIONS[$index], args), ""),)*]
        }

        /// Every row above has a function, and every function a row.
        const _: () = assert!([$($index),*].len() == HOST_FUNCTIONS.len());
    };
}

host_natives! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
    48 49 50 51 52 53 54 55 56 57 58 59
}

/// `pvm_host.name` of each host function.
fn names() -> &'static [&'static str] {
    static NAMES: std::sync::OnceLock<Vec<&'static str>> = std::sync::OnceLock::new();
    NAMES.get_or_init(|| {
        HOST_FUNCTIONS
            .iter()
            .map(|row| {
                let name: &'static str = Box::leak(format!("pvm_host.{}", row.name).into_boxed_str());
                name
            })
            .collect()
    })
}

/// Enters `pvm_host.HostError`.
pub(crate) fn constants(vm: &mut Vm) {
    let module = vm.native_module("pvm_host");
    let name = vm.heap.intern("HostError");
    vm.dict_set_name(module, name, Value::Obj(ty::HOST_ERROR));
}
