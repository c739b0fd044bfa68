//! What an instruction threw, and the exit of an entry that is over.

use super::Vm;
use crate::error::{Exit, Throw, Trap};
use crate::types::ty;
use cowboy_compiler::opcode::{Instruction, Op};

impl Vm {
    /// The instruction that is running in the top frame.
    pub(crate) fn current_instruction(&self) -> Option<Instruction> {
        let frame = self.frames.last()?;
        let code = &self.program.codes[frame.code as usize].code;
        let index = (frame.pc as usize).checked_sub(1)?;
        let ins = *code.instructions.get(index)?;
        // A second word belongs to the instruction before it.
        if ins.op == Op::Nop && index > 0 { code.instructions.get(index - 1).copied() } else { Some(ins) }
    }

    /// Deals with what an instruction threw.
    pub(crate) fn thrown(&mut self, throw: Throw) -> Option<Exit> {
        let mut throw = throw;
        loop {
            throw = match throw {
                Throw::Trap(trap) => return Some(self.trapped(trap)),
                Throw::Raise(exception) => match self.unwind(exception) {
                    Ok(None) => return self.finished(),
                    Ok(Some(exit)) => return Some(exit),
                    Err(throw) => throw,
                },
                Throw::Call(call) => {
                    let Some(ins) = self.current_instruction() else { return Some(Exit::Trap(Trap::Internal)) };
                    let base = self.frames.last().map_or(0, |frame| frame.base as usize);
                    match self.begin_call(*call, base + usize::from(ins.a)) {
                        Ok(()) => return self.finished(),
                        Err(throw) => throw,
                    }
                }
                Throw::Reload => return self.finished(),
                Throw::Resume(..) => return Some(Exit::Trap(Trap::Internal)),
                Throw::Fallback | Throw::Line => return Some(Exit::Trap(Trap::Internal)),
                Throw::Host(call) => {
                    if !self.host_allowed {
                        self.waiting = None;
                        self.raise(
                            ty::RUNTIME_ERROR,
                            "host functions cannot be called while the module is loaded: move the call into a handler",
                        )
                    } else {
                        return Some(Exit::HostCall(*call));
                    }
                }
            };
        }
    }

    /// The exit of an entry that is over.
    pub(crate) fn finished(&mut self) -> Option<Exit> {
        if !self.frames.is_empty() || self.close_abandoned() {
            return None;
        }
        if let Err(trap) = self.check_limits() {
            return Some(self.trapped(trap));
        }
        let value = self.result.take()?;
        self.leave_knowledge();
        let host = self.to_host(value);
        self.heap.release(value);
        Some(match host {
            Ok(value) => Exit::Return(value),
            Err(_) => Exit::Return(crate::host::HostValue::None),
        })
    }
}
