//! Static checks: what 003 forbids in an actor is refused before anything runs, with the place and the reason.

use crate::CompileError;
use crate::forbidden::hint;
use crate::{nesting, scope};
use cowboy_num::int::{MAX_BITS, parse_int};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{CmpOp, Expr, ExprNumberLiteral, Number, Stmt, StringLiteral};
use ruff_text_size::{TextRange, TextSize};

/// Modules an actor may import (003 "Module Whitelist"), with the host's own.
pub(super) const ALLOWED_MODULES: &[&str] = &[
    "abc",
    "collections",
    "cowboy_sdk",
    "dataclasses",
    "decimal",
    "enum",
    "functools",
    "hashlib",
    "itertools",
    "json",
    "math",
    "pvm_host",
    "re",
    "struct",
    "typing",
    "__future__",
];

/// Modules that people reach for, and what serves here instead.
const INSTEAD: &[(&[&str], &str)] = &[
    (&["time", "datetime", "calendar", "zoneinfo"], "clocks differ between machines; use cowboy_sdk.pvm_time, the block's own time"),
    (
        &["random", "secrets", "uuid", "numpy"],
        "machines would draw different numbers; use cowboy_sdk.vrf for chance, and math for arithmetic",
    ),
    (
        &["os", "sys", "pathlib", "io", "shutil", "tempfile", "glob"],
        "there is no computer around an actor; open() has files in /tmp, the rest goes into self.storage",
    ),
    (
        &["requests", "urllib", "http", "httpx", "aiohttp", "socket", "ssl"],
        "the network answers everybody differently; submit an off-chain job, and read its result in a callback",
    ),
    (
        &["threading", "asyncio", "multiprocessing", "concurrent", "subprocess", "signal"],
        "one message runs at a time; use send for later work and set_timer to wake up",
    ),
    (&["pickle", "marshal", "shelve", "copyreg"], "self.storage keeps plain values itself, and cowboy_sdk.codec writes them as CBOR"),
    (&["logging", "warnings", "traceback"], "use emit: events are what others see of an actor"),
    (
        &["contextlib", "copy", "operator", "string", "textwrap", "types", "bisect", "heapq", "statistics", "fractions"],
        "write the few lines that you need of it",
    ),
    (&["inspect", "importlib", "ast", "builtins", "gc", "ctypes", "weakref"], "it reaches behind the program; name what you need directly"),
];

/// Attributes that walk from a value to the machinery behind it.
const FORBIDDEN_ATTRIBUTES: &[&str] = &[
    "__subclasses__",
    "__globals__",
    "__code__",
    "__closure__",
    "__builtins__",
    "__loader__",
    "__spec__",
    "__reduce__",
    "__reduce_ex__",
    "gi_frame",
    "gi_code",
    "cr_frame",
    "cr_code",
    "ag_frame",
    "ag_code",
    "f_back",
    "f_globals",
    "f_locals",
    "f_builtins",
    "f_code",
    "tb_frame",
    "tb_next",
    "__getstate__",
    "__setstate__",
];

/// Refuses text that would nest too deep for the parser's and the compiler's stacks.
pub(super) fn text(source: &str) -> Result<(), CompileError> {
    if let Some(offset) = source.find('\0') {
        return Err(CompileError::at(place(offset), "source code cannot contain null bytes"));
    }
    nesting::check(source)
}

fn place(offset: usize) -> TextRange {
    let offset = TextSize::new(u32::try_from(offset).unwrap_or(u32::MAX));
    TextRange::new(offset, offset)
}

/// Refuses what an actor may not say. It may import the modules named in `more` beside those of the whitelist.
/// Each time, in the order of the source.
pub(super) fn actor(body: &[Stmt], more: &[String], source: &str) -> Vec<CompileError> {
    let mut checker = Checker { errors: Vec::new(), more, source };
    checker.visit_body(body);
    // What the scopes have to say against a program is said when it is compiled.
    if let Ok(scopes) = scope::analyse(body) {
        for &(scope, range, name) in &scopes.forbidden {
            if !scopes.is_bound(scope, name) {
                checker.refuse(range, format!("'{name}' is forbidden: {}", hint(name)));
            }
        }
    }
    checker.errors.sort_by_key(|error| error.range.start());
    checker.errors
}

/// Most refusals of one source that are kept.
pub(super) const REFUSALS: usize = 100;

struct Checker<'a> {
    errors: Vec<CompileError>,
    more: &'a [String],
    source: &'a str,
}

/// Whether a literal spells half of a surrogate pair, such as `\ud800`.
fn spells_surrogate(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 5 < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let digits = match bytes[at + 1] {
            b'u' => bytes.get(at + 2..at + 6),
            b'U' => bytes.get(at + 2..at + 10).and_then(|eight| eight.strip_prefix(b"0000")),
            _ => None,
        };
        if digits.is_some_and(|four| matches!(four, [b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..])) {
            return true;
        }
        at += 2;
    }
    false
}

impl Checker<'_> {
    fn refuse(&mut self, range: TextRange, message: String) {
        if self.errors.len() < REFUSALS {
            self.errors.push(CompileError::forbidden(range, message));
        }
    }

    fn import(&mut self, range: TextRange, module: &str) {
        let top = module.split('.').next().unwrap_or_default();
        if !ALLOWED_MODULES.contains(&top) && !self.more.iter().any(|known| known == module) {
            let instead = INSTEAD.iter().find(|(modules, _)| modules.contains(&top));
            let hint = instead.map_or(String::new(), |(_, hint)| format!("{hint}; "));
            let message = format!(
                "import of '{module}' is forbidden: {hint}an actor may import only {}",
                ALLOWED_MODULES[..ALLOWED_MODULES.len() - 1].join(", ")
            );
            self.refuse(range, message);
        }
    }
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_) => true,
        Expr::UnaryOp(unary) => is_literal(&unary.operand),
        _ => false,
    }
}

impl<'a> Visitor<'a> for Checker<'_> {
    fn visit_string_literal(&mut self, literal: &'a StringLiteral) {
        let text = &self.source[literal.range];
        if !literal.flags.prefix().is_raw() && spells_surrogate(text) {
            self.refuse(literal.range, "lone surrogates are forbidden: text is Unicode scalar values".to_owned());
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.import(alias.range, &alias.name);
                }
            }
            Stmt::ImportFrom(import) => match (&import.module, import.level) {
                (Some(module), 0) => self.import(import.range, module),
                _ => self.refuse(import.range, "relative imports are forbidden: an actor is one file".to_owned()),
            },
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                if matches!(name.id.as_str(), "__builtins__" | "__loader__" | "__spec__") {
                    self.refuse(name.range, format!("'{}' is forbidden: it reaches outside the sandbox", name.id));
                }
            }
            // The VM keeps integers below the limit, and charges for them as such; a literal is one that nothing computed (decision 784).
            Expr::NumberLiteral(ExprNumberLiteral { value: Number::Int(value), range, .. }) => {
                let is_listed = self.errors.len() < REFUSALS;
                if is_listed && value.as_i64().is_none() && parse_int(&value.to_string(), 0).is_err() {
                    self.errors.push(CompileError::too_large(*range, format!("an integer has at most {MAX_BITS} bits")));
                }
            }
            Expr::Attribute(attribute) => {
                if FORBIDDEN_ATTRIBUTES.contains(&attribute.attr.as_str()) {
                    let message = format!("attribute '{}' is forbidden: it reaches outside the sandbox", attribute.attr);
                    self.refuse(attribute.attr.range, message);
                }
            }
            Expr::Compare(compare) => {
                let mut left = &*compare.left;
                for (op, right) in compare.ops.iter().zip(compare.comparators.iter()) {
                    if matches!(op, CmpOp::Is | CmpOp::IsNot) && (is_literal(left) || is_literal(right)) {
                        let better = if *op == CmpOp::Is { "==" } else { "!=" };
                        let message = format!("'is' with a string or number literal is forbidden: use '{better}'");
                        self.refuse(compare.range, message);
                    }
                    left = right;
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}
