//! Asserts that say what they compared: every `assert` in a function becomes a call with its parts, in the same lines.

use ruff_python_ast::{
    CmpOp, Expr, Stmt, StmtAssert, UnaryOp,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged as _, TextRange};

/// The source with its asserts changed.
pub(crate) fn asserts(source: &str, body: &[Stmt]) -> String {
    let mut finder = Finder { source, depth: 0, changes: Vec::new() };
    finder.visit_body(body);
    finder.changes.sort_by_key(|(range, _)| range.start());
    let mut out = String::with_capacity(source.len() * 2);
    let mut at = 0;
    for (range, text) in &finder.changes {
        out.push_str(&source[at..range.start().to_usize()]);
        out.push_str(text);
        at = range.end().to_usize();
    }
    out.push_str(&source[at..]);
    out
}

struct Finder<'a> {
    source: &'a str,
    /// Functions around the statement.
    depth: usize,
    changes: Vec<(TextRange, String)>,
}

impl Finder<'_> {
    fn text(&self, range: impl ruff_text_size::Ranged) -> &str {
        &self.source[range.range().to_std_range()]
    }

    fn changed(&self, assert: &StmtAssert) -> String {
        let mut call = match &*assert.test {
            Expr::Compare(compare) if compare.ops.len() == 1 => {
                let (left, right) = (self.text(&*compare.left), self.text(&compare.comparators[0]));
                format!("__cowboy_compare__({:?}, ({left}), ({right})", symbol(compare.ops[0]))
            }
            Expr::UnaryOp(not) if not.op == UnaryOp::Not => format!("__cowboy_falsy__(({})", self.text(&*not.operand)),
            other => format!("__cowboy_truthy__(({})", self.text(other)),
        };
        if let Some(message) = &assert.msg {
            call.push_str(&format!(", lambda: ({})", self.text(&**message)));
        }
        // Later lines keep their numbers.
        let lines = |text: &str| text.matches('\n').count();
        let lost = lines(self.text(assert)).saturating_sub(lines(&call));
        call.push_str(&"\n".repeat(lost));
        call.push(')');
        call
    }
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Assert(assert) if self.depth > 0 => self.changes.push((assert.range(), self.changed(assert))),
            Stmt::FunctionDef(_) => {
                self.depth += 1;
                visitor::walk_stmt(self, statement);
                self.depth -= 1;
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }
}

fn symbol(operator: CmpOp) -> &'static str {
    match operator {
        CmpOp::Eq => "==",
        CmpOp::NotEq => "!=",
        CmpOp::Lt => "<",
        CmpOp::LtE => "<=",
        CmpOp::Gt => ">",
        CmpOp::GtE => ">=",
        CmpOp::Is => "is",
        CmpOp::IsNot => "is not",
        CmpOp::In => "in",
        CmpOp::NotIn => "not in",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asserts_become_calls_and_lines_stay() {
        let rows = [
            ("    assert a == 1", "    __cowboy_compare__(\"==\", (a), (1))"),
            ("    assert f(x), 'why'", "    __cowboy_truthy__((f(x)), lambda: ('why'))"),
            ("    assert not x", "    __cowboy_falsy__((x))"),
            ("    assert 1 < a < 3", "    __cowboy_truthy__((1 < a < 3))"),
            ("    assert x is not None; y = 1", "    __cowboy_compare__(\"is not\", (x), (None)); y = 1"),
            ("    assert (\n        a\n        in b\n    )\n    y = 2", "    __cowboy_compare__(\"in\", (a), (b)\n\n\n)\n    y = 2"),
        ];
        for (body, expected) in rows {
            let source = format!("assert True\ndef f(a, b, x):\n{body}\n");
            let module = ruff_python_parser::parse_module(&source).expect("valid source").into_syntax();
            let changed = asserts(&source, &module.body);
            assert_eq!(changed, format!("assert True\ndef f(a, b, x):\n{expected}\n"));
            ruff_python_parser::parse_module(&changed).expect("still valid");
        }
    }
}
