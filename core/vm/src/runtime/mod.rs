//! The run of a program, and what types and the interpreter share.
//!
//! `Vm` and its parts stand here, and the operations on values that need no operator of another type. What types ask of values of any
//! type, such as comparison and iteration, is declared in `protocol` and implemented by the interpreter, which stands above the types.

pub(crate) mod allowance;
pub(crate) mod attributes;
pub(crate) mod barrier;
pub(crate) mod characters;
pub(crate) mod classes;
pub(crate) mod draining;
pub(crate) mod errors;
pub(crate) mod generators;
pub(crate) mod helpers;
pub(crate) mod instances;
pub(crate) mod native;
pub(crate) mod number;
pub(crate) mod operator;
pub(crate) mod profile;
pub(crate) mod protocol;
pub(crate) mod quoted;
pub(crate) mod sequences;
pub(crate) mod shown;
pub(crate) mod slicing;
pub(crate) mod snapshots;
pub(crate) mod specials;
pub(crate) mod tables;
pub(crate) mod text;
pub(crate) mod watch;

use crate::caches::{Cache, Maker, MethodEntry, NO_CACHE};
use crate::error::{Throw, Trap};
use crate::frame::Frame;
use crate::heap::Heap;
use crate::image::{Image, Program};
use crate::limits::{Limits, Usage};
use crate::meter::Meter;
use crate::runtime::native::Native;
use crate::runtime::watch::Tracer;
use crate::scratch::Scratch;
use crate::value::{Ref, Value};
use std::sync::Arc;

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
    pub(crate) top_base: usize,
    /// Where the inline caches of its code begin.
    pub(crate) top_sites: u32,
    pub(crate) methods: Vec<MethodEntry>,
    /// How often the method cache did not know.
    pub(crate) missed: usize,
    /// Names of functions made so far, by the number of their code.
    pub(crate) function_names: std::collections::BTreeMap<u32, (Ref, Ref)>,
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
    pub(crate) natives: &'static [Native],
    /// What the last instruction threw.
    pub(crate) thrown: Option<Throw>,
    /// Whether the top frame has changed, or a limit may be passed, since the loop looked.
    pub(crate) reload: bool,
    /// Inline caches that others have replaced at their site, by site, class and shape. Empty until one is.
    pub(crate) replaced: Vec<(u32, Cache)>,
    /// What calls of builtin classes do, by handle. Empty until one is called.
    pub(crate) makers: Vec<Maker>,
    /// How often that happened.
    pub(crate) replacements: usize,
    /// The next exception is raised again: its trace already has the current line.
    pub(crate) quiet: bool,
    /// The text of an uncaught exception is being made.
    pub(crate) describing: bool,
    /// Whether imports load frozen modules: only while the base image is made.
    pub(crate) loader: bool,
    /// Paths, codes and package marks of frozen modules, while the base image is made.
    pub(crate) module_codes: Vec<(String, u32, bool)>,
    /// Who sees the lines of a traced run.
    pub(crate) tracer: Option<Box<Tracer>>,
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
    pub(crate) fn above(image: Arc<Image>, limits: Limits, natives: &'static [Native]) -> Self {
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
    pub(crate) fn make_caches(&mut self, code: &crate::image::LinkedCode) -> u32 {
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
}
