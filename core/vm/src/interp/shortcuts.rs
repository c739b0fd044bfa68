//! Instructions with operands that the loop does not handle itself, but that need none of the slow path: with more kinds of operands in the
//! loop, the compiler would keep its state in memory. They do, and charge for, what the slow path does.

use super::Vm;
use crate::caches::{Cache, CacheKind};
use crate::costs::{INT_WITH_FLOAT, ITEM_LOOKED_AT};
use crate::image::LinkedCode;
use crate::payload::{GeneratorState, Payload};
use crate::runtime::native::NativeKind;
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use crate::window::afresh;
use cowboy_compiler::opcode::{Instruction, NEGATE, Op, TEMP_A, TEMP_B, TEMP_C};
use cowboy_num::F64;
use std::cmp::Ordering;

impl Vm {
    /// Does an instruction of the top frame, whose row was charged; `false`, and nothing has changed, where the slow path has to.
    #[inline]
    pub(super) fn shortcut(&mut self, ins: Instruction, base: usize, code: &LinkedCode) -> bool {
        match ins.op {
            Op::JumpIfTrue | Op::JumpIfTrueKeep => self.jump_by_known_truth(ins, base, true),
            Op::JumpIfFalse | Op::JumpIfFalseKeep => self.jump_by_known_truth(ins, base, false),
            Op::JumpLess => self.jump_by_mixed(ins, base, Ordering::is_lt),
            Op::JumpLessEqual => self.jump_by_mixed(ins, base, Ordering::is_le),
            Op::JumpGreater => self.jump_by_mixed(ins, base, Ordering::is_gt),
            Op::JumpGreaterEqual => self.jump_by_mixed(ins, base, Ordering::is_ge),
            Op::JumpEqual => self.jump_by_mixed(ins, base, Ordering::is_eq),
            Op::JumpNotEqual => self.jump_by_mixed(ins, base, Ordering::is_ne),
            Op::JumpLessInt => self.jump_by_mixed_immediate(ins, base, Ordering::is_lt),
            Op::JumpLessEqualInt => self.jump_by_mixed_immediate(ins, base, Ordering::is_le),
            Op::JumpGreaterInt => self.jump_by_mixed_immediate(ins, base, Ordering::is_gt),
            Op::JumpGreaterEqualInt => self.jump_by_mixed_immediate(ins, base, Ordering::is_ge),
            Op::JumpEqualInt => self.jump_by_mixed_immediate(ins, base, Ordering::is_eq),
            Op::JumpNotEqualInt => self.jump_by_mixed_immediate(ins, base, Ordering::is_ne),
            Op::AddInt => self.float_with_immediate(ins, base, |left, right| left + right),
            Op::SubInt => self.float_with_immediate(ins, base, |left, right| left - right),
            Op::MulInt => self.float_with_immediate(ins, base, |left, right| left * right),
            Op::In | Op::NotIn => self.look_quickly(ins, base),
            Op::LoadMethod => self.load_callee(ins, base) || self.load_super_method(ins, base, code),
            Op::StoreAttr => self.store_below(ins, base),
            Op::ListAppend => self.append_below(ins, base),
            Op::SetItem => self.set_item_below(ins, base),
            Op::StoreCell => self.fill_cell(ins, base),
            Op::Await => self.await_quickly(ins, base),
            _ => false,
        }
    }

    fn operand(&self, base: usize, index: u16) -> Value {
        afresh(&self.registers[base + usize::from(index)])
    }

    /// Writes a register; what it held is released.
    fn put_register(&mut self, base: usize, index: u16, value: Value) {
        let place = &mut self.registers[base + usize::from(index)];
        let old = place.object();
        *place = value;
        if let Some(old) = old {
            self.heap.release_object(old);
        }
    }

    fn drop_operand(&mut self, ins: Instruction, base: usize, index: u16, flag: u8) {
        if ins.flags & flag != 0 {
            self.put_register(base, index, Value::Undefined);
        }
    }

    fn skip_if(&mut self, ins: Instruction, truth: bool) {
        if truth == (ins.flags & NEGATE == 0) {
            let target = self.relative(i64::from(i16::from_ne_bytes(ins.c.to_ne_bytes())));
            self.jump(target);
        }
    }

    fn jump_by_known_truth(&mut self, ins: Instruction, base: usize, when: bool) -> bool {
        let value = self.operand(base, ins.a);
        let Some(truth) = self.known_truth(&value) else { return false };
        self.drop_operand(ins, base, ins.a, TEMP_A);
        if truth == when {
            self.jump(ins.wide());
        }
        true
    }

    fn jump_by_mixed(&mut self, ins: Instruction, base: usize, holds: fn(Ordering) -> bool) -> bool {
        let Some(order) = Self::order_of_mixed(&self.operand(base, ins.a), &self.operand(base, ins.b)) else { return false };
        self.owe(INT_WITH_FLOAT.once());
        self.skip_if(ins, holds(order));
        true
    }

    fn jump_by_mixed_immediate(&mut self, ins: Instruction, base: usize, holds: fn(Ordering) -> bool) -> bool {
        let right = Value::Int(i64::from(i16::from_ne_bytes(ins.b.to_ne_bytes())));
        let Some(order) = Self::order_of_mixed(&self.operand(base, ins.a), &right) else { return false };
        self.owe(INT_WITH_FLOAT.once());
        self.skip_if(ins, holds(order));
        true
    }

    fn float_with_immediate(&mut self, ins: Instruction, base: usize, result: fn(F64, F64) -> F64) -> bool {
        let Value::Float(left) = self.operand(base, ins.b) else { return false };
        self.put_register(base, ins.a, Value::Float(result(left, F64::from_i64(ins.immediate()))));
        true
    }

    fn look_quickly(&mut self, ins: Instruction, base: usize) -> bool {
        let (item, container) = (self.operand(base, ins.b), self.operand(base, ins.c));
        let Some((found, looked_at)) = self.quick_membership(&container, &item) else { return false };
        self.owe(ITEM_LOOKED_AT.of(looked_at));
        self.drop_operand(ins, base, ins.b, TEMP_B);
        self.drop_operand(ins, base, ins.c, TEMP_C);
        self.put_register(base, ins.a, Value::truth(found == (ins.op == Op::In)));
        true
    }

    fn load_callee(&mut self, ins: Instruction, base: usize) -> bool {
        let (object, site) = (self.operand(base, ins.b), self.sites() + u32::from(ins.c));
        let Some(callee) = self.known_callee(&object, site) else { return false };
        self.heap.retain(callee);
        self.drop_operand(ins, base, ins.b, TEMP_B);
        self.put_register(base, ins.a, Value::Undefined);
        self.put_register(base, ins.a + 1, callee);
        true
    }

    /// `super().name`, which is about to be called, where that is a method of the instance.
    fn load_super_method(&mut self, ins: Instruction, base: usize, code: &LinkedCode) -> bool {
        let Value::Obj(object) = self.operand(base, ins.b) else { return false };
        let &Payload::Super { class, receiver: Value::Obj(receiver), start } = self.heap.payload(object) else { return false };
        let name = code.names[usize::from(code.code.sites[usize::from(ins.c)])];
        if receiver == start || name == nm::CLASS {
            return false;
        }
        let Some(Value::Obj(function)) = self.found_behind(class, start, name) else { return false };
        let is_method = match self.heap.payload(function) {
            Payload::Function(_) => true,
            Payload::Native(row) => self.native(*row).kind == NativeKind::Method,
            _ => false,
        };
        if !is_method {
            return false;
        }
        self.heap.retain_object(function);
        self.heap.retain_object(receiver);
        self.drop_operand(ins, base, ins.b, TEMP_B);
        self.put_register(base, ins.a, Value::Obj(function));
        self.put_register(base, ins.a + 1, Value::Obj(receiver));
        true
    }

    /// What the classes after `class` in the order of `start` have under a name.
    fn found_behind(&self, class: Ref, start: Ref, name: Ref) -> Option<Value> {
        let Payload::Class(row) = self.heap.payload(start) else { return None };
        let mut rest = row.mro.iter().skip_while(|&&base| base != class).skip(1);
        rest.find_map(|&base| match self.heap.payload(base) {
            Payload::Class(row) => row.attributes.get(&name).copied(),
            _ => None,
        })
    }

    /// Takes the operand that is stored from its register, or makes another reference to it.
    fn hand_operand(&mut self, ins: Instruction, base: usize, index: u16, flag: u8) {
        if ins.flags & flag != 0 {
            self.registers[base + usize::from(index)] = Value::Undefined;
        } else if let Value::Obj(object) = self.operand(base, index) {
            self.heap.retain_object(object);
        }
    }

    /// `object.name = container`, where the inline cache says where, and the barrier only has to label one of the two.
    fn store_below(&mut self, ins: Instruction, base: usize) -> bool {
        let (object, value) = (self.operand(base, ins.a), self.operand(base, ins.b));
        let site = self.sites() + u32::from(ins.c);
        let Value::Obj(parent) = object else { return false };
        if !self.stores_field(parent, site)
            || !self.heap.label_at_once(parent, &value)
            || !self.store_cached_attribute(&object, &value, site)
        {
            return false;
        }
        self.hand_operand(ins, base, ins.b, TEMP_B);
        self.drop_operand(ins, base, ins.a, TEMP_A);
        true
    }

    fn append_below(&mut self, ins: Instruction, base: usize) -> bool {
        let (list, value) = (self.operand(base, ins.a), self.operand(base, ins.b));
        let Value::Obj(parent) = list else { return false };
        let is_list = matches!(self.heap.payload(parent), Payload::List(_));
        if !is_list || !self.heap.label_at_once(parent, &value) || !self.append_quickly(&list, &value) {
            return false;
        }
        self.hand_operand(ins, base, ins.b, TEMP_B);
        true
    }

    /// `list[index] = container`, as above.
    fn set_item_below(&mut self, ins: Instruction, base: usize) -> bool {
        let [object, key, value] = [ins.a, ins.b, ins.c].map(|index| self.operand(base, index));
        let Value::Obj(parent) = object else { return false };
        let (Payload::List(_), Value::Int(_), Some(_)) = (self.heap.payload(parent), key, self.quick_item(&object, &key)) else {
            return false;
        };
        if self.heap.is_frozen(parent) || !self.heap.label_at_once(parent, &value) || !self.store_quick_item(&object, &key, &value) {
            return false;
        }
        self.hand_operand(ins, base, ins.c, TEMP_C);
        self.drop_operand(ins, base, ins.b, TEMP_B);
        self.drop_operand(ins, base, ins.a, TEMP_A);
        true
    }

    fn fill_cell(&mut self, ins: Instruction, base: usize) -> bool {
        let (cell, value) = (self.operand(base, ins.a), self.operand(base, ins.b));
        let Value::Obj(cell) = cell else { return false };
        if value.is_undefined() || self.heap.is_frozen(cell) || !matches!(self.heap.payload(cell), Payload::Cell(_)) {
            return false;
        }
        self.hand_operand(ins, base, ins.b, TEMP_B);
        if let Payload::Cell(content) = self.heap.payload_mut(cell) {
            let old = std::mem::replace(content, value);
            self.heap.release(old);
        }
        true
    }

    fn await_quickly(&mut self, ins: Instruction, base: usize) -> bool {
        let Value::Obj(object) = self.operand(base, ins.b) else { return false };
        if !self.is_plain_coroutine(object) {
            return false;
        }
        self.heap.retain_object(object);
        self.drop_operand(ins, base, ins.b, TEMP_B);
        self.put_register(base, ins.a, Value::Obj(object));
        true
    }
}

// What the instructions above ask.
impl Vm {
    /// What a call of `object.name` calls without a receiver: an attribute of a class or module that the inline cache knows.
    fn known_callee(&mut self, object: &Value, site: u32) -> Option<Value> {
        let Value::Obj(object) = *object else { return None };
        let cache = &self.caches[site as usize];
        let known = match cache.kind {
            CacheKind::ClassAttribute => cache.class == object && cache.epoch == self.heap.type_epoch,
            CacheKind::ModuleAttribute => {
                cache.class == object && (cache.epoch == self.heap.globals_epoch || self.relocate_in_module(object, site))
            }
            _ => false,
        };
        known.then(|| self.caches[site as usize].value)
    }

    /// The same as [`Vm::relocate`] for an attribute of a module.
    pub(super) fn relocate_in_module(&mut self, module: Ref, site: u32) -> bool {
        let cache = &self.caches[site as usize];
        if cache.kind != CacheKind::ModuleAttribute || cache.class != module {
            return false;
        }
        let Payload::Module { dict, .. } = self.heap.payload(module) else { return false };
        let Payload::Dict(table) = self.heap.payload(*dict) else { return false };
        let name = u64::from(cache.shape);
        let value = match table.entries.get(cache.index as usize) {
            Some(entry) if matches!(entry.key, Value::Obj(key) if key.0 == name) => entry.value,
            _ => return false,
        };
        let cache = &mut self.caches[site as usize];
        (cache.value, cache.epoch) = (value, self.heap.globals_epoch);
        true
    }

    /// The truth of what the loop does not know itself: numbers, builtin containers, and instances of classes that do not say.
    fn known_truth(&mut self, value: &Value) -> Option<bool> {
        let object = match *value {
            Value::Float(number) => return Some(!number.is_zero()),
            Value::Obj(object) => object,
            _ => return None,
        };
        let slot = self.heap.slot(object);
        match slot.payload {
            Payload::Instance(_) => {
                let class = slot.class;
                (self.lookup(class, nm::BOOL).is_none() && self.lookup(class, nm::LEN).is_none()).then_some(true)
            }
            Payload::Function(_) | Payload::Native(_) | Payload::BoundMethod { .. } => Some(true),
            _ => self.heap.quick_truth(value),
        }
    }

    /// How an integer and a float are ordered, in the price of comparing the two; `None` for everything else, and for what is no number.
    fn order_of_mixed(left: &Value, right: &Value) -> Option<Ordering> {
        match (left, right) {
            (&Value::Float(left), &Value::Int(right)) => left.compare_i64(right),
            (&Value::Int(left), &Value::Float(right)) => right.compare_i64(left).map(Ordering::reverse),
            _ => None,
        }
    }

    /// Whether a list or tuple holds an integer or short text, and how many items were looked at; `None` where items have to be compared
    /// otherwise.
    fn quick_membership(&self, container: &Value, item: &Value) -> Option<(bool, usize)> {
        let Value::Obj(object) = *container else { return None };
        let slot = self.heap.slot(object);
        let items: &[Value] = match &slot.payload {
            Payload::List(list) if slot.class == ty::LIST => &list.items,
            Payload::Tuple(items) if slot.class == ty::TUPLE => items,
            _ => return None,
        };
        for (index, known) in items.iter().enumerate() {
            let same = match (known, item) {
                (Value::Int(one), Value::Int(other)) => one == other,
                (&Value::Obj(one), &Value::Obj(other)) => self.heap.same_text(one, other)?,
                (Value::None, Value::None) => true,
                _ => return None,
            };
            if same {
                return Some((true, index + 1));
            }
        }
        Some((false, items.len()))
    }

    /// Whether the inline cache of a site says where instances like this one have the attribute that is to be set.
    fn stores_field(&self, object: Ref, site: u32) -> bool {
        let &Cache { kind, class, epoch, shape, .. } = &self.caches[site as usize];
        let slot = self.heap.slot(object);
        match &slot.payload {
            Payload::Instance(attributes) => {
                let fits = slot.class == class && attributes.shape == shape && attributes.dict.is_none();
                fits && epoch == self.heap.type_epoch && matches!(kind, CacheKind::Field | CacheKind::Transition)
            }
            _ => false,
        }
    }

    /// Whether an object is a coroutine that nobody awaits: `await` gives it as it is.
    fn is_plain_coroutine(&self, object: Ref) -> bool {
        let slot = self.heap.slot(object);
        match &slot.payload {
            Payload::Generator(row) => slot.class == ty::COROUTINE && (row.state != GeneratorState::Suspended || row.delegate.is_none()),
            _ => false,
        }
    }
}
