//! The module `hashlib`: the digests that CPython guarantees, with their options, and keccak-256.

use crate::costs::{
    BLOCK_KECCAK, BLOCK_LONG, BLOCK_SHORT, BLOCK_SPONGE, Charge, Cost, DIGEST, DIGEST_AS_TEXT, HASH_COPIED, HASH_NAME, KECCAK_DIGEST,
};
use crate::digests::{Blake2, shake};
use crate::error::{Outcome, Throw};
use crate::payload::{HashState, Payload};
use crate::runtime::Vm;
use crate::runtime::native::NativeKind::{Function, Method};
use crate::runtime::native::NativeRow;
use crate::types::ty;
use crate::value::Value;
use cowboy_num::sizes;
use sha3::Digest as _;

/// An algorithm: name, bytes of a digest, bytes of a block, the price before the blocks (003 §3.5) and of each, the function.
struct Algorithm {
    name: &'static str,
    digest_size: usize,
    block_size: usize,
    base: Cost,
    block: Cost,
    digest: fn(&[u8]) -> Vec<u8>,
}

macro_rules! algorithms {
    ($($name:literal $digest_size:literal $block_size:literal $base:ident $block:ident $Type:ty;)*) => {
        const ALGORITHMS: &[Algorithm] = &[$(Algorithm {
            name: $name, digest_size: $digest_size, block_size: $block_size, base: $base, block: $block,
            digest: |data| <$Type>::digest(data).to_vec(),
        },)*];

        /// The constructors.
        const CONSTRUCTORS: &[NativeRow] = &[$(
            NativeRow(Function, concat!("hashlib.", $name), "string=, *, usedforsecurity=", 20, |vm, arguments| make(vm, $name, arguments[0], None), ""),
        )*];
    };
}

algorithms! {
    "md5" 16 64 DIGEST BLOCK_SHORT md5::Md5;
    "sha1" 20 64 DIGEST BLOCK_SHORT sha1::Sha1;
    "sha224" 28 64 DIGEST BLOCK_SHORT sha2::Sha224;
    "sha256" 32 64 DIGEST BLOCK_SHORT sha2::Sha256;
    "sha384" 48 128 DIGEST BLOCK_LONG sha2::Sha384;
    "sha512" 64 128 DIGEST BLOCK_LONG sha2::Sha512;
    "sha3_224" 28 144 DIGEST BLOCK_SPONGE sha3::Sha3_224;
    "sha3_256" 32 136 DIGEST BLOCK_SPONGE sha3::Sha3_256;
    "sha3_384" 48 104 DIGEST BLOCK_SPONGE sha3::Sha3_384;
    "sha3_512" 64 72 DIGEST BLOCK_SPONGE sha3::Sha3_512;
    "keccak256" 32 136 KECCAK_DIGEST BLOCK_KECCAK sha3::Keccak256;
}

/// Rows of the module, constructors first.
pub(crate) const TABLES: [&[NativeRow]; 2] = [CONSTRUCTORS, ROWS];

/// Digests without a row above: name, bytes of a block, the price of each.
const OTHERS: [(&str, usize, Cost); 4] =
    [("blake2b", 128, BLOCK_LONG), ("blake2s", 64, BLOCK_SHORT), ("shake_128", 168, BLOCK_SPONGE), ("shake_256", 136, BLOCK_SPONGE)];

/// Names of the digests that every CPython has.
pub(crate) const GUARANTEED: [&str; 14] = [
    "md5",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "shake_128",
    "shake_256",
    "blake2b",
    "blake2s",
];

const BLAKE2: &str = "data=, /, *, digest_size=, key=, salt=, person=, fanout=, depth=, leaf_size=, node_offset=, node_depth=, inner_size=, last_node=, usedforsecurity=";

const ROWS: &[NativeRow] = &[
    NativeRow(Function, "hashlib.new", "name, string=, *, usedforsecurity=, digest_size=, key=, salt=, person=", 20, new, ""),
    NativeRow(Function, "hashlib.blake2b", BLAKE2, 20, |vm, a| blake2(vm, false, a), ""),
    NativeRow(Function, "hashlib.blake2s", BLAKE2, 20, |vm, a| blake2(vm, true, a), ""),
    NativeRow(Function, "hashlib.shake_128", "string=, *, usedforsecurity=", 20, |vm, a| make(vm, "shake_128", a[0], None), ""),
    NativeRow(Function, "hashlib.shake_256", "string=, *, usedforsecurity=", 20, |vm, a| make(vm, "shake_256", a[0], None), ""),
    NativeRow(Method, "_hashlib.HASH.update", "self, obj, /", 5, update, ""),
    NativeRow(Method, "_hashlib.HASH.digest", "self, length=", 5, digest, ""),
    NativeRow(Method, "_hashlib.HASH.hexdigest", "self, length=", 5, hexdigest, ""),
    NativeRow(Method, "_hashlib.HASH.copy", "self, /", 20, copy, ""),
];

fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
}

/// Bytes of a block, the price before the blocks, and of each.
fn cost(name: &str) -> (usize, Cost, Cost) {
    match algorithm(name) {
        Some(row) => (row.block_size, row.base, row.block),
        None => OTHERS.iter().find(|row| row.0 == name).map_or((64, DIGEST, BLOCK_LONG), |row| (row.1, DIGEST, row.2)),
    }
}

fn make(vm: &mut Vm, name: &'static str, data: Value, blake2: Option<Box<Blake2>>) -> Outcome {
    let data = if data.is_undefined() { Vec::new() } else { buffer(vm, data)? };
    vm.reserve(data.len())?;
    let digest_size = match (&blake2, algorithm(name)) {
        (Some(options), _) => usize::from(options.digest_size),
        (None, Some(row)) => row.digest_size,
        (None, None) => 0,
    };
    let size = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
    let state = HashState { name, digest_size: size(digest_size), block_size: size(cost(name).0), data, blake2 };
    Ok(vm.heap.make(ty::HASHER, Payload::Hasher(Box::new(state))))
}

/// An integer option within bounds, or what the message says.
fn option(vm: &mut Vm, value: Value, default: u64, most: u64, refusal: impl Fn(&str) -> (bool, String)) -> Outcome<u64> {
    if value.is_undefined() {
        return Ok(default);
    }
    let Some(number) = vm.heap.as_int(value) else {
        let message = format!("'{}' object cannot be interpreted as an integer", vm.heap.class_name(value));
        return Err(vm.type_error(message));
    };
    match u64::try_from(&number) {
        Ok(number) if number <= most => Ok(number),
        _ => {
            let (overflow, message) = refusal(&number.to_string());
            Err(vm.raise(if overflow { ty::OVERFLOW_ERROR } else { ty::VALUE_ERROR }, &message))
        }
    }
}

/// A byte option of at most some length.
fn short(vm: &mut Vm, value: Value, what: &str, most: usize) -> Outcome<Vec<u8>> {
    if value.is_undefined() {
        return Ok(Vec::new());
    }
    let bytes = crate::objects::bytes::bytes_like(vm, value)?;
    if bytes.len() > most {
        return Err(vm.value_error(format!("maximum {what} length is {most} bytes")));
    }
    Ok(bytes)
}

fn blake2(vm: &mut Vm, small: bool, arguments: &[Value]) -> Outcome {
    let name = if small { "blake2s" } else { "blake2b" };
    let (most, tweak) = if small { (32, 8) } else { (64, 16) };
    let mut options = Blake2::plain(small);
    let byte = |number: u64| u8::try_from(number).unwrap_or(u8::MAX);
    let size = option(vm, arguments[1], most, most, |given| {
        (false, format!("digest_size for {name} must be between 1 and {most} bytes, here it is {given}"))
    })?;
    if size == 0 {
        return Err(vm.value_error(format!("digest_size for {name} must be between 1 and {most} bytes, here it is 0")));
    }
    options.digest_size = byte(size);
    options.key = short(vm, arguments[2], "key", sizes::saturating(most))?;
    options.salt = short(vm, arguments[3], "salt", tweak)?;
    options.person = short(vm, arguments[4], "person", tweak)?;
    let between = |text: &'static str| move |_: &str| (false, text.to_owned());
    options.fanout = byte(option(vm, arguments[5], 1, 255, between("fanout must be between 0 and 255"))?);
    options.depth = byte(option(vm, arguments[6], 1, 255, between("depth must be between 1 and 255"))?);
    if options.depth == 0 {
        return Err(vm.value_error("depth must be between 1 and 255"));
    }
    let leaf = option(vm, arguments[7], 0, u64::from(u32::MAX), |_| (true, "leaf_size is too large".to_owned()))?;
    options.leaf_size = u32::try_from(leaf).unwrap_or(u32::MAX);
    let farthest = if small { (1 << 48) - 1 } else { u64::MAX };
    options.node_offset = option(vm, arguments[8], 0, farthest, |_| (true, "node_offset is too large".to_owned()))?;
    options.node_depth = byte(option(vm, arguments[9], 0, 255, between("node_depth must be between 0 and 255"))?);
    options.inner_size = byte(option(vm, arguments[10], 0, most, |_| (false, format!("inner_size must be between 0 and is {most}")))?);
    options.last_node = vm.option(arguments[11])?;
    make(vm, name, arguments[0], Some(Box::new(options)))
}

fn new(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let length = vm.heap.text(arguments[0]).map_or(0, str::len);
    vm.spend(HASH_NAME.of(length))?;
    let Some(name) = vm.heap.text(arguments[0]).map(str::to_ascii_lowercase) else {
        return Err(vm.type_error("name must be a string"));
    };
    if name.starts_with("blake2") && OTHERS.iter().any(|row| row.0 == name) {
        let mut given = vec![Value::Undefined; 13];
        given[0] = arguments[1];
        given[1..5].copy_from_slice(&arguments[3..7]);
        return blake2(vm, name == "blake2s", &given);
    }
    let known = algorithm(&name).map(|row| row.name).or_else(|| OTHERS.iter().find(|row| row.0 == name).map(|row| row.0));
    match known {
        Some(known) => make(vm, known, arguments[1], None),
        None => Err(vm.value_error(format!("unsupported hash type {name}"))),
    }
}

/// A bytes-like argument, its bytes paid for.
fn buffer(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    let length = match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) => bytes.len(),
        Some(Payload::MemoryView(_)) => {
            let bytes = crate::objects::bytes::bytes_like(vm, value)?;
            vm.spend(HASH_COPIED.of(bytes.len()))?;
            return Ok(bytes);
        }
        Some(Payload::Str(_)) => return Err(vm.type_error("Strings must be encoded before hashing")),
        _ => return Err(vm.type_error("object supporting the buffer API required")),
    };
    vm.spend(HASH_COPIED.of(length))?;
    Ok(match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) => bytes.clone(),
        _ => Vec::new(),
    })
}

/// The running hash that a receiver is.
fn running(vm: &Vm, receiver: Value) -> Option<&HashState> {
    match receiver.object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Hasher(state)) => Some(state),
        _ => None,
    }
}

fn no_hasher(vm: &mut Vm, receiver: Value) -> Throw {
    let message = format!("descriptor requires a '_hashlib.HASH' object but received a '{}'", vm.heap.class_name(receiver));
    vm.type_error(message)
}

fn update(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let more = buffer(vm, arguments[1])?;
    vm.reserve(more.len())?;
    let Some(object) = arguments[0].object() else { return Err(no_hasher(vm, arguments[0])) };
    let before = vm.heap.payload(object).size();
    if let Payload::Hasher(state) = vm.heap.payload_mut(object) {
        state.data.extend_from_slice(&more);
    }
    let after = vm.heap.payload(object).size();
    vm.heap.resize_memory(before, after);
    Ok(Value::None)
}

/// The digest; its length is asked for only with the extendable ones.
fn finish(vm: &mut Vm, arguments: &[Value]) -> Outcome<Vec<u8>> {
    let Some((name, fed)) = running(vm, arguments[0]).map(|state| (state.name, state.data.len())) else {
        return Err(no_hasher(vm, arguments[0]));
    };
    let extendable = name.starts_with("shake");
    let length = match (extendable, arguments[1]) {
        (true, Value::Int(length)) => match sizes::index(length) {
            Some(length) if length < 1 << 29 => length,
            _ => return Err(vm.value_error("value must be positive")),
        },
        (true, Value::Undefined) => return Err(vm.type_error("digest() missing required argument 'length' (pos 1)")),
        (true, other) => {
            let message = format!("'{}' object cannot be interpreted as an integer", vm.heap.class_name(other));
            return Err(vm.type_error(message));
        }
        (false, Value::Undefined) => 0,
        (false, _) => return Err(vm.type_error("digest() takes no arguments (1 given)")),
    };
    let (block_size, base, block) = cost(name);
    let blocks = fed.div_ceil(block_size).saturating_add(length / block_size);
    let rules = vm.meter.limits.rules;
    let charge = match name {
        "sha256" => Charge::by_rule(rules.sha256, 1) + Charge::by_rule(rules.sha256_block, blocks),
        _ => base.once() + block.of(blocks),
    };
    vm.spend(charge)?;
    vm.reserve(length)?;
    let Some(state) = running(vm, arguments[0]) else { return Ok(Vec::new()) };
    Ok(match (&state.blake2, algorithm(name)) {
        (Some(options), _) => options.digest(&state.data),
        (None, Some(row)) => (row.digest)(&state.data),
        (None, None) => shake(block_size, &state.data, length),
    })
}

fn digest(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let digest = finish(vm, arguments)?;
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(digest)))
}

fn hexdigest(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = finish(vm, arguments)?;
    vm.spend(DIGEST_AS_TEXT.of(digest.len()))?;
    vm.reserve(digest.len() * 2)?;
    let mut text = String::with_capacity(digest.len() * 2);
    for byte in digest {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    Ok(vm.heap.string(text))
}

fn copy(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let length = running(vm, arguments[0]).map_or(0, |state| state.data.len());
    vm.spend(HASH_COPIED.of(length))?;
    vm.reserve(length)?;
    match running(vm, arguments[0]).cloned() {
        Some(state) => Ok(vm.heap.make(ty::HASHER, Payload::Hasher(Box::new(state)))),
        None => Err(no_hasher(vm, arguments[0])),
    }
}
