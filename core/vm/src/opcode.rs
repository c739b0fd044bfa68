//! The instruction set, one row each: name, cycles, meaning.
//!
//! Costs belong to source operations: an instruction that only moves data between registers for the compiler's convenience
//! costs 0 or 1, and a fused instruction costs the sum of the operations it stands for. Work that grows with a size is charged beside
//! the row, before it is done: see `costs`.
//!
//! An instruction is 8 bytes: opcode, flags, and three 16-bit operands `a`, `b`, `c`. `a` is the destination where there is one.
//! Flag 1 says that `b` is a temporary which the instruction consumes, flag 2 the same for `c`, flag 4 for `a`.

/// Operand `b` is a temporary and is consumed.
pub(crate) const TEMP_B: u8 = 1;
/// Operand `c` is a temporary and is consumed.
pub(crate) const TEMP_C: u8 = 2;
/// Operand `a` is a temporary and is consumed.
pub(crate) const TEMP_A: u8 = 4;
/// The operation is an augmented assignment.
pub(crate) const INPLACE: u8 = 8;
/// The call has a receiver slot before its arguments (see `LoadMethod`).
pub(crate) const METHOD: u8 = 16;
/// The jump is taken when the condition is false.
pub(crate) const NEGATE: u8 = 16;

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
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

impl Instruction {
    /// Operands `b` and `c` as one 32-bit number: an index or a jump target.
    #[inline(always)]
    pub(crate) fn wide(self) -> u32 {
        u32::from(self.b) | (u32::from(self.c) << 16)
    }

    /// Operand `c` as a signed immediate.
    #[inline(always)]
    pub(crate) fn immediate(self) -> i64 {
        i64::from(i16::from_ne_bytes(self.c.to_ne_bytes()))
    }
}

macro_rules! opcodes {
    ($($name:ident $cycles:literal $doc:literal;)*) => {
        /// What an instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Op { $(#[doc = $doc] $name,)* }

        /// A row of the cost table.
        #[derive(Clone, Copy, Debug)]
        pub struct OpcodeRow {
            /// Name of the opcode.
            pub name: &'static str,
            /// Cycles charged before it runs.
            pub cycles: u32,
            /// What it does.
            pub doc: &'static str,
        }

        /// The cost table, in the order of the opcodes.
        pub const OPCODES: &[OpcodeRow] = &[$(OpcodeRow { name: stringify!($name), cycles: $cycles, doc: $doc },)*];

        /// Cycles by opcode number.
        pub(crate) const CYCLES: [u8; 256] = {
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
    Nop 0 "nothing";
    Move 1 "a = b";
    LoadConst 1 "a = constants[bc]";
    LoadInt 1 "a = integer bc";
    LoadNone 1 "a = None";
    LoadGlobal 1 "a = global or builtin of site bc";
    StoreGlobal 3 "global names[b] = a";
    DeleteGlobal 3 "del global names[b]";
    LoadName 3 "a = namespace, global or builtin names[bc]";
    StoreName 3 "namespace names[b] = a";
    DeleteName 3 "del namespace names[b]";
    LoadClassCell 3 "a = namespace names[b], else the cell c";
    MakeCell 1 "a = cell holding a";
    LoadCell 1 "a = content of cell b";
    StoreCell 1 "content of cell a = b";
    DeleteCell 1 "content of cell a becomes unbound";
    Unbind 1 "a becomes unbound; an error when it is already";
    Clear 0 "a becomes unbound";
    Check 1 "an error when the local a is unbound";
    Add 1 "a = b + c";
    Sub 1 "a = b - c";
    Mul 1 "a = b * c";
    TrueDiv 1 "a = b / c";
    FloorDiv 1 "a = b // c";
    Mod 1 "a = b % c";
    Pow 3 "a = b ** c";
    LeftShift 1 "a = b << c";
    RightShift 1 "a = b >> c";
    And 1 "a = b & c";
    Or 1 "a = b | c";
    Xor 1 "a = b ^ c";
    MatMul 1 "a = b @ c";
    AddInt 1 "a = b + immediate c";
    SubInt 1 "a = b - immediate c";
    MulInt 1 "a = b * immediate c";
    FloorDivInt 1 "a = b // immediate c";
    ModInt 1 "a = b % immediate c";
    AndInt 1 "a = b & immediate c";
    OrInt 1 "a = b | immediate c";
    XorInt 1 "a = b ^ immediate c";
    LeftShiftInt 1 "a = b << immediate c";
    RightShiftInt 1 "a = b >> immediate c";
    Negative 1 "a = -b";
    Positive 1 "a = +b";
    Invert 1 "a = ~b";
    Not 1 "a = not b";
    Less 1 "a = b < c";
    LessEqual 1 "a = b <= c";
    Greater 1 "a = b > c";
    GreaterEqual 1 "a = b >= c";
    Equal 1 "a = b == c";
    NotEqual 1 "a = b != c";
    Is 1 "a = b is c";
    IsNot 1 "a = b is not c";
    In 3 "a = b in c";
    NotIn 3 "a = b not in c";
    Jump 1 "go to bc";
    JumpIfTrue 1 "go to bc when a is true";
    JumpIfFalse 1 "go to bc when a is false";
    JumpIfTrueKeep 1 "go to bc when a is true, which is kept for it";
    JumpIfFalseKeep 1 "go to bc when a is false, which is kept for it";
    JumpIfNone 1 "go to bc when a is None";
    JumpIfNotNone 1 "go to bc when a is not None";
    JumpLess 2 "go c further when a < b";
    JumpLessEqual 2 "go c further when a <= b";
    JumpGreater 2 "go c further when a > b";
    JumpGreaterEqual 2 "go c further when a >= b";
    JumpEqual 2 "go c further when a == b";
    JumpNotEqual 2 "go c further when a != b";
    JumpLessInt 2 "go c further when a < immediate b";
    JumpLessEqualInt 2 "go c further when a <= immediate b";
    JumpGreaterInt 2 "go c further when a > immediate b";
    JumpGreaterEqualInt 2 "go c further when a >= immediate b";
    JumpEqualInt 2 "go c further when a == immediate b";
    JumpNotEqualInt 2 "go c further when a != immediate b";
    LoadAttr 3 "a = b.site c";
    StoreAttr 3 "a.site c = b";
    DeleteAttr 8 "del a.names[b]";
    LoadMethod 3 "a, a+1 = what calling b.site c needs";
    LoadSpecial 3 "a, a+1 = what calling the special method names[c] of b needs";
    GetItem 3 "a = b[c]";
    SetItem 3 "a[b] = c";
    GetItemInt 4 "a = b[immediate c]";
    GetItemConst 4 "a = b[constants[c]]";
    SetItemInt 4 "a[immediate b] = c";
    SetItemConst 4 "a[constants[b]] = c";
    DeleteItem 5 "del a[b]";
    GetSlice 4 "a = b[c:c+1:c+2]";
    SetSlice 4 "a[b:b+1:b+2] = c";
    BuildSlice 1 "a = slice(b, b+1, b+2)";
    BuildList 2 "a = list of c values from b";
    BuildTuple 2 "a = tuple of c values from b";
    BuildSet 10 "a = set of c values from b";
    BuildDict 10 "a = dict of c pairs from b";
    ListAppend 2 "list a takes b";
    ListExtend 2 "list a takes every item of b";
    ListToTuple 1 "a = tuple of the list b";
    SetAdd 3 "set a takes b";
    SetUpdate 3 "set a takes every item of b";
    DictSet 3 "dict a takes b: c";
    DictUpdate 4 "dict a takes every pair of b";
    DictMerge 6 "keyword dict a takes every pair of b, no key twice";
    BuildString 1 "a = c texts from b joined";
    Format 2 "a = format(b, c), conversion in the flags";
    Call 10 "a = call of register b with c arguments after it";
    CallKeyword 10 "a = call of register b with c arguments after it, the last ones named by the next word";
    CallSpread 10 "a = call of register b with the tuple and dict after it";
    Return 0 "leave with b";
    ReturnNone 0 "leave with None";
    MakeFunction 15 "a = function of code c, with what the flags say from b on";
    GetIter 2 "a, a+1, a+2 = iteration over b";
    ForIter 1 "a = next of iteration b, or go c further";
    Loop 2 "run the ForIter at bc and continue after it";
    Unpack 2 "registers from a = exactly c items of b; in place: 1 more for each, as they are variables";
    UnpackRest 3 "registers from a = items of b, the next word says how many before and after the rest";
    Raise 5 "raise b from c";
    Reraise 1 "raise the exception a again";
    RaiseCurrent 5 "raise the exception being handled";
    PushHandled 1 "the exception a is being handled";
    PopHandled 1 "it no longer is";
    MatchException 2 "a = whether the exception b is of c";
    AssertionFailed 5 "raise AssertionError(b), or with nothing when c is 0";
    Yield 3 "give b out, a = what is sent";
    YieldFromIter 2 "a = iterator of b for yield from";
    Await 2 "a = iterator of the awaitable b";
    Send 3 "send a to the iterator b: its value into a and on, or its result into a and go c further";
    Import 5 "a = module names[b], the top one when c is 0";
    ImportFrom 3 "a = names[c] of the module b";
    ImportStar 5 "every public name of the module a";
    LoadBuildClass 1 "a = what makes classes";
    MatchSequence 1 "a = whether b matches as sequence";
    MatchMapping 1 "a = whether b matches as mapping";
    MatchLength 1 "a = len(b)";
    MatchKeys 3 "a = tuple of the values in b of the keys c, or None";
    MatchClass 5 "a = tuple of attributes of b by class c, or None; the next word has the count and names";
    MatchRest 5 "a = dict b without the keys c";
    AsyncIter 3 "a = asynchronous iterator of b";
    AsyncNext 3 "a = awaitable of the next of b";
    EndAsyncFor 1 "go to bc when the exception a is StopAsyncIteration, else raise it again";
    SetupAnnotations 1 "make sure the namespace has __annotations__";
    PrepareReraiseStar 5 "a = what is left to raise of exception group b after handlers c";
    MatchGroup 5 "a, a+1 = matching and remaining part of exception group b by type c";
    Line 0 "the hook sees the line; only in traced runs, in the place of the opcode that runs next";
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
