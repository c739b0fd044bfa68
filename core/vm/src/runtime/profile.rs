//! Profiles: where the cycles of a run go, by call stack and by source line.
//!
//! A profiled run is a traced run whose every instruction is seen, those of the library included; `line` asks [`Recorder::see`] before
//! each. What has been used since the instruction before belongs to that one, so the sum is what the run used, to the cycle.

use super::Vm;
use crate::payload::Payload;
use crate::value::Value;
use cowboy_compiler::opcode::{METHOD, Op};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most distinct call stacks that a profile tells apart; what comes deeper counts for the last one that is known.
const STACKS: usize = 200_000;

/// Cycles and visits of a source line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCount {
    /// Cycles used while it was the innermost line of the program's own source: what it calls in the library included.
    pub cycles: u64,
    /// How often it began.
    pub visits: u64,
}

/// Where cycles went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Cycles by call stack, outermost function first.
    pub stacks: BTreeMap<Vec<Arc<str>>, u64>,
    /// Counts by file and line of the programs' own sources.
    pub lines: BTreeMap<(Arc<str>, u32), LineCount>,
}

impl Profile {
    /// All cycles.
    pub fn cycles(&self) -> u64 {
        self.stacks.values().sum()
    }
}

/// Collects the profiles of any number of runs.
#[derive(Clone, Debug)]
pub struct Profiler {
    file: Arc<str>,
    profile: Arc<Mutex<Profile>>,
}

impl Profiler {
    /// A collector with nothing in it, for programs whose source is called `file`.
    pub fn new(file: &str) -> Self {
        Self { file: file.into(), profile: Arc::default() }
    }

    /// The same collector, for programs of another source.
    pub fn for_file(&self, file: &str) -> Self {
        Self { file: file.into(), profile: Arc::clone(&self.profile) }
    }

    /// What was collected so far. A run adds its part whenever it stops.
    pub fn take(&self) -> Profile {
        std::mem::take(&mut *self.profile.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A function that runs, in the order of the frames.
#[derive(Debug)]
struct Running {
    code: u32,
    /// Its call stack, by number.
    stack: usize,
    /// The innermost one here or below that belongs to the program's own source.
    own: Option<usize>,
    line: u32,
    position: u32,
}

/// A call stack: the one it goes on from, and its innermost function.
#[derive(Debug)]
struct Stack {
    parent: Option<usize>,
    label: Arc<str>,
    cycles: u64,
}

/// What a profiled run has seen.
#[derive(Debug)]
pub(crate) struct Recorder {
    profiler: Profiler,
    /// The unit of the program's own source.
    unit: u32,
    running: Vec<Running>,
    stacks: Vec<Stack>,
    /// Stacks by the one they go on from and their function: a code body, or else a native row.
    known: BTreeMap<(Option<usize>, bool, u32), usize>,
    lines: BTreeMap<u32, LineCount>,
    /// The native function that the last instruction called.
    native: Option<usize>,
    /// Cycles used when it last looked.
    seen: u64,
}

impl Recorder {
    pub(crate) fn new(profiler: Profiler, unit: u32, seen: u64) -> Self {
        let (running, stacks, known, lines) = (Vec::new(), Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { profiler, unit, running, stacks, known, lines, native: None, seen }
    }

    /// Counts what was used since the last look for the instruction that was seen then.
    pub(crate) fn settle(&mut self, cycles: u64) {
        let used = cycles.saturating_sub(std::mem::replace(&mut self.seen, cycles));
        let Some(top) = self.running.last() else { return };
        let stack = self.native.take().unwrap_or(top.stack);
        self.stacks[stack].cycles += used;
        if let Some(own) = top.own.and_then(|own| self.running.get(own)) {
            self.lines.entry(own.line).or_default().cycles += used;
        }
    }

    fn stack(&mut self, parent: Option<usize>, is_native: bool, number: u32, label: impl FnOnce() -> String) -> usize {
        if let Some(&known) = self.known.get(&(parent, is_native, number)) {
            return known;
        }
        match parent {
            Some(parent) if self.stacks.len() >= STACKS => parent,
            _ => {
                self.stacks.push(Stack { parent, label: label().into(), cycles: 0 });
                self.known.insert((parent, is_native, number), self.stacks.len() - 1);
                self.stacks.len() - 1
            }
        }
    }

    /// Looks at the instruction that is about to run.
    pub(crate) fn see(&mut self, vm: &Vm, op: Op) {
        self.settle(vm.usage().cycles);
        let Some(frame) = vm.frames.last() else { return };
        let (number, position) = (frame.code, frame.pc);
        self.running.truncate(vm.frames.len());
        if self.running.len() == vm.frames.len() && self.running.last().is_some_and(|top| top.code != number) {
            self.running.pop();
        }
        while let Some(frame) = vm.frames.get(self.running.len()) {
            self.enter(vm, frame.code);
        }
        let linked = &vm.program.codes[number as usize];
        let line = linked.code.lines.get(position as usize).copied().unwrap_or(0);
        let Some(top) = self.running.last_mut() else { return };
        // What tidies up after a statement belongs to it, wherever it stands.
        let is_new = op != Op::Clear && (top.line != line || position <= top.position);
        if is_new || top.line == line {
            (top.line, top.position) = (line, position);
        }
        if is_new && linked.unit == self.unit {
            self.lines.entry(line).or_default().visits += 1;
        }
        let stack = top.stack;
        if let Some(row) = callee(vm, op) {
            let name = vm.native(row).name;
            self.native = Some(self.stack(Some(stack), true, u32::from(row), || name.to_owned()));
        }
    }

    fn enter(&mut self, vm: &Vm, number: u32) {
        let linked = &vm.program.codes[number as usize];
        let is_own = linked.unit == self.unit;
        let file = if is_own { Arc::clone(&self.profiler.file) } else { vm.program.files[linked.unit as usize].file.as_str().into() };
        let (below, parent) = (self.running.last().and_then(|top| top.own), self.running.last().map(|top| top.stack));
        let stack = self.stack(parent, false, number, || format!("{} ({file}:{})", linked.code.qualname, linked.code.first_line));
        let own = if is_own { Some(self.running.len()) } else { below };
        self.running.push(Running { code: number, stack, own, line: 0, position: u32::MAX });
    }

    /// Adds what was seen to what the profiler has, and begins anew.
    pub(crate) fn hand_over(&mut self) {
        let mut profile = self.profiler.profile.lock().unwrap_or_else(PoisonError::into_inner);
        for at in 0..self.stacks.len() {
            let cycles = std::mem::take(&mut self.stacks[at].cycles);
            if cycles == 0 {
                continue;
            }
            let mut path: Vec<Arc<str>> =
                std::iter::successors(Some(at), |&at| self.stacks[at].parent).map(|at| Arc::clone(&self.stacks[at].label)).collect();
            path.reverse();
            *profile.stacks.entry(path).or_default() += cycles;
        }
        for (line, count) in std::mem::take(&mut self.lines) {
            let sum = profile.lines.entry((Arc::clone(&self.profiler.file), line)).or_default();
            sum.cycles += count.cycles;
            sum.visits += count.visits;
        }
    }
}

/// The native function that an instruction calls directly.
fn callee(vm: &Vm, op: Op) -> Option<u16> {
    if !matches!(op, Op::Call | Op::CallKeyword) {
        return None;
    }
    let frame = vm.frames.last()?;
    let ins = vm.program.codes[frame.code as usize].code.instructions.get(frame.pc as usize)?;
    let at = frame.base as usize + usize::from(ins.b);
    let mut value = *vm.registers.get(at)?;
    if ins.flags & METHOD != 0 && value.is_undefined() {
        value = *vm.registers.get(at + 1)?;
    }
    let Value::Obj(object) = value else { return None };
    match *vm.heap.payload(object) {
        Payload::Native(row) => Some(row),
        _ => None,
    }
}
