//! `cowboy lint`: what the chain would refuse, and what it would run otherwise than the author thinks; with the place, the reason and
//! what to write instead.

use super::mend;
use crate::{
    deploy::Deployment,
    failure::Failure,
    output::{self, Output},
};
use clap::Args;
use cowboy_vm::{CompileErrorKind, check};
use ruff_python_ast::{
    Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Checks actors without running them: what the chain refuses, and what surprises.
///
/// Exit codes: 0 nothing to say, or warnings only; 1 something would be refused (with --strict: or warned about).
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cowboy lint actor.py\n  cowboy lint --strict examples/*/actor.py\n  cowboy lint actor.py --json")]
pub(crate) struct Lint {
    /// Sources of actors
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    /// Fix in the files what can be fixed safely: a forgotten await, @runner.continuation, @deferred, missing grants in the manifest
    #[arg(long)]
    fix: bool,
}

/// A rule of ours: its name, why it is one, and what to do.
struct Rule {
    name: &'static str,
    why: &'static str,
    fix: &'static str,
}

macro_rules! rules {
    ($($rule:ident $name:literal $why:literal $fix:literal;)*) => {
        $(const $rule: Rule = Rule { name: $name, why: $why, fix: $fix };)*
        #[cfg(test)]
        const RULES: &[Rule] = &[$($rule,)*];
    };
}

rules! {
    LOST_ATTRIBUTE "lost-attribute"
        "every message starts with a new instance, so an attribute is lost when the handler returns"
        "keep it in self.storage, or in a local variable";
    LOST_GLOBAL "lost-global"
        "every message starts with the module as deployed, so a changed global is lost when the handler returns"
        "keep it in self.storage";
    UNREACHABLE "unreachable-handler"
        "only the actor itself can reach a method without a decorator, by its timers and its own messages"
        "write @public or @callable_by(...) above it, or start its name with _ if it is a helper";
    MUTABLE_DEFAULT "mutable-default"
        "a default is created once, and all calls within a message share it"
        "use None, and create the list or dict in the body";
    PRINT "print"
        "only the trace of a delivery shows printed output, for a limited time and without proof, and it costs a cycle per character"
        "use print for debugging, and emit for what must last: events are in the receipt";
    BACK_REFERENCE "back-reference"
        "if self also holds the other object, this closes a reference cycle, and the store raises DeterminismError"
        "keep the other object's key or index instead of the object, and look it up";
    ENDLESS "endless-loop"
        "the loop does not end, so it runs until the cycles are used up, which undoes the message"
        "loop over a range, or use return or break";
    SWALLOWS "swallowed-error"
        "it also catches DeterminismError and other errors that must end the message"
        "name what you expect: except ValueError";
    NOT_DEFERRED "not-deferred"
        "a handler without @deferred promises that its work is complete when it returns, but this has later effects"
        "write @deferred above the handler";
    NO_ACTOR "no-actor"
        "the chain accepts the file, but nothing in it can be called"
        "write @actor above the class, and @public above its handlers";
    NOT_AWAITED "not-awaited"
        "only await submits a job: without it the variable holds the request, not the result"
        "write await before it, in an async method under @runner.continuation";
    NOT_CONTINUATION "not-a-continuation"
        "an async method without the decorator never runs: calling it returns a coroutine"
        "write @runner.continuation below @public";
    NO_SUCH_HANDLER "no-such-handler"
        "the timer fires and finds no handler of this name, which fails"
        "name a method of this actor";
    MUTABLE_CLASS "mutable-class-attribute"
        "it is part of the deployed image, so changes are lost when the handler returns"
        "keep changing values in self.storage, and constants in a tuple";
    FLOAT_MONEY "float-as-money"
        "amounts are whole base units, and a float rounds: 0.1 + 0.2 is not 0.3"
        "compute with integers: // instead of /, and 1 CBY as 10**9";
    GRANT "missing-grant"
        "the chain refuses what the manifest does not grant"
        "add it to the manifest.json beside the source";
}

/// Something to say about a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) is_error: bool,
    rule: &'static str,
    line: usize,
    column: usize,
    width: usize,
    what: String,
    why: &'static str,
    fix: &'static str,
}

impl Finding {
    /// The finding with its line of source, and the place marked.
    pub(crate) fn show(&self, file: &str, source: &str) -> String {
        let word = if self.is_error { "error" } else { "warning" };
        let mut text = format!("{word}[{}]: {}\n  --> {file}:{}:{}\n", self.rule, self.what, self.line, self.column);
        let line = source.lines().nth(self.line.saturating_sub(1)).unwrap_or_default();
        let left = self.column.saturating_sub(1);
        let width = self.width.min(line.chars().count().saturating_sub(left)).max(1);
        let (pad, marks) = (" ".repeat(left), "^".repeat(width));
        write!(text, "     |\n{:>4} | {line}\n     | {pad}{marks}\n", self.line).expect("a string takes everything");
        for (name, words) in [("why", self.why), ("fix", self.fix)] {
            if !words.is_empty() {
                writeln!(text, "  {name}: {words}").expect("a string takes everything");
            }
        }
        text
    }

    pub(super) fn rule(&self) -> &'static str {
        self.rule
    }

    /// Its line and column, from 1.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.line, self.column)
    }

    fn to_json(&self, file: &str) -> Value {
        json!({
            "file": file, "line": self.line, "column": self.column, "width": self.width, "rule": self.rule,
            "severity": if self.is_error { "error" } else { "warning" }, "what": self.what, "why": self.why, "fix": self.fix,
        })
    }
}

impl Lint {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        let mut rows = Vec::new();
        let (mut errors, mut warnings) = (0, 0);
        for path in &self.files {
            let name = path.display().to_string();
            let mut source = read(path)?;
            let mut found = findings(&source);
            if self.fix {
                let count = fix(path, &source, &found)?;
                output.progress(format_args!("{name}: {count} mended"));
                source = read(path)?;
                found = findings(&source);
            }
            if found.iter().all(|finding| !finding.is_error) {
                found.extend(grants(&Deployment::of_file(path, None)?));
            }
            for finding in &found {
                *(if finding.is_error { &mut errors } else { &mut warnings }) += 1;
                if output.json {
                    rows.push(finding.to_json(&name));
                } else {
                    output::line(finding.show(&name, &source));
                }
            }
        }
        if output.json {
            output.document(&rows);
        } else {
            output::line(format_args!("{errors} errors, {warnings} warnings"));
        }
        if errors > 0 || (self.strict && warnings > 0) { Err(Failure::Said) } else { Ok(()) }
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path).map_err(Failure::file(path))?;
    let source = cowboy_chain::canonical_source(&bytes).map(|source| source.to_string());
    source.ok_or_else(|| Failure::argument(format!("{} is not UTF-8", path.display()), "save it as UTF-8"))
}

/// Mends a file and the manifest beside it. Answers how many findings are gone.
fn fix(path: &Path, source: &str, found: &[Finding]) -> Result<usize, Failure> {
    if found.iter().any(|finding| finding.is_error) {
        return Ok(0);
    }
    let (text, mut count) = mend::mended(source, found);
    if count > 0 {
        std::fs::write(path, &text).map_err(Failure::file(path))?;
    }
    let deployment = Deployment::of_file(path, None)?;
    let needs = cowboy_api::source::missing(&deployment.code, &deployment.grants());
    let manifest = path.with_file_name("manifest.json");
    if !needs.is_empty()
        && let Ok(known) = std::fs::read_to_string(&manifest)
        && let Some(text) = mend::granted(&known, &needs)
    {
        std::fs::write(&manifest, text).map_err(Failure::file(&manifest))?;
        count += needs.len();
    }
    Ok(count)
}

/// What there is to say about a source, in its order: what the chain refuses, or else what surprises.
pub(crate) fn findings(source: &str) -> Vec<Finding> {
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let refused: Vec<Finding> = check(source)
        .into_iter()
        .map(|error| {
            let (what, fix) = error.message.split_once(": ").unwrap_or((&error.message, ""));
            let (rule, why) = match error.kind {
                CompileErrorKind::Syntax => ("syntax_error", "it is not Python 3.11"),
                CompileErrorKind::Forbidden => ("forbidden_source", "every validator must compute the same result, within the sandbox"),
                CompileErrorKind::TooLarge => ("forbidden_source", "the compiler's work is bounded"),
            };
            let what = if fix.is_empty() { what.to_owned() } else { format!("{what}: {fix}") };
            Finding {
                is_error: true,
                rule,
                line: size(error.line),
                column: size(error.column),
                width: size(error.width),
                what,
                why,
                fix: "",
            }
        })
        .collect();
    if !refused.is_empty() {
        return refused;
    }
    let Ok(module) = ruff_python_parser::parse_module(source) else { return Vec::new() };
    let module = module.into_syntax();
    let facts = Facts::of(&module.body);
    let mut linter = Linter { source, found: Vec::new(), in_actor: false, function: None, facts, sent: Vec::new() };
    if linter.facts.is_uncallable {
        let range = module.body.iter().find(|statement| statement.is_class_def_stmt()).map_or(TextRange::default(), header);
        linter.warn(range, &NO_ACTOR, "the file has no actor class and no functions".to_owned());
    }
    linter.visit_body(&module.body);
    linter.found.sort_by_key(|finding| (finding.line, finding.column));
    linter.found
}

/// Refuses a source that the chain would refuse, before it is sent, with everything that is wrong.
pub(crate) fn refuse(path: &Path, source: &str) -> Result<(), Failure> {
    let found: Vec<Finding> = findings(source).into_iter().filter(|finding| finding.is_error).collect();
    let Some(first) = found.first() else { return Ok(()) };
    let name = path.display().to_string();
    let shown: Vec<String> = found.iter().map(|finding| finding.show(&name, source)).collect();
    let Finding { rule, line, .. } = first;
    Err(Failure::Node(format!("the chain refuses this source: {rule}, line {line} of {name}\n\n{}", shown.join("\n").trim_end())))
}

/// What the manifest does not grant and the source seems to need.
fn grants(deployment: &Deployment) -> Vec<Finding> {
    let needs = cowboy_api::source::missing(&deployment.code, &deployment.grants());
    let finding = |need: cowboy_api::source::Need| {
        let text = deployment.code.lines().nth(need.line.saturating_sub(1)).unwrap_or_default();
        let column = text.find(need.because.trim_end_matches('=')).map_or(1, |at| text[..at].chars().count() + 1);
        let what = format!("{} needs the entitlement {}, which {} does not grant", need.because, need.id, deployment.manifest_source);
        Finding {
            is_error: false,
            rule: GRANT.name,
            line: need.line,
            column,
            width: need.because.len(),
            what,
            why: GRANT.why,
            fix: GRANT.fix,
        }
    };
    needs.into_iter().map(finding).collect()
}

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
        let before = &self.source[..range.start().to_usize()];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = self.source[range.to_std_range()].lines().next().unwrap_or_default();
        self.found.push(Finding {
            is_error: false,
            rule: rule.name,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            width: text.chars().count(),
            what,
            why: rule.why,
            fix: rule.fix,
        });
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
                is_deferred: is_marked(&function.decorator_list, &["deferred"]),
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

#[cfg(test)]
mod tests;
