//! What inline caches of attributes are filled with.

use super::{Cache, CacheKind, Vm};
use crate::error::Outcome;
use crate::payload::Payload;
use crate::types::{FIXED_COUNT, nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// `object.name` with an inline cache to fill.
    pub(crate) fn load_attribute_cached(&mut self, object: Value, name: Ref, site: usize) -> Outcome {
        let is_near = self.is_near(object);
        let value = self.get_attribute(object, name)?;
        if let (Value::Obj(receiver), true) = (object, is_near) {
            let epoch = self.heap.type_epoch;
            match self.heap.payload(receiver) {
                Payload::Instance(attributes) if attributes.dict.is_none() => {
                    let (class, shape) = (self.heap.slot(receiver).class, attributes.shape);
                    if let Some(position) = self.heap.shape_position(shape, name) {
                        let data_descriptor = self.lookup(class, name).is_some_and(|found| self.is_data_descriptor(found));
                        if !data_descriptor && self.overridden(class, nm::GETATTRIBUTE).is_none() {
                            let index = position as u32;
                            self.remember(site, Cache { kind: CacheKind::Field, class, epoch, shape, index, value: Value::Undefined });
                        }
                    } else if name.0 >= FIXED_COUNT && self.lookup(class, name).is_some_and(|found| found.is(value)) {
                        // Nothing binds a value of these kinds.
                        let is_plain = value.object().is_none_or(|value| {
                            matches!(
                                self.heap.payload(value),
                                Payload::Str(_) | Payload::BigInt(_) | Payload::List(_) | Payload::Tuple(_) | Payload::Dict(_)
                            )
                        });
                        if is_plain && self.overridden(class, nm::GETATTRIBUTE).is_none() {
                            self.remember(site, Cache { kind: CacheKind::Constant, class, epoch, shape, index: 0, value });
                        }
                    }
                }
                _ => self.remember_held(receiver, name, value, site),
            }
        }
        Ok(value)
    }

    /// Keeps an attribute of a class, or of a module of the image, in the inline cache of a site.
    pub(super) fn remember_held(&mut self, receiver: Ref, name: Ref, value: Value, site: usize) {
        match self.heap.payload(receiver) {
            Payload::Class(_) => {
                // Only what the class holds itself lives as long as the class does not change.
                let found = self.lookup(receiver, name);
                let meta = self.heap.slot(receiver).class;
                if found.is_some_and(|found| found.is(value)) && self.lookup(meta, name).is_none() {
                    let epoch = self.heap.type_epoch;
                    self.caches[site] = Cache { kind: CacheKind::ClassAttribute, class: receiver, epoch, shape: 0, index: 0, value };
                }
            }
            &Payload::Module { dict, .. } if self.heap.is_frozen(receiver) && self.heap.slot(receiver).class == ty::MODULE => {
                let (Some(position), Ok(shape)) = (self.heap.dict_position_of_name(dict, name), u32::try_from(name.0)) else { return };
                let (epoch, index) = (self.heap.globals_epoch, position as u32);
                let is_same = self.heap.dict_value_at(dict, position).is(value);
                if is_same && matches!(self.heap.payload(dict), Payload::Dict(table) if table.module) {
                    self.caches[site] = Cache { kind: CacheKind::ModuleAttribute, class: receiver, epoch, shape, index, value };
                }
            }
            _ => {}
        }
    }
}
