//! Tracing: a hook that sees every line of the program before it runs.
//!
//! A traced run has a program of its own, in which [`Op::Line`] stands in the place of every opcode but the one that runs next.
//! So a run that is not traced has nothing to ask, and a traced one uses the same cycles, since `Line` costs none.

use super::Vm;
use crate::error::Outcome;
use crate::image::Program;
use crate::runtime::profile::{Profiler, Recorder};
use crate::runtime::watch::{LineEvent, Tracer, Watch};
#[cfg(test)]
use crate::{
    error::{Throw, Trap},
    value::Value,
};
use cowboy_compiler::opcode::Op;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Vm {
    /// Calls the hook before every line of the program's own source. To be asked for before the run begins.
    pub fn trace_lines(&mut self, hook: fn(&LineEvent<'_>)) {
        // The program's own source is linked last, above the library's.
        let own = self.program.codes.last().map_or(0, |code| code.unit);
        self.watch(Watch::Lines(hook), |unit| unit == own);
    }

    /// Runs without what inline caches remember, which changes nothing but the time: for tests of just that.
    pub fn without_caches(&mut self) {
        self.watch(Watch::Forgetful, |_| true);
    }

    /// Runs every instruction, and the methods of text, in the general form, which changes nothing but the time: for tests of just that.
    #[cfg(test)]
    pub(crate) fn without_fast_paths(&mut self) {
        self.watch(Watch::General, |_| true);
    }

    /// Runs the instruction at a position of the top frame in its general form, where it has one: what came of it.
    #[cfg(test)]
    fn run_generally(&mut self, op: Op) -> Option<Outcome<()>> {
        use crate::costs::{Charge, ITEM_MADE};
        use cowboy_compiler::opcode::INPLACE;
        let loop_only =
            matches!(op, Op::Move | Op::LoadConst | Op::LoadInt | Op::LoadNone | Op::Clear | Op::BuildList | Op::BuildTuple | Op::Nop);
        if loop_only || !self.is_general() {
            return None;
        }
        let program = Arc::clone(&self.program);
        let frame = self.frames.last_mut()?;
        let mut ins = program.codes[frame.code as usize].code.instructions[frame.pc as usize];
        ins.op = op;
        // A range in the registers of a loop is the loop's alone.
        if op == Op::ForIter && matches!(self.registers[frame.base as usize + usize::from(ins.b)], Value::Int(_)) {
            return None;
        }
        frame.pc += 1;
        // The loop charges for a list that is unpacked in place of its parts.
        let more = if op == Op::Unpack && ins.flags & INPLACE != 0 { ITEM_MADE.of(usize::from(ins.c)) } else { Charge::NONE };
        self.owe(Charge::of_instruction(op) + more);
        if self.meter.cycles < 0 {
            return Some(Err(Throw::Trap(Trap::OutOfCycles)));
        }
        Some(self.general_form(ins, &program))
    }

    /// Counts every cycle of the run for the profiler. To be asked for before the run begins.
    pub fn profile(&mut self, profiler: &Profiler) {
        let own = self.program.codes.last().map_or(0, |code| code.unit);
        let recorder = Recorder::new(profiler.clone(), own, self.usage().cycles);
        self.watch(Watch::Cycles(Box::new(recorder)), |_| true);
    }

    /// Hands a profile over, where the run stops.
    pub(crate) fn settle_profile(&mut self) {
        let cycles = self.usage().cycles;
        if let Some(Tracer { watch: Watch::Cycles(recorder), .. }) = self.tracer.as_deref_mut() {
            recorder.settle(cycles);
            recorder.hand_over();
        }
    }

    /// Empties everything that remembers where attributes and globals were found.
    fn forget(&mut self) {
        self.caches.fill(super::NO_CACHE);
        self.replaced.clear();
        self.methods.clear();
    }

    /// Puts `Line` in the place of every opcode of these units.
    pub(super) fn watch(&mut self, watch: Watch, is_watched: impl Fn(u32) -> bool) {
        let mut program = Program::clone(&self.program);
        let mut hidden = BTreeMap::new();
        for (number, linked) in (0u32..).zip(&mut program.codes) {
            if !is_watched(linked.unit) {
                continue;
            }
            let linked = Arc::make_mut(linked);
            // The two steps of a `Loop` are seen one by one.
            let apart = |op| if op == Op::Loop { Op::Jump } else { op };
            hidden.insert(number, linked.code.instructions.iter().map(|instruction| apart(instruction.op)).collect());
            for instruction in &mut linked.code.instructions {
                // A second word is read by the instruction before it, which knows it by its `Nop`.
                if instruction.op != Op::Nop {
                    instruction.op = Op::Line;
                }
            }
        }
        self.program = Arc::new(program);
        self.tracer = Some(Box::new(Tracer { watch, hidden, open: None, places: Vec::new() }));
    }

    /// Lets the instruction before the top frame's position run next, after the hook has seen its line where that is a new one.
    pub(crate) fn line(&mut self) -> Outcome<()> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        frame.pc = frame.pc.saturating_sub(1);
        let (number, position) = (frame.code, frame.pc);
        #[cfg(test)]
        if let Some(outcome) = self.run_generally(self.hidden_op(number, position)) {
            return outcome;
        }
        let Some(mut tracer) = self.tracer.take() else { return Ok(()) };
        let original = tracer.hidden.get(&number).and_then(|ops| ops.get(position as usize)).copied().unwrap_or(Op::Nop);
        if let Watch::Cycles(recorder) = &mut tracer.watch {
            recorder.see(self, original);
        } else if matches!(tracer.watch, Watch::Forgetful) {
            self.forget();
        } else if let Some(event) = self.event_of_hook(&mut tracer, number, position) {
            let file = &self.program.files[self.program.codes[number as usize].unit as usize];
            let text = event.1.checked_sub(1).and_then(|line| file.source.lines().nth(line as usize)).unwrap_or("").trim();
            let Watch::Lines(hook) = tracer.watch else { return Ok(()) };
            hook(&LineEvent {
                file: &file.file,
                line: event.1,
                text,
                function: &self.program.codes[number as usize].code.name,
                depth: tracer.places.len(),
                is_call: event.0,
                cycles: self.usage().cycles,
                printed: std::mem::take(&mut self.output),
            });
        }
        let shown = tracer.open.replace((number, position));
        let program = Arc::make_mut(&mut self.program);
        if let Some((number, position)) = shown {
            set_op(program, number, position, Op::Line);
        }
        set_op(program, number, position, original);
        self.tracer = Some(tracer);
        Ok(())
    }

    /// The opcode in whose place `Line` stands.
    pub(super) fn hidden_op(&self, number: u32, position: u32) -> Op {
        let ops = self.tracer.as_ref().and_then(|tracer| tracer.hidden.get(&number));
        ops.and_then(|ops| ops.get(position as usize)).copied().unwrap_or(Op::Line)
    }

    /// The line that the instruction begins, where a hook wants to see it.
    fn event_of_hook(&self, tracer: &mut Tracer, number: u32, position: u32) -> Option<(bool, u32)> {
        if matches!(tracer.watch, Watch::Lines(_)) { self.line_event(tracer, number, position) } else { None }
    }

    /// Whether the instruction begins a line: whether it is a call, and the line.
    fn line_event(&self, tracer: &mut Tracer, number: u32, position: u32) -> Option<(bool, u32)> {
        let code = &self.program.codes[number as usize].code;
        let line = code.lines.get(position as usize).copied().unwrap_or(0);
        // What tidies up after a statement, and the return that ends a body, are no lines of their own.
        let op = tracer.hidden.get(&number).and_then(|ops| ops.get(position as usize));
        let is_last = code.lines.len() == position as usize + 1;
        let is_tidying = position > 0 && (op == Some(&Op::Clear) || op == Some(&Op::ReturnNone) && is_last);
        let depth = self.frames.len();
        while tracer.places.last().is_some_and(|place| place.0 > depth) {
            tracer.places.pop();
        }
        if is_tidying && tracer.places.last().is_some_and(|place| place.0 == depth) {
            return None;
        }
        let place = (depth, number, position, line);
        match tracer.places.last_mut().filter(|last| last.0 == depth) {
            Some(last) => {
                let before = std::mem::replace(last, place);
                let is_call = position == 0 || before.1 != number;
                let is_new = before.3 != line || position <= before.2;
                (is_call || is_new).then_some((is_call, line))
            }
            None => {
                tracer.places.push(place);
                Some((true, line))
            }
        }
    }
}

fn set_op(program: &mut Program, number: u32, position: u32, op: Op) {
    let linked = Arc::make_mut(&mut program.codes[number as usize]);
    linked.code.instructions[position as usize].op = op;
}
