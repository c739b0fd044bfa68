//! Names: globals, builtins, and the namespaces of class bodies.

use super::{Cache, CacheKind, OnReturn, Vm};
use crate::error::{Outcome, Throw, Trap};
use crate::payload::Payload;
use crate::types::{BUILTINS_DICT, nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// A global or builtin that the cache did not know. Not retained.
    pub(crate) fn load_global(&mut self, globals: Ref, name: Ref, site: u32) -> Outcome {
        let epoch = self.heap.globals_epoch;
        let watched = self.heap.table(globals).is_some_and(|dict| dict.module);
        if let Some(position) = self.heap.dict_position_of_name(globals, name) {
            let Payload::Dict(dict) = self.heap.payload(globals) else { return Err(Throw::Trap(Trap::Internal)) };
            let entry = dict.entries[position];
            if let (Value::Obj(key), true) = (entry.key, watched) {
                let (shape, index) = (key.0 as u32, position as u32);
                self.caches[site as usize] = Cache { kind: CacheKind::Global, class: globals, epoch, shape, index, value: entry.value };
            }
            return Ok(entry.value);
        }
        if let Some(value) = self.heap.dict_get_name(BUILTINS_DICT, name) {
            if watched {
                self.caches[site as usize] = Cache { kind: CacheKind::Builtin, class: globals, epoch, shape: 0, index: 0, value };
            }
            return Ok(value);
        }
        Err(self.name_error(name))
    }

    fn name_error(&mut self, name: Ref) -> Throw {
        let message = format!("name '{}' is not defined", self.heap.name_text(name));
        let throw = self.raise(ty::NAME_ERROR, &message);
        if let Throw::Raise(exception) = throw {
            self.put_attribute(exception, nm::NAME_ATTR, Value::Obj(name));
        }
        throw
    }

    /// `del` of a global.
    pub(crate) fn delete_global(&mut self, globals: Ref, name: Ref) -> Outcome<()> {
        match self.heap.dict_position_of_name(globals, name) {
            Some(position) => {
                self.dict_remove_at(globals, position);
                Ok(())
            }
            None => Err(self.name_error(name)),
        }
    }

    /// What the namespace of a class body has for a name, retained.
    pub(crate) fn namespace_get(&mut self, frame: usize, name: Ref) -> Outcome<Option<Value>> {
        let namespace = self.frames[frame].namespace;
        let Value::Obj(dict) = namespace else { return Ok(None) };
        let found = self.heap.dict_get_name(dict, name);
        Ok(found.map(|value| self.heap.retain(value)))
    }

    /// A name in a class body, retained.
    pub(crate) fn load_name(&mut self, frame: usize, name: Ref) -> Outcome {
        if let Some(value) = self.namespace_get(frame, name)? {
            return Ok(value);
        }
        let globals = self.frames[frame].globals;
        let found = self.heap.dict_get_name(globals, name).or_else(|| self.heap.dict_get_name(BUILTINS_DICT, name));
        match found {
            Some(value) => Ok(self.heap.retain(value)),
            None => Err(self.name_error(name)),
        }
    }

    /// Binds a name in a class body; takes the reference over.
    pub(crate) fn store_name(&mut self, frame: usize, name: Ref, value: Value) -> Outcome<()> {
        let dict = match self.frames[frame].namespace {
            Value::Obj(dict) => dict,
            _ => self.frames[frame].globals,
        };
        if self.heap.class_of(Value::Obj(dict)) != ty::DICT {
            // `__prepare__` gave a dict of its own sort, which may watch what is bound.
            if let Some(function) = self.special(Value::Obj(dict), nm::SETITEM) {
                let is_native = function.object().is_some_and(|f| matches!(self.heap.payload(f), Payload::Native(_)));
                if !is_native {
                    let throw = self.call_special(function, &[Value::Obj(dict), Value::Obj(name), value], OnReturn::Discard);
                    self.heap.release(value);
                    return Err(throw);
                }
            }
        }
        self.dict_set_name(dict, name, value);
        Ok(())
    }

    /// `del` of a name in a class body.
    pub(crate) fn delete_name(&mut self, frame: usize, name: Ref) -> Outcome<()> {
        let dict = match self.frames[frame].namespace {
            Value::Obj(dict) => dict,
            _ => self.frames[frame].globals,
        };
        match self.heap.dict_position_of_name(dict, name) {
            Some(position) => {
                self.dict_remove_at(dict, position);
                Ok(())
            }
            None => Err(self.name_error(name)),
        }
    }

    /// Makes sure that `__annotations__` is there to be filled.
    pub(crate) fn setup_annotations(&mut self, frame: usize) -> Outcome<()> {
        let dict = match self.frames[frame].namespace {
            Value::Obj(dict) => dict,
            _ => self.frames[frame].globals,
        };
        if self.heap.dict_position_of_name(dict, nm::ANNOTATIONS).is_none() {
            let annotations = Value::Obj(self.heap.new_dict());
            self.dict_set_name(dict, nm::ANNOTATIONS, annotations);
        }
        Ok(())
    }
}
