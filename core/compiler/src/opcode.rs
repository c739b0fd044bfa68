//! The instruction set, one row each: name, cycles, what its three operands are, meaning.
//!
//! Costs belong to source operations: an instruction that only moves data between registers for the compiler's convenience
//! costs 0 or 1, and a fused instruction costs the sum of the operations it stands for. Work that grows with a size is charged beside
//! the row, before it is done: see `costs`.
//!
//! An instruction is 8 bytes: opcode, flags, and three 16-bit operands `a`, `b`, `c`. `a` is the destination where there is one.
//! Flag 1 says that `b` is a temporary which the instruction consumes, flag 2 the same for `c`, flag 4 for `a`.

use crate::operand::Operand;

/// Operand `b` is a temporary and is consumed.
pub const TEMP_B: u8 = 1;
/// Operand `c` is a temporary and is consumed.
pub const TEMP_C: u8 = 2;
/// Operand `a` is a temporary and is consumed.
pub const TEMP_A: u8 = 4;
/// The operation is an augmented assignment.
pub const INPLACE: u8 = 8;
/// The call has a receiver slot before its arguments (see `LoadMethod`).
pub const METHOD: u8 = 16;
/// The jump is taken when the condition is false.
pub const NEGATE: u8 = 16;
/// `MakeFunction` has a tuple of defaults.
pub const HAS_DEFAULTS: u8 = 1;
/// `MakeFunction` has a dict of keyword-only defaults.
pub const HAS_KEYWORD_DEFAULTS: u8 = 2;
/// `MakeFunction` has a dict of annotations.
pub const HAS_ANNOTATIONS: u8 = 4;
/// `MakeFunction` has a tuple of cells.
pub const HAS_CLOSURE: u8 = 8;

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// What to do.
    pub op: Op,
    /// See the module's constants.
    pub flags: u8,
    /// First operand, usually the destination register.
    pub a: u16,
    /// Second operand.
    pub b: u16,
    /// Third operand.
    pub c: u16,
}

/// An operand as a signed integer.
#[inline(always)]
pub fn signed(operand: u16) -> i64 {
    i64::from(i16::from_ne_bytes(operand.to_ne_bytes()))
}

impl Instruction {
    /// Operands `b` and `c` as one 32-bit number: an index or a jump target.
    #[inline(always)]
    pub fn wide(self) -> u32 {
        u32::from(self.b) | (u32::from(self.c) << 16)
    }

    /// Operand `c` as a signed immediate.
    #[inline(always)]
    pub fn immediate(self) -> i64 {
        signed(self.c)
    }

    /// The three operands, each with what it is.
    pub fn operands(self) -> [(Operand, u16); 3] {
        let [a, b, c] = OPCODES[self.op as usize].operands;
        [(a, self.a), (b, self.b), (c, self.c)]
    }
}

macro_rules! opcodes {
    ($($name:ident $cycles:literal ($a:ident, $b:ident, $c:ident) $doc:literal;)*) => {
        /// What an instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Op { $(#[doc = $doc] $name,)* }

        /// A row of the cost table.
        #[derive(Clone, Copy, Debug)]
        pub struct OpcodeRow {
            /// Name of the opcode.
            pub name: &'static str,
            /// Cycles charged before it runs.
            pub cycles: u32,
            /// What `a`, `b` and `c` are.
            pub operands: [Operand; 3],
            /// What it does.
            pub doc: &'static str,
        }

        /// The cost table, in the order of the opcodes.
        pub const OPCODES: &[OpcodeRow] = &[$(OpcodeRow {
            name: stringify!($name), cycles: $cycles, operands: [Operand::$a, Operand::$b, Operand::$c], doc: $doc,
        },)*];

        /// Cycles by opcode number.
        pub const CYCLES: [u8; 256] = {
            let mut table = [0u8; 256];
            let mut index = 0;
            let costs: &[u8] = &[$($cycles,)*];
            while index < costs.len() {
                table[index] = costs[index];
                index += 1;
            }
            table
        };
    };
}

opcodes! {
    Nop 0 (No, No, No) "nothing";
    Move 1 (Reg, Reg, No) "a = b";
    LoadConst 1 (Reg, WideConstant, Upper) "a = constants[bc]";
    LoadInt 1 (Reg, Integer, Upper) "a = integer bc";
    LoadNone 1 (Reg, No, No) "a = None";
    LoadGlobal 1 (Reg, WideSite, Upper) "a = global or builtin of site bc";
    StoreGlobal 3 (Reg, Name, No) "global names[b] = a";
    DeleteGlobal 3 (No, Name, No) "del global names[b]";
    LoadName 3 (Reg, Name, No) "a = namespace, global or builtin names[b]";
    StoreName 3 (Reg, Name, No) "namespace names[b] = a";
    DeleteName 3 (No, Name, No) "del namespace names[b]";
    LoadClassCell 3 (Reg, Name, Reg) "a = namespace names[b], else the cell c";
    MakeCell 1 (Reg, No, No) "a = cell holding a";
    LoadCell 1 (Reg, Reg, No) "a = content of cell b";
    StoreCell 1 (Reg, Reg, No) "content of cell a = b";
    DeleteCell 1 (Reg, No, No) "content of cell a becomes unbound";
    Unbind 1 (Reg, No, No) "a becomes unbound; an error when it is already";
    Clear 0 (Reg, No, No) "a becomes unbound";
    Check 1 (Reg, No, No) "an error when the local a is unbound";
    Add 1 (Reg, Reg, Reg) "a = b + c";
    Sub 1 (Reg, Reg, Reg) "a = b - c";
    Mul 1 (Reg, Reg, Reg) "a = b * c";
    TrueDiv 1 (Reg, Reg, Reg) "a = b / c";
    FloorDiv 1 (Reg, Reg, Reg) "a = b // c";
    Mod 1 (Reg, Reg, Reg) "a = b % c";
    Pow 3 (Reg, Reg, Reg) "a = b ** c";
    LeftShift 1 (Reg, Reg, Reg) "a = b << c";
    RightShift 1 (Reg, Reg, Reg) "a = b >> c";
    And 1 (Reg, Reg, Reg) "a = b & c";
    Or 1 (Reg, Reg, Reg) "a = b | c";
    Xor 1 (Reg, Reg, Reg) "a = b ^ c";
    MatMul 1 (Reg, Reg, Reg) "a = b @ c";
    AddInt 1 (Reg, Reg, Immediate) "a = b + immediate c";
    SubInt 1 (Reg, Reg, Immediate) "a = b - immediate c";
    MulInt 1 (Reg, Reg, Immediate) "a = b * immediate c";
    FloorDivInt 1 (Reg, Reg, Immediate) "a = b // immediate c";
    ModInt 1 (Reg, Reg, Immediate) "a = b % immediate c";
    AndInt 1 (Reg, Reg, Immediate) "a = b & immediate c";
    OrInt 1 (Reg, Reg, Immediate) "a = b | immediate c";
    XorInt 1 (Reg, Reg, Immediate) "a = b ^ immediate c";
    LeftShiftInt 1 (Reg, Reg, Immediate) "a = b << immediate c";
    RightShiftInt 1 (Reg, Reg, Immediate) "a = b >> immediate c";
    Negative 1 (Reg, Reg, No) "a = -b";
    Positive 1 (Reg, Reg, No) "a = +b";
    Invert 1 (Reg, Reg, No) "a = ~b";
    Not 1 (Reg, Reg, No) "a = not b";
    Less 1 (Reg, Reg, Reg) "a = b < c";
    LessEqual 1 (Reg, Reg, Reg) "a = b <= c";
    Greater 1 (Reg, Reg, Reg) "a = b > c";
    GreaterEqual 1 (Reg, Reg, Reg) "a = b >= c";
    Equal 1 (Reg, Reg, Reg) "a = b == c";
    NotEqual 1 (Reg, Reg, Reg) "a = b != c";
    Is 1 (Reg, Reg, Reg) "a = b is c";
    IsNot 1 (Reg, Reg, Reg) "a = b is not c";
    In 3 (Reg, Reg, Reg) "a = b in c";
    NotIn 3 (Reg, Reg, Reg) "a = b not in c";
    Jump 1 (No, Target, Upper) "go to bc";
    JumpIfTrue 1 (Reg, Target, Upper) "go to bc when a is true";
    JumpIfFalse 1 (Reg, Target, Upper) "go to bc when a is false";
    JumpIfTrueKeep 1 (Reg, Target, Upper) "go to bc when a is true, which is kept for it";
    JumpIfFalseKeep 1 (Reg, Target, Upper) "go to bc when a is false, which is kept for it";
    JumpIfNone 1 (Reg, Target, Upper) "go to bc when a is None";
    JumpIfNotNone 1 (Reg, Target, Upper) "go to bc when a is not None";
    JumpLess 2 (Reg, Reg, Distance) "go c further when a < b";
    JumpLessEqual 2 (Reg, Reg, Distance) "go c further when a <= b";
    JumpGreater 2 (Reg, Reg, Distance) "go c further when a > b";
    JumpGreaterEqual 2 (Reg, Reg, Distance) "go c further when a >= b";
    JumpEqual 2 (Reg, Reg, Distance) "go c further when a == b";
    JumpNotEqual 2 (Reg, Reg, Distance) "go c further when a != b";
    JumpLessInt 2 (Reg, Immediate, Distance) "go c further when a < immediate b";
    JumpLessEqualInt 2 (Reg, Immediate, Distance) "go c further when a <= immediate b";
    JumpGreaterInt 2 (Reg, Immediate, Distance) "go c further when a > immediate b";
    JumpGreaterEqualInt 2 (Reg, Immediate, Distance) "go c further when a >= immediate b";
    JumpEqualInt 2 (Reg, Immediate, Distance) "go c further when a == immediate b";
    JumpNotEqualInt 2 (Reg, Immediate, Distance) "go c further when a != immediate b";
    LoadAttr 3 (Reg, Reg, Site) "a = b.site c";
    StoreAttr 3 (Reg, Reg, Site) "a.site c = b";
    DeleteAttr 8 (Reg, Name, No) "del a.names[b]";
    LoadMethod 3 (Two, Reg, Site) "a, a+1 = what calling b.site c needs";
    LoadSpecial 3 (Two, Reg, Name) "a, a+1 = what calling the special method names[c] of b needs";
    GetItem 3 (Reg, Reg, Reg) "a = b[c]";
    SetItem 3 (Reg, Reg, Reg) "a[b] = c";
    GetItemInt 4 (Reg, Reg, Immediate) "a = b[immediate c]";
    GetItemConst 4 (Reg, Reg, Constant) "a = b[constants[c]]";
    SetItemInt 4 (Reg, Immediate, Reg) "a[immediate b] = c";
    SetItemConst 4 (Reg, Constant, Reg) "a[constants[b]] = c";
    DeleteItem 5 (Reg, Reg, No) "del a[b]";
    GetSlice 4 (Reg, Reg, Three) "a = b[c:c+1:c+2]";
    SetSlice 4 (Reg, Three, Reg) "a[b:b+1:b+2] = c";
    BuildSlice 1 (Reg, Three, No) "a = slice(b, b+1, b+2)";
    BuildList 2 (Reg, Counted, Count) "a = list of c values from b";
    BuildTuple 2 (Reg, Counted, Count) "a = tuple of c values from b";
    BuildSet 10 (Reg, Counted, Count) "a = set of c values from b";
    BuildDict 10 (Reg, Pairs, Count) "a = dict of c pairs from b";
    ListAppend 2 (Reg, Reg, No) "list a takes b";
    ListExtend 2 (Reg, Reg, End) "list a takes every item of b";
    ListToTuple 1 (Reg, Reg, No) "a = tuple of the list b";
    SetAdd 3 (Reg, Reg, No) "set a takes b";
    SetUpdate 3 (Reg, Reg, No) "set a takes every item of b";
    DictSet 3 (Reg, Reg, Reg) "dict a takes b: c";
    DictUpdate 4 (Reg, Reg, No) "dict a takes every pair of b";
    DictMerge 6 (Reg, Reg, Reg) "keyword dict a takes every pair of b, no key twice";
    BuildString 1 (Reg, Counted, Count) "a = c texts from b joined";
    Format 2 (Reg, Reg, RegOrNone) "a = format(b, c), conversion in the flags";
    Call 10 (Reg, Callee, Count) "a = call of register b with c arguments after it";
    CallKeyword 10 (Reg, Callee, Count) "a = call of register b with c arguments after it, the last ones named by the next word";
    CallSpread 10 (Reg, Three, No) "a = call of register b with the tuple and dict after it";
    Return 0 (No, Reg, No) "leave with b";
    ReturnNone 0 (No, No, No) "leave with None";
    MakeFunction 15 (Reg, Flagged, Code) "a = function of code c, with what the flags say from b on";
    GetIter 2 (Three, Reg, No) "a, a+1, a+2 = iteration over b";
    ForIter 1 (Reg, Three, Ahead) "a = next of iteration b, or go c further";
    Loop 2 (No, Target, Upper) "run the ForIter at bc and continue after it";
    Unpack 2 (Counted, Reg, Count) "registers from a = exactly c items of b; in place: 1 more for each, as they are variables";
    UnpackRest 3 (Rest, Reg, No) "registers from a = items of b, the next word says how many before and after the rest";
    Raise 5 (No, Reg, IfFlagged) "raise b from c";
    Reraise 1 (Reg, No, No) "raise the exception a again";
    RaiseCurrent 5 (No, No, No) "raise the exception being handled";
    PushHandled 1 (Reg, No, No) "the exception a is being handled";
    PopHandled 1 (Reg, No, No) "it no longer is";
    MatchException 2 (Reg, Reg, Reg) "a = whether the exception b is of c";
    AssertionFailed 5 (No, UnlessZero, Flag) "raise AssertionError(b), or with nothing when c is 0";
    Yield 3 (Reg, Reg, IfFlagged) "give b out, a = what is sent";
    YieldFromIter 2 (Reg, Reg, No) "a = iterator of b for yield from";
    Await 2 (Reg, Reg, No) "a = iterator of the awaitable b";
    Send 3 (Reg, Reg, Distance) "send a to the iterator b: its value into a and on, or its result into a and go c further";
    Import 5 (Reg, Name, Flag) "a = module names[b], the top one when c is 0";
    ImportFrom 3 (Reg, Reg, Name) "a = names[c] of the module b";
    ImportStar 5 (Reg, No, No) "every public name of the module a";
    LoadBuildClass 1 (Reg, No, No) "a = what makes classes";
    MatchSequence 1 (Reg, Reg, No) "a = whether b matches as sequence";
    MatchMapping 1 (Reg, Reg, No) "a = whether b matches as mapping";
    MatchLength 1 (Reg, Reg, No) "a = len(b)";
    MatchKeys 3 (Reg, Reg, Reg) "a = tuple of the values in b of the keys c, or None";
    MatchClass 5 (Reg, Reg, Reg) "a = tuple of attributes of b by class c, or None; the next word has the count and names";
    MatchRest 5 (Reg, Reg, Reg) "a = dict b without the keys c";
    AsyncIter 3 (Reg, Reg, No) "a = asynchronous iterator of b";
    AsyncNext 3 (Reg, Reg, No) "a = awaitable of the next of b";
    EndAsyncFor 1 (Reg, Target, Upper) "go to bc when the exception a is StopAsyncIteration, else raise it again";
    SetupAnnotations 1 (No, No, No) "make sure the namespace has __annotations__";
    PrepareReraiseStar 5 (Reg, Reg, Reg) "a = what is left to raise of exception group b after handlers c";
    MatchGroup 5 (Two, Reg, Reg) "a, a+1 = matching and remaining part of exception group b by type c";
    Line 0 (No, No, No) "the hook sees the line; only in traced runs, in the place of the opcode that runs next";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_eight_bytes_and_every_opcode_fits_a_byte() {
        assert_eq!(size_of::<Instruction>(), 8);
        assert!(OPCODES.len() < 256);
        assert!(OPCODES.iter().all(|row| !row.doc.is_empty()));
    }
}
