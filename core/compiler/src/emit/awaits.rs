//! Whether an expression waits: a generator expression around one that does is asynchronous.

use ruff_python_ast::visitor::{Visitor, walk_comprehension, walk_expr};
use ruff_python_ast::{Comprehension, Expr};

struct Awaits(bool);

impl<'a> Visitor<'a> for Awaits {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Await(_) => self.0 = true,
            // What they do, they do in frames of their own; only the first iterable is asked for here.
            Expr::Lambda(_) => {}
            Expr::Generator(node) => {
                if let Some(first) = node.generators.first() {
                    self.visit_expr(&first.iter);
                }
            }
            _ => walk_expr(self, expr),
        }
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.0 |= comprehension.is_async;
        walk_comprehension(self, comprehension);
    }
}

/// Whether evaluating the expression awaits something in its own frame.
pub(super) fn awaits(expr: &Expr) -> bool {
    let mut found = Awaits(false);
    found.visit_expr(expr);
    found.0
}
