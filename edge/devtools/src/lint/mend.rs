//! `cowboy lint --fix`: what can be mended without changing what a correct actor does: a forgotten await, a missing decorator, a missing
//! grant. Everything else says what to write, and is left to the author.

use super::Finding;
use cowboy_api::source::Need;
use ruff_python_ast::{
    Stmt, StmtFunctionDef, StmtImportFrom,
    visitor::{Visitor, walk_expr, walk_stmt},
};
use ruff_text_size::Ranged;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A source with these findings mended, and how many were. The same source where none can be.
pub(super) fn mended(source: &str, found: &[Finding]) -> (String, usize) {
    let Ok(module) = ruff_python_parser::parse_module(source) else { return (source.to_owned(), 0) };
    let module = module.into_syntax();
    let mut layout = Layout { source, functions: Vec::new(), calls: BTreeMap::new(), import: None };
    layout.visit_body(&module.body);
    let edits: Vec<Vec<(usize, String)>> = found.iter().filter_map(|finding| layout.edits(finding)).collect();
    let mut all: Vec<(usize, String)> = edits.iter().flatten().cloned().collect();
    all.sort();
    // Two findings of one handler want the same decorator.
    all.dedup();
    let mut text = source.to_owned();
    for (at, inserted) in all.iter().rev() {
        text.insert_str(*at, inserted);
    }
    match ruff_python_parser::parse_module(&text) {
        Ok(_) => (text, edits.len()),
        Err(_) => (source.to_owned(), 0),
    }
}

/// A manifest with grants for these needs.
pub(super) fn granted(manifest: &str, needs: &[Need]) -> Option<String> {
    let mut manifest: Value = serde_json::from_str(manifest).ok()?;
    let grants = manifest.get_mut("entitlements")?.as_array_mut()?;
    for need in needs {
        if grants.iter().all(|grant| grant["id"] != need.id) {
            grants.push(json!({ "id": need.id }));
        }
    }
    Some(serde_json::to_string_pretty(&manifest).expect("a manifest is JSON") + "\n")
}

/// Where things stand in a source, by byte.
struct Layout<'a> {
    source: &'a str,
    functions: Vec<&'a StmtFunctionDef>,
    /// The ends of calls by their beginning, of the outermost where several begin there.
    calls: BTreeMap<usize, Vec<usize>>,
    /// The first import of names from `cowboy_sdk`.
    import: Option<&'a StmtImportFrom>,
}

impl<'a> Visitor<'a> for Layout<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.functions.push(function),
            Stmt::ImportFrom(import) if import.module.as_ref().is_some_and(|module| module.as_str() == "cowboy_sdk") => {
                self.import.get_or_insert(import);
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a ruff_python_ast::Expr) {
        if expression.is_call_expr() {
            let range = expression.range().to_std_range();
            self.calls.entry(range.start).or_default().push(range.end);
        }
        walk_expr(self, expression);
    }
}

impl Layout<'_> {
    /// What is inserted where, for a finding that can be mended.
    fn edits(&self, finding: &Finding) -> Option<Vec<(usize, String)>> {
        let at = self.offset(finding);
        let function = self.functions.iter().rfind(|function| function.range().to_std_range().contains(&at))?;
        match finding.rule() {
            "not-awaited" if function.is_async => self.awaited(at),
            "not-a-continuation" => self.decorated(function, "runner", "@runner.continuation", true),
            "not-deferred" => {
                // What a function inside sends, the handler sends.
                let handler = self.functions.iter().find(|function| function.range().to_std_range().contains(&at))?;
                self.decorated(handler, "deferred", "@deferred", false)
            }
            _ => None,
        }
    }

    fn offset(&self, finding: &Finding) -> usize {
        let (line, column) = finding.place();
        let start: usize = self.source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let rest = self.source[start..].char_indices();
        start + rest.map(|(at, _)| at).nth(column.saturating_sub(1)).unwrap_or_default()
    }

    /// `await` before a call, in parentheses where something takes the answer apart.
    fn awaited(&self, at: usize) -> Option<Vec<(usize, String)>> {
        let end = *self.calls.get(&at)?.iter().min()?;
        let rest = self.source[end..].trim_start();
        if rest.starts_with(".send") {
            return None;
        }
        if rest.starts_with(['.', '[', '(']) {
            return Some(vec![(at, "(await ".to_owned()), (end, ")".to_owned())]);
        }
        Some(vec![(at, "await ".to_owned())])
    }

    /// A decorator above a function, or right above its `def`, and its name imported.
    fn decorated(&self, function: &StmtFunctionDef, name: &str, decorator: &str, is_innermost: bool) -> Option<Vec<(usize, String)>> {
        let import = self.import?;
        let last = import.names.last().filter(|alias| alias.name.as_str() != "*")?;
        let last_decorator = function.decorator_list.last().map(|decorator| decorator.range().end().to_usize());
        let place = match (is_innermost, last_decorator) {
            (true, Some(end)) => end + self.source[end..].find('\n')? + 1,
            _ => self.source[..function.range().start().to_usize()].rfind('\n').map_or(0, |at| at + 1),
        };
        let line = self.source[place..].lines().next().unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start().len()];
        let mut edits = vec![(place, format!("{indent}{decorator}\n"))];
        if import.names.iter().all(|alias| alias.name.as_str() != name) {
            edits.push((last.range().end().to_usize(), format!(", {name}")));
        }
        Some(edits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::findings;

    #[test]
    fn what_is_safe_is_mended_and_nothing_else() {
        let actor = |imports: &str, body: &str| format!("from cowboy_sdk import {imports}\n\n\n@actor\nclass A:\n{body}");
        let rows: &[(&str, String, String, usize)] = &[
            (
                "a forgotten await",
                actor(
                    "actor, public, runner",
                    "    @public\n    @runner.continuation\n    async def f(self, ü):\n        x = [ü, runner.http(ü)]\n        self.storage['x'] = runner.http('b').text\n",
                ),
                actor(
                    "actor, public, runner",
                    "    @public\n    @runner.continuation\n    async def f(self, ü):\n        x = [ü, await runner.http(ü)]\n        self.storage['x'] = (await runner.http('b')).text\n",
                ),
                2,
            ),
            (
                "an async method",
                actor("actor, public, runner", "    @public\n    async def f(self):\n        await runner.http('a')\n"),
                actor(
                    "actor, public, runner",
                    "    @public\n    @runner.continuation\n    async def f(self):\n        await runner.http('a')\n",
                ),
                1,
            ),
            (
                "a handler that sends twice",
                actor("actor, public, send", "    @public\n    def f(self, to):\n        send(to, 1)\n        send(to, 2)\n"),
                actor(
                    "actor, public, send, deferred",
                    "    @deferred\n    @public\n    def f(self, to):\n        send(to, 1)\n        send(to, 2)\n",
                ),
                2,
            ),
            (
                "imports in parentheses",
                actor("(\n    actor,\n    public,\n    send,\n)", "    @public\n    def f(self, to):\n        send(to, 1)\n"),
                actor(
                    "(\n    actor,\n    public,\n    send, deferred,\n)",
                    "    @deferred\n    @public\n    def f(self, to):\n        send(to, 1)\n",
                ),
                1,
            ),
            (
                "no await outside of async",
                actor("actor, public, runner", "    @public\n    def f(self):\n        x = runner.http('a')\n"),
                actor("actor, public, runner", "    @public\n    def f(self):\n        x = runner.http('a')\n"),
                0,
            ),
            (
                "what only the author knows",
                actor("actor, public", "    @public\n    def f(self):\n        self.x = 1\n"),
                actor("actor, public", "    @public\n    def f(self):\n        self.x = 1\n"),
                0,
            ),
        ];
        for (name, source, expected, count) in rows {
            let found = findings(source);
            assert!(!found.is_empty(), "{name}");
            let (text, mended) = mended(source, &found);
            assert_eq!((text.as_str(), mended), (expected.as_str(), *count), "{name}");
            let left = findings(&text).len();
            assert_eq!(left, found.len() - mended, "{name}: nothing new is found");
        }
    }

    #[test]
    fn grants_are_added_once() {
        let need = |id: &'static str| Need { id, because: String::new(), line: 1 };
        let text = granted("{\"entitlements\": [{\"id\": \"storage.kv\"}], \"note\": 1}", &[need("storage.kv"), need("econ.transfer")]);
        let value: Value = serde_json::from_str(&text.unwrap_or_default()).expect("JSON");
        assert_eq!(value, json!({ "entitlements": [{ "id": "storage.kv" }, { "id": "econ.transfer" }], "note": 1 }));
        assert_eq!(granted("{}", &[need("storage.kv")]), None);
    }
}
