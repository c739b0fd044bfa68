//! Functions that instructions make.

use super::Vm;
use crate::image::LinkedCode;
use crate::payload::{Attributes, Function, Payload};
use crate::types::ty;
use crate::value::Value;
use cowboy_compiler::code::Code;
use cowboy_compiler::opcode::Instruction;
use std::sync::Arc;

impl Vm {
    /// Makes the function of a `MakeFunction` instruction.
    pub(crate) fn make_function(&mut self, code: &LinkedCode, ins: Instruction, base: usize) -> Value {
        use cowboy_compiler::opcode::{HAS_ANNOTATIONS, HAS_CLOSURE, HAS_DEFAULTS, HAS_KEYWORD_DEFAULTS};
        let number = code.first + u32::from(ins.c);
        let program = Arc::clone(&self.program);
        let linked = &program.codes[number as usize].code;
        let mut next = base + usize::from(ins.b);
        let mut part = |vm: &mut Vm, flag: u8| {
            if ins.flags & flag == 0 {
                return Value::Undefined;
            }
            next += 1;
            std::mem::replace(&mut vm.registers[next - 1], Value::Undefined)
        };
        let defaults = part(self, HAS_DEFAULTS);
        let keyword_defaults = part(self, HAS_KEYWORD_DEFAULTS);
        let annotations = part(self, HAS_ANNOTATIONS);
        let closure = part(self, HAS_CLOSURE);
        let cells = if closure.is_undefined() { Vec::new() } else { self.heap.snapshot(closure) };
        self.heap.retain_each(&cells);
        self.heap.release(closure);
        let closure = self.heap.spares.boxed(cells);
        let (name, qualname) = self.function_names(number, linked);
        self.heap.retain(name);
        self.heap.retain(qualname);
        let globals = self.frames.last().expect("an instruction is running").globals;
        let function = Function {
            code: number,
            globals,
            defaults: defaults.or(Value::None),
            keyword_defaults: keyword_defaults.or(Value::None),
            closure,
            name,
            qualname,
            annotations: annotations.or(Value::None),
            attributes: Attributes::default(),
        };
        let function = self.heap.spares.function(function);
        self.heap.make(ty::FUNCTION, Payload::Function(function))
    }

    /// `__name__` and `__qualname__` of the functions of a code, which are found by their texts once.
    fn function_names(&mut self, number: u32, code: &Code) -> (Value, Value) {
        let (name, qualname) = match self.function_names.get(&number) {
            Some(&known) => known,
            None => {
                let names = (self.heap.intern(&code.name), self.heap.intern(&code.qualname));
                self.function_names.insert(number, names);
                names
            }
        };
        (Value::Obj(name), Value::Obj(qualname))
    }
}
