//! Images with more modules than an actor has: for tools that run Python beside a chain, such as test runners.

use crate::base::base_image;
use crate::error::Throw;
use crate::image::{Image, Program};
use crate::interp::load::load_module;
use crate::limits::Limits;
use crate::link::link;
use crate::natives::natives;
use crate::run::script_above;
use crate::runtime::Vm;
use cowboy_compiler::code::Unit;
use cowboy_compiler::{CompileError, Trust, compile_beside};
use std::sync::Arc;

/// A module that programs above a library may import.
#[derive(Clone, Debug)]
pub struct LibraryModule {
    /// Its dotted path.
    pub path: String,
    /// Its text.
    pub source: String,
    /// Whether other modules lie below it.
    pub package: bool,
    /// Whether it may say what an actor may not.
    pub trusted: bool,
}

/// Why a library could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryError {
    /// A module does not compile: its path, and why.
    Compile(String, CompileError),
    /// A module body raised: what it says.
    Load(String),
}

/// Modules that have been loaded, above the base image or above another library.
#[derive(Clone, Debug)]
pub struct Library {
    image: Arc<Image>,
    paths: Vec<String>,
}

impl Default for Library {
    fn default() -> Self {
        Self { image: base_image(), paths: Vec::new() }
    }
}

impl Library {
    /// A library that has these modules too. They are loaded in their order, or when one of them imports another.
    pub fn with(&self, modules: &[LibraryModule], limits: Limits) -> Result<Library, LibraryError> {
        let mut paths = self.paths.clone();
        paths.extend(modules.iter().map(|module| module.path.clone()));
        let mut vm = Vm::above(Arc::clone(&self.image), limits, natives());
        let mut program = Program::clone(&self.image.program);
        let mut codes = Vec::new();
        for module in modules {
            let trust = if module.trusted { Trust::Frozen } else { Trust::Actor };
            let unit = compile_beside(&module.source, &module.path, &module.path, trust, &paths)
                .map_err(|error| LibraryError::Compile(module.path.clone(), error))?;
            codes.push((module.path.clone(), link(&mut vm.heap, &mut program, &unit), module.package));
        }
        vm.program = Arc::new(program);
        vm.caches_for_program();
        vm.host_allowed = false;
        vm.loader = true;
        vm.module_codes = codes;
        for module in modules {
            let loaded = load_module(&mut vm, &module.path);
            loaded.map_err(|throw| explain(&mut vm, &module.path, throw))?;
        }
        let program = Arc::clone(&vm.program);
        let helpers = Arc::clone(&vm.helpers);
        Ok(Library { image: Arc::new(Image::freeze(vm.heap.into_parts(), program, None, helpers)), paths })
    }

    /// Compiles a script that may import the library's modules beside those of the whitelist.
    pub fn compile(&self, source: &str, name: &str) -> Result<Arc<Unit>, CompileError> {
        compile_beside(source, "__main__", name, Trust::Actor, &self.paths).map(Arc::new)
    }

    /// An image above the library whose body has not run: for [`crate::Entry::Script`].
    pub fn script(&self, unit: &Unit) -> Arc<Image> {
        script_above(Arc::clone(&self.image), unit)
    }
}

fn explain(vm: &mut Vm, path: &str, throw: Throw) -> LibraryError {
    LibraryError::Load(match throw {
        Throw::Raise(exception) => {
            let error = vm.describe(exception);
            format!("{path}: {}: {}", error.type_name, error.message)
        }
        other => format!("{path}: {other:?}"),
    })
}
