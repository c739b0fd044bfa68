//! The binary operators.

use crate::types::nm;
use crate::value::Ref;
use cowboy_compiler::opcode::Op;

macro_rules! binary_operators {
    ($($variant:ident $symbol:literal $method:ident $reflected:ident $inplace:ident;)*) => {
        /// A binary operator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum BinaryOp { $(#[doc = $symbol] $variant,)* }

        impl BinaryOp {
            /// How messages write it.
            pub(crate) fn symbol(self) -> &'static str {
                match self { $(BinaryOp::$variant => $symbol,)* }
            }

            /// Names of the method, the reflected and the augmented one.
            pub(crate) fn methods(self) -> (Ref, Ref, Ref) {
                match self { $(BinaryOp::$variant => (nm::$method, nm::$reflected, nm::$inplace),)* }
            }
        }
    };
}

binary_operators! {
    Add "+" ADD RADD IADD;
    Sub "-" SUB RSUB ISUB;
    Mul "*" MUL RMUL IMUL;
    TrueDiv "/" TRUEDIV RTRUEDIV ITRUEDIV;
    FloorDiv "//" FLOORDIV RFLOORDIV IFLOORDIV;
    Mod "%" MOD RMOD IMOD;
    Pow "** or pow()" POW RPOW IPOW;
    LeftShift "<<" LSHIFT RLSHIFT ILSHIFT;
    RightShift ">>" RSHIFT RRSHIFT IRSHIFT;
    And "&" AND RAND IAND;
    Or "|" OR ROR IOR;
    Xor "^" XOR RXOR IXOR;
    MatMul "@" MATMUL RMATMUL IMATMUL;
    DivMod "divmod()" DIVMOD RDIVMOD DIVMOD;
}

impl BinaryOp {
    /// The operator of an instruction with two registers as operands.
    #[inline]
    pub(crate) fn of(op: Op) -> Option<Self> {
        Some(match op {
            Op::Add => BinaryOp::Add,
            Op::Sub => BinaryOp::Sub,
            Op::Mul => BinaryOp::Mul,
            Op::TrueDiv => BinaryOp::TrueDiv,
            Op::FloorDiv => BinaryOp::FloorDiv,
            Op::Mod => BinaryOp::Mod,
            Op::Pow => BinaryOp::Pow,
            Op::LeftShift => BinaryOp::LeftShift,
            Op::RightShift => BinaryOp::RightShift,
            Op::And => BinaryOp::And,
            Op::Or => BinaryOp::Or,
            Op::Xor => BinaryOp::Xor,
            Op::MatMul => BinaryOp::MatMul,
            _ => return None,
        })
    }
}
