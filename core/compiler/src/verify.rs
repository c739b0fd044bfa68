//! The check that every code body passes before it can run: what it names exists. The loop relies on it instead of checking each time.

use crate::code::Code;
use crate::opcode::{Instruction, METHOD, NEGATE, Op, signed};
use crate::operand::Operand;
use cowboy_num::sizes;

/// Whether every register, jump target, constant, name and cache that the code's instructions name is there, and control never
/// falls off its end.
pub(super) fn verify(code: &Code) -> bool {
    let instructions = &code.instructions;
    let ends = instructions
        .last()
        .is_some_and(|last| matches!(last.op, Op::Return | Op::ReturnNone | Op::Jump | Op::Reraise | Op::Raise | Op::RaiseCurrent));
    ends && instructions.iter().enumerate().all(|(index, &ins)| {
        let next = instructions.get(index + 1).copied();
        registers(ins, next) <= u32::from(code.registers)
            && target(ins, index).is_none_or(|target| sizes::index(target).is_some_and(|target| target < instructions.len()))
            && (ins.op != Op::Loop || instructions.get(ins.wide() as usize).is_some_and(|first| first.op == Op::ForIter))
            && entries(ins, code)
    }) && code.handlers.iter().all(|handler| (handler.target as usize) < instructions.len() && handler.depth < code.registers)
}

/// How many registers a frame needs for an instruction.
fn registers(ins: Instruction, next: Option<Instruction>) -> u32 {
    let count = u32::from(ins.c);
    let end = |(shape, operand): (Operand, u16)| {
        let first = u32::from(operand);
        match shape {
            Operand::Reg => first + 1,
            Operand::Two => first + 2,
            Operand::Three => first + 3,
            Operand::RegOrNone if operand != u16::MAX => first + 1,
            Operand::IfFlagged if ins.flags & NEGATE != 0 => first + 1,
            Operand::UnlessZero if count != 0 => first + 1,
            Operand::End => first,
            Operand::Counted => first + count,
            Operand::Pairs => first + 2 * count,
            Operand::Callee => first + count + 1 + u32::from(ins.flags & METHOD != 0),
            Operand::Flagged => first + ins.flags.count_ones(),
            Operand::Rest => first + 1 + next.map_or(0, |counts| u32::from(counts.b) + u32::from(counts.c)),
            _ => 0,
        }
    };
    ins.operands().into_iter().map(end).max().unwrap_or(0)
}

/// Where an instruction may jump to.
fn target(ins: Instruction, index: usize) -> Option<i64> {
    let next = i64::try_from(index).unwrap_or(i64::MAX - 1) + 1;
    ins.operands().into_iter().find_map(|(shape, operand)| match shape {
        Operand::Target => Some(i64::from(ins.wide())),
        Operand::Distance => Some(next + signed(operand)),
        Operand::Ahead => Some(next + i64::from(operand)),
        _ => None,
    })
}

/// Whether the constants, names and inline caches that an instruction names are there.
fn entries(ins: Instruction, code: &Code) -> bool {
    ins.operands().into_iter().all(|(shape, operand)| match shape {
        Operand::Constant => usize::from(operand) < code.consts.len(),
        Operand::WideConstant => (ins.wide() as usize) < code.consts.len(),
        Operand::Name => usize::from(operand) < code.names.len(),
        Operand::Site => usize::from(operand) < code.sites.len(),
        Operand::WideSite => (ins.wide() as usize) < code.sites.len(),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes one instruction of a function that adds its parameters, and says whether the result verifies.
    fn check(change: impl FnOnce(&mut Code)) -> bool {
        let unit = crate::compile("def f(a, b):\n    while a < b: a += 1\n    return a + b\n", "program.py").expect("valid source");
        let mut code = unit.codes[1].clone();
        change(&mut code);
        verify(&code)
    }

    #[test]
    fn code_that_names_what_is_not_there_does_not_verify() {
        type Change = fn(&mut Code);
        let rows: [(&str, Change, bool); 8] = [
            ("as compiled", |_| {}, true),
            ("fewer registers than it names", |code| code.registers -= 1, false),
            ("a result beyond the registers", |code| code.instructions[0].a = u16::MAX, false),
            ("a jump past the end", |code| code.instructions[0].c = 99, false),
            ("a jump before the beginning", |code| code.instructions[0].c = u16::MAX - 9, false),
            ("no end", |code| code.instructions.truncate(1), false),
            (
                "a constant that is not there",
                |code| code.instructions[1] = Instruction { op: Op::LoadConst, flags: 0, a: 0, b: 7, c: 0 },
                false,
            ),
            ("a name that is not there", |code| code.instructions[1] = Instruction { op: Op::LoadName, flags: 0, a: 0, b: 7, c: 0 }, false),
        ];
        for (name, change, expected) in rows {
            assert_eq!(check(change), expected, "{name}");
        }
    }
}
