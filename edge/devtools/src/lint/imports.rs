//! Names that modules do not have, in imports and where they are looked up. The VM answers: each import runs in it as a script of its own, so that what
//! exists stands in one place.

use super::{
    Finding, finding,
    rules::{UNKNOWN_IMPORT, UNKNOWN_NAME},
};
use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use ruff_python_ast::{
    Alias, ExceptHandler, Expr, Parameter, Pattern, Stmt, StmtIf,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};
use std::collections::{BTreeMap, BTreeSet};

/// The imports of a source that fail, and lookups in imported modules that do. An import that every run of the module reaches is an error, all others are
/// warnings.
pub(super) fn unknown(source: &str, body: &[Stmt]) -> Vec<Finding> {
    let mut imports = Imports::default();
    body.iter().for_each(|statement| imports.visit_stmt(statement));
    let mut failures: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut failure = |line: &str| failures.entry(line.to_owned()).or_insert_with_key(|line| failure(line)).clone();
    let mut found = Vec::new();
    for Import { range, line, is_certain } in &imports.found {
        if let Some(failure) = failure(line) {
            found.push(Finding { is_error: *is_certain, ..finding(source, *range, &UNKNOWN_IMPORT, failure) });
        }
    }
    for (name, attribute, range) in imports.lookups {
        let Some(import) = imports.modules.get(name).filter(|_| !imports.rebound.contains(name)) else { continue };
        if failure(import).is_some() {
            continue;
        }
        // Attributes of what is no module may come with its values.
        let lacking = failure(&format!("{import}found.{attribute}\n")).filter(|failure| failure.starts_with("module '"));
        found.extend(lacking.map(|failure| finding(source, range, &UNKNOWN_NAME, failure)));
    }
    found
}

/// What a script says when it fails, with what was probably meant.
fn failure(script: &str) -> Option<String> {
    let unit = compile(script, "import").ok()?;
    match Vm::start(script_image(&unit), Entry::Script, Limits::default()).run() {
        Exit::Raise(error) => Some(match meant(&error.message) {
            Some(meant) => format!("{}; {meant}", error.message),
            None => error.message,
        }),
        Exit::Return(_) | Exit::HostCall(_) | Exit::Trap(_) => None,
    }
}

/// What was probably meant by a name that a module does not have: that of another module of the SDK, or one that is spelled alike.
fn meant(message: &str) -> Option<String> {
    let parts: Vec<&str> = message.split('\'').collect();
    let (module, name) = match parts[..] {
        ["module ", module, " has no attribute ", name, ..] => (module, name),
        ["cannot import name ", name, " from ", module, ..] => (module, name),
        _ => return None,
    };
    if module.starts_with("cowboy_sdk") {
        let homes = printed(&format!(
            "import cowboy_sdk\nfor home in dir(cowboy_sdk):\n    part = getattr(cowboy_sdk, home)\n    \
             if type(part).__name__ == 'module' and '{name}' in dir(part): print('cowboy_sdk.' + home)\n"
        ))?;
        if !homes.is_empty() {
            return Some(format!("it is in {}", homes.lines().take(MAX_HOMES).collect::<Vec<_>>().join(", ")));
        }
    }
    let names = printed(&format!("import {module} as found\nfor name in dir(found): print(name)\n"))?;
    let known = names.lines().filter(|known| !known.starts_with('_'));
    let alike = |known: &str| (distance(&known.to_lowercase(), &name.to_lowercase()), distance(known, name));
    let (apart, nearest) = known.map(|known| (alike(known), known)).min()?;
    (apart.0 <= name.chars().count() / 3).then(|| format!("did you mean {nearest}?"))
}

/// The most modules that are named as those that have a name.
const MAX_HOMES: usize = 3;

/// What a script prints; nothing where it fails.
fn printed(script: &str) -> Option<String> {
    let unit = compile(script, "names").ok()?;
    let mut machine = Vm::start(script_image(&unit), Entry::Script, Limits::default());
    matches!(machine.run(), Exit::Return(_)).then(|| machine.take_output())
}

/// How many letters have to be changed, added or removed to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (place, known) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *known);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

struct Import {
    range: TextRange,
    /// A program that imports the same as `found`, and nothing else.
    line: String,
    /// Whether it runs whenever the module does.
    is_certain: bool,
}

#[derive(Default)]
struct Imports<'a> {
    found: Vec<Import>,
    /// What names stand for that every run of the module imports: the import's program.
    modules: BTreeMap<&'a str, String>,
    /// Names that stand for something else, too, somewhere in the source.
    rebound: BTreeSet<&'a str>,
    /// Attributes of names: the name, the attribute, and where it is looked up.
    lookups: Vec<(&'a str, &'a str, TextRange)>,
    /// Functions and blocks around the statement.
    depth: usize,
}

impl<'a> Imports<'a> {
    fn add(&mut self, alias: &'a Alias, line: String) {
        let is_certain = self.depth == 0;
        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
        if !is_certain || self.modules.insert(name, line.clone()).is_some() {
            self.rebound.insert(name);
        }
        self.found.push(Import { range: alias.range(), line, is_certain });
    }
}

impl<'a> Visitor<'a> for Imports<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            // Under a name of its own: `import a.b` alone looks at `a` only.
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.add(alias, format!("import {} as found\n", alias.name))),
            Stmt::ImportFrom(import) => {
                if let Some(module) = import.module.as_ref().filter(|module| module.as_str() != "__future__") {
                    for alias in &import.names {
                        let given = if alias.name.as_str() == "*" { "" } else { " as found" };
                        self.add(alias, format!("from {module} import {}{given}\n", alias.name));
                    }
                }
            }
            Stmt::If(branch) if is_for_checkers(branch) => {}
            _ => {
                match statement {
                    Stmt::FunctionDef(function) => self.rebound.insert(function.name.as_str()),
                    Stmt::ClassDef(class) => self.rebound.insert(class.name.as_str()),
                    _ => false,
                };
                self.depth += 1;
                visitor::walk_stmt(self, statement);
                self.depth -= 1;
            }
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if !name.ctx.is_load() => {
                self.rebound.insert(name.id.as_str());
            }
            Expr::Attribute(attribute) if attribute.ctx.is_load() => {
                if let Expr::Name(name) = &*attribute.value {
                    self.lookups.push((name.id.as_str(), attribute.attr.as_str(), attribute.attr.range()));
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        self.rebound.extend(inner.name.as_ref().map(|name| name.as_str()));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        self.rebound.extend(name.map(|name| name.as_str()));
        visitor::walk_pattern(self, pattern);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.rebound.insert(parameter.name.as_str());
        visitor::walk_parameter(self, parameter);
    }
}

/// Whether a branch is for type checkers and never runs.
fn is_for_checkers(branch: &StmtIf) -> bool {
    match &*branch.test {
        Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}
