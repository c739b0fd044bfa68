//! Imports of what is not there. The VM answers: each import runs in it as a script of its own, so that what exists stands in one place.

use super::{Finding, finding, rules::UNKNOWN_IMPORT};
use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use ruff_python_ast::{
    Expr, Stmt, StmtIf,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};
use std::collections::BTreeMap;

/// The imports of a source that fail. One that every run of the module reaches is an error, another a warning.
pub(super) fn unknown(source: &str, body: &[Stmt]) -> Vec<Finding> {
    let mut imports = Imports { found: Vec::new(), depth: 0 };
    body.iter().for_each(|statement| imports.visit_stmt(statement));
    let mut failures: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for Import { range, line, is_certain } in imports.found {
        let failure = failures.entry(line).or_insert_with_key(|line| failure(line));
        if let Some(failure) = failure {
            found.push(Finding { is_error: is_certain, ..finding(source, range, &UNKNOWN_IMPORT, failure.clone()) });
        }
    }
    found
}

/// What one name's import says when it fails.
fn failure(line: &str) -> Option<String> {
    let unit = compile(line, "import").ok()?;
    match Vm::start(script_image(&unit), Entry::Script, Limits::default()).run() {
        Exit::Raise(error) => Some(error.message),
        Exit::Return(_) | Exit::HostCall(_) | Exit::Trap(_) => None,
    }
}

struct Import {
    range: TextRange,
    /// A program that imports the same and nothing else.
    line: String,
    /// Whether it runs whenever the module does.
    is_certain: bool,
}

struct Imports {
    found: Vec<Import>,
    /// Functions and blocks around the statement.
    depth: usize,
}

impl<'a> Visitor<'a> for Imports {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let is_certain = self.depth == 0;
        match statement {
            // Under a name of its own: `import a.b` alone looks at `a` only.
            Stmt::Import(import) => self.found.extend(import.names.iter().map(|alias| Import {
                range: alias.range(),
                line: format!("import {} as found\n", alias.name),
                is_certain,
            })),
            Stmt::ImportFrom(import) => {
                if let Some(module) = import.module.as_ref().filter(|module| module.as_str() != "__future__") {
                    self.found.extend(import.names.iter().map(|alias| Import {
                        range: alias.range(),
                        line: format!("from {module} import {}\n", alias.name),
                        is_certain,
                    }));
                }
            }
            Stmt::If(branch) if is_for_checkers(branch) => {}
            _ => {
                self.depth += 1;
                visitor::walk_stmt(self, statement);
                self.depth -= 1;
            }
        }
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
