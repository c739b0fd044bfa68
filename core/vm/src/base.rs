//! The base image: builtin types, names and functions, and the modules that come with the VM, made once per process.

use crate::error::Throw;
use crate::heap::Heap;
use crate::image::{Image, Program};
use crate::interp::load::{load_module, run_module};
use crate::limits::{Limits, Rules};
use crate::link::link;
use crate::natives::natives;
use crate::payload::{Class, Map, Payload, Str};
use crate::runtime::Vm;
use crate::runtime::native::NativeKind;
use crate::types::{BUILTINS_DICT, EMPTY_BYTES, EMPTY_TUPLE, FIXED_COUNT, MODULES_DICT, NAMES, TYPES, latin1, nm, ty};
use crate::value::{Ref, Value};
use cowboy_compiler::{CompileError, Trust, compile_trusted};
use std::sync::{Arc, OnceLock};

/// A module written in Python: path, file name for tracebacks, source, whether it is a package.
pub(crate) struct FrozenModule {
    pub path: &'static str,
    pub file: &'static str,
    pub source: &'static str,
    pub package: bool,
}

include!(concat!(env!("OUT_DIR"), "/frozen_modules.rs"));

/// What the builtins leave to Python: one module, written in parts.
const HELPERS: &str = concat!(
    include_str!("frozen/_builtins/classes.py"),
    include_str!("frozen/_builtins/exceptions.py"),
    include_str!("frozen/_builtins/iteration.py"),
    include_str!("frozen/_builtins/sorting.py"),
    include_str!("frozen/_builtins/comparison.py"),
    include_str!("frozen/_builtins/tables.py"),
    include_str!("frozen/_builtins/text.py"),
    include_str!("frozen/_builtins/rest.py"),
);

/// Limits while the base image is made: it is trusted code.
const UNLIMITED: Limits =
    Limits { cycles: 1 << 40, cells: 1 << 40, memory_bytes: 1 << 30, recursion: 256, weight_ns: 1 << 50, rules: Rules::GENESIS };

/// The base image of this process.
pub(crate) fn base_image() -> Arc<Image> {
    static BASE: OnceLock<Arc<Image>> = OnceLock::new();
    Arc::clone(BASE.get_or_init(|| Arc::new(build().expect("the frozen modules are compiled and run by every test"))))
}

fn build() -> Result<Image, String> {
    let mut heap = Heap::new(Arc::new(Image::nothing()), UNLIMITED.memory_bytes);
    make_fixed(&mut heap);
    let mut program = Program::default();
    let helpers = compile_frozen("builtins", "<builtins>", HELPERS, Trust::Hidden)?;
    let helpers_code = link(&mut heap, &mut program, &helpers);
    let mut codes = Vec::new();
    for module in FROZEN_MODULES {
        let unit = compile_frozen(module.path, module.file, module.source, Trust::Frozen)?;
        codes.push((module, link(&mut heap, &mut program, &unit)));
    }
    make_natives(&mut heap);
    let program = Arc::new(program);
    let mut vm = Vm::above(Arc::new(Image::nothing()), UNLIMITED, natives());
    vm.heap = heap;
    vm.program = Arc::clone(&program);
    vm.caches_for_program();
    vm.host_allowed = false;
    vm.loader = true;
    // The helpers first: everything else may need them.
    let helpers_dict = vm.heap.new_dict();
    vm.dict_set_name(helpers_dict, nm::NAME, Value::Obj(nm::BUILTINS));
    run_module(&mut vm, helpers_code, helpers_dict)?;
    vm.adopt_helpers(helpers_dict);
    let public = vm.heap.dict_get_name(helpers_dict, nm::ALL).map(|all| vm.heap.sequence_snapshot(all)).unwrap_or_default();
    for name in public {
        let Some(name) = name.object() else { continue };
        if let Some(value) = vm.heap.dict_get_name(helpers_dict, name) {
            vm.heap.retain(value);
            vm.dict_set_name(BUILTINS_DICT, name, value);
        }
    }
    vm.module_codes = codes.iter().map(|(module, code)| (module.path.to_owned(), *code, module.package)).collect();
    for (module, _) in &codes {
        load_module(&mut vm, module.path).map_err(|throw| explain(&mut vm, throw))?;
    }
    let (io, open) = (vm.native_module("io"), vm.heap.intern("open"));
    if let Some(function) = vm.heap.dict_get_name(io, open) {
        vm.heap.retain(function);
        vm.dict_set_name(BUILTINS_DICT, open, function);
    }
    let helpers = Arc::clone(&vm.helpers);
    Ok(Image::freeze(vm.heap.into_parts(), program, None, helpers))
}

fn explain(vm: &mut Vm, throw: Throw) -> String {
    match throw {
        Throw::Raise(exception) => {
            let error = vm.describe(exception);
            error.traceback.join("\n")
        }
        other => format!("{other:?}"),
    }
}

fn compile_frozen(path: &str, file: &str, source: &str, trust: Trust) -> Result<cowboy_compiler::code::Unit, String> {
    compile_trusted(source, path, file, trust).map_err(|error: CompileError| format!("{file}: {error}"))
}

/// Objects whose handles are constants, in their order.
fn make_fixed(heap: &mut Heap) {
    for row in TYPES {
        let class = Class {
            name: row.name.rsplit('.').next().unwrap_or(row.name).into(),
            bases: if row.name == "object" { Vec::new() } else { vec![row.base] },
            mro: Vec::new(),
            attributes: Map::default(),
            layout: row.layout,
            qualname: row.name.rsplit('.').next().unwrap_or(row.name).into(),
            has_dict: row.layout == crate::types::Layout::Exception || row.name == "function",
            heap: false,
            solid: ty::OBJECT,
        };
        heap.alloc(ty::TYPE, Payload::Class(Box::new(class)));
    }
    for index in 0..TYPES.len() {
        let mut mro = Vec::new();
        let mut current = Ref::fixed(index);
        loop {
            mro.push(current);
            if current == ty::OBJECT {
                break;
            }
            current = TYPES[current.0 as usize].base;
        }
        if let Payload::Class(class) = heap.payload_mut(mro[0]) {
            class.mro = mro.clone();
        }
    }
    // The one builtin type with two bases.
    if let Payload::Class(class) = heap.payload_mut(ty::EXCEPTION_GROUP) {
        class.bases = vec![ty::BASE_EXCEPTION_GROUP, ty::EXCEPTION];
        class.mro = vec![ty::EXCEPTION_GROUP, ty::BASE_EXCEPTION_GROUP, ty::EXCEPTION, ty::BASE_EXCEPTION, ty::OBJECT];
    }
    for name in NAMES {
        let mut string = Str::new((*name).to_owned());
        string.hash();
        string.interned = true;
        let object = heap.alloc(ty::STR, Payload::Str(string));
        heap.register_name(name, object);
    }
    for byte in 0..=255_u8 {
        let text = char::from(byte).to_string();
        let mut string = Str::new(text.clone());
        string.hash();
        string.interned = true;
        let object = heap.alloc(ty::STR, Payload::Str(string));
        debug_assert_eq!(object, latin1(byte), "fixed handles follow the order of types.rs");
        heap.register_name(&text, object);
    }
    let empty = heap.alloc(ty::TUPLE, Payload::Tuple(Box::default()));
    let bytes = heap.alloc(ty::BYTES, Payload::Bytes(Vec::new()));
    let builtins = heap.alloc(ty::DICT, Payload::Dict(Box::default()));
    let modules = heap.alloc(ty::DICT, Payload::Dict(Box::default()));
    assert_eq!((empty, bytes, builtins, modules), (EMPTY_TUPLE, EMPTY_BYTES, BUILTINS_DICT, MODULES_DICT), "fixed handles");
    assert_eq!(modules.0 + 1, FIXED_COUNT, "fixed handles follow the order of types.rs");
    heap.make_eternal();
}

/// Native functions as attributes of their classes, of builtins or of their modules.
fn make_natives(heap: &mut Heap) {
    let mut vm = Vm::above(Arc::new(Image::nothing()), UNLIMITED, natives());
    std::mem::swap(&mut vm.heap, heap);
    for (index, row) in TYPES.iter().enumerate() {
        let class = Value::Obj(Ref::fixed(index));
        if row.public {
            let name = vm.heap.intern(row.name);
            vm.heap.retain(class);
            vm.dict_set_name(BUILTINS_DICT, name, class);
        }
    }
    for (name, value) in [("NotImplemented", Value::NotImplemented), ("Ellipsis", Value::Ellipsis), ("__debug__", Value::truth(true))] {
        let name = vm.heap.intern(name);
        vm.dict_set_name(BUILTINS_DICT, name, value);
    }
    for (alias, class) in [("IOError", ty::OS_ERROR), ("EnvironmentError", ty::OS_ERROR)] {
        let name = vm.heap.intern(alias);
        vm.dict_set_name(BUILTINS_DICT, name, Value::Obj(class));
    }
    for (index, native) in natives().iter().enumerate() {
        let number = u16::try_from(index).expect("fewer natives than 65,536");
        let (owner, name) = (native.owner, native.short);
        let class = if native.kind == NativeKind::Method { ty::METHOD_DESCRIPTOR } else { ty::NATIVE };
        let function = vm.heap.make(class, Payload::Native(number));
        let name = vm.heap.intern(name);
        if owner.is_empty() {
            vm.dict_set_name(BUILTINS_DICT, name, function);
        } else if let Some(index) = TYPES.iter().position(|row| row.name == owner) {
            vm.set_class_attribute(Ref::fixed(index), name, function);
        } else {
            let module = vm.native_module(owner);
            vm.dict_set_name(module, name, function);
        }
    }
    for class in [ty::LIST, ty::DICT, ty::SET, ty::BYTEARRAY, ty::SLICE, ty::MAPPING_PROXY, ty::DICT_KEYS, ty::DICT_ITEMS] {
        vm.set_class_attribute(class, nm::HASH, Value::None);
    }
    for (class, name) in [(ty::GENERIC_ALIAS, "types.GenericAlias"), (ty::UNION, "types.UnionType")] {
        let name = Value::Obj(vm.heap.intern(name));
        vm.set_class_attribute(class, nm::NAME_IN_MESSAGES, name);
    }
    crate::modules::constants(&mut vm);
    std::mem::swap(&mut vm.heap, heap);
}
