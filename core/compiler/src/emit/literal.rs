//! Literals: expressions that are known when a program is compiled.

use crate::code::Const;
use cowboy_num::{F64, int::parse_int};
use ruff_python_ast::{Expr, Number, UnaryOp};

/// The literal that an expression is, after folding tuples and negation.
pub(super) fn literal(expr: &Expr) -> Option<Const> {
    Some(match expr {
        Expr::NoneLiteral(_) => Const::None,
        Expr::EllipsisLiteral(_) => Const::Ellipsis,
        Expr::BooleanLiteral(literal) => Const::Bool(literal.value),
        Expr::StringLiteral(literal) => Const::Str(literal.value.to_str().to_owned()),
        Expr::BytesLiteral(literal) => Const::Bytes(literal.value.bytes().collect()),
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(value) => match value.as_i64() {
                Some(value) => Const::Int(value),
                None => Const::BigInt(parse_int(&value.to_string(), 0).ok()?),
            },
            Number::Float(value) => Const::Float(F64(value.to_bits())),
            Number::Complex { imag, .. } => Const::Imaginary(F64(imag.to_bits())),
        },
        Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => match literal(&unary.operand)? {
            Const::Int(value) => value.checked_neg().map(Const::Int)?,
            Const::BigInt(value) => {
                let value = -value;
                i64::try_from(value.clone()).map_or(Const::BigInt(value), Const::Int)
            }
            Const::Float(value) => Const::Float(F64(value.0 ^ (1 << 63))),
            _ => return None,
        },
        Expr::Tuple(tuple) => Const::Tuple(tuple.elts.iter().map(literal).collect::<Option<_>>()?),
        _ => return None,
    })
}

pub(super) fn small_literal(expr: &Expr) -> Option<u16> {
    match literal(expr)? {
        Const::Int(value) => i16::try_from(value).ok().map(|value| u16::from_ne_bytes(value.to_ne_bytes())),
        _ => None,
    }
}

/// The truth of a literal test.
pub(super) fn constant_truth(expr: &Expr) -> Option<bool> {
    Some(match literal(expr)? {
        Const::None => false,
        Const::Ellipsis => true,
        Const::Bool(value) => value,
        Const::Int(value) => value != 0,
        Const::BigInt(_) => true,
        Const::Float(value) | Const::Imaginary(value) => value.0 << 1 != 0,
        Const::Str(value) => !value.is_empty(),
        Const::Bytes(value) => !value.is_empty(),
        Const::Tuple(value) => !value.is_empty(),
    })
}
