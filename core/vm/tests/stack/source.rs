//! The sources of the VM and of the crates below it, read by `syn`: functions, types, and what each function may call.

mod body;

use super::tokens::tokens;
use body::{Body, Bound, Closures};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// A function, or a macro that contains code.
pub(crate) struct Function {
    /// `file Type::name`, or `file name`.
    pub id: String,
    /// File below `src`; in another crate than the VM's, below the crate's name.
    pub file: String,
    /// The crate, where it is not the VM's.
    pub home: Option<String>,
    /// The type that the function belongs to.
    pub owner: Option<String>,
    /// The modules that it is in, outermost first.
    pub modules: Vec<String>,
    /// Its name.
    pub name: String,
    /// Arguments, without the receiver.
    pub arity: usize,
    /// Whether it takes a receiver.
    pub is_method: bool,
    /// Whether it has the signature of a native function, which tables name and one place calls.
    pub is_native: bool,
    /// The name of the type that it returns.
    pub returns: Option<String>,
    /// What it may call.
    pub calls: Vec<Call>,
}

/// A call, a function named as a value, or a macro's use.
pub(crate) enum Call {
    /// `name(…)` or `module::Type::name(…)`, also without arguments: what stands before the name, and the name.
    Path { before: Vec<String>, name: String },
    /// `receiver.name(…)`; `None` where the receiver's type is unknown.
    Method { receiver: Option<String>, name: String, arity: usize },
    /// A call of a native function, whose pointer a table holds.
    Native,
    /// Every `visit_*` of the type: a walk of `ruff_python_ast` calls them.
    Walk { owner: Option<String> },
}

/// Everything read.
#[derive(Default)]
pub(crate) struct Crate {
    /// All functions.
    pub functions: Vec<Function>,
    /// Types held by the fields of each type, by name.
    pub types: BTreeMap<String, BTreeSet<String>>,
    /// Names that a file imports.
    pub imports: BTreeSet<(String, String)>,
    /// The type of each field.
    fields: BTreeMap<(String, String), String>,
}

impl Crate {
    /// Reads every file below the VM's folder `src`, and below those of the crates `below` it, except test modules.
    pub(crate) fn read(root: &Path, below: &[&str]) -> Self {
        let mut files = Vec::new();
        collect(&root.join("src"), "", &root.join("src"), &mut files);
        for home in below {
            let source = root.join("..").join(home).join("src");
            collect(&source, &format!("{home}/"), &source, &mut files);
        }
        files.sort();
        let parsed: Vec<(String, syn::File)> = files
            .iter()
            .map(|(file, path)| {
                let text = std::fs::read_to_string(path).expect("a source file is readable");
                (file.clone(), syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}")))
            })
            .collect();
        let home = |file: &str| below.iter().find(|home| file.starts_with(&format!("{home}/"))).map(|&home| home.to_owned());
        let mut found = Self::default();
        for (_, file) in &parsed {
            Types(&mut found).visit_file(file);
        }
        // Twice: what a call returns is known only once every function is.
        let mut returns = BTreeMap::new();
        for _ in 0..2 {
            found.functions.clear();
            for (name, file) in &parsed {
                let mut reader =
                    Reader { found: &mut found, returns: &returns, file: name.clone(), home: home(name), owner: None, outer: Vec::new() };
                reader.visit_file(file);
            }
            for function in &found.functions {
                if let Some(returned) = &function.returns {
                    returns.insert((function.owner.clone(), function.name.clone()), returned.clone());
                }
            }
        }
        found
    }
}

fn collect(root: &Path, prefix: &str, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
    for entry in std::fs::read_dir(folder).expect("a source folder is readable") {
        let path = entry.expect("a source folder is readable").path();
        if path.is_dir() {
            collect(root, prefix, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            files.push((format!("{prefix}{name}"), path));
        }
    }
}

/// The name of a type behind references, boxes and results.
fn type_name(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Reference(reference) => type_name(&reference.elem),
        syn::Type::Paren(inner) => type_name(&inner.elem),
        syn::Type::Slice(_) | syn::Type::Array(_) => Some("[]".to_owned()),
        syn::Type::Tuple(_) => Some("()".to_owned()),
        syn::Type::Path(path) => {
            let last = path.path.segments.last()?;
            let name = last.ident.to_string();
            if matches!(name.as_str(), "Box" | "Arc" | "Rc" | "ManuallyDrop" | "Cow")
                && let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
            {
                return arguments.args.iter().find_map(|argument| match argument {
                    syn::GenericArgument::Type(inner) => type_name(inner),
                    _ => None,
                });
            }
            // A type parameter may be anything.
            if name.len() == 1 { None } else { Some(name) }
        }
        _ => None,
    }
}

/// What `?`, `unwrap` and their like take out of a type.
fn inside(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    if !matches!(last.ident.to_string().as_str(), "Outcome" | "Result" | "Option" | "Compiled" | "Parsed" | "Refused") {
        return None;
    }
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            syn::GenericArgument::Type(inner) => type_name(inner),
            _ => None,
        },
        _ => (last.ident == "Outcome").then(|| "Value".to_owned()),
    }
}

/// The modules of a file.
fn modules(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs");
    path.split('/').filter(|part| !matches!(*part, "mod" | "lib")).map(str::to_owned).collect()
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test"))
    })
}

/// Collects types and their fields.
struct Types<'a>(&'a mut Crate);

struct Named<'a>(&'a mut BTreeSet<String>);

impl<'ast> Visit<'ast> for Named<'_> {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        self.0.insert(segment.ident.to_string());
        visit::visit_path_segment(self, segment);
    }
}

impl<'ast> Visit<'ast> for Types<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let name = item.ident.to_string();
        for (index, field) in item.fields.iter().enumerate() {
            Named(self.0.types.entry(name.clone()).or_default()).visit_type(&field.ty);
            let label = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            if let Some(ty) = type_name(&field.ty) {
                self.0.fields.insert((name.clone(), label), ty);
            }
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let name = item.ident.to_string();
        for field in item.variants.iter().flat_map(|variant| &variant.fields) {
            Named(self.0.types.entry(name.clone()).or_default()).visit_type(&field.ty);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}

/// Collects functions.
struct Reader<'a> {
    found: &'a mut Crate,
    returns: &'a BTreeMap<(Option<String>, String), String>,
    file: String,
    home: Option<String>,
    owner: Option<String>,
    outer: Vec<String>,
}

impl Reader<'_> {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let name = signature.ident.to_string();
        let mut known = BTreeMap::new();
        let mut natives = Vec::new();
        for input in &signature.inputs {
            if let syn::FnArg::Typed(typed) = input {
                natives.push(type_name(&typed.ty));
                if let (syn::Pat::Ident(pattern), Some(ty)) = (&*typed.pat, type_name(&typed.ty)) {
                    known.insert(pattern.ident.to_string(), ty);
                }
            }
        }
        let (returns, is_outcome) = match &signature.output {
            syn::ReturnType::Type(_, ty) => (inside(ty).or_else(|| type_name(ty)), type_name(ty).as_deref() == Some("Outcome")),
            syn::ReturnType::Default => (Some("()".to_owned()), false),
        };
        let returns = if returns.as_deref() == Some("Self") { self.owner.clone() } else { returns };
        let mut bound = Bound::default();
        signature.inputs.iter().for_each(|input| bound.visit_fn_arg(input));
        bound.visit_block(block);
        let mut body = Body { reader: self, known, bound: bound.0, calls: Vec::new(), inner: Vec::new() };
        body.visit_block(block);
        let (calls, inner) = (body.calls, body.inner);
        let owned = self.owner.as_ref().map_or_else(String::new, |owner| format!("{owner}::"));
        let outer: String = self.outer.iter().map(|outer| format!("{outer}::")).collect();
        self.found.functions.push(Function {
            id: format!("{} {owned}{outer}{name}", self.file),
            file: self.file.clone(),
            home: self.home.clone(),
            modules: modules(&self.file),
            owner: self.owner.clone(),
            name: name.clone(),
            arity: signature.inputs.iter().filter(|input| matches!(input, syn::FnArg::Typed(_))).count(),
            is_method: signature.receiver().is_some(),
            is_native: is_outcome && natives == [Some("Vm".to_owned()), Some("[]".to_owned())],
            returns,
            calls,
        });
        self.outer.push(name);
        for item in inner {
            self.visit_item(&item);
        }
        self.outer.pop();
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_use_name(&mut self, item: &'ast syn::UseName) {
        self.found.imports.insert((self.file.clone(), item.ident.to_string()));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = std::mem::replace(&mut self.owner, type_name(&item.self_ty));
        visit::visit_item_impl(self, item);
        self.owner = outer;
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let outer = self.owner.replace(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.owner = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            let outer = self.owner.take();
            self.function(&item.sig, &item.block);
            self.owner = outer;
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        // Closures in tables of natives.
        let mut closures = Closures(Vec::new());
        closures.visit_expr(&item.expr);
        let mut body = Body { reader: self, known: BTreeMap::new(), bound: BTreeSet::new(), calls: Vec::new(), inner: Vec::new() };
        closures.0.iter().for_each(|closure| body.visit_expr(&closure.body));
        let calls = body.calls;
        self.found.functions.push(Function {
            id: format!("{} {}", self.file, item.ident),
            file: self.file.clone(),
            home: self.home.clone(),
            modules: modules(&self.file),
            owner: self.owner.clone(),
            // Naming a table calls nothing.
            name: String::new(),
            arity: 0,
            is_method: false,
            is_native: true,
            returns: None,
            calls,
        });
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        // The code in a macro counts as a native function: macros here write rows of tables.
        let mut calls = Vec::new();
        tokens(item.mac.tokens.clone(), &mut calls);
        let name = item.ident.as_ref().map_or_else(|| format!("{}!", path_name(&item.mac.path)), |ident| format!("{ident}!"));
        self.found.functions.push(Function {
            id: format!("{} {name}", self.file),
            file: self.file.clone(),
            home: self.home.clone(),
            modules: modules(&self.file),
            owner: None,
            name,
            arity: 0,
            is_method: false,
            is_native: self.outer.is_empty(),
            returns: None,
            calls,
        });
    }
}

fn path_name(path: &syn::Path) -> String {
    path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string())
}
