//! The shapes of operands: what `a`, `b` and `c` of an instruction are. Each row of the instruction set has three; the verifier, the
//! listing and the page of costs read them.

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Nothing.
    No,
    /// A register.
    Reg,
    /// A register and the one after it.
    Two,
    /// A register and the two after it.
    Three,
    /// A register, or 65,535 for none.
    RegOrNone,
    /// A register when the flag [`NEGATE`](crate::opcode::NEGATE) is set.
    IfFlagged,
    /// A register unless `c` is 0.
    UnlessZero,
    /// One more than a register, or 0 for none.
    End,
    /// The first of `c` registers.
    Counted,
    /// The first of twice `c` registers.
    Pairs,
    /// A callee, with its receiver where the flag [`METHOD`](crate::opcode::METHOD) is set, and `c` arguments after it.
    Callee,
    /// The first of as many registers as flags are set.
    Flagged,
    /// The first of the registers that the next word counts, and of one more.
    Rest,
    /// How many: of registers, where another operand says so.
    Count,
    /// Whether: 0 or something else.
    Flag,
    /// A signed integer of 16 bits.
    Immediate,
    /// A signed integer of 32 bits, `b` and `c` together.
    Integer,
    /// A constant of the code body.
    Constant,
    /// The same, `b` and `c` together.
    WideConstant,
    /// A name of the code body.
    Name,
    /// An inline cache of the code body.
    Site,
    /// The same, `b` and `c` together.
    WideSite,
    /// A code body.
    Code,
    /// An instruction, `b` and `c` together.
    Target,
    /// Instructions to skip from the next one on; a negative number leads back.
    Distance,
    /// Instructions to skip from the next one on, not negative.
    Ahead,
    /// The upper half of what begins in `b`.
    Upper,
}

impl Operand {
    /// Words for the page of costs; empty where there is nothing to say.
    pub const fn words(self) -> &'static str {
        match self {
            Self::No | Self::Upper => "",
            Self::Reg => "register",
            Self::Two => "2 registers",
            Self::Three => "3 registers",
            Self::RegOrNone => "register or none",
            Self::IfFlagged => "register, if flagged",
            Self::UnlessZero => "register, unless c is 0",
            Self::End => "register + 1, or 0",
            Self::Counted => "c registers",
            Self::Pairs => "2c registers",
            Self::Callee => "callee and c arguments",
            Self::Flagged => "a register for each flag",
            Self::Rest => "registers by the next word",
            Self::Count => "count",
            Self::Flag => "whether",
            Self::Immediate | Self::Integer => "integer",
            Self::Constant | Self::WideConstant => "constant",
            Self::Name => "name",
            Self::Site | Self::WideSite => "site",
            Self::Code => "code",
            Self::Target => "instruction",
            Self::Distance | Self::Ahead => "distance",
        }
    }

    /// Whether the operand continues in the next one.
    pub const fn is_wide(self) -> bool {
        matches!(self, Self::Integer | Self::WideConstant | Self::WideSite | Self::Target)
    }
}
