//! Finding tests: files by name, and in them functions `test_*`, classes `Test*` and fixtures, by their syntax.

use super::rewrite;
use cowboy_console::failure::Failure;
use ruff_python_ast::{Decorator, Expr, ModModule, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged as _;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Folders that hold no tests of one's own.
const IGNORED: &[&str] = &["target", "node_modules", "__pycache__", "venv"];

/// A file with tests.
#[derive(Clone, Debug)]
pub(crate) struct TestFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// As it is called in reports.
    pub(crate) name: String,
    /// Its text as written.
    pub(crate) source: String,
    /// What runs: asserts changed, and at the end the call that runs one of its tests.
    pub(crate) program: String,
    /// The text of each assert, by its first line.
    pub(crate) asserts: BTreeMap<u32, String>,
}

/// Something that is called with fixtures.
#[derive(Debug)]
struct Function {
    class: Option<String>,
    name: String,
    parameters: Vec<String>,
}

/// Test files at these paths, or in these folders: `test_*.py` and `*_test.py`, in the order of their names.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut found)?;
        } else if path.is_file() {
            found.push(path.clone());
        } else {
            return Err(Failure::argument(format!("there is no {}", path.display()), "name files like test_counter.py, or folders"));
        }
    }
    Ok(found)
}

/// Whether a folder of this name can have tests or actors.
pub(crate) fn is_looked_into(name: &str) -> bool {
    !name.starts_with('.') && !IGNORED.contains(&name)
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).map_err(Failure::file(folder))?;
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            if is_looked_into(&name) {
                walk(&path, found)?;
            }
        } else if name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py")) {
            found.push(path);
        }
    }
    Ok(())
}

impl TestFile {
    /// Reads a file. One that is no Python comes back as it is: compiling it says why.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path).map_err(Failure::file(path))?;
        let name = path.strip_prefix(".").unwrap_or(path).display().to_string();
        let Some(source) = cowboy_chain::canonical_source(&bytes) else {
            return Err(Failure::argument(format!("{name} is not UTF-8"), "save it as UTF-8"));
        };
        let source = source.to_string();
        let (program, asserts) = match ruff_python_parser::parse_module(&source) {
            Ok(parsed) => prepare(&source, &parsed.into_syntax()),
            Err(_) => (source.clone(), BTreeMap::new()),
        };
        Ok(Self { path: path.to_owned(), name, source, program, asserts })
    }
}

/// Fixtures of pytest's own that `cowboy test` does not have.
const PYTEST_FIXTURES: &[&str] =
    &["tmp_path", "tmp_path_factory", "tmpdir", "monkeypatch", "capsys", "capfd", "caplog", "request", "pytestconfig"];

/// What tests may import beside what actors may.
const TEST_MODULES: &[&str] = &["pytest", "cowboy_sdk.testing"];

impl TestFile {
    /// Why a file is not a test that the VM can run, if it is not: it imports what the VM does not have, or defines an actor
    /// itself, which only pytest can deploy.
    pub(crate) fn not_ours(&self) -> Option<String> {
        let parsed = ruff_python_parser::parse_module(&self.source).ok()?;
        let defines = parsed.syntax().body.iter().find_map(|statement| match statement {
            Stmt::ClassDef(class) if class.decorator_list.iter().any(|decorator| last_name(decorator) == Some("actor")) => {
                Some(&class.name)
            }
            _ => None,
        });
        if let Some(class) = defines {
            return Some(format!("it defines the actor {class} itself, but the VM deploys files"));
        }
        let functions = parsed.syntax().body.iter().filter_map(Stmt::as_function_def_stmt);
        let mut taken = functions.flat_map(|function| described(function, None).parameters);
        if let Some(fixture) = taken.find(|name| PYTEST_FIXTURES.contains(&name.as_str())) {
            return Some(format!("it uses pytest's fixture {fixture}"));
        }
        let refused = cowboy_vm::check(&self.source);
        let is_ours = |message: &str| TEST_MODULES.iter().any(|module| message.starts_with(&format!("import of '{module}'")));
        let import = refused.iter().find(|error| error.message.starts_with("import of ") && !is_ours(&error.message))?;
        Some(import.message.split(" is forbidden").next().unwrap_or_default().to_owned() + ", which the VM does not have")
    }
}

fn prepare(source: &str, module: &ModModule) -> (String, BTreeMap<u32, String>) {
    let mut program = rewrite::asserts(source, &module.body);
    if !program.ends_with('\n') {
        program.push('\n');
    }
    let (mut tests, mut fixtures) = (String::new(), String::new());
    for statement in &module.body {
        match statement {
            Stmt::FunctionDef(function) if is_fixture(function) => {
                let Function { name, parameters, .. } = described(function, None);
                write!(fixtures, "{name:?}: ({name}, {parameters:?}), ").expect("a string takes everything");
            }
            Stmt::FunctionDef(function) if function.name.starts_with("test_") => {
                test(&mut tests, &described(function, None));
            }
            Stmt::ClassDef(class) if class.name.starts_with("Test") => {
                for statement in &class.body {
                    if let Stmt::FunctionDef(function) = statement
                        && function.name.starts_with("test_")
                    {
                        test(&mut tests, &described(function, Some(class.name.to_string())));
                    }
                }
            }
            _ => {}
        }
    }
    write!(
        program,
        "from _cowboy_runner import run as __cowboy_run__, compare as __cowboy_compare__, truthy as __cowboy_truthy__, falsy as __cowboy_falsy__\n\
         __cowboy_run__([{tests}], {{{fixtures}}})\n"
    )
    .expect("a string takes everything");
    (program, assert_lines(source, &module.body))
}

fn test(rows: &mut String, function: &Function) {
    let Function { class, name, parameters } = function;
    match class {
        Some(class) => write!(rows, "(\"{class}::{name}\", {class}, {class}.{name}, {parameters:?}), "),
        None => write!(rows, "({name:?}, None, {name}, {parameters:?}), "),
    }
    .expect("a string takes everything");
}

fn described(function: &StmtFunctionDef, class: Option<String>) -> Function {
    let is_static = function.decorator_list.iter().any(|decorator| last_name(decorator) == Some("staticmethod"));
    let skipped = usize::from(class.is_some() && !is_static);
    let parameters = function.parameters.iter_non_variadic_params().filter(|parameter| parameter.default.is_none());
    let parameters = parameters.map(|parameter| parameter.parameter.name.to_string()).skip(skipped).collect();
    Function { class, name: function.name.to_string(), parameters }
}

fn is_fixture(function: &StmtFunctionDef) -> bool {
    function.decorator_list.iter().any(|decorator| last_name(decorator) == Some("fixture"))
}

/// `fixture` of `@pytest.fixture(scope="module")`.
fn last_name(decorator: &Decorator) -> Option<&str> {
    let callee = match &decorator.expression {
        Expr::Call(call) => &*call.func,
        other => other,
    };
    match callee {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// The text of every assert, by its line.
fn assert_lines(source: &str, body: &[Stmt]) -> BTreeMap<u32, String> {
    use ruff_python_ast::visitor::{Visitor, walk_stmt};
    struct Asserts<'a>(&'a str, BTreeMap<u32, String>);
    impl<'a> Visitor<'a> for Asserts<'_> {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            if matches!(statement, Stmt::Assert(_)) {
                let range = statement.range().to_std_range();
                let line = self.0[..range.start].matches('\n').count() + 1;
                self.1.insert(u32::try_from(line).unwrap_or(u32::MAX), self.0[range].to_owned());
            }
            walk_stmt(self, statement);
        }
    }
    let mut asserts = Asserts(source, BTreeMap::new());
    asserts.visit_body(body);
    asserts.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_fixtures_are_found_by_their_names() {
        let source = "import pytest\n@pytest.fixture\ndef book(chain):\n    return 1\ndef test_a(book, x=1): assert book\ndef helper(): pass\n\
                      class TestB:\n    def test_c(self, chain): pass\n    def other(self): pass\nclass Other:\n    def test_d(self): pass\n";
        let module = ruff_python_parser::parse_module(source).expect("valid source").into_syntax();
        let (program, asserts) = prepare(source, &module);
        let last = program.lines().last().unwrap_or_default();
        assert_eq!(
            last,
            "__cowboy_run__([(\"test_a\", None, test_a, [\"book\"]), (\"TestB::test_c\", TestB, TestB.test_c, [\"chain\"]), ], \
             {\"book\": (book, [\"chain\"]), })"
        );
        assert_eq!(asserts.into_iter().collect::<Vec<_>>(), [(5, "assert book".to_owned())]);
    }
}
