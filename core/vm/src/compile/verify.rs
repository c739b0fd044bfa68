//! The check that every code body passes before it can run: what it names exists. The loop relies on it instead of checking each time.

use super::code::Code;
use crate::num::sizes;
use crate::opcode::{Instruction, METHOD, NEGATE, Op};

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
            && entry(ins).is_none_or(|(table, entry)| entry < table.len(code))
    }) && code.handlers.iter().all(|handler| (handler.target as usize) < instructions.len() && handler.depth < code.registers)
}

/// How many registers a frame needs for an instruction.
fn registers(ins: Instruction, next: Option<Instruction>) -> u32 {
    let (a, b, c) = (u32::from(ins.a), u32::from(ins.b), u32::from(ins.c));
    let most = |ends: &[u32]| ends.iter().copied().max().unwrap_or(0);
    match ins.op {
        Op::Nop | Op::Line | Op::DeleteGlobal | Op::DeleteName | Op::Jump | Op::Loop | Op::ReturnNone => 0,
        Op::RaiseCurrent | Op::SetupAnnotations => 0,
        Op::LoadConst | Op::LoadInt | Op::LoadNone | Op::LoadGlobal | Op::StoreGlobal | Op::LoadName | Op::StoreName => a + 1,
        Op::MakeCell | Op::DeleteCell | Op::Unbind | Op::Clear | Op::Check | Op::DeleteAttr => a + 1,
        Op::JumpIfTrue | Op::JumpIfFalse | Op::JumpIfTrueKeep | Op::JumpIfFalseKeep | Op::JumpIfNone | Op::JumpIfNotNone => a + 1,
        Op::JumpLessInt | Op::JumpLessEqualInt | Op::JumpGreaterInt | Op::JumpGreaterEqualInt => a + 1,
        Op::JumpEqualInt | Op::JumpNotEqualInt | Op::EndAsyncFor | Op::Reraise | Op::PushHandled | Op::PopHandled => a + 1,
        Op::Import | Op::ImportStar | Op::LoadBuildClass => a + 1,
        Op::LoadClassCell => most(&[a + 1, c + 1]),
        Op::Return => b + 1,
        Op::Raise if ins.flags & NEGATE == 0 => b + 1,
        Op::Raise => most(&[b + 1, c + 1]),
        Op::AssertionFailed => {
            if c == 0 {
                0
            } else {
                b + 1
            }
        }
        Op::LoadMethod | Op::LoadSpecial => most(&[a + 2, b + 1]),
        Op::GetSlice => most(&[a + 1, b + 1, c + 3]),
        Op::SetSlice => most(&[a + 1, b + 3, c + 1]),
        Op::BuildSlice | Op::CallSpread => most(&[a + 1, b + 3]),
        Op::BuildList | Op::BuildTuple | Op::BuildSet | Op::BuildString => most(&[a + 1, b + c]),
        Op::BuildDict => most(&[a + 1, b + 2 * c]),
        Op::Call | Op::CallKeyword => most(&[a + 1, b + c + 1 + u32::from(ins.flags & METHOD != 0)]),
        Op::MakeFunction => most(&[a + 1, b + ins.flags.count_ones()]),
        Op::GetIter | Op::AsyncIter => most(&[a + 3, b + 1]),
        Op::ForIter => most(&[a + 1, b + 3]),
        Op::Unpack => most(&[a + c, b + 1]),
        Op::UnpackRest => {
            let (before, after) = next.map_or((0, 0), |counts| (u32::from(counts.b), u32::from(counts.c)));
            most(&[a + before + after + 1, b + 1])
        }
        Op::ListExtend => most(&[a + 1, b + 1, c]),
        Op::Format if ins.c == u16::MAX => most(&[a + 1, b + 1]),
        Op::Yield if ins.flags & NEGATE == 0 => most(&[a + 1, b + 1]),
        Op::MatchGroup => most(&[a + 2, b + 1, c + 1]),
        Op::Add | Op::Sub | Op::Mul | Op::TrueDiv | Op::FloorDiv | Op::Mod | Op::Pow | Op::LeftShift | Op::RightShift => {
            most(&[a + 1, b + 1, c + 1])
        }
        Op::And | Op::Or | Op::Xor | Op::MatMul | Op::Is | Op::IsNot | Op::In | Op::NotIn => most(&[a + 1, b + 1, c + 1]),
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual | Op::Equal | Op::NotEqual => most(&[a + 1, b + 1, c + 1]),
        Op::GetItem | Op::SetItem | Op::DictSet | Op::DictMerge | Op::Format | Op::Yield => most(&[a + 1, b + 1, c + 1]),
        Op::MatchException | Op::MatchKeys | Op::MatchClass | Op::MatchRest | Op::PrepareReraiseStar => most(&[a + 1, b + 1, c + 1]),
        Op::Move | Op::LoadCell | Op::StoreCell | Op::LoadAttr | Op::StoreAttr | Op::DeleteItem | Op::ListAppend => most(&[a + 1, b + 1]),
        Op::AddInt | Op::SubInt | Op::MulInt | Op::FloorDivInt | Op::ModInt | Op::AndInt | Op::OrInt => most(&[a + 1, b + 1]),
        Op::XorInt | Op::LeftShiftInt | Op::RightShiftInt | Op::GetItemInt | Op::GetItemConst => most(&[a + 1, b + 1]),
        Op::SetItemInt | Op::SetItemConst => most(&[a + 1, c + 1]),
        Op::Negative | Op::Positive | Op::Invert | Op::Not | Op::ListToTuple | Op::SetAdd | Op::SetUpdate => most(&[a + 1, b + 1]),
        Op::JumpLess | Op::JumpLessEqual | Op::JumpGreater | Op::JumpGreaterEqual | Op::JumpEqual | Op::JumpNotEqual => {
            most(&[a + 1, b + 1])
        }
        Op::DictUpdate | Op::YieldFromIter | Op::Await | Op::Send | Op::ImportFrom | Op::AsyncNext => most(&[a + 1, b + 1]),
        Op::MatchSequence | Op::MatchMapping | Op::MatchLength => most(&[a + 1, b + 1]),
    }
}

/// Where an instruction may jump to.
fn target(ins: Instruction, index: usize) -> Option<i64> {
    let next = i64::try_from(index).unwrap_or(i64::MAX - 1) + 1;
    match ins.op {
        Op::Jump | Op::JumpIfTrue | Op::JumpIfFalse | Op::JumpIfTrueKeep | Op::JumpIfFalseKeep | Op::EndAsyncFor => {
            Some(i64::from(ins.wide()))
        }
        Op::JumpIfNone | Op::JumpIfNotNone | Op::Loop => Some(i64::from(ins.wide())),
        Op::JumpLess | Op::JumpLessEqual | Op::JumpGreater | Op::JumpGreaterEqual | Op::JumpEqual | Op::JumpNotEqual | Op::Send => {
            Some(next + ins.immediate())
        }
        Op::JumpLessInt | Op::JumpLessEqualInt | Op::JumpGreaterInt | Op::JumpGreaterEqualInt => Some(next + ins.immediate()),
        Op::JumpEqualInt | Op::JumpNotEqualInt => Some(next + ins.immediate()),
        Op::ForIter => Some(next + i64::from(ins.c)),
        _ => None,
    }
}

/// A table of a code body.
enum Table {
    Constants,
    Names,
    Sites,
}

impl Table {
    fn len(&self, code: &Code) -> usize {
        match self {
            Table::Constants => code.consts.len(),
            Table::Names => code.names.len(),
            Table::Sites => code.sites.len(),
        }
    }
}

/// The table entry that an instruction names.
fn entry(ins: Instruction) -> Option<(Table, usize)> {
    match ins.op {
        Op::LoadConst => Some((Table::Constants, ins.wide() as usize)),
        Op::GetItemConst => Some((Table::Constants, usize::from(ins.c))),
        Op::SetItemConst => Some((Table::Constants, usize::from(ins.b))),
        Op::LoadGlobal => Some((Table::Sites, ins.wide() as usize)),
        Op::LoadAttr | Op::StoreAttr | Op::LoadMethod => Some((Table::Sites, usize::from(ins.c))),
        Op::StoreGlobal | Op::DeleteGlobal | Op::StoreName | Op::DeleteName | Op::LoadClassCell | Op::DeleteAttr | Op::Import => {
            Some((Table::Names, usize::from(ins.b)))
        }
        Op::LoadSpecial | Op::ImportFrom => Some((Table::Names, usize::from(ins.c))),
        _ => None,
    }
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
        let rows: [(&str, Change, bool); 7] = [
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
        ];
        for (name, change, expected) in rows {
            assert_eq!(check(change), expected, "{name}");
        }
    }
}
