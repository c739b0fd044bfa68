//! Registers and instructions as the loop reads them: without a bounds check each time. The only unsafe code of the crate.
//!
//! Why it is sound:
//! - [`cowboy_compiler`] makes every code body, nothing else does, and `verify` has checked it before it is linked: each operand that names
//!   a register is below the body's number of registers, each jump leads to an instruction, and the last one never falls off the end.
//! - A [`Window`] covers exactly the registers of the frame it was made for, which [`Window::over`] checks once. It is valid until the
//!   register stack grows. Only a call of a method of [`crate::Vm`] can do that, and the loop makes a new window after each of them.
//! - A [`Cursor`] borrows the instructions that it walks over.
//!
//! With debug assertions on, as in every test, each access is checked all the same.
#![allow(unsafe_code, reason = "the loop reads two registers and an instruction a nanosecond; the module says why it may")]

use crate::value::Value;
use cowboy_compiler::opcode::Instruction;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A value, read as two words: one read of all 16 bytes would wait until the two writes that have just made them are done.
#[inline(always)]
pub(crate) fn afresh(value: &Value) -> Value {
    let words = std::ptr::from_ref(value).cast::<MaybeUninit<u64>>();
    // SAFETY: a value is two words, of which padding and absent payloads are copied without being looked at.
    unsafe { std::mem::transmute::<[MaybeUninit<u64>; 2], Value>([words.read_volatile(), words.add(1).read_volatile()]) }
}

/// A number of half a word, read by itself: together with its neighbour it would be read at once, which waits as [`afresh`] says.
#[inline(always)]
pub(crate) fn alone(number: &u32) -> u32 {
    // SAFETY: a reference may be read.
    unsafe { std::ptr::from_ref(number).read_volatile() }
}

/// A buffer or large integer, moved as the two or three words that it is, for the reason of [`afresh`].
#[cfg(target_pointer_width = "64")]
#[inline(always)]
pub(crate) fn moved<T>(value: T) -> T {
    const { assert!((size_of::<T>() == 16 || size_of::<T>() == 24) && align_of::<T>() == 8, "two or three words") };
    let value = std::mem::ManuallyDrop::new(value);
    let words = std::ptr::from_ref(&value).cast::<MaybeUninit<u64>>();
    // SAFETY: the words are all there is of the value, which is not used, or dropped, where it was.
    unsafe {
        let (first, second) = (words.read_volatile(), words.add(1).read_volatile());
        if size_of::<T>() == 16 {
            return std::mem::transmute_copy::<[MaybeUninit<u64>; 2], T>(&[first, second]);
        }
        std::mem::transmute_copy::<[MaybeUninit<u64>; 3], T>(&[first, second, words.add(2).read_volatile()])
    }
}

/// The same where they are words of 32 bits, in a browser: as the compiler moves them.
#[cfg(not(target_pointer_width = "64"))]
#[inline(always)]
pub(crate) fn moved<T>(value: T) -> T {
    value
}

/// Pushes a row that is made in its place: one that is made elsewhere and then copied waits, as [`afresh`] says.
#[inline(always)]
pub(super) fn push<T>(rows: &mut Vec<T>, row: T) {
    #[inline(never)]
    fn grow<T>(rows: &mut Vec<T>) {
        rows.reserve(16);
    }
    if rows.len() == rows.capacity() {
        grow(rows);
    }
    let length = rows.len();
    // SAFETY: there is room for one more row, and it is initialised before the length says so.
    unsafe {
        rows.as_mut_ptr().add(length).write(row);
        rows.set_len(length + 1);
    }
}

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

    /// The value of a register; see [`afresh`].
    #[inline(always)]
    pub(super) fn value(&self, index: u16) -> Value {
        afresh(self.at(index))
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

/// A position in the instructions of a code body. It points at the instruction that was fetched last, so that the loop keeps one pointer
/// for that and for the next one.
pub(super) struct Cursor<'code> {
    current: *const Instruction,
    #[cfg(debug_assertions)]
    range: std::ops::Range<*const Instruction>,
    code: PhantomData<&'code [Instruction]>,
}

impl<'code> Cursor<'code> {
    /// The position before instruction `next`.
    #[inline(always)]
    pub(super) fn at(code: &'code [Instruction], next: u32) -> Self {
        assert!((next as usize) < code.len(), "a frame goes on at an instruction of its code");
        Self {
            current: code.as_ptr().wrapping_add(next as usize).wrapping_sub(1),
            #[cfg(debug_assertions)]
            range: code.as_ptr_range(),
            code: PhantomData,
        }
    }

    /// The next instruction, and past it. It stays where it is, so that its operands take no registers before they are needed.
    #[inline(always)]
    pub(super) fn fetch(&mut self) -> &'code Instruction {
        self.current = self.current.wrapping_add(1);
        #[cfg(debug_assertions)]
        assert!(self.range.contains(&self.current), "the code was verified");
        // SAFETY: verified code never falls off its end, and its jumps stay inside.
        unsafe { &*self.current }
    }

    /// The next instruction, without going there.
    #[inline(always)]
    pub(super) fn ahead(&self) -> &'code Instruction {
        let next = self.current.wrapping_add(1);
        #[cfg(debug_assertions)]
        assert!(self.range.contains(&next), "the code was verified");
        // SAFETY: as in `fetch`.
        unsafe { &*next }
    }

    /// The index of the next instruction in the code that the cursor walks over.
    #[inline(always)]
    pub(super) fn position(&self, code: &'code [Instruction]) -> u32 {
        #[cfg(debug_assertions)]
        assert_eq!(self.range, code.as_ptr_range(), "the cursor walks over this code");
        let distance = self.current.wrapping_add(1).addr().wrapping_sub(code.as_ptr().addr()) / size_of::<Instruction>();
        u32::try_from(distance).expect("a code body has less than 2^32 instructions")
    }

    /// Goes on at an instruction of the code that the cursor walks over.
    #[inline(always)]
    pub(super) fn jump(&mut self, code: &'code [Instruction], target: u32) {
        #[cfg(debug_assertions)]
        assert_eq!(self.range, code.as_ptr_range(), "the cursor walks over this code");
        self.current = code.as_ptr().wrapping_add(target as usize).wrapping_sub(1);
    }

    /// Goes on after some more instructions.
    #[inline(always)]
    pub(super) fn forward(&mut self, distance: u16) {
        self.current = self.current.wrapping_add(usize::from(distance));
    }

    /// Goes on at a distance from the next instruction.
    #[inline(always)]
    pub(super) fn skip(&mut self, distance: i16) {
        self.current = self.current.wrapping_offset(isize::from(distance));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Exit, Limits, Vm, compile, script_image};

    #[test]
    fn a_window_is_the_registers_from_its_base_on() {
        let mut registers: Vec<Value> = (0..8).map(Value::Int).collect();
        let mut window = Window::over(&mut registers, 3, 5);
        assert!(matches!((window.at(0), window.at(4)), (Value::Int(3), Value::Int(7))));
        *window.place(4) = Value::None;
        assert!(window.at(4).is_none() && registers[7].is_none());
    }

    #[test]
    #[should_panic(expected = "made when it was pushed")]
    fn a_window_past_the_stack_is_refused() {
        let _ = Window::over(&mut vec![Value::None; 4], 2, 3);
    }

    /// Frames come and go and the stack of registers grows under them; valgrind sees every access.
    #[test]
    fn programs_run_in_windows_that_move() {
        let source = "def deep(n, *rest):\n    return n if n == 0 else 1 + deep(n - 1, *rest)\n\ndef many(n):\n    for i in range(n):\n        yield [i] * i\n\nassert deep(200, *range(60)) == 200\nassert sum(len(x) for x in many(40)) == 780\n";
        let unit = compile(source, "program.py").expect("valid source");
        let exit = Vm::start(script_image(&unit), Entry::Script, Limits::default()).run();
        assert!(matches!(exit, Exit::Return(_)), "{exit:?}");
    }
}
