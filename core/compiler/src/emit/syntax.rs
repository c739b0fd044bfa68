//! What the statements of a body say of it, without compiling them.

use ruff_python_ast::{Expr, Stmt};

/// The documentation text at the head of a body.
pub(super) fn docstring(body: &[Stmt]) -> Option<String> {
    match body.first()? {
        Stmt::Expr(statement) => match &*statement.value {
            Expr::StringLiteral(literal) => Some(literal.value.to_str().to_owned()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the statement, or one inside it of the same scope, annotates a variable.
pub(super) fn has_annotation(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::AnnAssign(_) => true,
        Stmt::If(node) => {
            node.body.iter().any(has_annotation) || node.elif_else_clauses.iter().any(|clause| clause.body.iter().any(has_annotation))
        }
        Stmt::For(node) => node.body.iter().chain(&node.orelse).any(has_annotation),
        Stmt::While(node) => node.body.iter().chain(&node.orelse).any(has_annotation),
        Stmt::With(node) => node.body.iter().any(has_annotation),
        Stmt::Try(node) => node.body.iter().chain(&node.orelse).chain(&node.finalbody).any(has_annotation),
        _ => false,
    }
}
