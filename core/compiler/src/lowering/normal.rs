//! The first step: each await becomes a statement of its own, `$tN = await ...`, before the statement that it stood in.

use super::build::Build;
use super::{CompileError, awaits, awaits_in, has_await};
use crate::nesting::NESTING_LIMIT;
use ruff_python_ast::visitor::transformer::{self, Transformer};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtFunctionDef, StmtIf, StmtTry, StmtWith, Suite};
use ruff_text_size::{Ranged, TextRange};
use std::cell::RefCell;

type Refused<T> = Result<T, CompileError>;

fn refuse<T>(name: &str, place: TextRange, message: &str) -> Refused<T> {
    Err(CompileError::forbidden(place, format!("{name}(): {message}")))
}

/// Refuses what no continuation may hold.
pub(super) fn check_shape(def: &StmtFunctionDef) -> Refused<()> {
    let is_bounded = def.decorator_list.iter().any(|decorator| super::is_called(decorator, "bounded_loop"));
    let mut shape = Shape { name: def.name.as_str(), is_bounded, result: Ok(()) };
    shape.visit_body(&def.body);
    shape.result
}

struct Shape<'a> {
    name: &'a str,
    is_bounded: bool,
    result: Refused<()>,
}

impl Shape<'_> {
    fn refuse(&mut self, place: TextRange, message: &str) {
        if self.result.is_ok() {
            self.result = refuse(self.name, place, message);
        }
    }
}

impl<'a> Visitor<'a> for Shape<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::For(node) if has_await(&node.body) && !self.is_bounded => {
                self.refuse(node.range, "a loop that awaits needs a bound: add @bounded_loop(max_iterations=N)");
            }
            Stmt::While(node) if has_await(&node.body) && !self.is_bounded => {
                self.refuse(node.range, "a loop that awaits needs a bound: add @bounded_loop(max_iterations=N)");
            }
            Stmt::Nonlocal(node) => self.refuse(node.range, "a continuation cannot share names with an outer function"),
            Stmt::FunctionDef(def) => {
                if has_await(&def.body) {
                    self.refuse(def.range, "a function inside a continuation cannot await: make it a method");
                }
                return;
            }
            Stmt::ClassDef(_) => return,
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(_) => return,
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.refuse(expr.range(), "a continuation cannot yield: collect values in a list and return it");
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) if awaits_in(expr) => {
                self.refuse(expr.range(), "a comprehension cannot await: write a loop");
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

/// One function on its way to this form.
pub(super) struct Normal<'a> {
    name: &'a str,
    /// Awaits so far.
    pub(super) awaits: usize,
    /// Blocks with names of their own so far.
    pub(super) blocks: usize,
    /// Blocks inside one another that are being looked at. An `elif` and a second item of a `with` are blocks of their own here.
    depth: usize,
}

impl<'a> Normal<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Self { name, awaits: 0, blocks: 0, depth: 0 }
    }

    fn refuse<T>(&self, place: TextRange, message: &str) -> Refused<T> {
        refuse(self.name, place, message)
    }

    pub(super) fn block(&mut self, statements: Suite) -> Refused<Suite> {
        let mut made = Suite::new();
        for stmt in statements {
            if awaits(&stmt) {
                made.extend(self.statement(stmt)?);
            } else {
                made.push(stmt);
            }
        }
        Ok(made)
    }

    /// Takes the awaits out of an expression.
    fn take(&mut self, expr: &mut Expr, before: &mut Vec<Stmt>) -> Refused<()> {
        if !awaits_in(expr) {
            return Ok(());
        }
        let takes = Takes(RefCell::new(Taking { awaits: self.awaits, before: Vec::new(), called: None, refused: None }));
        takes.visit_expr(expr);
        let taking = takes.0.into_inner();
        self.awaits = taking.awaits;
        before.extend(taking.before);
        taking.refused.map_or(Ok(()), |(place, message)| self.refuse(place, message))
    }

    fn statement(&mut self, mut stmt: Stmt) -> Refused<Vec<Stmt>> {
        let mut before = Vec::new();
        match &mut stmt {
            Stmt::If(_) | Stmt::For(_) | Stmt::While(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Match(_) => return self.compound(stmt),
            Stmt::Assign(node) => {
                // One walk over value and targets, in the order of evaluation.
                self.take(&mut node.value, &mut before)?;
                for target in &mut node.targets {
                    self.take(target, &mut before)?;
                }
            }
            Stmt::AnnAssign(node) => {
                if let Some(value) = &mut node.value {
                    self.take(value, &mut before)?;
                }
            }
            Stmt::AugAssign(node) if !node.target.is_name_expr() => {
                return self.refuse(node.range, "the old value is read before the await: await first, then add");
            }
            Stmt::AugAssign(node) => self.take(&mut node.value, &mut before)?,
            Stmt::Expr(node) => {
                self.take(&mut node.value, &mut before)?;
                if node.value.is_name_expr() {
                    return Ok(before);
                }
            }
            Stmt::Return(node) => {
                if let Some(value) = &mut node.value {
                    self.take(value, &mut before)?;
                }
            }
            Stmt::Raise(node) => {
                for part in [&mut node.exc, &mut node.cause].into_iter().flatten() {
                    self.take(part, &mut before)?;
                }
            }
            Stmt::Assert(node) => {
                self.take(&mut node.test, &mut before)?;
                if let Some(words) = node.msg.as_ref().filter(|words| awaits_in(words)) {
                    return self.refuse(words.range(), "an assertion's words cannot await");
                }
            }
            other => return self.refuse(other.range(), "this statement cannot await: await before it, and use the result"),
        }
        before.push(stmt);
        Ok(before)
    }

    fn compound(&mut self, stmt: Stmt) -> Refused<Vec<Stmt>> {
        let blocks = if let Stmt::With(node) = &stmt { node.items.len() } else { 1 };
        if self.depth.saturating_add(blocks) > NESTING_LIMIT {
            return Err(CompileError::too_large(
                stmt.range(),
                "too many blocks or elif clauses around an await: move it into a helper method",
            ));
        }
        self.depth += 1;
        let made = self.compound_inner(stmt);
        self.depth -= 1;
        made
    }

    fn compound_inner(&mut self, stmt: Stmt) -> Refused<Vec<Stmt>> {
        let mut before = Vec::new();
        let made = match stmt {
            Stmt::If(node) => Stmt::If(self.if_statement(node, &mut before)?),
            Stmt::For(node) if node.is_async => return self.refuse(node.range, "async for waits for nothing here: use for"),
            Stmt::For(mut node) => {
                self.check_else(&node.orelse)?;
                self.take(&mut node.iter, &mut before)?;
                node.body = self.block(node.body)?;
                Stmt::For(node)
            }
            Stmt::While(mut node) => {
                if awaits_in(&node.test) {
                    let message = "a loop's condition cannot await: await before the loop and at the end of its body";
                    return self.refuse(node.test.range(), message);
                }
                self.check_else(&node.orelse)?;
                node.body = self.block(node.body)?;
                Stmt::While(node)
            }
            Stmt::Match(mut node) => {
                if node.cases.iter().any(|case| has_await(&case.body) || case.guard.as_deref().is_some_and(awaits_in)) {
                    return self.refuse(node.range, "a case cannot await: remember what matched, and await behind the match");
                }
                self.take(&mut node.subject, &mut before)?;
                Stmt::Match(node)
            }
            Stmt::With(node) => return self.with_statement(node),
            Stmt::Try(node) => Stmt::Try(self.try_statement(node)?),
            _ => unreachable!("the caller looked at the kind"),
        };
        before.push(made);
        Ok(before)
    }

    fn check_else(&self, orelse: &[Stmt]) -> Refused<()> {
        match orelse.first() {
            Some(first) if has_await(orelse) => self.refuse(first.range(), "a loop's else cannot await: move it behind the loop"),
            _ => Ok(()),
        }
    }

    /// An `if` whose `elif`s stand in its `else`, so that each condition has a place before it.
    fn if_statement(&mut self, mut node: StmtIf, before: &mut Vec<Stmt>) -> Refused<StmtIf> {
        self.take(&mut node.test, before)?;
        node.body = self.block(node.body)?;
        let mut clauses = std::mem::take(&mut node.elif_else_clauses).into_iter();
        let Some(first) = clauses.next() else { return Ok(node) };
        let build = Build::at(first.range);
        let otherwise: Suite = match first.test {
            None => first.body,
            Some(test) => {
                let (range, node_index, test) = (first.range, build.index(), Box::new(test));
                [Stmt::If(StmtIf { range, node_index, test, body: first.body, elif_else_clauses: clauses.collect() })].into_iter().collect()
            }
        };
        let body = self.block(otherwise)?;
        node.elif_else_clauses =
            vec![ruff_python_ast::ElifElseClause { range: build.range(), node_index: build.index(), test: None, body }];
        Ok(node)
    }

    fn with_statement(&mut self, mut node: StmtWith) -> Refused<Vec<Stmt>> {
        let mut before = Vec::new();
        if node.items.len() > 1 {
            let items = node.items.split_off(1);
            let (range, node_index, is_async) = (node.range, Build::of(&node).index(), node.is_async);
            let inner = StmtWith { node_index, range, is_async, items, body: std::mem::take(&mut node.body) };
            node.body.push(Stmt::With(inner));
        }
        let first = node.items.first_mut().expect("a with statement has an item");
        self.take(&mut first.context_expr, &mut before)?;
        if !node.is_async {
            node.body = self.block(node.body)?;
            before.push(Stmt::With(node));
            return Ok(before);
        }
        if has_await(&node.body) {
            return self.refuse(node.range, "a task group cannot await inside: its jobs start together where its block ends");
        }
        let build = Build::at(node.range);
        let name = format!("$w{}", self.blocks);
        self.blocks += 1;
        let item = node.items.pop().expect("a with statement has an item");
        before.push(build.assign(&name, item.context_expr));
        if let Some(target) = item.optional_vars {
            before.push(build.assign_to(*target, build.load(&name)));
        }
        before.extend(node.body);
        before.push(build.assign(&temporary(&mut self.awaits), awaited(&build, build.load(&name))));
        Ok(before)
    }

    fn try_statement(&mut self, mut node: StmtTry) -> Refused<StmtTry> {
        if node.is_star {
            return self.refuse(node.range, "except* around an await is not supported: use except");
        }
        if let Some(first) = node.finalbody.first().filter(|_| has_await(&node.finalbody)) {
            return self.refuse(first.range(), "finally cannot await: move the await behind the try statement");
        }
        node.body = self.block(node.body)?;
        for ExceptHandler::ExceptHandler(handler) in &mut node.handlers {
            if has_await(&handler.body) {
                let mut again = RaisesAgain(None);
                again.visit_body(&handler.body);
                if let Some(place) = again.0 {
                    let message = "a handler that awaits cannot raise again: name the exception, and raise it before the await";
                    return self.refuse(place, message);
                }
                handler.body = self.block(std::mem::take(&mut handler.body))?;
            }
        }
        node.orelse = self.block(node.orelse)?;
        Ok(node)
    }
}

/// Refuses awaits in places that are evaluated where no statement can stand before them: targets, annotations, guards, exception types.
pub(super) fn check_places(name: &str, body: &[Stmt]) -> Refused<()> {
    let mut places = Places(None);
    places.visit_body(body);
    places.0.map_or(Ok(()), |place| refuse(name, place, "an await cannot stand here: await first, and use the result"))
}

struct Places(Option<TextRange>);

impl<'a> Visitor<'a> for Places {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(node) => match &*node.value {
                Expr::Await(awaited) => self.visit_expr(&awaited.value),
                _ => visitor::walk_stmt(self, stmt),
            },
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if expr.is_await_expr() {
            self.0 = self.0.or(Some(expr.range()));
        }
        visitor::walk_expr(self, expr);
    }
}

/// The next await's name.
fn temporary(awaits: &mut usize) -> String {
    let name = format!("$t{awaits}");
    *awaits += 1;
    name
}

fn awaited(build: &Build, value: Expr) -> Expr {
    let (node_index, range, value) = (build.index(), build.range(), Box::new(value));
    Expr::Await(ruff_python_ast::ExprAwait { node_index, range, value })
}

/// Finds a bare `raise`.
struct RaisesAgain(Option<TextRange>);

impl<'a> Visitor<'a> for RaisesAgain {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::Raise(node) if node.exc.is_none() => self.0 = self.0.or(Some(node.range)),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }
}

/// Takes awaits out of one statement, in the order in which they happen.
struct Takes(RefCell<Taking>);

struct Taking {
    awaits: usize,
    before: Vec<Stmt>,
    /// A call that is done before the next await.
    called: Option<TextRange>,
    refused: Option<(TextRange, &'static str)>,
}

impl Takes {
    fn refuse(&self, place: TextRange, message: &'static str) {
        self.0.borrow_mut().refused.get_or_insert((place, message));
    }
}

impl Transformer for Takes {
    fn visit_expr(&self, expr: &mut Expr) {
        match expr {
            Expr::Lambda(_) => return,
            Expr::Await(node) => {
                let called = self.0.borrow().called;
                if let Some(place) = called {
                    self.refuse(place, "this call comes before an await in the same statement: give its result a name first");
                }
                self.visit_expr(&mut node.value);
                let build = Build::at(node.range);
                let value = std::mem::replace(&mut *node.value, build.none());
                let mut taking = self.0.borrow_mut();
                taking.called = None;
                let name = temporary(&mut taking.awaits);
                taking.before.push(build.assign(&name, awaited(&build, value)));
                *expr = build.load(&name);
                return;
            }
            Expr::BoolOp(node) if node.values.iter().skip(1).any(awaits_in) => {
                self.refuse(node.range, "'and' and 'or' may not get to their await: use an if statement");
            }
            Expr::If(node) if awaits_in(&node.body) || awaits_in(&node.orelse) => {
                self.refuse(node.range, "a conditional expression may not get to its await: use an if statement");
            }
            Expr::Compare(node) if node.ops.len() > 1 && node.comparators.iter().any(awaits_in) => {
                self.refuse(node.range, "a chain of comparisons may not get to its await: name the result first");
            }
            _ => {}
        }
        transformer::walk_expr(self, expr);
        if let Expr::Call(node) = expr {
            self.0.borrow_mut().called = Some(node.range());
        }
    }
}
