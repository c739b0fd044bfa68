//! What the body of one function calls.

use super::super::tokens::tokens;
use super::{Call, Reader, path_name, type_name};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// The closures in an expression.
pub(super) struct Closures<'ast>(pub(super) Vec<&'ast syn::ExprClosure>);

impl<'ast> Visit<'ast> for Closures<'ast> {
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.0.push(closure);
    }
}

/// The names that patterns bind.
#[derive(Default)]
pub(super) struct Bound(pub(super) BTreeSet<String>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.0.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}

/// Collects the calls of one function.
pub(super) struct Body<'a, 'b> {
    pub(super) reader: &'a Reader<'b>,
    /// The types of variables, where they can be told.
    pub(super) known: BTreeMap<String, String>,
    /// Names of variables and parameters.
    pub(super) bound: BTreeSet<String>,
    pub(super) calls: Vec<Call>,
    /// Items in the function.
    pub(super) inner: Vec<syn::Item>,
}

impl Body<'_, '_> {
    fn path(&mut self, path: &syn::Path) {
        let mut before: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let name = before.pop().unwrap_or_default();
        if name.starts_with("walk_") {
            self.calls.push(Call::Walk { owner: self.reader.owner.clone() });
        }
        if let ([first], Some(owner)) = (before.as_mut_slice(), &self.reader.owner)
            && first == "Self"
        {
            first.clone_from(owner);
        }
        self.calls.push(Call::Path { before, name });
    }

    /// The name of an expression's type, where it can be told.
    fn infer(&self, expr: &syn::Expr) -> Option<String> {
        match expr {
            syn::Expr::Path(path) => match path.path.get_ident() {
                Some(ident) if ident == "self" => self.reader.owner.clone(),
                Some(ident) => self.known.get(&ident.to_string()).cloned(),
                None => None,
            },
            syn::Expr::Reference(inner) => self.infer(&inner.expr),
            syn::Expr::Paren(inner) => self.infer(&inner.expr),
            syn::Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => self.infer(&inner.expr),
            syn::Expr::Try(inner) => self.infer(&inner.expr),
            syn::Expr::Field(field) => {
                let label = match &field.member {
                    syn::Member::Named(ident) => ident.to_string(),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                self.reader.found.fields.get(&(self.infer(&field.base)?, label)).cloned()
            }
            syn::Expr::MethodCall(call) => {
                let receiver = self.infer(&call.receiver);
                let name = call.method.to_string();
                if matches!(name.as_str(), "clone" | "unwrap" | "expect" | "as_ref" | "as_mut" | "borrow" | "borrow_mut" | "to_owned") {
                    return receiver;
                }
                let returned = self.reader.returns.get(&(receiver.clone(), name)).cloned();
                // What is known to be of another crate gives something of another crate.
                returned.or_else(|| receiver.filter(|receiver| !self.reader.found.types.contains_key(receiver)))
            }
            syn::Expr::Call(call) => match &*call.func {
                syn::Expr::Path(path) => {
                    let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                    let name = segments.last()?.clone();
                    let owner = match segments.len().checked_sub(2).map(|at| segments[at].as_str()) {
                        Some("Self") => self.reader.owner.clone(),
                        Some(owner) if owner.starts_with(char::is_uppercase) => Some(owner.to_owned()),
                        _ => None,
                    };
                    let returned = self.reader.returns.get(&(owner.clone(), name)).cloned();
                    returned.or_else(|| owner.filter(|owner| !self.reader.found.types.contains_key(owner)))
                }
                _ => None,
            },
            syn::Expr::Macro(call) => match path_name(&call.mac.path).as_str() {
                "vec" => Some("Vec".to_owned()),
                "format" => Some("String".to_owned()),
                _ => None,
            },
            syn::Expr::Struct(item) => Some(path_name(&item.path)),
            syn::Expr::Lit(_) => Some("literal".to_owned()),
            syn::Expr::Array(_) | syn::Expr::Index(_) if matches!(expr, syn::Expr::Array(_)) => Some("[]".to_owned()),
            _ => None,
        }
    }
}

impl<'ast> Visit<'ast> for Body<'_, '_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.inner.push(item.clone());
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        let (pattern, declared) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, type_name(&typed.ty)),
            pattern => (pattern, None),
        };
        if let syn::Pat::Ident(ident) = pattern {
            let inferred = declared.or_else(|| local.init.as_ref().and_then(|init| self.infer(&init.expr)));
            match inferred {
                Some(ty) => self.known.insert(ident.ident.to_string(), ty),
                None => self.known.remove(&ident.ident.to_string()),
            };
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        // A new binding hides what was known of the name.
        self.known.remove(&pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let before = self.known.clone();
        for input in &closure.inputs {
            if let syn::Pat::Type(typed) = input {
                if let (syn::Pat::Ident(ident), Some(ty)) = (&*typed.pat, type_name(&typed.ty)) {
                    self.known.insert(ident.ident.to_string(), ty);
                }
            } else {
                self.visit_pat(input);
            }
        }
        self.visit_expr(&closure.body);
        self.known = before;
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        // A variable hides a function of its name, unless it is called.
        if path.path.get_ident().is_none_or(|ident| !self.bound.contains(&ident.to_string())) {
            self.path(&path.path);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        match &*call.func {
            syn::Expr::Path(path) => {
                let ty = path.path.get_ident().and_then(|ident| self.known.get(&ident.to_string()));
                if ty.is_some_and(|ty| ty == "NativeFunction") {
                    self.calls.push(Call::Native);
                }
                self.path(&path.path);
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            _ => {
                // Native functions get the VM and their arguments; other values that are called are closures, whose calls count
                // for the function that they stand in.
                let machine = call.args.first().and_then(|argument| self.infer(argument));
                if call.args.len() == 2 && machine.as_deref() == Some("Vm") {
                    self.calls.push(Call::Native);
                }
                visit::visit_expr_call(self, call);
            }
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let (receiver, name) = (self.infer(&call.receiver), call.method.to_string());
        if name.starts_with("visit_") {
            self.calls.push(Call::Walk { owner: receiver });
        } else {
            self.calls.push(Call::Method { receiver, name, arity: call.args.len() });
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let parser = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        match call.parse_body_with(parser) {
            // The tree lives only here, so it is walked by a visitor of its own.
            Ok(arguments) => {
                let mut body = Body {
                    reader: self.reader,
                    known: self.known.clone(),
                    bound: self.bound.clone(),
                    calls: Vec::new(),
                    inner: Vec::new(),
                };
                for argument in &arguments {
                    body.visit_expr(argument);
                }
                self.calls.append(&mut body.calls);
            }
            Err(_) => tokens(call.tokens.clone(), &mut self.calls),
        }
        self.calls.push(Call::Path { before: Vec::new(), name: format!("{}!", path_name(&call.path)) });
    }
}
