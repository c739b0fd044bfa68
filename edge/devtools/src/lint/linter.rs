//! The walk through a source that finds what surprises.

use super::{Finding, finding, rules::*};
use ruff_python_ast::{
    Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};
use std::collections::BTreeSet;

struct Linter<'a> {
    source: &'a str,
    found: Vec<Finding>,
    /// Whether this is the body of an actor's class.
    in_actor: bool,
    function: Option<Function>,
    facts: Facts,
    /// Places of jobs that something sends: an await, or what takes a job.
    sent: Vec<TextRange>,
}

/// What surprises in a source whose statements these are, in its order.
pub(super) fn surprises(source: &str, body: &[Stmt]) -> Vec<Finding> {
    let facts = Facts::of(body);
    let mut linter = Linter { source, found: Vec::new(), in_actor: false, function: None, facts, sent: Vec::new() };
    if linter.facts.is_uncallable {
        let range = body.iter().find(|statement| statement.is_class_def_stmt()).map_or(TextRange::default(), header);
        linter.warn(range, &NO_ACTOR, "the file has no actor class and no functions".to_owned());
    }
    linter.visit_body(body);
    linter.found.sort_by_key(|finding| (finding.line, finding.column));
    linter.found
}

/// What a whole file says about its parts.
#[derive(Default)]
struct Facts {
    /// Texts and attributes that are spelled anywhere: a handler that one of them names is reached by the actor itself.
    named: BTreeSet<String>,
    /// The methods of the actor.
    methods: BTreeSet<String>,
    /// Whether the actor inherits methods that this file does not show.
    is_derived: bool,
    /// Whether nothing in the file can be called: classes, none of them an actor, and no functions.
    is_uncallable: bool,
}

impl Facts {
    fn of(body: &[Stmt]) -> Self {
        let mut facts = Self::default();
        let (mut classes, mut actors, mut functions) = (0, 0, 0);
        for statement in body {
            match statement {
                Stmt::ClassDef(class) => {
                    classes += 1;
                    if is_marked(&class.decorator_list, &["actor"]) {
                        actors += 1;
                        facts.is_derived |= class.bases().iter().any(|base| name_of(base) != Some("Actor"));
                        let methods = class.body.iter().filter_map(Stmt::as_function_def_stmt);
                        facts.methods.extend(methods.map(|method| method.name.to_string()));
                    }
                }
                Stmt::FunctionDef(_) => functions += 1,
                _ => {}
            }
        }
        let uses_sdk = body.iter().any(|statement| match statement {
            Stmt::ImportFrom(import) => import.module.as_ref().is_some_and(|module| module.as_str().starts_with("cowboy_sdk")),
            _ => false,
        });
        facts.is_uncallable = uses_sdk && classes > 0 && actors == 0 && functions == 0;
        facts.visit_body(body);
        facts
    }
}

impl<'a> Visitor<'a> for Facts {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::StringLiteral(text) => {
                self.named.insert(text.value.to_str().to_owned());
            }
            Expr::Attribute(attribute) => {
                self.named.insert(attribute.attr.to_string());
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

/// The first line of a class or function.
fn header(statement: &Stmt) -> TextRange {
    match statement {
        Stmt::ClassDef(class) => class.name.range(),
        Stmt::FunctionDef(function) => function.name.range(),
        other => other.range(),
    }
}

/// Makers of jobs in `runner`, and what takes one that nobody awaited.
const JOBS: &[&str] = &["llm", "http", "mcp", "agent", "custom", "container"];
const SENDERS: &[&str] = &["within", "create_task", "tee_call"];
/// What schedules a handler: its name, and the place of the handler's name among the arguments.
const TIMERS: &[(&str, usize)] = &[("set_timer", 1), ("set_interval", 1), ("schedule_after", 1)];
/// Arguments that are amounts of money.
const MONEY: &[&str] = &["value", "amount", "endowment", "max_price", "tip"];

/// The function around a statement.
#[derive(Clone, Debug)]
struct Function {
    is_method: bool,
    is_init: bool,
    is_deferred: bool,
    is_handler: bool,
}

/// Handlers that the chain or the SDK calls by their names.
const CALLED: &[&str] = &["init", "handle_timer", "on_timer", "handle_message", "handle_http", "handle_result"];
/// What has its effect after the handler has returned.
const LATER: &[&str] = &["send", "transfer_balance"];

fn name_of(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        Expr::Call(call) => name_of(&call.func),
        _ => None,
    }
}

fn is_marked(decorators: &[Decorator], names: &[&str]) -> bool {
    decorators.iter().any(|decorator| name_of(&decorator.expression).is_some_and(|name| names.contains(&name)))
}

fn is_self(expression: &Expr) -> bool {
    matches!(expression, Expr::Name(name) if name.id.as_str() == "self")
}

impl Linter<'_> {
    fn warn(&mut self, range: TextRange, rule: &Rule, what: String) {
        self.found.push(finding(self.source, range, rule, what));
    }

    fn class(&mut self, class: &StmtClassDef) {
        let is_actor = is_marked(&class.decorator_list, &["actor"]);
        for statement in class.body.iter().filter(|_| is_actor) {
            let (target, value) = match statement {
                Stmt::Assign(assign) => (&assign.targets[0], Some(&*assign.value)),
                Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_deref()),
                _ => continue,
            };
            if value.is_some_and(is_mutable) {
                let name = name_of(target).unwrap_or_default();
                self.warn(target.range(), &MUTABLE_CLASS, format!("'{name}' is shared by all calls and kept by none"));
            }
        }
        let outer = std::mem::replace(&mut self.in_actor, is_actor);
        let function = self.function.take();
        self.visit_body(&class.body);
        self.function = function;
        self.in_actor = outer;
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        let name = function.name.as_str();
        let is_method = self.in_actor && self.function.is_none();
        let is_handler = is_method && !name.starts_with('_');
        if is_handler && function.decorator_list.is_empty() && !CALLED.contains(&name) && !self.facts.named.contains(name) {
            self.warn(function.name.range(), &UNREACHABLE, format!("no message from another sender can reach '{name}'"));
        }
        if is_handler && function.is_async && !is_marked(&function.decorator_list, &["continuation"]) && !self.facts.named.contains(name) {
            self.warn(function.name.range(), &NOT_CONTINUATION, format!("the async method '{name}' is not a continuation"));
        }
        for parameter in function.parameters.iter_non_variadic_params() {
            if let Some(default) = parameter.default.as_deref().filter(|default| is_mutable(default)) {
                self.warn(
                    default.range(),
                    &MUTABLE_DEFAULT,
                    format!("the default of '{}' is shared between calls", parameter.parameter.name),
                );
            }
        }
        let own = match (&self.function, is_method) {
            // A function in a handler is part of it.
            (Some(outer), _) => Function { is_method: outer.is_method, ..outer.clone() },
            (None, true) => Function {
                is_method,
                is_init: name == "__init__",
                // A continuation is deferred by itself: it continues after it returns.
                is_deferred: is_marked(&function.decorator_list, &["deferred", "continuation"]),
                is_handler,
            },
            (None, false) => Function { is_method: false, is_init: name == "__init__", is_deferred: false, is_handler: false },
        };
        let outer = self.function.replace(own);
        self.visit_body(&function.body);
        self.function = outer;
    }

    fn assigned(&mut self, target: &Expr, value: Option<&Expr>) {
        let Expr::Attribute(attribute) = target else { return };
        let function = self.function.clone();
        if is_self(&attribute.value) {
            if function.is_some_and(|function| function.is_method && !function.is_init) {
                self.warn(target.range(), &LOST_ATTRIBUTE, format!("self.{} does not survive this message", attribute.attr));
            }
        } else if value.is_some_and(is_self) && function.is_some_and(|function| !function.is_method) {
            self.warn(target.range(), &BACK_REFERENCE, "an object is given a reference to self".to_owned());
        }
    }

    fn called(&mut self, call: &ruff_python_ast::ExprCall) {
        let Some(name) = name_of(&call.func) else { return };
        let is_bare = matches!(&*call.func, Expr::Name(_));
        if name == "print" && is_bare && self.function.as_ref().is_some_and(|function| function.is_method) {
            self.warn(call.func.range(), &PRINT, "printed output on chain appears only in a trace".to_owned());
        }
        self.job(call, name);
        self.scheduled(call, name);
        self.money(call, name);
        let is_late =
            LATER.contains(&name) && (is_bare || matches!(&*call.func, Expr::Attribute(one) if name_of(&one.value) == Some("runtime")));
        if is_late && self.function.as_ref().is_some_and(|function| function.is_handler && !function.is_deferred) {
            self.warn(call.func.range(), &NOT_DEFERRED, format!("a handler that uses '{name}' is not marked @deferred"));
        }
    }
}

/// Whether an expression makes a float: a literal, a division, or a sum of these.
fn is_float(expression: &Expr) -> bool {
    match expression {
        Expr::NumberLiteral(number) => number.value.is_float(),
        Expr::BinOp(operation) => operation.op == ruff_python_ast::Operator::Div || is_float(&operation.left) || is_float(&operation.right),
        Expr::UnaryOp(operation) => is_float(&operation.operand),
        Expr::Call(call) => matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "float"),
        _ => false,
    }
}

impl Linter<'_> {
    /// A job that nothing sends.
    fn job(&mut self, call: &ruff_python_ast::ExprCall, name: &str) {
        if SENDERS.contains(&name) {
            self.sent.extend(call.arguments.args.iter().map(Ranged::range));
        }
        let of_runner = matches!(&*call.func, Expr::Attribute(one) if name_of(&one.value) == Some("runner"));
        // One that is kept under a name may be awaited there.
        let is_used = self.sent.iter().any(|range| range.contains_range(call.range()));
        if of_runner && JOBS.contains(&name) && !is_used {
            self.warn(call.range(), &NOT_AWAITED, format!("the job runner.{name}() is not awaited"));
        }
    }

    /// A timer to a handler that is not there.
    fn scheduled(&mut self, call: &ruff_python_ast::ExprCall, name: &str) {
        let named = call.arguments.keywords.iter().find(|keyword| keyword.arg.as_deref() == Some("handler")).map(|keyword| &keyword.value);
        let placed = TIMERS.iter().find(|(timer, _)| *timer == name).and_then(|(_, place)| call.arguments.args.get(*place));
        let is_timer = TIMERS.iter().any(|(timer, _)| *timer == name) || name == "schedule";
        let Some(Expr::StringLiteral(handler)) = placed.or(named).filter(|_| is_timer) else { return };
        let name = handler.value.to_str();
        if !self.facts.methods.is_empty() && !self.facts.is_derived && !self.facts.methods.contains(name) {
            self.warn(handler.range(), &NO_SUCH_HANDLER, format!("the actor has no handler '{name}'"));
        }
    }

    /// An amount that is a float.
    fn money(&mut self, call: &ruff_python_ast::ExprCall, name: &str) {
        let amounts = call.arguments.keywords.iter().filter(|keyword| keyword.arg.as_deref().is_some_and(|name| MONEY.contains(&name)));
        let paid = (name == "transfer_balance").then(|| call.arguments.args.get(1)).flatten();
        let found: Vec<TextRange> =
            amounts.map(|keyword| &keyword.value).chain(paid).filter(|amount| is_float(amount)).map(Ranged::range).collect();
        for range in found {
            self.warn(range, &FLOAT_MONEY, "an amount is computed as a float".to_owned());
        }
    }
}

fn is_mutable(expression: &Expr) -> bool {
    match expression {
        Expr::List(_) | Expr::Dict(_) | Expr::Set(_) => true,
        Expr::Call(call) => matches!(&*call.func, Expr::Name(name) if matches!(name.id.as_str(), "list" | "dict" | "set" | "bytearray")),
        _ => false,
    }
}

/// Whether a statement of a loop's body can end the loop.
fn can_end(body: &[Stmt]) -> bool {
    struct Ends(bool);
    impl<'a> Visitor<'a> for Ends {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            match statement {
                Stmt::Break(_) | Stmt::Return(_) | Stmt::Raise(_) => self.0 = true,
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                _ => visitor::walk_stmt(self, statement),
            }
        }

        fn visit_expr(&mut self, expression: &'a Expr) {
            match expression {
                Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_) => self.0 = true,
                _ => visitor::walk_expr(self, expression),
            }
        }
    }
    let mut ends = Ends(false);
    ends.visit_body(body);
    ends.0
}

impl<'a> Visitor<'a> for Linter<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::ClassDef(class) => return self.class(class),
            Stmt::FunctionDef(function) => return self.function(function),
            Stmt::Global(global) if self.function.is_some() => {
                let names: Vec<&str> = global.names.iter().map(|name| name.as_str()).collect();
                self.warn(global.range(), &LOST_GLOBAL, format!("a change of {} does not survive this message", names.join(", ")));
            }
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.assigned(target, Some(&assign.value))),
            Stmt::AugAssign(assign) => self.assigned(&assign.target, None),
            Stmt::AnnAssign(assign) => self.assigned(&assign.target, assign.value.as_deref()),
            Stmt::While(repeated) => {
                let is_endless = matches!(&*repeated.test, Expr::BooleanLiteral(truth) if truth.value)
                    || matches!(&*repeated.test, Expr::NumberLiteral(_));
                if is_endless && !can_end(&repeated.body) {
                    let range = TextRange::new(repeated.range().start(), repeated.test.range().end());
                    self.warn(range, &ENDLESS, "this loop never ends".to_owned());
                }
            }
            Stmt::Try(attempt) => {
                for handler in &attempt.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    let everything = match handler.type_.as_deref() {
                        None => true,
                        Some(kind) => name_of(kind) == Some("BaseException"),
                    };
                    if everything {
                        let end = handler
                            .type_
                            .as_deref()
                            .map_or(handler.range().start() + ruff_text_size::TextSize::from(6), |kind| kind.range().end());
                        let range = TextRange::new(handler.range().start(), end);
                        self.warn(range, &SWALLOWS, "this catches every error".to_owned());
                    }
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Await(one) => self.sent.push(one.value.range()),
            Expr::Call(call) => self.called(call),
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}
