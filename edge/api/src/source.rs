//! What an actor's source says about it: its handlers, and the entitlements it will need.
//!
//! A guess by names, not by flow: whatever is spelled like the SDK's function counts as a use of it. So the guess may ask for too
//! much and never for too little, unless the source hides a name. People see the guess before it is signed.

mod explain;

pub use explain::{Asked, HOLD_BALANCE, explain_missing, explain_unknown};

use crate::model::Entitlement;
use ruff_python_ast::{
    Alias, Expr, Keyword as KeywordArgument, ModModule, Stmt, StmtClassDef, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::TextRange;
use serde_json::json;
use std::collections::BTreeMap;

/// What needs an entitlement: a name that is spelled anywhere, a name of another, or a keyword argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Name(&'static str),
    Attribute(&'static str, &'static str),
    Keyword(&'static str),
}

use Sign::{Attribute, Keyword, Name};

/// Signs of every entitlement that a source can need. What a gateway or a job requires beside is for its author to say.
const NEEDS: &[(&str, &[Sign])] = &[
    ("accel.gpu", &[Keyword("gpu"), Keyword("min_vram_gb")]),
    ("bridge.asset", &[Name("bridge_asset")]),
    ("bridge.subscribe_event", &[Name("subscribe_ethereum_event"), Name("EventListener")]),
    (
        "econ.hold_balance",
        &[
            Name("get_value"),
            Name("get_balance"),
            Name("transfer_balance"),
            Name("balance_of"),
            // A job's price is held from the actor's own balance.
            Attribute("runner", "llm"),
            Attribute("runner", "http"),
            Attribute("runner", "mcp"),
            Attribute("runner", "agent"),
            Attribute("runner", "custom"),
            Attribute("runner", "container"),
            Attribute("runner", "send_message"),
            Name("submit_job"),
            Name("submit_task"),
        ],
    ),
    (
        "econ.transfer",
        &[
            Name("transfer_balance"),
            Keyword("endowment"),
            Name("create_volume"),
            Attribute("volumes", "create"),
            Attribute("volumes", "fund"),
        ],
    ),
    ("exec.spawn", &[Name("spawn"), Name("spawn_actor")]),
    ("http.fetch", &[Attribute("runner", "http"), Name("mcp"), Attribute("runner", "agent")]),
    (
        "ingress.http",
        &[
            Name("routes"),
            Name("Pays"),
            Attribute("http", "get"),
            Attribute("http", "post"),
            Attribute("http", "put"),
            Attribute("http", "patch"),
            Attribute("http", "delete"),
            Attribute("http", "command"),
            Attribute("http", "handler"),
        ],
    ),
    ("oracle.llm", &[Name("llm"), Attribute("runner", "agent")]),
    ("sec.data_residency", &[Keyword("region")]),
    ("sec.tee_required", &[Attribute("Verify", "tee"), Keyword("tee_required"), Keyword("tee_type")]),
    (
        "storage.blob",
        &[
            Name("blob_commit"),
            Name("blob_read"),
            Name("blob_ref"),
            Name("create_volume"),
            Name("delete_volume"),
            Name("storage_manager"),
            Attribute("volumes", "create"),
            Attribute("volumes", "fund"),
            Attribute("volumes", "set_quota"),
            Attribute("volumes", "transfer"),
            Attribute("volumes", "delete"),
            Attribute("volumes", "undelete"),
            Attribute("volumes", "revert"),
            Attribute("volumes", "grant"),
            Attribute("volumes", "revoke"),
            Attribute("volumes", "quote"),
            Attribute("volumes", "get"),
            Attribute("volumes", "get_partition"),
            Attribute("volumes", "get_capability"),
            Attribute("volumes", "owned"),
        ],
    ),
    (
        "storage.kv",
        &[
            Name("storage"),
            Name("get_state"),
            Name("set_state"),
            Name("delete_state"),
            Name("scan_state_prefix"),
            Name("storage_guard"),
            Name("reentrancy_guard"),
            Name("get_raw"),
            Name("set_raw"),
            Name("StoredMap"),
            Name("StoredLog"),
            Name("patterns"),
            // What a method keeps while it waits, and what the SDK notes of a web command.
            Attribute("runner", "continuation"),
            Name("submit_task"),
            Name("save_cont"),
            Attribute("http", "command"),
            Attribute("http", "post"),
            Attribute("http", "put"),
            Attribute("http", "patch"),
            Attribute("http", "delete"),
        ],
    ),
    ("sys.upgrade", &[Name("upgrade_self")]),
    (
        "timer.schedule",
        &[
            Name("schedule"),
            Name("schedule_timer"),
            Name("schedule_timer_ex"),
            Name("schedule_after"),
            Name("set_timer"),
            Name("set_interval"),
            Name("reschedule_interval"),
            Name("extend_timer"),
            Name("set_timeout"),
            Attribute("runner", "sleep"),
            Attribute("runner", "within"),
            Attribute("patterns", "request"),
        ],
    ),
];

/// Functions that send value when they are given `value=`.
const SENDERS: &[&str] = &["call", "send"];

/// An entitlement that a source needs, and where that shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The id.
    pub id: &'static str,
    /// The name or argument that needs it.
    pub because: String,
    /// The first line with it, from 1.
    pub line: usize,
}

/// Every entitlement that a source needs, ascending by id, with the first place that shows it. Empty where it is no Python.
pub fn needs(source: &str) -> Vec<Need> {
    let Some(module) = parse(source) else { return Vec::new() };
    let mut names = Names::default();
    module.body.iter().for_each(|statement| names.visit_stmt(statement));
    let line = |offset: usize| source.get(..offset).map_or(1, |before| before.matches('\n').count() + 1);
    let mut found: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
    let mut note = |id: &'static str, place: usize, because: String| {
        let first = found.entry(id).or_insert_with(|| (place, because.clone()));
        if place < first.0 {
            *first = (place, because);
        }
    };
    for (id, signs) in NEEDS {
        for sign in *signs {
            let (place, because) = match sign {
                Name(name) => (names.used.get(*name), (*name).to_owned()),
                Attribute(owner, name) => (names.used.get(&format!("{owner}.{name}")), format!("{owner}.{name}")),
                Keyword(name) => (names.keywords.get(*name), format!("{name}=")),
            };
            if let Some(place) = place {
                note(id, *place, because);
            }
        }
    }
    if let Some(place) = names.sends_value {
        note("econ.transfer", place, "value=".to_owned());
    }
    // What an actor sends, and what its timers cost, comes out of its own balance.
    for id in ["econ.transfer", "timer.schedule"] {
        if let Some((place, because)) = found.get(id).cloned() {
            found.entry("econ.hold_balance").or_insert((place, because));
        }
    }
    found.into_iter().map(|(id, (place, because))| Need { id, because, line: line(place) }).collect()
}

/// The entitlements that a source needs, by name. Empty where it is no Python: the chain says why.
pub fn infer(source: &str) -> Vec<Entitlement> {
    needs(source).into_iter().map(|need| Entitlement { id: need.id.into(), params: json!({}), deprecated: false }).collect()
}

/// What a source needs and a manifest does not grant.
pub fn missing(source: &str, granted: &[Entitlement]) -> Vec<Need> {
    needs(source).into_iter().filter(|need| granted.iter().all(|grant| grant.id != need.id)).collect()
}

/// The names of an actor's handlers, in the order of the source: the public methods of the class marked `@actor` or called `Actor`, or
/// the public functions where there is no such class.
pub fn handlers(source: &str) -> Vec<String> {
    let Some(module) = parse(source) else { return Vec::new() };
    let body = match module.body.iter().find_map(actor_class) {
        Some(class) => &class.body,
        None => &module.body,
    };
    let functions = body.iter().filter_map(|statement| match statement {
        Stmt::FunctionDef(function) => Some(function.name.to_string()),
        _ => None,
    });
    functions.filter(|name| !name.starts_with('_')).collect()
}

/// Whether nothing in a source can be called: it has neither a class nor a function. False where it is no Python: the chain says why.
pub fn is_uncallable(source: &str) -> bool {
    parse(source).is_some_and(|module| !module.body.iter().any(|one| matches!(one, Stmt::ClassDef(_) | Stmt::FunctionDef(_))))
}

/// How a handler's argument and result are written (the SDK's `decode=`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Canonical CBOR: what a handler gets that declares nothing.
    Cbor,
    /// JSON text.
    Json,
    /// Bytes as they are.
    Raw,
}

/// Handlers that the chain calls itself: a bare payload gets the bytes as they came, unless they declare a format.
const RAW_HANDLERS: &[&str] = &["init", "handle_timer", "on_fork"];

/// The format that a handler declares. CBOR where the source has no such handler.
pub fn format(source: &str, handler: &str) -> Format {
    let Some(module) = parse(source) else { return Format::Cbor };
    let class = module.body.iter().find_map(actor_class);
    let body = class.map_or(&module.body, |class| &class.body);
    let function = body.iter().find_map(|statement| match statement {
        Stmt::FunctionDef(function) if function.name.as_str() == handler => Some(function),
        _ => None,
    });
    let Some(function) = function else { return Format::Cbor };
    let declared = function.decorator_list.iter().find_map(|decorator| {
        let Expr::Call(call) = &decorator.expression else { return None };
        let keyword = call.arguments.keywords.iter().find(|keyword| keyword.arg.as_ref().is_some_and(|name| name.as_str() == "decode"))?;
        let Expr::StringLiteral(text) = &keyword.value else { return None };
        Some(text.value.to_str().to_owned())
    });
    match declared.as_deref() {
        Some("json") => Format::Json,
        Some("raw") => Format::Raw,
        Some(_) => Format::Cbor,
        None if class.is_none() && function.decorator_list.is_empty() => Format::Raw,
        None if RAW_HANDLERS.contains(&handler) && takes_bare_payload(function) => Format::Raw,
        None => Format::Cbor,
    }
}

/// How the one parameter of a handler is annotated: `Address` of `def init(self, logger: Address)`. Nothing where it has another number of
/// parameters, or no plain annotation.
pub fn single_annotation(source: &str, handler: &str) -> Option<String> {
    let module = parse(source)?;
    let class = module.body.iter().find_map(actor_class);
    let body = class.map_or(&module.body, |class| &class.body);
    let function = body.iter().find_map(|statement| match statement {
        Stmt::FunctionDef(function) if function.name.as_str() == handler => Some(function),
        _ => None,
    })?;
    let mut parameters = function.parameters.iter_non_variadic_params().skip(usize::from(class.is_some()));
    let (Some(one), None) = (parameters.next(), parameters.next()) else { return None };
    match one.parameter.annotation.as_deref()? {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
        _ => None,
    }
}

/// Whether a method takes one parameter beside self that no annotation makes a value: what the SDK hands the bytes as they came.
fn takes_bare_payload(function: &StmtFunctionDef) -> bool {
    const VALUES: &[&str] = &["Address", "TokenId", "BlockHeight", "int", "str", "bool", "float"];
    let mut parameters = function.parameters.iter_non_variadic_params().skip(1);
    let (Some(one), None) = (parameters.next(), parameters.next()) else { return function.parameters.vararg.is_some() };
    !one.parameter.annotation.as_deref().is_some_and(|annotation| match annotation {
        Expr::Name(name) => VALUES.contains(&name.id.as_str()),
        Expr::StringLiteral(text) => VALUES.contains(&text.value.to_str()),
        _ => false,
    })
}

fn parse(source: &str) -> Option<ModModule> {
    ruff_python_parser::parse_module(source).ok().map(|parsed| parsed.into_syntax())
}

fn actor_class(statement: &Stmt) -> Option<&StmtClassDef> {
    let Stmt::ClassDef(class) = statement else { return None };
    let is_marked = class.decorator_list.iter().any(|decorator| match &decorator.expression {
        Expr::Name(name) => name.id == "actor",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "actor",
        Expr::Call(call) => matches!(&*call.func, Expr::Name(name) if name.id == "actor"),
        _ => false,
    });
    (is_marked || class.name.as_str() == "Actor").then_some(class)
}

/// Names that a source spells, each with the first place in bytes.
#[derive(Default)]
struct Names {
    used: BTreeMap<String, usize>,
    keywords: BTreeMap<String, usize>,
    sends_value: Option<usize>,
}

impl Names {
    fn note(&mut self, name: &str, range: TextRange) {
        self.used.entry(name.to_owned()).or_insert(range.start().to_usize());
    }
}

impl<'a> Visitor<'a> for Names {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => self.note(name.id.as_str(), name.range),
            Expr::Attribute(attribute) => {
                self.note(attribute.attr.as_str(), attribute.attr.range);
                if let Expr::Name(owner) = &*attribute.value {
                    self.note(&format!("{}.{}", owner.id, attribute.attr), attribute.attr.range);
                }
            }
            Expr::Call(call) => {
                let name = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => "",
                };
                if SENDERS.contains(&name) && call.arguments.keywords.iter().any(is_value) {
                    self.sends_value.get_or_insert(call.arguments.range.start().to_usize());
                }
                for keyword in &call.arguments.keywords {
                    if let Some(name) = &keyword.arg {
                        self.keywords.entry(name.to_string()).or_insert(keyword.range.start().to_usize());
                    }
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        self.note(alias.name.as_str(), alias.range);
        visitor::walk_alias(self, alias);
    }
}

fn is_value(keyword: &KeywordArgument) -> bool {
    keyword.arg.as_ref().is_some_and(|name| name.as_str() == "value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_needs_what_it_spells() {
        let rows: &[(&str, &[&str])] = &[
            ("def f():\n    return 1\n", &[]),
            ("# self.storage\nx = 'set_timer'\n", &[]),
            ("class A:\n    def f(self):\n        self.storage['k'] = 1\n", &["storage.kv"]),
            ("from cowboy_sdk import set_timer\n", &["econ.hold_balance", "timer.schedule"]),
            ("from cowboy_sdk import runtime\ndef f():\n    runtime.transfer_balance(a, 1)\n", &["econ.hold_balance", "econ.transfer"]),
            ("def f():\n    send(a, 'm', b'', value=3)\n", &["econ.hold_balance", "econ.transfer"]),
            ("def f():\n    other(value=3)\n", &[]),
            (
                "from cowboy_sdk import spawn\ndef f():\n    spawn(code, endowment=3)\n",
                &["econ.hold_balance", "econ.transfer", "exec.spawn"],
            ),
            ("async def f():\n    await runner.llm('x', gpu=True)\n", &["accel.gpu", "econ.hold_balance", "oracle.llm"]),
            (
                "class A:\n    @http.get('/')\n    def f(self, request):\n        return self.storage.get('a')\n",
                &["ingress.http", "storage.kv"],
            ),
            (
                "async def f():\n    await runner.http('https://a.com', region='eu')\n",
                &["econ.hold_balance", "http.fetch", "sec.data_residency"],
            ),
            ("async def f():\n    await runner.mcp('x', tee_type='sgx')\n", &["econ.hold_balance", "http.fetch", "sec.tee_required"]),
            (
                "class A:\n    @runner.continuation\n    async def f(self):\n        await runner.sleep(2)\n",
                &["econ.hold_balance", "storage.kv", "timer.schedule"],
            ),
            ("v = Verify.tee()\n", &["sec.tee_required"]),
            ("pvm_host.blob_commit(b'')\n", &["storage.blob"]),
            ("runtime.blob_read(key)\n", &["storage.blob"]),
            ("volumes.create('a', quota=1)\n", &["econ.hold_balance", "econ.transfer", "storage.blob"]),
            ("volumes.get('a')\n", &["storage.blob"]),
            ("system.storage_manager.get_volume(volume=v)\n", &["storage.blob"]),
            ("bridge_asset('wETH', 1)\n", &["bridge.asset"]),
            ("subscribe_ethereum_event(c)\n", &["bridge.subscribe_event"]),
            ("runtime.upgrade_self(b'')\n", &["sys.upgrade"]),
            ("@routes.get('/x')\ndef f(): pass\n", &["ingress.http"]),
            ("agent = 1\nroute = agent\n", &[]),
            ("this is no Python", &[]),
        ];
        for (source, expected) in rows {
            let found: Vec<String> = infer(source).into_iter().map(|grant| grant.id).collect();
            assert_eq!(&found, expected, "{source}");
        }
    }

    /// whatever the registry has, a source can show that it needs it.
    #[test]
    fn every_entitlement_has_a_sign() {
        let ids: Vec<&str> = NEEDS.iter().map(|(id, _)| *id).collect();
        let registry: Vec<&str> = cowboy_types::entitlement::REGISTRY.iter().map(|row| row.id).collect();
        assert_eq!(ids, registry);
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        let source = "from cowboy_sdk import actor\n\ndef f(self):\n    self.storage['a'] = 1\n    set_timer(5, 'g')\n";
        let granted = [Entitlement { id: "storage.kv".into(), params: json!({}), deprecated: false }];
        let need = |id, line| Need { id, because: "set_timer".to_owned(), line };
        assert_eq!(missing(source, &granted), [need("econ.hold_balance", 5), need("timer.schedule", 5)]);
        assert_eq!(missing(source, &infer(source)), []);
    }

    #[test]
    fn a_source_without_functions_cannot_be_called() {
        let others = ["def f(): pass\n", "class A(B): pass\n", "def f(:"].map(is_uncallable);
        assert_eq!((["", "x = 1\n"].map(is_uncallable), others), ([true; 2], [false; 3]));
    }

    #[test]
    fn handlers_are_the_public_methods_of_the_actor() {
        let rows: &[(&str, &[&str])] = &[
            (
                "class H:\n    def a(self): pass\n@actor\nclass C:\n    def b(self): pass\n    def _c(self): pass\n    async def d(self): pass\n",
                &["b", "d"],
            ),
            ("class Actor:\n    def init(self): pass\n", &["init"]),
            ("def main(p): pass\ndef _x(): pass\n", &["main"]),
        ];
        for (source, expected) in rows {
            assert_eq!(&handlers(source), expected, "{source}");
        }
    }

    #[test]
    fn a_handler_declares_its_format() {
        let source = "@actor\nclass A:\n    @public\n    def a(self, x): pass\n    @public(decode=\"json\")\n    def b(self, x): pass\n    @callable_by(OWNER, decode='raw')\n    def c(self, x): pass\n    @public\n    def init(self): pass\n";
        let init = |parameters: &str| format!("@actor\nclass A:\n    @public\n    def init(self{parameters}): pass\n");
        let inits = [
            ("", Format::Cbor),
            (", payload", Format::Raw),
            (", data: bytes", Format::Raw),
            (", price: int", Format::Cbor),
            (", a, b", Format::Cbor),
        ];
        for (parameters, expected) in inits {
            assert_eq!(format(&init(parameters), "init"), expected, "{parameters}");
        }
        let rows = [(source, "a", Format::Cbor), (source, "b", Format::Json), (source, "c", Format::Raw), (source, "no", Format::Cbor)];
        for (source, handler, expected) in rows.into_iter().chain([("def main(p): pass\n", "main", Format::Raw), ("(", "x", Format::Cbor)])
        {
            assert_eq!(format(source, handler), expected, "{handler}");
        }
    }

    #[test]
    fn a_single_parameter_has_an_annotation() {
        let source = |parameters: &str| format!("@actor\nclass A:\n    @public\n    def go(self{parameters}): pass\n");
        let rows = [
            (", to: Address", Some("Address")),
            (", to: 'Address'", Some("Address")),
            (", to", None),
            (", to: Address, n: int", None),
            ("", None),
        ];
        for (parameters, expected) in rows {
            assert_eq!(single_annotation(&source(parameters), "go").as_deref(), expected, "{parameters}");
        }
        assert_eq!(single_annotation("def go(to: Address): pass\n", "go").as_deref(), Some("Address"));
        assert_eq!(single_annotation("def go(to: Address): pass\n", "no"), None);
    }
}
