//! Makes syntax nodes, all at the place of the statement that they stand for, so that a traceback shows the author's line.

use super::{AT, FRAME};
use ruff_python_ast::name::Name;
use ruff_python_ast::{
    Alias, Arguments, AtomicNodeIndex, BoolOp, CmpOp, Decorator, ElifElseClause, ExceptHandler, ExceptHandlerExceptHandler, Expr,
    ExprAttribute, ExprBoolOp, ExprBooleanLiteral, ExprCall, ExprCompare, ExprContext, ExprIf, ExprName, ExprNoneLiteral,
    ExprNumberLiteral, ExprSubscript, ExprTuple, ExprUnaryOp, Identifier, Number, Stmt, StmtAssign, StmtExpr, StmtIf, StmtImportFrom,
    StmtRaise, StmtReturn, StmtTry, StmtWhile, StringLiteral, StringLiteralFlags, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};

/// The last part of a name: `continuation` of `runner.continuation`.
pub(super) fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// A maker of nodes at one place.
#[derive(Clone, Copy)]
pub(super) struct Build {
    range: TextRange,
}

impl Build {
    pub(super) fn at(range: TextRange) -> Self {
        Self { range }
    }

    pub(super) fn of(node: &impl Ranged) -> Self {
        Self { range: node.range() }
    }

    pub(super) fn range(&self) -> TextRange {
        self.range
    }

    pub(super) fn index(&self) -> AtomicNodeIndex {
        AtomicNodeIndex::NONE
    }

    pub(super) fn name(&self, name: &str) -> Identifier {
        Identifier { id: Name::from(name), range: self.range, node_index: self.index() }
    }

    fn named(&self, name: &str, ctx: ExprContext) -> Expr {
        Expr::Name(ExprName { node_index: self.index(), range: self.range, id: Name::from(name), ctx })
    }

    pub(super) fn load(&self, name: &str) -> Expr {
        self.named(name, ExprContext::Load)
    }

    pub(super) fn text(&self, text: &str) -> Expr {
        let (range, node_index, flags) = (self.range, self.index(), StringLiteralFlags::empty());
        Expr::from(StringLiteral { range, node_index, value: text.into(), flags })
    }

    pub(super) fn texts(&self, texts: &[String]) -> Expr {
        let elts = texts.iter().map(|text| self.text(text)).collect();
        Expr::Tuple(ExprTuple { node_index: self.index(), range: self.range, elts, ctx: ExprContext::Load, parenthesized: true })
    }

    pub(super) fn truth(&self, value: bool) -> Expr {
        Expr::BooleanLiteral(ExprBooleanLiteral { node_index: self.index(), range: self.range, value })
    }

    pub(super) fn none(&self) -> Expr {
        Expr::NoneLiteral(ExprNoneLiteral { node_index: self.index(), range: self.range })
    }

    pub(super) fn number(&self, value: i64) -> Expr {
        let number = Number::Int(value.unsigned_abs().into());
        let digits = Expr::NumberLiteral(ExprNumberLiteral { node_index: self.index(), range: self.range, value: number });
        if value < 0 { self.unary(UnaryOp::USub, digits) } else { digits }
    }

    fn unary(&self, op: UnaryOp, operand: Expr) -> Expr {
        Expr::UnaryOp(ExprUnaryOp { node_index: self.index(), range: self.range, op, operand: Box::new(operand) })
    }

    pub(super) fn not(&self, operand: Expr) -> Expr {
        self.unary(UnaryOp::Not, operand)
    }

    pub(super) fn both(&self, op: BoolOp, left: Expr, right: Expr) -> Expr {
        Expr::BoolOp(ExprBoolOp { node_index: self.index(), range: self.range, op, values: vec![left, right] })
    }

    pub(super) fn compare(&self, left: Expr, op: CmpOp, right: Expr) -> Expr {
        let (ops, comparators) = ([op].into(), [right].into());
        Expr::Compare(ExprCompare { node_index: self.index(), range: self.range, left: Box::new(left), ops, comparators })
    }

    pub(super) fn choose(&self, test: Expr, body: Expr, orelse: Expr) -> Expr {
        let (test, body, orelse) = (Box::new(test), Box::new(body), Box::new(orelse));
        Expr::If(ExprIf { node_index: self.index(), range: self.range, test, body, orelse })
    }

    /// `$at <op> number`
    pub(super) fn is_at(&self, op: CmpOp, number: i64) -> Expr {
        self.compare(self.load(AT), op, self.number(number))
    }

    /// Whether the function runs, and is not on its way back to an await.
    pub(super) fn runs(&self) -> Expr {
        self.is_at(CmpOp::Eq, -1)
    }

    /// Whether the function continues, and is not just being left.
    pub(super) fn stays(&self) -> Expr {
        self.not(self.attribute(self.load(FRAME), "left"))
    }

    pub(super) fn attribute(&self, value: Expr, name: &str) -> Expr {
        let (value, attr) = (Box::new(value), self.name(name));
        Expr::Attribute(ExprAttribute { node_index: self.index(), range: self.range, value, attr, ctx: ExprContext::Load })
    }

    pub(super) fn call_of(&self, func: Expr, args: Vec<Expr>) -> Expr {
        let arguments = Arguments { range: self.range, node_index: self.index(), args: args.into(), keywords: [].into() };
        Expr::Call(ExprCall { node_index: self.index(), range_start: self.range.start(), func: Box::new(func), arguments })
    }

    /// A call of one of the frame's methods.
    pub(super) fn call(&self, method: &str, args: Vec<Expr>) -> Expr {
        self.call_of(self.attribute(self.load(FRAME), method), args)
    }

    pub(super) fn assign(&self, name: &str, value: Expr) -> Stmt {
        self.assign_to(self.named(name, ExprContext::Store), value)
    }

    pub(super) fn assign_to(&self, target: Expr, value: Expr) -> Stmt {
        Stmt::Assign(StmtAssign { node_index: self.index(), range: self.range, targets: vec![target], value: Box::new(value) })
    }

    pub(super) fn expression(&self, value: Expr) -> Stmt {
        Stmt::Expr(StmtExpr { node_index: self.index(), range: self.range, value: Box::new(value) })
    }

    pub(super) fn return_(&self, value: Expr) -> Stmt {
        Stmt::Return(StmtReturn { node_index: self.index(), range: self.range, value: Some(Box::new(value)) })
    }

    pub(super) fn raise_again(&self) -> Stmt {
        Stmt::Raise(StmtRaise { node_index: self.index(), range: self.range, exc: None, cause: None })
    }

    pub(super) fn if_(&self, test: Expr, body: Vec<Stmt>, orelse: Vec<Stmt>) -> Stmt {
        let mut elif_else_clauses = Vec::new();
        if !orelse.is_empty() {
            elif_else_clauses.push(ElifElseClause { range: self.range, node_index: self.index(), test: None, body: orelse.into() });
        }
        Stmt::If(StmtIf { node_index: self.index(), range: self.range, test: Box::new(test), body: body.into(), elif_else_clauses })
    }

    pub(super) fn while_(&self, test: Expr, body: Vec<Stmt>, orelse: Vec<Stmt>) -> Stmt {
        let (test, body, orelse) = (Box::new(test), body.into(), orelse.into());
        Stmt::While(StmtWhile { node_index: self.index(), range: self.range, test, body, orelse })
    }

    pub(super) fn try_(&self, body: Vec<Stmt>, handlers: Vec<ExceptHandler>, orelse: Vec<Stmt>, finalbody: Vec<Stmt>) -> Stmt {
        let (body, orelse, finalbody) = (body.into(), orelse.into(), finalbody.into());
        Stmt::Try(StmtTry { node_index: self.index(), range: self.range, body, handlers, orelse, finalbody, is_star: false })
    }

    pub(super) fn handler(&self, type_: Option<Box<Expr>>, name: Option<Identifier>, body: Vec<Stmt>) -> ExceptHandler {
        let (range, node_index, body) = (self.range, self.index(), body.into());
        ExceptHandler::ExceptHandler(ExceptHandlerExceptHandler { range, node_index, type_, name, body })
    }

    pub(super) fn decorator(&self, expression: Expr) -> Decorator {
        Decorator { range: self.range, node_index: self.index(), expression }
    }

    pub(super) fn import(&self, module: &str, name: &str, alias: &str) -> Stmt {
        let (range, node_index) = (self.range, self.index());
        let names = vec![Alias { range, node_index: self.index(), name: self.name(name), asname: Some(self.name(alias)) }];
        Stmt::ImportFrom(StmtImportFrom { node_index, range, module: Some(self.name(module)), names, level: 0, is_lazy: false })
    }

    /// What a leavable function begins with: where it goes back to, and what its names held.
    pub(super) fn prologue(&self, names: &[String]) -> Vec<Stmt> {
        let kept = || self.attribute(self.load(FRAME), "values");
        let restore = |name: &String| {
            let (value, slice) = (Box::new(kept()), Box::new(self.text(name)));
            let item = Expr::Subscript(ExprSubscript { node_index: self.index(), range: self.range, value, slice, ctx: ExprContext::Load });
            self.if_(self.compare(self.text(name), CmpOp::In, kept()), vec![self.assign(name, item)], vec![])
        };
        let mut statements = vec![self.assign(AT, self.attribute(self.load(FRAME), "at"))];
        if !names.is_empty() {
            statements.push(self.if_(self.is_at(CmpOp::NotEq, -1), names.iter().map(restore).collect(), vec![]));
        }
        statements
    }
}
