//! The interpreter: frames, inline caches and the loop that runs instructions until the host is needed.
//!
//! No Python call uses the native stack: a call pushes a [`Frame`] and the loop goes on there. What has to happen with a result is
//! written in the frame as [`OnReturn`]. A native function that would need to run Python code gives up with
//! [`Throw::Fallback`] before it has changed anything, and its helper, written in Python, does the same work in frames; or it
//! ends with [`Throw::Call`], whose result becomes its own.

pub(crate) mod allowance;
mod aside;
pub(crate) mod attribute;
mod attribute_caches;
mod attribute_set;
mod attributes_by_type;
mod barrier;
mod binding;
mod builtin_attributes;
pub(crate) mod call;
mod call_native;
mod characters;
pub(crate) mod classes;
pub(crate) mod compare;
mod drain;
pub(crate) mod generator;
pub(crate) mod hashing;
mod helpers;
pub(crate) mod import;
mod instances;
mod integers;
pub(crate) mod iterate;
pub(crate) mod known;
pub(crate) mod load;
mod makers;
mod matching;
mod membership;
mod methods;
mod names;
pub(crate) mod native;
pub(crate) mod operators;
mod pairs;
pub(crate) mod profile;
mod quick;
mod quoted;
#[cfg(test)]
mod reference;
mod registers;
mod report;
mod results;
mod run;
mod shortcuts;
mod shown;
mod slices;
mod slicing;
mod snapshots;
mod specials;
mod step;
mod step_flow;
mod step_objects;
pub(crate) mod subscript;
pub(crate) mod tables;
pub(crate) mod text;
pub(crate) mod trace;
pub(crate) mod unwind;

use crate::caches::{CONSTRUCTOR, Cache, CacheKind, FIRST_METHODS, METHOD_CACHE, MethodEntry, NO_CACHE, NO_METHOD};
use crate::costs::TEXT_COPIED;
use crate::error::{Throw, Trap};
use crate::frame::{Alternative, CompareOp, Expect, Frame, OnReturn, Pending, Then};
use crate::heap::{Heap, holds_objects};
use crate::image::{Image, Program};
use crate::limits::{Limits, Usage};
use crate::meter::Meter;
use crate::payload::{Attributes, Exception, Payload};
use crate::scratch::Scratch;
use crate::types::{EMPTY_TUPLE, ty};
use crate::value::{Ref, Value};
use crate::window::moved;
use std::sync::Arc;

/// Bytes of the name of a class that a message has at most.
const NAME_IN_MESSAGE: usize = 200;
/// Registers that a run begins with.
const FIRST_REGISTERS: usize = 128;

/// A run of a program: one owned value that can move between threads while it waits.
#[derive(Debug)]
pub struct Vm {
    pub(crate) heap: Heap,
    pub(crate) program: Arc<Program>,
    pub(crate) helpers: Arc<Vec<Value>>,
    pub(crate) registers: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    /// Exceptions being handled, innermost last.
    pub(crate) handled: Vec<Value>,
    /// Inline caches of the codes that have run; the first one is nobody's.
    pub(crate) caches: Vec<Cache>,
    /// For each code: 0, or where its inline caches begin.
    pub(crate) first_sites: Vec<u32>,
    /// The first register of the frame that the loop runs.
    top_base: usize,
    /// Where the inline caches of its code begin.
    top_sites: u32,
    methods: Vec<MethodEntry>,
    /// How often the method cache did not know.
    missed: usize,
    /// Names of functions made so far, by the number of their code.
    function_names: std::collections::BTreeMap<u32, (Ref, Ref)>,
    /// What the run may still use.
    pub(crate) meter: Meter,
    pub(crate) output: String,
    /// The files in `/tmp`.
    pub(crate) scratch: Scratch,
    /// Whether host calls are allowed.
    pub(crate) host_allowed: bool,
    /// The destination register of the host call that is out.
    pub(crate) waiting: Option<usize>,
    /// Nesting of native comparison and repr.
    pub(crate) native_depth: usize,
    /// Containers being written by repr.
    pub(crate) in_repr: Vec<Ref>,
    pub(crate) entry: EntryKind,
    /// What the entry returned.
    pub(crate) result: Option<Value>,
    /// The table of native functions.
    natives: &'static [native::Native],
    /// What the last instruction threw.
    thrown: Option<Throw>,
    /// Whether the top frame has changed, or a limit may be passed, since the loop looked.
    reload: bool,
    /// Inline caches that others have replaced at their site, by site, class and shape. Empty until one is.
    replaced: Vec<(u32, Cache)>,
    /// What calls of builtin classes do, by handle. Empty until one is called.
    makers: Vec<makers::Maker>,
    /// How often that happened.
    replacements: usize,
    /// The next exception is raised again: its trace already has the current line.
    pub(crate) quiet: bool,
    /// The text of an uncaught exception is being made.
    pub(crate) describing: bool,
    /// Whether imports load frozen modules: only while the base image is made.
    pub(crate) loader: bool,
    /// Paths, codes and package marks of frozen modules, while the base image is made.
    pub(crate) module_codes: Vec<(String, u32, bool)>,
    /// Who sees the lines of a traced run.
    pub(crate) tracer: Option<Box<trace::Tracer>>,
}

/// What the bottom frame stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A module body or script.
    Script,
    /// A handler call.
    Handler,
}

impl Vm {
    /// A run above an image, with the table of native functions that the image's objects name by number.
    pub(crate) fn above(image: Arc<Image>, limits: Limits, natives: &'static [native::Native]) -> Self {
        let program = Arc::clone(&image.program);
        let helpers = Arc::clone(&image.helpers);
        let codes = program.codes.len();
        Self {
            heap: Heap::new(image, limits.memory_bytes),
            program,
            helpers,
            registers: vec![Value::Undefined; FIRST_REGISTERS],
            frames: Vec::with_capacity(16),
            handled: Vec::new(),
            caches: vec![NO_CACHE],
            first_sites: vec![0; codes],
            top_base: 0,
            top_sites: 0,
            methods: Vec::new(),
            missed: 0,
            function_names: std::collections::BTreeMap::new(),
            meter: Meter::new(limits),
            output: String::new(),
            scratch: Scratch::default(),
            host_allowed: true,
            waiting: None,
            native_depth: 0,
            in_repr: Vec::new(),
            entry: EntryKind::Script,
            result: None,
            natives,
            thrown: None,
            reload: false,
            replaced: Vec::new(),
            makers: Vec::new(),
            replacements: 0,
            quiet: false,
            describing: false,
            loader: false,
            module_codes: Vec::new(),
            tracer: None,
        }
    }

    /// What the run has used so far.
    pub fn usage(&self) -> Usage {
        self.meter.usage(self.heap.peak, self.heap.thawed)
    }

    /// Where the inline caches of the top frame's code begin.
    pub(crate) fn sites(&self) -> u32 {
        self.frames.last().map_or(0, |frame| self.first_sites[frame.code as usize])
    }

    /// Makes the inline caches of the top frame's code, which runs for the first time; where they begin.
    #[inline(never)]
    fn make_caches(&mut self, code: &crate::image::LinkedCode) -> u32 {
        let first = u32::try_from(self.caches.len()).expect("bounded by the source limit");
        self.caches.resize(self.caches.len() + code.code.sites.len(), NO_CACHE);
        if let Some(frame) = self.frames.last() {
            self.first_sites[frame.code as usize] = first;
        }
        first
    }

    /// Deducts what a host function costs, before the host answers it.
    pub fn charge(&mut self, cycles: u64, cells: u64, weight_ns: u64) -> Result<(), Trap> {
        self.meter.deduct(cycles, cells, weight_ns);
        self.check_limits()
    }

    pub(crate) fn check_limits(&self) -> Result<(), Trap> {
        if self.meter.cycles < 0 {
            Err(Trap::OutOfCycles)
        } else if self.heap.exhausted() {
            Err(Trap::OutOfMemory)
        } else {
            self.meter.check(self.heap.thawed)
        }
    }

    /// Number of objects that are alive and belong to this run.
    pub fn objects(&self) -> usize {
        self.heap.alive()
    }

    /// What was printed since the last call.
    pub fn take_output(&mut self) -> String {
        std::mem::take(&mut self.output)
    }

    // ---- exceptions ----

    /// An exception of a class with one argument.
    pub(crate) fn exception(&mut self, class: Ref, argument: Value) -> Value {
        let args = if argument.is_undefined() {
            Value::Obj(EMPTY_TUPLE)
        } else {
            self.heap.make(ty::TUPLE, Payload::Tuple(vec![argument].into()))
        };
        self.exception_with(class, args)
    }

    /// An exception of a class with a tuple of arguments.
    pub(crate) fn exception_with(&mut self, class: Ref, args: Value) -> Value {
        let exception = Exception {
            args,
            cause: Value::None,
            context: Value::None,
            suppress: false,
            trace: Vec::new(),
            shown: Value::None,
            attributes: Attributes::default(),
        };
        self.heap.retain(Value::Obj(class));
        self.heap.make(class, Payload::Exception(Box::new(exception)))
    }

    /// Raises a builtin exception with a message.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise(&mut self, class: Ref, message: &str) -> Throw {
        let message = self.heap.str(message);
        let exception = self.exception(class, message);
        Throw::Raise(exception)
    }

    /// Raises TypeError.
    pub(crate) fn type_error(&mut self, message: impl AsRef<str>) -> Throw {
        self.raise(ty::TYPE_ERROR, message.as_ref())
    }

    /// Raises ValueError.
    pub(crate) fn value_error(&mut self, message: impl AsRef<str>) -> Throw {
        self.raise(ty::VALUE_ERROR, message.as_ref())
    }

    /// Raises KeyError with the key itself.
    pub(crate) fn key_error(&mut self, key: Value) -> Throw {
        self.heap.retain(key);
        let exception = self.exception(ty::KEY_ERROR, key);
        Throw::Raise(exception)
    }

    /// Raises what a number function reported.
    pub(crate) fn number_error(&mut self, error: cowboy_num::NumberError) -> Throw {
        use cowboy_num::NumberError;
        match error {
            NumberError::ZeroDivision(message) => self.raise(ty::ZERO_DIVISION_ERROR, message),
            NumberError::Value(message) => self.raise(ty::VALUE_ERROR, &message),
            NumberError::Overflow(message) => self.raise(ty::OVERFLOW_ERROR, &message),
        }
    }

    // ---- classes ----

    /// The name of a value's class, as messages have it.
    pub(crate) fn class_name(&self, value: Value) -> String {
        self.name_of_class(self.heap.class_of(value))
    }

    /// The name of a class, as messages have it: no more of it than CPython writes, since a program may name a class as it likes.
    pub(crate) fn name_of_class(&self, class: Ref) -> String {
        let name = self.whole_name(class);
        name[..name.floor_char_boundary(NAME_IN_MESSAGE)].to_owned()
    }

    fn whole_name(&self, class: Ref) -> &str {
        match self.heap.payload(class) {
            // Classes that CPython writes in C are named with their module there.
            Payload::Class(class) => match class.attributes.get(&crate::types::nm::NAME_IN_MESSAGES).and_then(|name| self.text(*name)) {
                Some(name) => name,
                None => &class.name,
            },
            _ => "object",
        }
    }

    /// The whole name of a class, as `repr` has it.
    pub(crate) fn full_name(&mut self, class: Ref) -> String {
        self.owe_name(self.whole_name(class).len());
        self.whole_name(class).to_owned()
    }

    /// Charges a name that is copied, as far as it is longer than names are. Programs may set any text as the name of a class or function.
    pub(crate) fn owe_name(&mut self, length: usize) {
        self.owe(TEXT_COPIED.of(length.saturating_sub(crate::payload::USUAL_NAME)));
    }

    /// The attribute that a class or its bases define. Not retained.
    #[inline]
    pub(crate) fn lookup(&mut self, class: Ref, name: Ref) -> Option<Value> {
        let epoch = self.heap.type_epoch;
        if let Some(entry) = self.methods.get(self.method_index(class, name)) {
            if entry.class == class && entry.name == name && entry.epoch == epoch {
                return if entry.value.is_undefined() { None } else { Some(entry.value) };
            }
        }
        self.lookup_anew(class, name)
    }

    /// Where the method cache has an attribute of a class.
    #[inline]
    fn method_index(&self, class: Ref, name: Ref) -> usize {
        (class.0.wrapping_mul(31) ^ name.0) as usize & self.methods.len().wrapping_sub(1)
    }

    #[inline(never)]
    fn lookup_anew(&mut self, class: Ref, name: Ref) -> Option<Value> {
        // Short runs, most of all handlers, ask for little: they begin with a small cache.
        self.missed += 1;
        if self.methods.is_empty() {
            self.methods = vec![NO_METHOD; FIRST_METHODS];
        } else if self.missed > 2 * FIRST_METHODS && self.methods.len() < METHOD_CACHE {
            self.methods = vec![NO_METHOD; METHOD_CACHE];
        }
        let found = self.lookup_slow(class, name);
        let index = self.method_index(class, name);
        let value = found.unwrap_or(Value::Undefined);
        self.methods[index] = MethodEntry { class, name, epoch: self.heap.type_epoch, value };
        found
    }

    /// The `__init__` of a class, with its code and globals, where to call the class is to make an instance and run that.
    #[inline]
    pub(crate) fn constructor(&mut self, class: Ref) -> Option<(u32, Ref, Ref)> {
        let init = match self.methods.get(self.method_index(class, CONSTRUCTOR)) {
            Some(entry) if entry.class == class && entry.name == CONSTRUCTOR && entry.epoch == self.heap.type_epoch => {
                entry.value.object()?
            }
            _ => {
                let found = self.find_constructor(class);
                let value = found.map_or(Value::Undefined, Value::Obj);
                let index = self.method_index(class, CONSTRUCTOR);
                if let Some(entry) = self.methods.get_mut(index) {
                    *entry = MethodEntry { class, name: CONSTRUCTOR, epoch: self.heap.type_epoch, value };
                }
                found?
            }
        };
        match self.heap.payload(init) {
            Payload::Function(function) => Some((function.code, function.globals, init)),
            _ => None,
        }
    }

    #[inline(never)]
    fn find_constructor(&mut self, class: Ref) -> Option<Ref> {
        let usual = class.0 >= crate::types::FIXED_COUNT && self.heap.slot(class).class == ty::TYPE && !self.is_subclass(class, ty::TYPE);
        if !usual || self.lookup(class, crate::types::nm::ABSTRACT_METHODS).is_some() {
            return None;
        }
        let new = self.lookup(class, crate::types::nm::NEW)?;
        let made = self.native_row(new).is_some_and(|row| self.native(row).role == native::Role::ObjectNew);
        let init = self.lookup(class, crate::types::nm::INIT)?.object()?;
        (made && matches!(self.heap.payload(init), Payload::Function(_))).then_some(init)
    }

    fn lookup_slow(&self, class: Ref, name: Ref) -> Option<Value> {
        let Payload::Class(row) = self.heap.payload(class) else { return None };
        row.mro.iter().find_map(|&base| match self.heap.payload(base) {
            Payload::Class(base) => base.attributes.get(&name).copied(),
            _ => None,
        })
    }

    /// The special method of a value's class, when it is not `None`.
    #[inline]
    pub(crate) fn special(&mut self, value: Value, name: Ref) -> Option<Value> {
        let class = self.heap.class_of(value);
        self.lookup(class, name)
    }

    /// Whether a class descends from another one.
    pub(crate) fn is_subclass(&self, class: Ref, base: Ref) -> bool {
        class == base
            || match self.heap.payload(class) {
                Payload::Class(row) => row.mro.contains(&base),
                _ => false,
            }
    }

    /// Whether a value is an instance of a class, without `__instancecheck__`.
    pub(crate) fn is_instance(&self, value: Value, class: Ref) -> bool {
        self.is_subclass(self.heap.class_of(value), class)
    }

    /// Text of a value that is a `str`.
    pub(crate) fn text(&self, value: Value) -> Option<&str> {
        match value {
            Value::Obj(object) => match self.heap.payload(object).core() {
                Payload::Str(string) => Some(&string.text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The text behind an interned name.
    pub(crate) fn name_text(&self, name: Ref) -> &str {
        match self.heap.payload(name).core() {
            Payload::Str(string) => &string.text,
            _ => "?",
        }
    }

    /// A tuple that takes the references over.
    pub(crate) fn tuple(&mut self, items: Vec<Value>) -> Value {
        if items.is_empty() {
            return Value::Obj(EMPTY_TUPLE);
        }
        let (size, holds) = (40 + 8 * items.len(), holds_objects(&items));
        let items = self.heap.spares.boxed(items);
        let tuple = Value::Obj(self.heap.alloc_sized(ty::TUPLE, Payload::Tuple(moved(items)), size));
        if holds {
            self.label_children(tuple);
        }
        tuple
    }

    /// A list that takes the references over.
    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        let (size, holds) = (56 + 8 * items.len(), holds_objects(&items));
        let list = Value::Obj(self.heap.alloc_sized(ty::LIST, Payload::List(crate::payload::List::new(moved(items))), size));
        if holds {
            self.label_children(list);
        }
        list
    }
}
