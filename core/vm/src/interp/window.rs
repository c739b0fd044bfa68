//! Registers and instructions as the loop reads them: without a bounds check each time. The only unsafe code of the crate.
//!
//! Why it is sound:
//! - [`crate::compile`] makes every code body, nothing else does, and `verify` has checked it before it is linked: each operand that names
//!   a register is below the body's number of registers, each jump leads to an instruction, and the last one never falls off the end.
//! - A [`Window`] covers exactly the registers of the frame it was made for, which [`Window::over`] checks once. It is valid until the
//!   register stack grows. Only a call of a method of [`super::Vm`] can do that, and the loop makes a new window after each of them.
//! - A [`Cursor`] borrows the instructions that it walks over.
//!
//! With debug assertions on, as in every test, each access is checked all the same.
#![allow(unsafe_code, reason = "the loop reads two registers and an instruction a nanosecond; the module says why it may")]

use crate::opcode::Instruction;
use crate::value::Value;
use std::marker::PhantomData;

/// The registers of one frame.
pub(super) struct Window {
    first: *mut Value,
    #[cfg(debug_assertions)]
    count: usize,
}

impl Window {
    /// The `count` registers from `base` on. The stack may not grow while the window is in use.
    #[inline(always)]
    pub(super) fn over(registers: &mut Vec<Value>, base: usize, count: u16) -> Self {
        assert!(base + usize::from(count) <= registers.len(), "a frame's registers were made when it was pushed");
        // SAFETY: `base` is inside the stack or at its end, as just asserted.
        let first = unsafe { registers.as_mut_ptr().add(base) };
        Self {
            first,
            #[cfg(debug_assertions)]
            count: usize::from(count),
        }
    }

    /// What a register holds. It is better looked at in place than copied: a copy of all 16 bytes waits for the two smaller writes
    /// that have just made them.
    #[inline(always)]
    pub(super) fn at(&self, index: u16) -> &Value {
        #[cfg(debug_assertions)]
        assert!(usize::from(index) < self.count, "the code was verified");
        // SAFETY: the operands of verified code name registers of its frame, and all of them are initialised.
        unsafe { &*self.first.add(usize::from(index)) }
    }

    /// A register, to be changed.
    #[inline(always)]
    pub(super) fn place(&mut self, index: u16) -> &mut Value {
        #[cfg(debug_assertions)]
        assert!(usize::from(index) < self.count, "the code was verified");
        // SAFETY: as in `at`; the exclusive borrow of the window makes this the only reference into the frame.
        unsafe { &mut *self.first.add(usize::from(index)) }
    }
}

/// A position in the instructions of a code body.
pub(super) struct Cursor<'code> {
    first: *const Instruction,
    next: *const Instruction,
    #[cfg(debug_assertions)]
    count: usize,
    code: PhantomData<&'code [Instruction]>,
}

impl<'code> Cursor<'code> {
    /// The position before instruction `next`.
    #[inline(always)]
    pub(super) fn at(code: &'code [Instruction], next: u32) -> Self {
        assert!((next as usize) < code.len(), "a frame goes on at an instruction of its code");
        let first = code.as_ptr();
        Self {
            first,
            // SAFETY: inside the code, as just asserted.
            next: unsafe { first.add(next as usize) },
            #[cfg(debug_assertions)]
            count: code.len(),
            code: PhantomData,
        }
    }

    /// The next instruction, and past it.
    #[inline(always)]
    pub(super) fn fetch(&mut self) -> Instruction {
        #[cfg(debug_assertions)]
        assert!((self.position() as usize) < self.count, "the code was verified");
        // SAFETY: verified code never falls off its end, and its jumps stay inside.
        unsafe {
            let instruction = *self.next;
            self.next = self.next.add(1);
            instruction
        }
    }

    /// The index of the next instruction.
    #[inline(always)]
    pub(super) fn position(&self) -> u32 {
        // SAFETY: both point into the same code.
        let distance = unsafe { self.next.offset_from(self.first) };
        u32::try_from(distance).expect("a code body has less than 2^32 instructions")
    }

    /// Goes on at an instruction.
    #[inline(always)]
    pub(super) fn jump(&mut self, target: u32) {
        #[cfg(debug_assertions)]
        assert!((target as usize) < self.count, "the code was verified");
        // SAFETY: the targets of verified code are instructions of it.
        self.next = unsafe { self.first.add(target as usize) };
    }

    /// Back before the instruction that was fetched last.
    #[inline(always)]
    pub(super) fn back(&mut self) {
        // SAFETY: at least one instruction was fetched since the cursor was made or jumped.
        self.next = unsafe { self.next.sub(1) };
    }

    /// Goes on after some more instructions.
    #[inline(always)]
    pub(super) fn forward(&mut self, distance: u16) {
        // SAFETY: as in `jump`.
        self.next = unsafe { self.next.add(usize::from(distance)) };
    }

    /// Goes on at a distance from the next instruction.
    #[inline(always)]
    pub(super) fn skip(&mut self, distance: i16) {
        // SAFETY: as in `jump`.
        self.next = unsafe { self.next.offset(isize::from(distance)) };
    }
}
