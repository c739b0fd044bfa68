//! Continuations: an `async def` under `@runner.continuation`, and the helpers it awaits, become functions that can be left
//! at an await and entered again in a later block.
//!
//! The function stays one function with its own control flow. It gets a frame `$k` of the SDK as its first parameter; the
//! local `$at` is the number of the await to go back to, or -1. On the way there, statements before that await are skipped, and
//! the blocks that hold it are entered without asking their conditions again. Each await becomes
//!
//! ```text
//! if $at == -1: $t0 = $k.wait(<what is awaited>)
//! else:         $at = -1; $t0 = $k.resume()
//! if $t0 is $k: return $k.leave(0, ("names", "to", "keep"), locals())
//! ```
//!
//! and `cowboy_sdk.continuation` does the rest. Names that begin with a dollar sign cannot clash with the author's.
//! `sdk/python/cowboy_sdk/_lowering.py` does the same to actors in plain Python; the two agree on numbers, names and refusals.

mod blocks;
mod build;
mod normal;
mod plan;

use crate::CompileError;
use blocks::Blocks;
use build::{Build, last_name};
use normal::Normal;
use plan::Plan;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Decorator, Expr, Parameter, ParameterWithDefault, Parameters, Stmt, StmtFunctionDef, Suite};
use ruff_text_size::{Ranged, TextRange};

/// Awaits that one function may hold.
const MAX_AWAITS: usize = 8;

/// The name under which a module finds the SDK's decorator for compiled functions.
const FRAME_DECORATOR: &str = "$frame";

/// What an await's frame parameter is called.
const FRAME: &str = "$k";

/// The await to go back to.
const AT: &str = "$at";

/// Makes every continuation of a module, and every helper beside one, leavable.
pub(super) fn module(body: Suite) -> Result<Suite, CompileError> {
    if !body.iter().any(holds_continuation) {
        return Ok(body);
    }
    let mut lowered = functions(body, "")?;
    let place = lowered.iter().position(|stmt| !is_prologue(stmt)).unwrap_or(lowered.len());
    lowered.insert(place, Build::at(TextRange::default()).import("cowboy_sdk.continuation", "frame", FRAME_DECORATOR));
    Ok(lowered)
}

/// What must stand before everything else: the module's text, and `from __future__` imports.
fn is_prologue(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(node) => node.value.is_string_literal_expr(),
        Stmt::ImportFrom(node) => node.module.as_ref().is_some_and(|module| module.as_str() == "__future__"),
        _ => false,
    }
}

fn holds_continuation(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::FunctionDef(def) => def.is_async && is_continuation(def),
        Stmt::ClassDef(class) => class.body.iter().any(holds_continuation),
        _ => false,
    }
}

fn is_continuation(def: &StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|decorator| is_called(decorator, "continuation"))
}

/// Whether a decorator is `name`, `x.name`, or a call of either.
fn is_called(decorator: &Decorator, name: &str) -> bool {
    let expression = match &decorator.expression {
        Expr::Call(call) => &call.func,
        other => other,
    };
    last_name(expression) == Some(name)
}

fn functions(body: Suite, holder: &str) -> Result<Suite, CompileError> {
    let mut lowered = Suite::new();
    for stmt in body {
        lowered.push(match stmt {
            Stmt::FunctionDef(def) if def.is_async && (is_continuation(&def) || !has_yield(&def.body)) => function(def, holder)?,
            Stmt::ClassDef(mut class) => {
                class.body = functions(class.body, &format!("{holder}{}.", class.name))?;
                Stmt::ClassDef(class)
            }
            other => other,
        });
    }
    Ok(lowered)
}

fn function(mut def: StmtFunctionDef, holder: &str) -> Result<Stmt, CompileError> {
    normal::check_shape(&def)?;
    let name = def.name.to_string();
    let is_method = !holder.is_empty() && !def.decorator_list.iter().any(|decorator| is_called(decorator, "staticmethod"));
    let capture = plan::capture_name(&def.body);
    let is_bare = def.body.last().is_some_and(|last| match last {
        Stmt::Expr(node) => node.value.is_await_expr(),
        Stmt::Assign(node) => node.value.is_await_expr(),
        _ => false,
    });
    let build = Build::at(def.range);
    let text = |names: &[&ParameterWithDefault]| names.iter().map(|one| one.parameter.name.to_string()).collect::<Vec<_>>();
    let positional = text(&def.parameters.posonlyargs.iter().chain(&def.parameters.args).collect::<Vec<_>>());
    let by_name = text(&def.parameters.kwonlyargs.iter().collect::<Vec<_>>());

    let mut normal = Normal::new(&name);
    let body = normal.block(std::mem::take(&mut def.body))?;
    normal::check_places(&name, &body)?;
    if normal.awaits > MAX_AWAITS {
        let message = format!("{name}(): {} awaits, at most {MAX_AWAITS}: move some into a helper method", normal.awaits);
        return Err(CompileError::forbidden(def.name.range(), message));
    }
    let plan = Plan::of(&def.parameters, &body, is_method, capture.as_deref(), normal.blocks, &name)?;
    let mut statements = build.prologue(&plan.all_names());
    let mut blocks = Blocks { plan: &plan, awaits: 0, blocks: normal.blocks };
    statements.extend(blocks.block(body));
    if let Some(last) = normal.awaits.checked_sub(1).filter(|_| is_bare) {
        statements.push(build.return_(build.call("bare", vec![build.load(&format!("$t{last}"))])));
    }
    def.is_async = false;
    def.body = statements.into();
    add_frame(&mut def.parameters, &build);
    let shape = vec![
        build.text(&format!("{holder}{name}")),
        build.texts(&positional),
        build.texts(&by_name),
        build.truth(is_method),
        capture.map_or_else(|| build.none(), |capture| build.text(&capture)),
    ];
    def.decorator_list.push(build.decorator(build.call_of(build.load(FRAME_DECORATOR), shape)));
    Ok(Stmt::FunctionDef(def))
}

fn add_frame(parameters: &mut Parameters, build: &Build) {
    let parameter = Parameter { range: build.range(), node_index: build.index(), name: build.name(FRAME), annotation: None };
    let first = ParameterWithDefault { range: build.range(), node_index: build.index(), parameter, default: None };
    if parameters.posonlyargs.is_empty() {
        parameters.args.insert(0, first);
    } else {
        parameters.posonlyargs.insert(0, first);
    }
}

/// Whether an await of this function, not of one inside it, lies in these statements.
fn has_await(body: &[Stmt]) -> bool {
    let mut finder = Finder::default();
    finder.visit_body(body);
    finder.awaits
}

fn has_yield(body: &[Stmt]) -> bool {
    let mut finder = Finder::default();
    finder.visit_body(body);
    finder.yields
}

fn awaits(stmt: &Stmt) -> bool {
    has_await(std::slice::from_ref(stmt))
}

fn awaits_in(expr: &Expr) -> bool {
    let mut finder = Finder::default();
    finder.visit_expr(expr);
    finder.awaits
}

#[derive(Default)]
struct Finder {
    awaits: bool,
    yields: bool,
}

impl<'a> Visitor<'a> for Finder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::For(node) if node.is_async => self.awaits = true,
            Stmt::With(node) if node.is_async => self.awaits = true,
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(_) => return,
            Expr::Await(_) => self.awaits = true,
            Expr::Yield(_) | Expr::YieldFrom(_) => self.yields = true,
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}
