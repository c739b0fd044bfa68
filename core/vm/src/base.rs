//! The base image: builtin types, names and functions, and the modules that come with the VM, made once per process.

use crate::error::{Exit, Outcome, Throw, Trap};
use crate::heap::{Heap, Map};
use crate::image::{Image, Program, link};
use crate::interp::{Frame, OnReturn, Vm};
use crate::limits::{Limits, Rules};
use crate::native::{NativeKind, natives};
use crate::objects::payload::{Class, Payload, Str};
use crate::types::{BUILTINS_DICT, EMPTY_BYTES, EMPTY_TUPLE, FIXED_COUNT, MODULES_DICT, NAMES, TYPES, latin1, nm, ty};
use crate::value::{Link, Ref, Value};
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
    let mut vm = Vm::above(Arc::new(Image::nothing()), UNLIMITED);
    vm.heap = heap;
    vm.program = Arc::clone(&program);
    vm.caches_for_program();
    vm.host_allowed = false;
    vm.loader = true;
    // The helpers first: everything else may need them.
    let helpers_dict = vm.new_dict();
    vm.dict_set_name(helpers_dict, nm::NAME, Value::Obj(nm::BUILTINS));
    run_module(&mut vm, helpers_code, helpers_dict)?;
    vm.adopt_helpers(helpers_dict);
    let public = vm.dict_get_name(helpers_dict, nm::ALL).map(|all| vm.sequence_snapshot(all)).unwrap_or_default();
    for name in public {
        let Some(name) = name.object() else { continue };
        if let Some(value) = vm.dict_get_name(helpers_dict, name) {
            vm.heap.retain(value);
            vm.dict_set_name(BUILTINS_DICT, name, value);
        }
    }
    vm.module_codes = codes.iter().map(|(module, code)| (module.path.to_owned(), *code, module.package)).collect();
    for (module, _) in &codes {
        load_module(&mut vm, module.path).map_err(|throw| explain(&mut vm, throw))?;
    }
    let (io, open) = (vm.native_module("io"), vm.heap.intern("open"));
    if let Some(function) = vm.dict_get_name(io, open) {
        vm.heap.retain(function);
        vm.dict_set_name(BUILTINS_DICT, open, function);
    }
    let helpers = Arc::clone(&vm.helpers);
    Ok(Image::freeze(vm.heap, program, None, helpers))
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
    let mut vm = Vm::above(Arc::new(Image::nothing()), UNLIMITED);
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
        let (owner, name) = native.name.rsplit_once('.').unwrap_or(("", native.name));
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

impl Vm {
    /// The dict of a native module, made when it is not there yet.
    pub(crate) fn native_module(&mut self, path: &str) -> Ref {
        let name = self.heap.intern(path);
        if let Some(Value::Obj(module)) = self.dict_get_name(MODULES_DICT, name) {
            if let Payload::Module { dict, .. } = self.heap.payload(module) {
                return *dict;
            }
        }
        let (_, dict) = self.make_module(path, false);
        dict
    }

    /// A module with its dict, entered into the table of modules.
    pub(crate) fn make_module(&mut self, path: &str, package: bool) -> (Value, Ref) {
        let name = self.heap.intern(path);
        let dict = self.new_dict();
        if let Some(table) = self.table_mut(dict) {
            table.module = true;
        }
        self.dict_set_name(dict, nm::NAME, Value::Obj(name));
        let package_name = self.heap.intern("__package__");
        let parent = if package { path } else { path.rsplit_once('.').map_or("", |(parent, _)| parent) };
        let parent = Value::Obj(self.heap.intern(parent));
        self.dict_set_name(dict, package_name, parent);
        self.heap.retain(Value::Obj(name));
        let module = self.heap.make(ty::MODULE, Payload::Module { name: Value::Obj(name), dict });
        self.heap.retain(module);
        self.dict_set_name(MODULES_DICT, name, module);
        (module, dict)
    }

    /// Forgets the inline caches, for a program with more codes.
    pub(crate) fn caches_for_program(&mut self) {
        self.first_sites = vec![0; self.program.codes.len()];
        self.caches = vec![crate::interp::NO_CACHE];
    }

    /// Remembers which helper stands in for which native function.
    fn adopt_helpers(&mut self, dict: Ref) {
        let mut helpers = vec![Value::Undefined; natives().len()];
        for (index, native) in natives().iter().enumerate() {
            if !native.helper.is_empty() {
                let name = self.heap.intern(native.helper);
                match self.dict_get_name(dict, name) {
                    Some(value) => helpers[index] = value,
                    None => panic!("the helper {} of {} is missing", native.helper, native.name),
                }
            }
        }
        for name in HELPER_NAMES {
            let interned = self.heap.intern(name);
            match self.dict_get_name(dict, interned) {
                Some(value) => helpers.push(value),
                None => panic!("the helper {name} is missing"),
            }
        }
        self.helpers = Arc::new(helpers);
    }

    /// Position of a named helper.
    pub(crate) fn helper_position(&self, name: &str) -> Option<usize> {
        HELPER_NAMES.iter().position(|known| *known == name).map(|index| natives().len() + index)
    }
}

/// Helpers that the interpreter itself calls.
const HELPER_NAMES: &[&str] = &[
    "alias_getitem",
    "alias_iter",
    "alias_parameters",
    "and_slow",
    "anext_default",
    "as_tuple",
    "ascii",
    "async_generator_close",
    "bound_special",
    "build_class",
    "build_dict",
    "build_set",
    "compare_eq",
    "compare_ge",
    "compare_gt",
    "compare_le",
    "compare_lt",
    "compare_ne",
    "contains",
    "coroutine_await",
    "delegate_close",
    "delegate_throw",
    "dict_delitem",
    "dict_getitem",
    "dict_ior",
    "dict_setitem",
    "dict_update",
    "dir_slow",
    "enumerate_generator",
    "exception_group_derive",
    "exception_group_new",
    "exception_group_split",
    "exception_group_subgroup",
    "exception_set_args",
    "exception_str",
    "filter_new",
    "format_converted",
    "generator_abandoned",
    "generator_close",
    "generator_throw",
    "getattr_default",
    "getitem_index",
    "getitem_slice",
    "handler_entry",
    "hasattr_slow",
    "iadd_reflected",
    "identity",
    "imul_reflected",
    "in_base",
    "instantiate",
    "iter_by_index",
    "iter_sentinel",
    "keyword_merge",
    "list_extend",
    "list_iadd",
    "maketrans",
    "map_new",
    "match_class",
    "match_group",
    "match_keys",
    "match_rest",
    "max_list",
    "max_slow",
    "min_list",
    "min_slow",
    "object_ne",
    "or_slow",
    "percent_bytes",
    "percent_slow",
    "pow_three",
    "prepare_reraise_star",
    "raise_class",
    "range_slice",
    "range_slow",
    "repeat_in_place",
    "repeated",
    "repr_slow",
    "reversed_by_index",
    "set_add",
    "set_iand",
    "set_ior",
    "set_isub",
    "set_ixor",
    "set_update",
    "setitem_slow",
    "sorted_slow",
    "str_format",
    "str_subclass",
    "sub_slow",
    "sum_slow",
    "translate",
    "type_call",
    "type_new",
    "unpack",
    "xor_slow",
    "zip_generator",
];

/// Runs a module body to its end.
fn run_module(vm: &mut Vm, code: u32, globals: Ref) -> Result<(), String> {
    let frames = std::mem::take(&mut vm.frames);
    let registers = std::mem::replace(&mut vm.registers, vec![Value::Undefined; 1_024]);
    vm.push_module(code, globals);
    let exit = vm.run();
    vm.frames = frames;
    vm.registers = registers;
    match exit {
        Exit::Return(_) => Ok(()),
        Exit::Raise(error) => Err(format!("{}\n{}: {}", error.traceback.join("\n"), error.type_name, error.message)),
        other => Err(format!("a frozen module ended with {other:?}")),
    }
}

/// While the base image is made: loads a frozen module and the packages above it.
pub(crate) fn load_module(vm: &mut Vm, path: &str) -> Outcome<()> {
    let mut parent: Option<Ref> = None;
    let mut prefix = String::new();
    for part in path.split('.') {
        if !prefix.is_empty() {
            prefix.push('.');
        }
        prefix.push_str(part);
        let name = vm.heap.intern(&prefix);
        let known = vm.dict_get_name(MODULES_DICT, name);
        let fresh = known.is_none();
        let module = match known {
            Some(module) => module,
            None => {
                let Some((_, code, package)) = vm.module_codes.iter().find(|(known, _, _)| *known == prefix).cloned() else {
                    return Ok(());
                };
                let (module, dict) = vm.make_module(&prefix, package);
                run_module(vm, code, dict).map_err(|message| vm.raise(ty::IMPORT_ERROR, &message))?;
                module
            }
        };
        // Only once: the package may have given the name to something of its own since.
        if let (Some(parent), true) = (parent, fresh) {
            let attribute = vm.heap.intern(part);
            vm.heap.retain(module);
            vm.dict_set_name(parent, attribute, module);
        }
        parent = match module.object().map(|object| vm.heap.payload(object)) {
            Some(Payload::Module { dict, .. }) => Some(*dict),
            _ => return Err(Throw::Trap(Trap::Internal)),
        };
    }
    Ok(())
}

impl Vm {
    /// Pushes the frame of a module body.
    pub(crate) fn push_module(&mut self, code: u32, globals: Ref) {
        let registers = usize::from(self.program.codes[code as usize].code.registers);
        self.ensure_registers(registers + 8);
        self.frames.push(Frame {
            code,
            pc: 0,
            base: 1,
            dest: 0,
            globals,
            handled: self.handled.len() as u32,
            generator: Link::NONE,
            namespace: Value::Undefined,
            on_return: OnReturn::Entry,
        });
    }
}
