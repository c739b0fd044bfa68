//! The module `hashlib`: the digests of CPython's that need no options, and keccak-256.

use crate::error::Outcome;
use crate::interp::Vm;
use crate::native::{
    NativeKind::{Function, Method},
    NativeRow,
};
use crate::objects::payload::{HashState, Payload};
use crate::types::ty;
use crate::value::Value;
use sha3::Digest as _;

/// An algorithm: name, bytes of a digest, bytes of a block, cycles before the blocks (003 §3.5) and for each, the function.
struct Algorithm {
    name: &'static str,
    digest_size: usize,
    block_size: usize,
    base: usize,
    block: usize,
    digest: fn(&[u8]) -> Vec<u8>,
}

macro_rules! algorithms {
    ($($name:literal $digest_size:literal $block_size:literal $base:literal $block:literal $Type:ty;)*) => {
        const ALGORITHMS: &[Algorithm] = &[$(Algorithm {
            name: $name, digest_size: $digest_size, block_size: $block_size, base: $base, block: $block,
            digest: |data| <$Type>::digest(data).to_vec(),
        },)*];

        /// The constructors.
        const CONSTRUCTORS: &[NativeRow] = &[$(
            NativeRow(Function, concat!("hashlib.", $name), "string=, *, usedforsecurity=", 20, |vm, arguments| make(vm, $name, arguments[0]), ""),
        )*];
    };
}

algorithms! {
    "md5" 16 64 500 8 md5::Md5;
    "sha1" 20 64 500 8 sha1::Sha1;
    "sha224" 28 64 500 8 sha2::Sha224;
    "sha256" 32 64 500 8 sha2::Sha256;
    "sha384" 48 128 500 16 sha2::Sha384;
    "sha512" 64 128 500 16 sha2::Sha512;
    "sha3_224" 28 144 500 27 sha3::Sha3_224;
    "sha3_256" 32 136 500 26 sha3::Sha3_256;
    "sha3_384" 48 104 500 20 sha3::Sha3_384;
    "sha3_512" 64 72 500 14 sha3::Sha3_512;
    "blake2b" 64 128 500 16 blake2::Blake2b512;
    "blake2s" 32 64 500 8 blake2::Blake2s256;
    "keccak256" 32 136 0 26 sha3::Keccak256;
}

/// Rows of the module, constructors first.
pub(crate) const TABLES: [&[NativeRow]; 2] = [CONSTRUCTORS, ROWS];

const ROWS: &[NativeRow] = &[
    NativeRow(Function, "hashlib.new", "name, string=, *, usedforsecurity=", 20, new, ""),
    NativeRow(Method, "_hashlib.HASH.update", "self, obj, /", 5, update, ""),
    NativeRow(Method, "_hashlib.HASH.digest", "self, /", 5, digest, ""),
    NativeRow(Method, "_hashlib.HASH.hexdigest", "self, /", 5, hexdigest, ""),
    NativeRow(Method, "_hashlib.HASH.copy", "self, /", 20, copy, ""),
];

fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
}

/// Facts of a hash object: its name, digest size and block size.
pub(crate) fn facts(state: &HashState) -> (&'static str, i64, i64) {
    let size = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
    algorithm(state.name).map_or((state.name, 0, 0), |row| (row.name, size(row.digest_size), size(row.block_size)))
}

fn make(vm: &mut Vm, name: &'static str, data: Value) -> Outcome {
    let data = if data.is_undefined() { Vec::new() } else { buffer(vm, data)? };
    vm.reserve(data.len())?;
    Ok(vm.heap.make(ty::HASHER, Payload::Hasher(Box::new(HashState { name, data }))))
}

fn new(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let Some(name) = vm.text(arguments[0]).map(str::to_ascii_lowercase) else {
        let message = format!("new() argument 'name' must be str, not {}", vm.class_name(arguments[0]));
        return Err(vm.type_error(message));
    };
    match algorithm(&name) {
        Some(row) => make(vm, row.name, arguments[1]),
        None => Err(vm.value_error(format!("unsupported hash type {name}"))),
    }
}

/// A bytes-like argument, its bytes paid for.
fn buffer(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    let bytes = match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes)) => bytes.clone(),
        Some(Payload::Str(_)) => return Err(vm.type_error("Strings must be encoded before hashing")),
        _ => return Err(vm.type_error("object supporting the buffer API required")),
    };
    vm.spend(bytes.len() / 64)?;
    Ok(bytes)
}

fn state(vm: &mut Vm, receiver: Value) -> Outcome<HashState> {
    match receiver.object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Hasher(state)) => Ok((**state).clone()),
        _ => {
            let message = format!("descriptor requires a '_hashlib.HASH' object but received a '{}'", vm.class_name(receiver));
            Err(vm.type_error(message))
        }
    }
}

fn update(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let more = buffer(vm, arguments[1])?;
    vm.reserve(more.len())?;
    let Some(object) = arguments[0].object() else { return state(vm, arguments[0]).map(|_| Value::None) };
    let before = vm.heap.payload(object).size();
    if let Payload::Hasher(state) = vm.heap.payload_mut(object) {
        state.data.extend_from_slice(&more);
    }
    let after = vm.heap.payload(object).size();
    vm.heap.resize_memory(before, after);
    Ok(Value::None)
}

fn finish(vm: &mut Vm, receiver: Value) -> Outcome<Vec<u8>> {
    let state = state(vm, receiver)?;
    let Some(row) = algorithm(state.name) else { return Ok(Vec::new()) };
    let blocks = state.data.len().div_ceil(row.block_size);
    vm.spend(row.base.saturating_add(row.block.saturating_mul(blocks)))?;
    Ok((row.digest)(&state.data))
}

fn digest(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let digest = finish(vm, arguments[0])?;
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(digest)))
}

fn hexdigest(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = finish(vm, arguments[0])?;
    let mut text = String::with_capacity(digest.len() * 2);
    for byte in digest {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    Ok(vm.heap.string(text))
}

fn copy(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let state = state(vm, arguments[0])?;
    vm.reserve(state.data.len())?;
    Ok(vm.heap.make(ty::HASHER, Payload::Hasher(Box::new(state))))
}
