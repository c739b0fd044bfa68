//! Loops: `for`, `while`, and the ways out of them.

use super::literal::constant_truth;
use super::{Block, Compiled, Compiler, Label, Operand};
use crate::CompileError;
use crate::opcode::{Op, TEMP_B};
use ruff_python_ast::{Expr, StmtFor, StmtWhile};
use ruff_text_size::{Ranged, TextRange};

/// The registers of a loop.
pub(super) struct LoopItem {
    /// Where each item arrives.
    pub value: Operand,
    /// The iterator.
    pub iterator: u16,
    /// For asynchronous loops: range and handler of the step.
    step: Option<(usize, Label)>,
}

impl<'a> Compiler<'a> {
    /// Starts a loop over `iterable`; binds `again` and leads to `done` at the end.
    pub(super) fn begin_loop(&mut self, iterable: Operand, is_async: bool, again: Label, done: Label) -> Compiled<LoopItem> {
        let iterator = self.temporaries(3)?;
        let value = self.temporary()?;
        let item = Operand { register: value, temporary: true };
        if !is_async {
            self.emit(Op::GetIter, iterable.flag(TEMP_B), iterator, iterable.register, 0);
            self.bind(again);
            self.jump_near(Op::ForIter, 0, value, iterator, done);
            return Ok(LoopItem { value: item, iterator, step: None });
        }
        self.emit(Op::AsyncIter, iterable.flag(TEMP_B), iterator, iterable.register, 0);
        self.bind(again);
        let handler = self.label();
        let range = self.open_range(handler, value);
        let awaitable = self.temporary()?;
        self.emit(Op::AsyncNext, 0, awaitable, iterator, 0);
        self.await_value(Operand { register: awaitable, temporary: true }, value, 0)?;
        self.reset(awaitable);
        self.close_range(range);
        Ok(LoopItem { value: item, iterator, step: Some((range, handler)) })
    }

    /// Assigns the item that a loop has just got to the loop's target.
    pub(super) fn assign_item(&mut self, target: &'a Expr, item: &LoopItem) -> Compiled<()> {
        match self.variable(target).filter(|_| item.step.is_none()) {
            // Straight into the variable.
            Some(register) => {
                let step = self.body.code.instructions.last_mut().expect("a loop begins with its step");
                step.a = register;
                Ok(())
            }
            None => self.assign(target, item.value),
        }
    }

    /// Ends a loop: continues at `again`, and exhausted iteration arrives at `done`.
    pub(super) fn end_loop(&mut self, item: &LoopItem, again: Label, done: Label) -> Compiled<()> {
        // The step is at `again`: where it is one instruction, another one jumps there and runs it.
        let op = if item.step.is_none() { Op::Loop } else { Op::Jump };
        self.jump(op, 0, 0, again);
        if let Some((_, handler)) = item.step {
            self.bind(handler);
            self.jump(Op::EndAsyncFor, 0, item.value.register, done);
        }
        self.bind(done);
        self.emit(Op::Clear, 0, item.iterator, 0, 0);
        Ok(())
    }

    pub(super) fn for_loop(&mut self, node: &'a StmtFor) -> Compiled<()> {
        if node.is_async {
            self.require_async(node.range, "'async for' outside async function")?;
        }
        let iterable = self.operand(&node.iter)?;
        let (again, done, after) = (self.label(), self.label(), self.label());
        let item = self.begin_loop(iterable, node.is_async, again, done)?;
        self.assign_item(&node.target, &item)?;
        self.body.blocks.push(Block::Loop { on_break: after, on_continue: again, iterator: Some(item.iterator) });
        self.statements(&node.body)?;
        self.body.blocks.pop();
        self.end_loop(&item, again, done)?;
        self.statements(&node.orelse)?;
        self.bind(after);
        Ok(())
    }

    pub(super) fn while_loop(&mut self, node: &'a StmtWhile) -> Compiled<()> {
        let (top, check, after, otherwise) = (self.label(), self.label(), self.label(), self.label());
        let truth = constant_truth(&node.test);
        if truth.is_none() {
            // The test stands below the body, so that a turn of the loop takes one jump.
            self.jump_if(&node.test, false, otherwise)?;
        } else if truth == Some(false) {
            self.jump(Op::Jump, 0, 0, otherwise);
        }
        self.bind(top);
        self.body.blocks.push(Block::Loop { on_break: after, on_continue: check, iterator: None });
        self.statements(&node.body)?;
        self.body.blocks.pop();
        self.bind(check);
        self.at(node.test.range());
        if truth == Some(true) {
            self.jump(Op::Jump, 0, 0, top);
        } else if truth.is_none() {
            self.jump_if(&node.test, true, top)?;
        }
        self.bind(otherwise);
        self.statements(&node.orelse)?;
        self.bind(after);
        Ok(())
    }

    pub(super) fn leave_loop(&mut self, range: TextRange, breaking: bool) -> Compiled<()> {
        let position = self.body.blocks.iter().rposition(|block| matches!(block, Block::Loop { .. }));
        let Some(position) = position else {
            let message = if breaking { "'break' outside loop" } else { "'continue' not properly in loop" };
            return Err(CompileError::at(range, message));
        };
        self.unwind(position + 1)?;
        let Block::Loop { on_break, on_continue, iterator } = self.body.blocks[position] else {
            unreachable!("the position is that of a loop")
        };
        if let (true, Some(iterator)) = (breaking, iterator) {
            self.emit(Op::Clear, 0, iterator, 0, 0);
        }
        self.jump(Op::Jump, 0, 0, if breaking { on_break } else { on_continue });
        Ok(())
    }
}
