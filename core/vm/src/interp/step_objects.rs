//! Instructions in their general form: attributes, items, and everything that builds an object.

use super::Vm;
use super::registers::{consume, register, set, take};
use super::step::discard;
use crate::error::{Outcome, Throw};
use crate::image::LinkedCode;
use crate::payload::Payload;
use crate::types::ty;
use crate::value::{Ref, Value};
use crate::window::afresh;
use cowboy_compiler::opcode::{Instruction, Op, TEMP_A, TEMP_B, TEMP_C};

/// The attribute that such an instruction is about.
fn site_name(code: &LinkedCode, ins: Instruction) -> Ref {
    code.names[usize::from(code.code.sites[usize::from(ins.c)])]
}

impl Vm {
    /// The inline cache of an instruction about an attribute.
    fn site(&self, ins: Instruction) -> usize {
        self.sites() as usize + usize::from(ins.c)
    }

    /// Attributes.
    pub(super) fn step_objects(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::LoadAttr => {
                let object = register!(self, base, ins.b);
                let site = self.site(ins);
                let outcome = if object.is_undefined() {
                    Err(self.unbound(code, ins.b))
                } else {
                    self.load_attribute_cached(object, site_name(code, ins), site)
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                set!(self, base, ins.a, outcome?);
            }
            Op::StoreAttr => {
                let (object, value) = (register!(self, base, ins.a), register!(self, base, ins.b));
                let outcome = if object.is_undefined() || value.is_undefined() {
                    Err(self.unbound(code, if object.is_undefined() { ins.a } else { ins.b }))
                } else {
                    self.store_attribute_cached(object, site_name(code, ins), value, self.site(ins))
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                consume!(self, base, ins.a, ins.flags & TEMP_A != 0);
                outcome.map_err(discard)?;
            }
            Op::DeleteAttr => {
                let object = register!(self, base, ins.a);
                let outcome = if object.is_undefined() {
                    Err(self.unbound(code, ins.a))
                } else {
                    self.delete_attribute(object, code.names[usize::from(ins.b)])
                };
                consume!(self, base, ins.a, ins.flags & TEMP_A != 0);
                outcome.map_err(discard)?;
            }
            _ => return self.step_methods(ins, code, base),
        }
        Ok(())
    }

    /// Methods that are about to be called.
    fn step_methods(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::LoadMethod => {
                let object = register!(self, base, ins.b);
                let outcome = if object.is_undefined() {
                    Err(self.unbound(code, ins.b))
                } else {
                    self.load_method(object, site_name(code, ins), self.site(ins))
                };
                if let Ok((function, true)) = outcome {
                    let receiver = take!(self, base, ins.b, ins.flags & TEMP_B != 0);
                    set!(self, base, ins.a, function);
                    set!(self, base, ins.a + 1, receiver);
                    return Ok(());
                }
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                // The value of a property or `__getattr__` is called without a receiver.
                set!(self, base, ins.a, Value::Undefined);
                match outcome {
                    Ok((function, _)) => set!(self, base, ins.a + 1, function),
                    Err(Throw::Call(call)) => return self.begin_call(*call, base + usize::from(ins.a) + 1),
                    Err(throw) => return Err(throw),
                }
            }
            Op::LoadSpecial => {
                let object = register!(self, base, ins.b);
                let outcome = if object.is_undefined() {
                    Err(self.unbound(code, ins.b))
                } else {
                    self.load_special(object, code.names[usize::from(ins.c)])
                };
                let (function, receiver) = match outcome {
                    Ok(pair) => pair,
                    Err(throw) => {
                        consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                        return Err(throw);
                    }
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                if receiver.is_undefined() {
                    set!(self, base, ins.a, Value::Undefined);
                    set!(self, base, ins.a + 1, function);
                } else {
                    set!(self, base, ins.a, function);
                    set!(self, base, ins.a + 1, receiver);
                }
            }
            _ => return self.step_items(ins, code, base),
        }
        Ok(())
    }

    /// Items and slices.
    fn step_items(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::GetItem | Op::GetItemInt | Op::GetItemConst => {
                let (object, in_register) = (register!(self, base, ins.b), ins.op == Op::GetItem);
                let key = match ins.op {
                    Op::GetItemInt => Value::Int(ins.immediate()),
                    Op::GetItemConst => code.consts[usize::from(ins.c)],
                    _ => register!(self, base, ins.c),
                };
                let outcome = if object.is_undefined() || key.is_undefined() {
                    Err(self.unbound(code, if object.is_undefined() { ins.b } else { ins.c }))
                } else {
                    self.get_item(object, key)
                };
                consume!(self, base, ins.c, in_register && ins.flags & TEMP_C != 0);
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                set!(self, base, ins.a, outcome?);
            }
            Op::SetItem | Op::SetItemInt | Op::SetItemConst => {
                let (object, value, in_register) = (register!(self, base, ins.a), register!(self, base, ins.c), ins.op == Op::SetItem);
                let key = match ins.op {
                    Op::SetItemInt => Value::Int(i64::from(i16::from_ne_bytes(ins.b.to_ne_bytes()))),
                    Op::SetItemConst => code.consts[usize::from(ins.b)],
                    _ => register!(self, base, ins.b),
                };
                let outcome = if object.is_undefined() || key.is_undefined() || value.is_undefined() {
                    let unbound = if object.is_undefined() {
                        ins.a
                    } else if key.is_undefined() {
                        ins.b
                    } else {
                        ins.c
                    };
                    Err(self.unbound(code, unbound))
                } else {
                    self.set_item(object, key, value)
                };
                consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
                consume!(self, base, ins.b, in_register && ins.flags & TEMP_B != 0);
                consume!(self, base, ins.a, ins.flags & TEMP_A != 0);
                outcome.map_err(discard)?;
            }
            Op::DeleteItem => {
                let (object, key) = (register!(self, base, ins.a), register!(self, base, ins.b));
                let outcome = if object.is_undefined() || key.is_undefined() {
                    Err(self.unbound(code, if object.is_undefined() { ins.a } else { ins.b }))
                } else {
                    self.delete_item(object, key)
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                consume!(self, base, ins.a, ins.flags & TEMP_A != 0);
                outcome.map_err(discard)?;
            }
            _ => return self.step_slices(ins, code, base),
        }
        Ok(())
    }

    /// Slices.
    fn step_slices(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::GetSlice => {
                let object = register!(self, base, ins.b);
                let parts = self.take_parts(base + usize::from(ins.c));
                let outcome = if object.is_undefined() { Err(self.unbound(code, ins.b)) } else { self.get_by_parts(object, &parts) };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                set!(self, base, ins.a, outcome?);
            }
            Op::SetSlice => {
                let (object, value) = (register!(self, base, ins.a), register!(self, base, ins.c));
                let parts = self.take_parts(base + usize::from(ins.b));
                let outcome = if object.is_undefined() || value.is_undefined() {
                    Err(self.unbound(code, if object.is_undefined() { ins.a } else { ins.c }))
                } else {
                    self.set_by_parts(object, &parts, value)
                };
                consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
                consume!(self, base, ins.a, ins.flags & TEMP_A != 0);
                outcome.map_err(discard)?;
            }
            _ => return self.step_builders(ins, code, base),
        }
        Ok(())
    }

    /// What builds an object, or adds to one that is being built.
    fn step_builders(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::BuildSlice => {
                let parts = self.take_parts(base + usize::from(ins.b));
                let slice = self.heap.make(ty::SLICE, Payload::Slice(Box::new(parts)));
                set!(self, base, ins.a, slice);
            }
            Op::BuildList | Op::BuildTuple => {
                let first = base + usize::from(ins.b);
                let mut items = Vec::with_capacity(usize::from(ins.c));
                for index in first..first + usize::from(ins.c) {
                    items.push(std::mem::replace(&mut self.registers[index], Value::Undefined));
                }
                let value = if ins.op == Op::BuildList { self.heap.list(items) } else { self.heap.tuple(items) };
                set!(self, base, ins.a, value);
            }
            Op::BuildSet | Op::BuildDict => {
                let outcome = self.build_table(ins.op == Op::BuildDict, base + usize::from(ins.b), usize::from(ins.c));
                set!(self, base, ins.a, outcome?);
            }
            Op::ListAppend => {
                let value = take!(self, base, ins.b, ins.flags & TEMP_B != 0);
                if value.is_undefined() {
                    return Err(self.unbound(code, ins.b));
                }
                let list = register!(self, base, ins.a);
                self.list_push(list, value)?;
            }
            Op::ListExtend => {
                let (list, source) = (register!(self, base, ins.a), register!(self, base, ins.b));
                let outcome =
                    self.extend_for_display(list, source, if ins.c == 0 { Value::Undefined } else { register!(self, base, ins.c - 1) });
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                outcome.map_err(discard)?;
            }
            Op::ListToTuple => {
                let list = register!(self, base, ins.b);
                let items = self.heap.list_items(list);
                let items = self.heap.retain_all(&items);
                let tuple = self.heap.tuple(items);
                consume!(self, base, ins.b, true);
                set!(self, base, ins.a, tuple);
            }
            _ => return self.step_additions(ins, code, base),
        }
        Ok(())
    }

    /// What adds to a set or dict that is being built, and what makes text.
    fn step_additions(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::SetAdd => {
                let (set, value) = (register!(self, base, ins.a), register!(self, base, ins.b));
                let outcome = self.set_add(set, value);
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                outcome.map_err(discard)?;
            }
            Op::SetUpdate => {
                let (set, source) = (register!(self, base, ins.a), register!(self, base, ins.b));
                let outcome =
                    self.helper_or("set_update", &[set, source], |vm, args| crate::objects::set::update_in_place(vm, args[0], args[1]));
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                outcome.map_err(discard)?;
            }
            Op::DictSet => {
                let (dict, key, value) = (register!(self, base, ins.a), register!(self, base, ins.b), register!(self, base, ins.c));
                let outcome = self.set_item(dict, key, value);
                consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                outcome.map_err(discard)?;
            }
            Op::DictUpdate | Op::DictMerge => {
                let (dict, source) = (register!(self, base, ins.a), register!(self, base, ins.b));
                let callee = if ins.op == Op::DictMerge { register!(self, base, ins.c) } else { Value::None };
                let outcome = self.dict_merge(dict, source, ins.op == Op::DictMerge, callee);
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                outcome.map_err(discard)?;
            }
            Op::BuildString => {
                let outcome = self.build_string(base + usize::from(ins.b), usize::from(ins.c));
                set!(self, base, ins.a, outcome?);
            }
            Op::Format => {
                let value = register!(self, base, ins.b);
                let spec = if ins.c == u16::MAX { Value::Undefined } else { register!(self, base, ins.c) };
                let outcome = if value.is_undefined() {
                    Err(self.unbound(code, ins.b))
                } else {
                    self.format_instruction(value, spec, (ins.flags >> 4) & 3)
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                if ins.c != u16::MAX {
                    consume!(self, base, ins.c, true);
                }
                set!(self, base, ins.a, outcome?);
            }
            _ => return self.step_flow(ins, code, base),
        }
        Ok(())
    }

    /// The three values in registers from `first` on, which are consumed.
    fn take_parts(&mut self, first: usize) -> [Value; 3] {
        [first, first + 1, first + 2].map(|index| {
            let part = afresh(&self.registers[index]);
            self.registers[index] = Value::Undefined;
            part
        })
    }

    /// `object[a:b:c]`, without the slice object where nobody sees it. The parts are consumed.
    fn get_by_parts(&mut self, object: Value, parts: &[Value; 3]) -> Outcome {
        if let Value::Obj(receiver) = object {
            let plain = matches!(
                self.heap.payload(receiver),
                Payload::List(_) | Payload::Tuple(_) | Payload::Str(_) | Payload::Bytes(_) | Payload::ByteArray(..)
            );
            if plain && parts.iter().all(|part| matches!(part, Value::Int(_) | Value::None)) {
                return self.get_slice(receiver, parts);
            }
        }
        let slice = self.heap.make(ty::SLICE, Payload::Slice(Box::new(*parts)));
        let outcome = self.get_item(object, slice);
        self.heap.release(slice);
        outcome
    }

    /// `object[a:b:c] = value`, the same way.
    fn set_by_parts(&mut self, object: Value, parts: &[Value; 3], value: Value) -> Outcome<()> {
        if let Value::Obj(receiver) = object {
            let plain = matches!(self.heap.payload(receiver), Payload::List(_));
            let builtin = value.object().is_some_and(|value| matches!(self.heap.payload(value), Payload::List(_) | Payload::Tuple(_)));
            if plain && builtin && parts.iter().all(|part| matches!(part, Value::Int(_) | Value::None)) {
                return crate::objects::list::set_slice(self, receiver, parts, value);
            }
        }
        let slice = self.heap.make(ty::SLICE, Payload::Slice(Box::new(*parts)));
        let outcome = self.set_item(object, slice, value);
        self.heap.release(slice);
        outcome
    }
}
