//! Runs: making images, starting entries, answering host calls, and values across the door.

use crate::base::base_image;
use crate::costs::{HOST_BYTES, HOST_OBJECT};
use crate::error::{Exit, Outcome, PendingCall, PyError, Throw, Trap};
use crate::frame::OnReturn;
use crate::heap::numbers::Number;
use crate::host::{HostError, HostValue};
use crate::image::{Image, Program};
use crate::limits::{Limits, Usage};
use crate::link::link;
use crate::natives::natives;
use crate::payload::Payload;
use crate::runtime::{EntryKind, Vm};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use cowboy_compiler::code::Unit;
use std::sync::Arc;

/// Nesting of values that cross the door.
const HOST_DEPTH: usize = 257;
/// Bytes that an item of a list takes there.
const HOST_ITEM: usize = 32;
/// Bytes of output that a run keeps.
const OUTPUT_LIMIT: usize = 1 << 20;

/// What a run begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The SDK's entry point with a method name and its payload.
    Handler {
        /// Name of the handler.
        method: String,
        /// Its payload, usually CBOR or JSON.
        payload: Vec<u8>,
    },
    /// The module body itself.
    Script,
}

/// Why a module body did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It raised.
    Raise(PyError),
    /// It hit a limit.
    Trap(Trap),
}

/// Runs a module body and freezes what it leaves. Host calls are refused. The same source gives the same image.
/// A failure comes with what was used until then.
pub fn build_image(unit: &Unit, limits: Limits) -> Result<(Arc<Image>, Usage), (Failure, Usage)> {
    let (mut vm, code, globals) = above(base_image(), unit, limits);
    vm.host_allowed = false;
    vm.push_module(code, globals);
    let outcome = match vm.run() {
        Exit::Return(_) => Ok(()),
        Exit::Raise(error) => Err(Failure::Raise(error)),
        Exit::Trap(trap) => Err(Failure::Trap(trap)),
        Exit::HostCall(_) => Err(Failure::Trap(Trap::Internal)),
    };
    let usage = vm.usage();
    outcome.map_err(|failure| (failure, usage))?;
    let program = Arc::clone(&vm.program);
    let helpers = Arc::clone(&vm.helpers);
    let heap = vm.heap;
    Ok((Arc::new(Image::freeze(heap.into_parts(), program, Some(globals), helpers)), usage))
}

/// An image whose body has not run: for [`Entry::Script`].
pub fn script_image(unit: &Unit) -> Arc<Image> {
    script_above(base_image(), unit)
}

/// The same, above an image that holds more modules.
pub(crate) fn script_above(image: Arc<Image>, unit: &Unit) -> Arc<Image> {
    let (vm, code, globals) = above(image, unit, Limits::default());
    let program = Arc::clone(&vm.program);
    let helpers = Arc::clone(&vm.helpers);
    let mut image = Image::freeze(vm.heap.into_parts(), program, Some(globals), helpers);
    image.body = Some(code);
    Arc::new(image)
}

/// A run above an image with the unit linked in and its module made.
fn above(base: Arc<Image>, unit: &Unit, limits: Limits) -> (Vm, u32, Ref) {
    let mut vm = Vm::above(Arc::clone(&base), limits, natives());
    let mut program = Program::clone(&base.program);
    let code = link(&mut vm.heap, &mut program, unit);
    vm.program = Arc::new(program);
    vm.caches_for_program();
    let (_, globals) = vm.make_module(unit.name(), false);
    let doc = match &vm.program.codes[code as usize].code.doc.clone() {
        Some(doc) => vm.heap.str(doc),
        None => Value::None,
    };
    vm.dict_set_name(globals, nm::DOC, doc);
    // What linking takes is the deployer's bytes, charged as such; the run's own memory begins here.
    vm.heap.memory = 0;
    vm.heap.peak = 0;
    (vm, code, globals)
}

impl Vm {
    /// A fresh run of an entry above an image.
    pub fn start(image: Arc<Image>, entry: Entry, limits: Limits) -> Vm {
        let main = image.main;
        let body = image.body;
        let mut vm = Vm::above(image, limits, natives());
        match entry {
            Entry::Script => {
                if let (Some(code), Some(globals)) = (body, main) {
                    vm.push_module(code, globals);
                }
            }
            Entry::Handler { method, payload } => {
                vm.entry = EntryKind::Handler;
                vm.recall_image();
                let method = vm.heap.string(method);
                let payload = vm.heap.make(ty::BYTES, Payload::Bytes(payload));
                let function = vm.helper("handler_entry");
                let call = PendingCall {
                    function,
                    arguments: vec![method, payload],
                    keywords: Vec::new(),
                    namespace: Value::Undefined,
                    on_return: OnReturn::Entry,
                };
                let started = vm.begin_call(call, 0);
                debug_assert!(started.is_ok(), "the helper takes two arguments");
            }
        }
        vm
    }

    /// Goes on after a host call.
    pub fn resume(&mut self, answer: Result<HostValue, HostError>) -> Exit {
        let Some(dest) = self.waiting.take() else { return Exit::Trap(Trap::Internal) };
        if let Err(trap) = self.check_limits() {
            return self.trapped(trap);
        }
        match answer {
            Ok(value) => {
                let value = self.value_from_host(&value);
                let old = std::mem::replace(&mut self.registers[dest], value);
                self.heap.release(old);
            }
            Err(error) => {
                let exception = self.host_error(&error);
                if let Some(exit) = self.thrown(Throw::Raise(exception)) {
                    return exit;
                }
            }
        }
        self.run()
    }

    /// The exception for a refusal by the host.
    pub(crate) fn host_error(&mut self, error: &HostError) -> Value {
        let message = self.heap.str(&error.message);
        let exception = self.exception(ty::HOST_ERROR, message);
        self.put_attribute(exception, nm::CODE, Value::Int(i64::from(error.code)));
        let name = self.heap.str(error.name);
        self.put_attribute(exception, nm::NAME_ATTR, name);
        self.heap.release(name);
        let message = self.heap.str(&error.message);
        self.put_attribute(exception, nm::MESSAGE, message);
        self.heap.release(message);
        exception
    }

    /// Adds to what was printed. Beyond the limit nothing more is kept.
    pub(crate) fn write_output(&mut self, text: &str) -> Outcome<()> {
        if self.output.len() + text.len() <= OUTPUT_LIMIT || self.entry == EntryKind::Script {
            self.output.push_str(text);
        }
        Ok(())
    }

    /// A value of the host as object.
    pub(crate) fn value_from_host(&mut self, value: &HostValue) -> Value {
        match value {
            HostValue::None => Value::None,
            HostValue::Bool(truth) => Value::truth(*truth),
            HostValue::Int(number) => match i64::try_from(number.clone()) {
                Ok(number) => Value::Int(number),
                Err(_) => self.heap.make(ty::INT, Payload::BigInt(number.clone())),
            },
            HostValue::Float(number) => Value::Float(*number),
            HostValue::Bytes(bytes) => self.heap.make(ty::BYTES, Payload::Bytes(bytes.clone())),
            HostValue::Str(text) => self.heap.str(text),
            HostValue::List(items) => {
                let items = items.iter().map(|item| self.value_from_host(item)).collect();
                self.heap.list(items)
            }
            HostValue::Map(pairs) => {
                let dict = self.heap.new_dict();
                for (key, value) in pairs {
                    let key = self.value_from_host(key);
                    let value = self.value_from_host(value);
                    let inserted = self.dict_insert(dict, key, value);
                    debug_assert!(inserted.is_ok(), "keys of a host map are scalars");
                }
                Value::Obj(dict)
            }
        }
    }

    /// An object as value of the host; what has no form there is a TypeError.
    pub(crate) fn to_host(&mut self, value: Value) -> Outcome<HostValue> {
        self.part_to_host(value, 0, &mut 0)
    }

    /// `size` is what has been copied until now. The same list may stand in many places, so a copy can be larger than what it is of.
    fn part_to_host(&mut self, value: Value, depth: usize, size: &mut usize) -> Outcome<HostValue> {
        if depth > HOST_DEPTH {
            return Err(self.value_error("value is nested too deep for the host"));
        }
        match self.heap.number(value) {
            Some(Number::Float(number)) => return Ok(HostValue::Float(number)),
            Some(number) if !matches!(value, Value::Bool(_)) => return Ok(HostValue::Int(number.into_big())),
            _ => {}
        }
        let Value::Obj(object) = value else {
            return Ok(match value {
                Value::Bool(truth) => HostValue::Bool(truth.into()),
                _ => HostValue::None,
            });
        };
        let bytes = match self.heap.payload(object).core() {
            Payload::Str(text) => text.text.len(),
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => bytes.len(),
            Payload::List(list) => list.items.len().saturating_mul(HOST_ITEM),
            Payload::Tuple(items) => items.len().saturating_mul(HOST_ITEM),
            Payload::Set(_) | Payload::Dict(_) => self.heap.dict_len(object).saturating_mul(2 * HOST_ITEM),
            _ => 0,
        };
        self.spend(HOST_OBJECT.once() + HOST_BYTES.of(bytes))?;
        *size = size.saturating_add(bytes);
        self.reserve(*size)?;
        match self.heap.payload(object).core() {
            Payload::Str(text) => Ok(HostValue::Str(text.text.clone())),
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => Ok(HostValue::Bytes(bytes.clone())),
            Payload::List(_) | Payload::Tuple(_) | Payload::Set(_) => {
                let mut items = Vec::new();
                for item in self.heap.sequence_snapshot(value) {
                    items.push(self.part_to_host(item, depth + 1, size)?);
                }
                Ok(HostValue::List(items))
            }
            Payload::Dict(_) => {
                let mut pairs = Vec::new();
                for (key, item) in self.heap.dict_pairs(value) {
                    pairs.push((self.part_to_host(key, depth + 1, size)?, self.part_to_host(item, depth + 1, size)?));
                }
                Ok(HostValue::Map(pairs))
            }
            _ => {
                let message = format!("a value of type '{}' cannot be given to the host", self.heap.class_name(value));
                Err(self.type_error(message))
            }
        }
    }
}
