//! Modules as objects, and how their bodies run: while an image is made, and where a run begins.

use super::Vm;
use crate::caches::NO_CACHE;
use crate::error::{Exit, Outcome, Throw, Trap};
use crate::frame::{Frame, OnReturn};
use crate::payload::Payload;
use crate::types::{MODULES_DICT, nm, ty};
use crate::value::{Link, Ref, Value};

impl Vm {
    /// The dict of a native module, made when it is not there yet.
    pub(crate) fn native_module(&mut self, path: &str) -> Ref {
        let name = self.heap.intern(path);
        if let Some(Value::Obj(module)) = self.heap.dict_get_name(MODULES_DICT, name) {
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
        let dict = self.heap.new_dict();
        if let Some(table) = self.heap.table_mut(dict) {
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
        self.caches = vec![NO_CACHE];
    }

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

/// Runs a module body to its end.
pub(crate) fn run_module(vm: &mut Vm, code: u32, globals: Ref) -> Result<(), String> {
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
        let known = vm.heap.dict_get_name(MODULES_DICT, name);
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
