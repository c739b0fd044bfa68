//! The second step: blocks that can be entered in the middle.

use super::build::Build;
use super::plan::{Plan, handlers_await};
use super::{AT, FRAME, awaits, has_await};
use ruff_python_ast::{BoolOp, CmpOp, ExceptHandler, Expr, Stmt, StmtFor, StmtIf, StmtTry, StmtWhile, StmtWith, Suite};
use ruff_text_size::Ranged;

/// A function whose awaits are statements of their own.
pub(super) struct Blocks<'a> {
    pub(super) plan: &'a Plan,
    /// Awaits met so far.
    pub(super) awaits: usize,
    /// Blocks with names of their own so far.
    pub(super) blocks: usize,
}

/// The number of an await, as the compiled code compares it.
fn number(count: usize) -> i64 {
    i64::try_from(count).expect("a function holds few awaits")
}

impl Blocks<'_> {
    /// The number of the last await met, -1 before the first.
    fn last(&self) -> i64 {
        number(self.awaits) - 1
    }

    fn block_number(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    pub(super) fn block(&mut self, statements: Suite) -> Vec<Stmt> {
        let last = statements.iter().rposition(awaits);
        let (mut lowered, mut plain) = (Vec::new(), Vec::new());
        for (place, stmt) in statements.into_iter().enumerate() {
            if !awaits(&stmt) {
                plain.push(stmt);
                continue;
            }
            if let Some(first) = plain.first() {
                let build = Build::of(first);
                lowered.push(build.if_(build.runs(), std::mem::take(&mut plain), vec![]));
            }
            let build = Build::of(&stmt);
            let made = self.statement(stmt);
            if last.is_some_and(|last| place < last) {
                lowered.push(build.if_(build.is_at(CmpOp::LtE, self.last()), made, vec![]));
            } else {
                lowered.extend(made);
            }
        }
        lowered.extend(plain);
        lowered
    }

    fn statement(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::If(node) => self.if_statement(node),
            Stmt::While(node) => self.while_statement(node),
            Stmt::For(node) => self.for_statement(node),
            Stmt::With(node) => self.with_statement(node),
            Stmt::Try(node) => self.try_statement(node),
            Stmt::Assign(node) => self.await_statement(node),
            _ => unreachable!("check_places refused every await that is no assignment of its own"),
        }
    }

    fn await_statement(&mut self, node: ruff_python_ast::StmtAssign) -> Vec<Stmt> {
        let build = Build::of(&node);
        let count = self.awaits;
        self.awaits += 1;
        let target = format!("$t{count}");
        let Expr::Await(awaited) = *node.value else { unreachable!("check_places refused every await that is no assignment of its own") };
        let begins = build.assign(&target, build.call("wait", vec![*awaited.value]));
        let returns = vec![build.assign(AT, build.number(-1)), build.assign(&target, build.call("resume", vec![]))];
        let names = build.texts(self.plan.names(count));
        let everything = build.call_of(build.load("locals"), vec![]);
        let leave = build.call("leave", vec![build.number(number(count)), names, everything]);
        let is_left = build.compare(build.load(&target), CmpOp::Is, build.load(FRAME));
        vec![build.if_(build.runs(), vec![begins], returns), build.if_(is_left, vec![build.return_(leave)], vec![])]
    }

    fn if_statement(&mut self, mut node: StmtIf) -> Vec<Stmt> {
        let build = Build::of(&node);
        let before = self.awaits;
        let body = self.block(node.body);
        let back = if self.awaits > before { self.last() } else { -2 };
        let test = build.choose(build.runs(), *node.test, build.is_at(CmpOp::LtE, back));
        let orelse = node.elif_else_clauses.pop().map_or_else(Vec::new, |clause| self.block(clause.body));
        vec![build.if_(test, body, orelse)]
    }

    fn while_statement(&mut self, node: StmtWhile) -> Vec<Stmt> {
        let build = Build::of(&node);
        let mut body = vec![build.if_(build.runs(), vec![build.expression(build.call("turn", vec![]))], vec![])];
        body.extend(self.block(node.body));
        let test = build.both(BoolOp::Or, build.is_at(CmpOp::NotEq, -1), *node.test);
        vec![build.while_(test, body, node.orelse.into_iter().collect())]
    }

    fn for_statement(&mut self, node: StmtFor) -> Vec<Stmt> {
        let build = Build::of(&node);
        let name = format!("$i{}", self.block_number());
        let ask = |method: &str| build.call_of(build.attribute(build.load(&name), method), vec![]);
        let starts = build.if_(build.runs(), vec![build.assign(&name, build.call("iterate", vec![*node.iter]))], vec![]);
        let turn = vec![build.expression(build.call("turn", vec![])), build.assign_to(*node.target, ask("take"))];
        let mut body = vec![build.if_(build.runs(), turn, vec![])];
        body.extend(self.block(node.body));
        let test = build.both(BoolOp::Or, build.is_at(CmpOp::NotEq, -1), ask("more"));
        vec![starts, build.while_(test, body, node.orelse.into_iter().collect())]
    }

    fn with_statement(&mut self, mut node: StmtWith) -> Vec<Stmt> {
        let build = Build::of(&node);
        let item = node.items.pop().expect("a with statement has an item");
        let count = self.block_number();
        let (manager, open, error) = (format!("$w{count}"), format!("$x{count}"), format!("$e{count}"));
        let entered = build.call("enter", vec![build.load(&manager)]);
        let enters = match item.optional_vars {
            Some(target) => build.assign_to(*target, entered),
            None => build.expression(entered),
        };
        let begins = build.if_(build.runs(), vec![build.assign(&manager, item.context_expr), enters], vec![]);
        let tells = build.call("exit", vec![build.load(&manager), build.load(&error)]);
        let fails = vec![build.assign(&open, build.truth(false)), build.if_(build.not(tells), vec![build.raise_again()], vec![])];
        let handler = build.handler(Some(Box::new(build.load("BaseException"))), Some(build.name(&error)), fails);
        let closes = build.expression(build.call("exit", vec![build.load(&manager), build.none()]));
        let closes = build.if_(build.both(BoolOp::And, build.load(&open), build.stays()), vec![closes], vec![]);
        let guarded = build.try_(self.block(node.body), vec![handler], vec![], vec![closes]);
        vec![begins, build.assign(&open, build.truth(true)), guarded]
    }

    fn try_statement(&mut self, mut node: StmtTry) -> Vec<Stmt> {
        let build = Build::of(&node);
        let finalbody = std::mem::take(&mut node.finalbody);
        let made = if handlers_await(&node) {
            self.handlers(node)
        } else {
            let body = self.block(node.body);
            if node.handlers.is_empty() { body } else { vec![build.try_(body, node.handlers, node.orelse.into_iter().collect(), vec![])] }
        };
        if finalbody.is_empty() {
            return made;
        }
        let last = build.if_(build.stays(), finalbody.into_iter().collect(), vec![]);
        vec![build.try_(made, vec![], vec![], vec![last])]
    }

    /// A try whose handlers or else await: the try only finds out which of them runs, and they stand behind it.
    fn handlers(&mut self, node: StmtTry) -> Vec<Stmt> {
        let build = Build::of(&node);
        let count = self.block_number();
        let (chosen, error) = (format!("$h{count}"), format!("$e{count}"));
        let before = self.awaits;
        let body = self.block(node.body);
        let attempt_last = if self.awaits > before { self.last() } else { -1 };
        let (mut handlers, mut branches) = (Vec::new(), Vec::new());
        for (place, ExceptHandler::ExceptHandler(handler)) in (1..).zip(node.handlers) {
            let at = Build::at(handler.range());
            if !has_await(&handler.body) {
                let mut inline = vec![at.assign(&chosen, at.number(-2))];
                inline.extend(handler.body);
                handlers.push(at.handler(handler.type_, handler.name, inline));
                continue;
            }
            let mut picks = vec![at.assign(&chosen, at.number(place))];
            let mut runs = Vec::new();
            if let Some(name) = &handler.name {
                picks.push(at.assign(&error, at.load(name.as_str())));
                runs.push(at.if_(at.runs(), vec![at.assign(name.as_str(), at.load(&error))], vec![]));
            }
            let start = number(self.awaits);
            runs.extend(self.block(handler.body));
            handlers.push(at.handler(handler.type_, handler.name, picks));
            branches.push((place, start, self.last(), runs));
        }
        if !node.orelse.is_empty() {
            let start = number(self.awaits);
            let runs = self.block(node.orelse);
            branches.push((0, start, self.last(), runs));
        }
        let attempt = vec![build.assign(&chosen, build.number(0)), build.try_(body, handlers, vec![], vec![])];
        let attempt = build.if_(build.is_at(CmpOp::LtE, attempt_last), attempt, vec![]);
        let mut chain = Vec::new();
        for (place, start, end, runs) in branches.into_iter().rev() {
            let back = build.both(BoolOp::And, build.is_at(CmpOp::GtE, start), build.is_at(CmpOp::LtE, end));
            let picked = build.compare(build.load(&chosen), CmpOp::Eq, build.number(place));
            chain = vec![build.if_(build.choose(build.runs(), picked, back), runs, chain)];
        }
        let mut made = vec![attempt];
        made.extend(chain);
        made
    }
}
