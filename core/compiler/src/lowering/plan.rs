//! What each await must keep: the names read after it, or anywhere in a loop around it, and its blocks' own.

use super::build::last_name;
use super::{CompileError, awaits, has_await};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};
use std::collections::{BTreeMap, BTreeSet};

/// The names that the awaits of a function keep, sorted, by the await's number.
pub(super) struct Plan {
    names: Vec<Vec<String>>,
}

enum Event {
    Load(String),
    Bind(String, TextRange),
    Await(TextRange),
    /// A loop or with block that awaits begins: the name in which it keeps its place, and whether it turns.
    Enter(Option<String>, bool),
    Leave,
}

impl Plan {
    /// Plans a function's awaits. Refuses names that can never be kept, where they are read after an await.
    pub(super) fn of(
        parameters: &Parameters,
        body: &[Stmt],
        is_method: bool,
        capture: Option<&str>,
        blocks: usize,
        name: &str,
    ) -> Result<Self, CompileError> {
        let mut walk = Events { found: Vec::new(), blocks };
        walk.visit_body(body);
        let events = walk.found;
        let mut own = Own::default();
        own.visit_body(body);
        refuse_uncarriable(&events, &own, name)?;
        let mut locals = own.names;
        let positional = parameters.posonlyargs.iter().chain(&parameters.args).skip(usize::from(is_method));
        locals.extend(positional.chain(&parameters.kwonlyargs).map(|one| one.parameter.name.to_string()));
        let rest = [&parameters.vararg, &parameters.kwarg];
        locals.extend(rest.into_iter().flatten().map(|parameter| parameter.name.to_string()));
        for outside in &own.outside {
            locals.remove(outside);
        }
        let names = kept(&events, &locals, capture);
        Ok(Self { names })
    }

    /// The names that an await keeps.
    pub(super) fn names(&self, number: usize) -> &[String] {
        &self.names[number]
    }

    /// The names that any await keeps.
    pub(super) fn all_names(&self) -> Vec<String> {
        self.names.iter().flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// For each await, its names.
fn kept(events: &[Event], locals: &BTreeSet<String>, capture: Option<&str>) -> Vec<Vec<String>> {
    let (mut opened, mut spans) = (Vec::new(), Vec::new());
    for (place, event) in events.iter().enumerate() {
        match event {
            Event::Enter(..) => opened.push(place),
            Event::Leave => spans.push((opened.pop().expect("a block ends after it began"), place)),
            _ => {}
        }
    }
    let loads = |events: &[Event]| {
        let names = events.iter().filter_map(|event| if let Event::Load(name) = event { Some(name.clone()) } else { None });
        names.collect::<BTreeSet<String>>()
    };
    let mut all = Vec::new();
    for (place, event) in events.iter().enumerate() {
        if !matches!(event, Event::Await(_)) {
            continue;
        }
        let mut names = loads(&events[place + 1..]);
        let mut hidden = Vec::new();
        for &(start, end) in spans.iter().filter(|(start, end)| (start + 1..*end).contains(&place)) {
            if let Event::Enter(name, turns) = &events[start] {
                hidden.extend(name.clone());
                if *turns {
                    names.extend(loads(&events[start..end]));
                }
            }
        }
        names.extend(capture.map(str::to_owned));
        let names: BTreeSet<String> = names.intersection(locals).cloned().chain(hidden).collect();
        all.push(names.into_iter().collect());
    }
    all
}

fn refuse_uncarriable(events: &[Event], own: &Own, name: &str) -> Result<(), CompileError> {
    let mut bound: BTreeMap<&str, (usize, TextRange)> = BTreeMap::new();
    let mut awaited = Vec::new();
    for (place, event) in events.iter().enumerate() {
        match event {
            Event::Bind(name, range) => {
                bound.insert(name, (place, *range));
            }
            Event::Await(range) => awaited.push((place, *range)),
            Event::Load(read) => {
                let Some(what) = own.hard.get(read).filter(|_| !own.plain.contains(read)) else { continue };
                let Some(&(since, range)) = bound.get(read.as_str()) else { continue };
                if awaited.iter().any(|&(stop, _)| since < stop) {
                    let message = format!(
                        "{name}(): {read:?} is {what}, which cannot be kept across the await that follows: make it after the await, or keep plain data"
                    );
                    return Err(CompileError::forbidden(range, message.replace('"', "'")));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Lists what happens in a function, in order.
struct Events {
    found: Vec<Event>,
    blocks: usize,
}

impl Events {
    fn number(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    fn imports(&mut self, names: &[ruff_python_ast::Alias], range: TextRange) {
        self.found.extend(names.iter().map(|alias| Event::Bind(imported(alias), range)));
    }
}

/// The name that an import binds.
fn imported(alias: &ruff_python_ast::Alias) -> String {
    let whole = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
    whole.split('.').next().unwrap_or_default().to_owned()
}

impl<'a> Visitor<'a> for Events {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                visitor::walk_stmt(self, stmt);
                self.found.push(Event::Bind(def.name.to_string(), def.range));
            }
            Stmt::ClassDef(class) => {
                visitor::walk_stmt(self, stmt);
                self.found.push(Event::Bind(class.name.to_string(), class.range));
            }
            Stmt::Import(node) => self.imports(&node.names, node.range),
            Stmt::ImportFrom(node) => self.imports(&node.names, node.range),
            Stmt::AugAssign(node) => {
                self.visit_expr(&node.value);
                if let Expr::Name(target) = &*node.target {
                    self.found.push(Event::Load(target.id.to_string()));
                }
                self.visit_expr(&node.target);
            }
            Stmt::For(node) if awaits(stmt) => {
                self.visit_expr(&node.iter);
                let name = format!("$i{}", self.number());
                self.found.push(Event::Enter(Some(name), true));
                self.visit_expr(&node.target);
                self.visit_body(&node.body);
                self.found.push(Event::Leave);
                self.visit_body(&node.orelse);
            }
            Stmt::While(node) if awaits(stmt) => {
                self.visit_expr(&node.test);
                self.found.push(Event::Enter(None, true));
                self.visit_expr(&node.test);
                self.visit_body(&node.body);
                self.found.push(Event::Leave);
                self.visit_body(&node.orelse);
            }
            Stmt::With(node) if awaits(stmt) => {
                node.items.iter().for_each(|item| self.visit_with_item(item));
                let name = format!("$w{}", self.number());
                self.found.push(Event::Enter(Some(name), false));
                self.visit_body(&node.body);
                self.found.push(Event::Leave);
            }
            Stmt::Try(node) => {
                if handlers_await(node) {
                    self.number();
                }
                visitor::walk_stmt(self, stmt);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(node) = handler;
        if let Some(kind) = &node.type_ {
            self.visit_expr(kind);
        }
        if let Some(name) = &node.name {
            self.found.push(Event::Bind(name.to_string(), node.range));
        }
        self.visit_body(&node.body);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => self.found.push(Event::Load(name.id.to_string())),
            Expr::Name(name) => self.found.push(Event::Bind(name.id.to_string(), name.range)),
            Expr::Await(node) => {
                self.visit_expr(&node.value);
                self.found.push(Event::Await(node.range()));
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// Whether handlers or else of a try await, so that they must stand behind it.
pub(super) fn handlers_await(node: &ruff_python_ast::StmtTry) -> bool {
    node.handlers.iter().any(|ExceptHandler::ExceptHandler(handler)| has_await(&handler.body)) || has_await(&node.orelse)
}

/// The names that a function's own scope binds, and which of them hold only what cannot be kept.
#[derive(Default)]
struct Own {
    names: BTreeSet<String>,
    outside: BTreeSet<String>,
    hard: BTreeMap<String, &'static str>,
    plain: BTreeSet<String>,
}

impl Own {
    fn harden(&mut self, name: String, what: &'static str) {
        self.names.insert(name.clone());
        self.hard.insert(name, what);
    }
}

impl<'a> Visitor<'a> for Own {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => return self.harden(def.name.to_string(), "a function"),
            Stmt::ClassDef(class) => return self.harden(class.name.to_string(), "a class"),
            Stmt::Import(node) => node.names.iter().for_each(|alias| self.harden(imported(alias), "a module")),
            Stmt::ImportFrom(node) => node.names.iter().for_each(|alias| self.harden(imported(alias), "a module")),
            Stmt::Global(node) => self.outside.extend(node.names.iter().map(ToString::to_string)),
            Stmt::Assign(node) if matches!(&*node.value, Expr::Lambda(_) | Expr::Generator(_)) => {
                let what = if node.value.is_lambda_expr() { "a function" } else { "a generator" };
                for target in &node.targets {
                    match target {
                        Expr::Name(name) => self.harden(name.id.to_string(), what),
                        other => self.visit_expr(other),
                    }
                }
                return;
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(node) = handler;
        if let Some(name) = &node.name {
            self.harden(name.to_string(), "an exception");
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(node) => node.name.as_ref(),
            Pattern::MatchStar(node) => node.name.as_ref(),
            _ => None,
        };
        self.names.extend(name.map(ToString::to_string));
        visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx != ExprContext::Load => {
                self.names.insert(name.id.to_string());
                if name.ctx == ExprContext::Store {
                    self.plain.insert(name.id.to_string());
                }
            }
            Expr::Lambda(_) | Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// The name that the first `name = capture()` of a function assigns.
pub(super) fn capture_name(body: &[Stmt]) -> Option<String> {
    let mut finder = CaptureFinder(None);
    finder.visit_body(body);
    finder.0
}

struct CaptureFinder(Option<String>);

impl<'a> Visitor<'a> for CaptureFinder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let (None, Stmt::Assign(node)) = (&self.0, stmt)
            && let ([Expr::Name(target)], Expr::Call(call)) = (&node.targets[..], &*node.value)
            && last_name(&call.func) == Some("capture")
        {
            self.0 = Some(target.id.to_string());
        }
        visitor::walk_stmt(self, stmt);
    }
}
