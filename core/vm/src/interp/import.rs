//! Imports: modules that come with the VM, made when the base image is made.

use super::{OnReturn, Pending, Vm};
use crate::costs::{IMPORT, NAME_IMPORTED};
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::types::{MODULES_DICT, nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// The module of a path, or its top package, retained.
    pub(crate) fn import(&mut self, path: Ref, top: bool) -> Outcome {
        self.spend(IMPORT.once())?;
        let text = self.heap.name_text(path).to_owned();
        let text = self.absolute_path(&text);
        if self.loader {
            super::load::load_module(self, &text)?;
        }
        let Some(module) = self.loaded(&text) else { return Err(self.no_module(&text)) };
        let package = text.split('.').next().filter(|_| top).and_then(|package| self.loaded(package));
        Ok(self.heap.retain(package.unwrap_or(module)))
    }

    /// The module of a path, if there is one. Not retained.
    fn loaded(&self, path: &str) -> Option<Value> {
        let name = self.heap.interned_name(path)?;
        self.heap.dict_get_name(MODULES_DICT, name)
    }

    /// ModuleNotFoundError for the first part of a path that is no module.
    fn no_module(&mut self, path: &str) -> Throw {
        let mut packages = path.match_indices('.').map(|(end, _)| &path[..end]);
        let missing = packages.find(|package| self.loaded(package).is_none()).unwrap_or(path);
        let message = match missing.rsplit_once('.') {
            Some((parent, _)) if !self.is_package(parent) => format!("No module named '{missing}'; '{parent}' is not a package"),
            _ => format!("No module named '{missing}'"),
        };
        let name = self.heap.intern(missing);
        let throw = self.raise(ty::MODULE_NOT_FOUND_ERROR, &message);
        self.name_in_error(throw, name)
    }

    /// Whether modules may lie below a module: it is its own `__package__`.
    fn is_package(&self, path: &str) -> bool {
        let module = self.loaded(path).and_then(Value::object).map(|module| self.heap.payload(module));
        let Some(Payload::Module { dict, .. }) = module else { return false };
        let package = self.heap.interned_name("__package__").and_then(|name| self.heap.dict_get_name(*dict, name));
        package.and_then(|package| self.heap.text(package)) == Some(path)
    }

    /// An ImportError that has the module's name as `name`.
    fn name_in_error(&mut self, throw: Throw, module: Ref) -> Throw {
        if let Throw::Raise(exception) = throw {
            self.put_attribute(exception, nm::NAME_ATTR, Value::Obj(module));
        }
        throw
    }

    /// Resolves leading dots against the package of the importing module.
    fn absolute_path(&mut self, path: &str) -> String {
        let dots = path.len() - path.trim_start_matches('.').len();
        if dots == 0 {
            return path.to_owned();
        }
        let globals = self.frames.last().map(|frame| frame.globals);
        let package_name = self.heap.intern("__package__");
        let package = globals
            .and_then(|globals| self.heap.dict_get_name(globals, package_name))
            .and_then(|name| self.heap.text(name))
            .unwrap_or_default()
            .to_owned();
        let mut parts: Vec<&str> = package.split('.').collect();
        parts.truncate(parts.len().saturating_sub(dots - 1));
        let rest = &path[dots..];
        if rest.is_empty() { parts.join(".") } else { format!("{}.{rest}", parts.join(".")) }
    }

    /// `from module import name`, retained.
    pub(crate) fn import_from(&mut self, module: Value, name: Ref) -> Outcome {
        let dict = match module.object().map(|object| self.heap.payload(object)) {
            Some(Payload::Module { dict, .. }) => *dict,
            _ => return self.get_attribute(module, name),
        };
        if let Some(value) = self.heap.dict_get_name(dict, name) {
            return Ok(self.heap.retain(value));
        }
        // A submodule that is not yet an attribute of its package.
        let package = self.heap.dict_get_name(dict, nm::NAME).and_then(|name| self.heap.text(name)).unwrap_or_default().to_owned();
        let path = format!("{package}.{}", self.heap.name_text(name));
        if self.loader {
            super::load::load_module(self, &path)?;
        }
        let path = self.heap.intern(&path);
        if let Some(value) = self.heap.dict_get_name(MODULES_DICT, path) {
            return Ok(self.heap.retain(value));
        }
        let package = self.heap.intern(&package);
        if let Some(function) = self.heap.dict_get_name(dict, nm::GETATTR) {
            let pending = Pending::ImportFrom { package, name };
            return Err(self.call_later(function, &[Value::Obj(name)], OnReturn::Other(Box::new(pending))));
        }
        Err(self.no_such_import(package, name))
    }

    /// ImportError for a name that a module does not have.
    pub(super) fn no_such_import(&mut self, package: Ref, name: Ref) -> Throw {
        let (module, missing) = (self.heap.name_text(package), self.heap.name_text(name));
        let message = format!("cannot import name '{missing}' from '{module}' (unknown location)");
        let throw = self.raise(ty::IMPORT_ERROR, &message);
        self.name_in_error(throw, package)
    }

    /// `from module import *`
    pub(crate) fn import_star(&mut self, module: Value, globals: Ref) -> Outcome<()> {
        let dict = match module.object().map(|object| self.heap.payload(object)) {
            Some(Payload::Module { dict, .. }) => *dict,
            _ => return Ok(()),
        };
        let pairs = self.heap.dict_pairs(Value::Obj(dict));
        let listed = self.heap.dict_get_name(dict, nm::ALL).map(|all| self.heap.sequence_snapshot(all));
        self.spend(NAME_IMPORTED.of(pairs.len()))?;
        for (key, value) in pairs {
            let Some(text) = self.heap.text(key).map(str::to_owned) else { continue };
            let wanted = match &listed {
                Some(listed) => listed.iter().any(|name| self.heap.text(*name) == Some(text.as_str())),
                None => !text.starts_with('_'),
            };
            if wanted {
                let name = self.heap.intern(&text);
                self.heap.retain(value);
                self.dict_set_name(globals, name, value);
            }
        }
        Ok(())
    }
}
