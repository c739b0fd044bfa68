//! Scopes: which name lives where. One pass collects bindings and uses, a second decides register, cell or global.
//!
//! Comprehensions inside functions and modules have a scope but no frame: their names get registers of the frame around them.

use crate::CompileError;
use crate::forbidden::forbidden_name;
use crate::nesting::NESTING_LIMIT;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, ExceptHandler, Expr, Parameters, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};
use std::collections::BTreeMap;

/// Index of a scope.
pub(super) type ScopeId = usize;

/// What opens a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// The module body.
    Module,
    /// A class body.
    Class,
    /// A function, lambda or generator expression: anything with a frame and registers.
    Function,
    /// A comprehension that runs in the frame around it.
    Inline,
}

/// Facts about one name in one scope.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Symbol {
    /// Bound here.
    pub bound: bool,
    /// A parameter.
    pub parameter: bool,
    /// Declared global.
    pub global: bool,
    /// Declared nonlocal.
    pub nonlocal: bool,
    /// Mentioned here.
    pub used: bool,
    /// Captured by an inner frame: lives in a cell.
    pub cell: bool,
    /// Comes from an outer frame's cell.
    pub free: bool,
    /// Bound by `:=`, so it may change in the middle of an expression.
    pub walrus: bool,
}

/// One scope.
#[derive(Debug)]
pub(super) struct Scope {
    /// What opened it.
    pub kind: ScopeKind,
    /// The scope around it.
    pub parent: Option<ScopeId>,
    /// How many scopes are around it.
    pub depth: usize,
    /// Names, ordered so that register numbers do not depend on chance.
    pub symbols: BTreeMap<String, Symbol>,
    /// Parameters, then other bindings, in order of appearance.
    pub order: Vec<String>,
    /// Whether it contains `yield`.
    pub yields: bool,
    /// Whether a comprehension or generator expression opened it.
    pub comprehension: bool,
}

/// What a syntax node is, for looking its scope up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NodeKind {
    /// `def`
    Def,
    /// `lambda`
    Lambda,
    /// `class`
    Class,
    /// A comprehension or generator expression.
    Comprehension,
}

/// All scopes of a module.
#[derive(Debug)]
pub(super) struct Scopes {
    /// The scopes; 0 is the module.
    pub all: Vec<Scope>,
    nodes: BTreeMap<(u32, u32, NodeKind), ScopeId>,
    /// Where names are read that an actor may not take from the builtins.
    pub forbidden: Vec<(ScopeId, TextRange, &'static str)>,
}

impl Scopes {
    /// The scope a node opened.
    pub(super) fn of(&self, range: TextRange, kind: NodeKind) -> ScopeId {
        let key = (range.start().to_u32(), range.end().to_u32(), kind);
        *self.nodes.get(&key).expect("the first pass saw every node that the second one compiles")
    }

    /// Whether a name that is read in a scope is bound by the program: there, in a function around it, or in the module.
    pub(super) fn is_bound(&self, scope: ScopeId, name: &str) -> bool {
        let (mut current, mut is_innermost) = (Some(scope), true);
        while let Some(scope) = current.map(|id| &self.all[id]) {
            let symbol = scope.symbols.get(name).copied().unwrap_or_default();
            if symbol.bound && !symbol.global && (is_innermost || scope.kind != ScopeKind::Class) {
                return true;
            }
            (current, is_innermost) = (scope.parent, false);
        }
        false
    }
}

/// The private name that `name` has in class `class`.
pub(super) fn mangle(class: Option<&str>, name: &str) -> String {
    match class {
        Some(class) if name.starts_with("__") && !name.ends_with("__") && !name.contains('.') => {
            let class = class.trim_start_matches('_');
            if class.is_empty() { name.to_owned() } else { format!("_{class}{name}") }
        }
        _ => name.to_owned(),
    }
}

/// Collects and resolves the scopes of a module.
pub(super) fn analyse(body: &[Stmt]) -> Result<Scopes, CompileError> {
    let mut builder = Builder {
        scopes: Scopes { all: Vec::new(), nodes: BTreeMap::new(), forbidden: Vec::new() },
        current: 0,
        classes: Vec::new(),
        error: None,
    };
    builder.scopes.all.push(new_scope(ScopeKind::Module, None, 0));
    builder.visit_body(body);
    if let Some(error) = builder.error {
        return Err(error);
    }
    resolve(&mut builder.scopes)?;
    Ok(builder.scopes)
}

fn new_scope(kind: ScopeKind, parent: Option<ScopeId>, depth: usize) -> Scope {
    Scope { kind, parent, depth, symbols: BTreeMap::new(), order: Vec::new(), yields: false, comprehension: false }
}

struct Builder {
    scopes: Scopes,
    current: ScopeId,
    /// The class around each point, for private names.
    classes: Vec<Option<String>>,
    error: Option<CompileError>,
}

impl Builder {
    fn mangled(&self, name: &str) -> String {
        mangle(self.classes.last().and_then(Option::as_deref), name)
    }

    fn symbol(&mut self, name: &str) -> &mut Symbol {
        let name = self.mangled(name);
        self.scopes.all[self.current].symbols.entry(name).or_default()
    }

    fn bind(&mut self, name: &str) {
        let mangled = self.mangled(name);
        let scope = &mut self.scopes.all[self.current];
        let symbol = scope.symbols.entry(mangled.clone()).or_default();
        if !symbol.bound {
            symbol.bound = true;
            scope.order.push(mangled);
        }
    }

    fn fail(&mut self, range: TextRange, message: String) {
        if self.error.is_none() {
            self.error = Some(CompileError::at(range, message));
        }
    }

    fn open(&mut self, kind: ScopeKind, range: TextRange, node: NodeKind) -> ScopeId {
        let id = self.scopes.all.len();
        let depth = self.scopes.all[self.current].depth + 1;
        // A name is looked for in every scope around.
        if depth > NESTING_LIMIT && self.error.is_none() {
            self.error = Some(CompileError::too_large(range, "too many functions and classes inside one another"));
        }
        self.scopes.all.push(new_scope(kind, Some(self.current), depth));
        let key = (range.start().to_u32(), range.end().to_u32(), node);
        self.scopes.nodes.insert(key, id);
        std::mem::replace(&mut self.current, id)
    }

    fn parameters(&mut self, parameters: &Parameters) {
        let positional = parameters.posonlyargs.iter().chain(parameters.args.iter()).chain(parameters.kwonlyargs.iter());
        let names = positional
            .map(|parameter| &parameter.parameter.name)
            .chain(parameters.vararg.as_deref().map(|parameter| &parameter.name))
            .chain(parameters.kwarg.as_deref().map(|parameter| &parameter.name));
        for name in names {
            if self.symbol(name).parameter {
                self.fail(name.range, format!("duplicate argument '{name}' in function definition"));
            }
            self.bind(name);
            self.symbol(name).parameter = true;
        }
    }

    /// Defaults and annotations belong to the scope around the function.
    fn around_parameters(&mut self, parameters: &Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
        }
        for parameter in parameters.iter() {
            if let Some(annotation) = parameter.annotation() {
                self.visit_expr(annotation);
            }
        }
    }

    fn comprehension(&mut self, range: TextRange, generators: &[Comprehension], results: &[&Expr], lazy: bool) {
        let Some(first) = generators.first() else { return };
        self.visit_expr(&first.iter);
        let kind = if lazy || self.scopes.all[self.current].kind == ScopeKind::Class { ScopeKind::Function } else { ScopeKind::Inline };
        let outer = self.open(kind, range, NodeKind::Comprehension);
        self.scopes.all[self.current].comprehension = true;
        for (index, generator) in generators.iter().enumerate() {
            if index > 0 {
                self.visit_expr(&generator.iter);
            }
            self.visit_expr(&generator.target);
            for condition in &generator.ifs {
                self.visit_expr(condition);
            }
        }
        for result in results {
            self.visit_expr(result);
        }
        if lazy {
            self.scopes.all[self.current].yields = true;
        }
        self.current = outer;
    }

    /// The nearest scope that is not a comprehension: where `:=` binds.
    fn walrus_home(&self) -> ScopeId {
        let mut id = self.current;
        loop {
            let scope = &self.scopes.all[id];
            match scope.parent {
                Some(parent) if scope.comprehension => id = parent,
                _ => return id,
            }
        }
    }
}

impl<'a> Visitor<'a> for Builder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                for decorator in &def.decorator_list {
                    self.visit_expr(&decorator.expression);
                }
                self.around_parameters(&def.parameters);
                if let Some(returns) = &def.returns {
                    self.visit_expr(returns);
                }
                self.bind(&def.name);
                let outer = self.open(ScopeKind::Function, def.range, NodeKind::Def);
                self.parameters(&def.parameters);
                self.visit_body(&def.body);
                self.current = outer;
            }
            Stmt::ClassDef(class) => {
                for decorator in &class.decorator_list {
                    self.visit_expr(&decorator.expression);
                }
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.bind(&class.name);
                let outer = self.open(ScopeKind::Class, class.range, NodeKind::Class);
                self.classes.push(Some(class.name.to_string()));
                self.visit_body(&class.body);
                self.classes.pop();
                self.current = outer;
            }
            Stmt::Global(global) => {
                for name in &global.names {
                    let module = self.current == 0;
                    let symbol = *self.symbol(name);
                    if symbol.parameter {
                        self.fail(name.range, format!("name '{name}' is parameter and global"));
                    } else if symbol.bound && !symbol.global && !module {
                        self.fail(name.range, format!("name '{name}' is assigned to before global declaration"));
                    } else if symbol.used && !symbol.global && !module {
                        self.fail(name.range, format!("name '{name}' is used prior to global declaration"));
                    }
                    self.symbol(name).global = true;
                }
            }
            Stmt::Nonlocal(nonlocal) => {
                for name in &nonlocal.names {
                    let symbol = *self.symbol(name);
                    if self.current == 0 {
                        self.fail(nonlocal.range, "nonlocal declaration not allowed at module level".to_owned());
                    } else if symbol.parameter {
                        self.fail(name.range, format!("name '{name}' is parameter and nonlocal"));
                    } else if symbol.global {
                        self.fail(name.range, format!("name '{name}' is nonlocal and global"));
                    } else if symbol.bound && !symbol.nonlocal {
                        self.fail(name.range, format!("name '{name}' is assigned to before nonlocal declaration"));
                    } else if symbol.used && !symbol.nonlocal {
                        self.fail(name.range, format!("name '{name}' is used prior to nonlocal declaration"));
                    }
                    self.symbol(name).nonlocal = true;
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    match &alias.asname {
                        Some(name) => self.bind(name),
                        None => {
                            let top = alias.name.split('.').next().unwrap_or_default().to_owned();
                            self.bind(&top);
                        }
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    if alias.name.as_str() != "*" {
                        self.bind(alias.asname.as_ref().unwrap_or(&alias.name));
                    } else if self.current != 0 {
                        self.fail(import.range, "import * only allowed at module level".to_owned());
                    }
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.visit_expr(value);
                }
                // A local annotation is never evaluated, but binds the name.
                if self.scopes.all[self.current].kind != ScopeKind::Function || !assign.simple {
                    self.visit_expr(&assign.annotation);
                }
                if let (Expr::Name(name), true) = (&*assign.target, assign.simple) {
                    self.bind(&name.id);
                    if self.scopes.all[self.current].kind != ScopeKind::Function {
                        self.bind("__annotations__");
                    }
                } else {
                    self.visit_expr(&assign.target);
                }
            }
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    self.symbol(&name.id).used = true;
                }
                visitor::walk_stmt(self, stmt);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                if name.ctx.is_load() {
                    self.symbol(&name.id).used = true;
                    if let Some(forbidden) = forbidden_name(&name.id) {
                        self.scopes.forbidden.push((self.current, name.range, forbidden));
                    }
                    let in_function = self.current != 0;
                    if in_function && (name.id.as_str() == "super") {
                        self.symbol("__class__").used = true;
                    }
                } else {
                    self.bind(&name.id);
                }
            }
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                if let Expr::Name(name) = &*named.target {
                    let home = self.walrus_home();
                    let inner = std::mem::replace(&mut self.current, home);
                    if home != inner && self.scopes.all[home].kind == ScopeKind::Class {
                        self.fail(named.range, "assignment expression within a comprehension cannot be used in a class body".to_owned());
                    }
                    self.bind(&name.id);
                    self.symbol(&name.id).walrus = true;
                    self.current = inner;
                    if home != inner {
                        self.symbol(&name.id).used = true;
                    }
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.around_parameters(parameters);
                }
                let outer = self.open(ScopeKind::Function, lambda.range, NodeKind::Lambda);
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.visit_expr(&lambda.body);
                self.current = outer;
            }
            Expr::ListComp(comp) => self.comprehension(comp.range, &comp.generators, &[&comp.elt], false),
            Expr::SetComp(comp) => self.comprehension(comp.range, &comp.generators, &[&comp.elt], false),
            Expr::DictComp(comp) => match &comp.key {
                Some(key) => self.comprehension(comp.range, &comp.generators, &[key, &comp.value], false),
                None => self.comprehension(comp.range, &comp.generators, &[&comp.value], false),
            },
            Expr::Generator(comp) => self.comprehension(comp.range, &comp.generators, &[&comp.elt], true),
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                let kind = self.scopes.all[self.current].kind;
                match kind {
                    ScopeKind::Function => self.scopes.all[self.current].yields = true,
                    ScopeKind::Inline => self.fail(expr.range(), "'yield' inside list comprehension".to_owned()),
                    _ => self.fail(expr.range(), "'yield' outside function".to_owned()),
                }
                visitor::walk_expr(self, expr);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(clause) = handler;
        if let Some(kind) = &clause.type_ {
            self.visit_expr(kind);
        }
        if let Some(name) = &clause.name {
            self.bind(name);
        }
        self.visit_body(&clause.body);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchAs(node) => {
                if let Some(name) = &node.name {
                    self.bind(name);
                }
            }
            Pattern::MatchStar(node) => {
                if let Some(name) = &node.name {
                    self.bind(name);
                }
            }
            Pattern::MatchMapping(node) => {
                if let Some(name) = &node.rest {
                    self.bind(name);
                }
            }
            _ => {}
        }
        visitor::walk_pattern(self, pattern);
    }
}

fn resolve(scopes: &mut Scopes) -> Result<(), CompileError> {
    for id in 0..scopes.all.len() {
        let names: Vec<(String, Symbol)> = scopes.all[id].symbols.iter().map(|(name, symbol)| (name.clone(), *symbol)).collect();
        for (name, symbol) in names {
            let own = symbol.bound && !symbol.nonlocal;
            // A class also sees the cell of an outer function behind its own binding only when it does not bind.
            if symbol.global || (own && scopes.all[id].kind != ScopeKind::Module) || id == 0 {
                continue;
            }
            let found = capture(scopes, id, &name);
            if symbol.nonlocal && !found {
                let message = format!("no binding for nonlocal '{name}' found");
                return Err(CompileError::at(TextRange::default(), message));
            }
        }
    }
    Ok(())
}

/// Looks `name` up from scope `id` outwards; marks the cell and everything it passes through.
fn capture(scopes: &mut Scopes, id: ScopeId, name: &str) -> bool {
    let mut frames = Vec::new();
    let mut current = id;
    loop {
        if scopes.all[current].kind != ScopeKind::Inline {
            frames.push(current);
        }
        let Some(parent) = scopes.all[current].parent else { return false };
        current = parent;
        let scope = &mut scopes.all[current];
        let class_cell = name == "__class__" && scope.kind == ScopeKind::Class;
        if scope.kind == ScopeKind::Module || (scope.kind == ScopeKind::Class && !class_cell) {
            if scope.kind == ScopeKind::Module {
                return false;
            }
            continue;
        }
        if class_cell {
            let symbol = scope.symbols.entry(name.to_owned()).or_default();
            symbol.cell = true;
        } else {
            let Some(symbol) = scope.symbols.get_mut(name) else { continue };
            if symbol.global {
                return false;
            }
            if !symbol.bound || symbol.nonlocal {
                continue;
            }
            if frames.is_empty() {
                return true;
            }
            symbol.cell = true;
        }
        for frame in frames {
            scopes.all[frame].symbols.entry(name.to_owned()).or_default().free = true;
        }
        return true;
    }
}
