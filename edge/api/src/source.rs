//! What an actor's source says about it: its handlers, and the entitlements it will need.
//!
//! A guess by names, not by flow: whatever is spelled like the SDK's function counts as a use of it. So the guess may ask for too
//! much and never for too little, unless the source hides a name. People see the guess before it is signed.

use crate::{cbor, model::Entitlement};
use ruff_python_ast::{
    Alias, Expr, Keyword, ModModule, Stmt, StmtClassDef,
    visitor::{self, Visitor},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Names whose use needs an entitlement.
const NEEDS: &[(&str, &[&str])] = &[
    ("econ.hold_balance", &["get_value", "get_balance", "transfer_balance", "balance_of"]),
    ("econ.transfer", &["transfer_balance"]),
    ("exec.spawn", &["spawn_actor"]),
    ("http.fetch", &["http"]),
    ("oracle.llm", &["llm"]),
    (
        "storage.kv",
        &[
            "storage",
            "get_state",
            "set_state",
            "delete_state",
            "scan_state_prefix",
            "storage_guard",
            "reentrancy_guard",
            "get_raw",
            "set_raw",
            "StoredMap",
            "StoredLog",
            "patterns",
        ],
    ),
    (
        "timer.schedule",
        &[
            "schedule",
            "schedule_timer",
            "schedule_timer_ex",
            "schedule_after",
            "set_timer",
            "set_interval",
            "reschedule_interval",
            "extend_timer",
            "set_timeout",
        ],
    ),
];

/// Functions that send value when they are given `value=`.
const SENDERS: &[&str] = &["call", "send"];

/// The entitlements that a source needs, by name. Empty where it is no Python: the chain says why.
pub fn infer(source: &str) -> Vec<Entitlement> {
    let Some(module) = parse(source) else { return Vec::new() };
    let mut names = Names::default();
    module.body.iter().for_each(|statement| names.visit_stmt(statement));
    let mut needed: BTreeSet<&str> =
        NEEDS.iter().filter(|(_, spelled)| spelled.iter().any(|name| names.used.contains(*name))).map(|(id, _)| *id).collect();
    if names.sends_value {
        needed.insert("econ.transfer");
    }
    // What an actor sends, and what its timers cost, comes out of its own balance.
    if needed.contains("econ.transfer") || needed.contains("timer.schedule") {
        needed.insert("econ.hold_balance");
    }
    needed.into_iter().map(|id| Entitlement { id: id.into(), params: json!({}), deprecated: false }).collect()
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

/// Handlers that get their argument as it came, unless they declare a format.
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
        None if RAW_HANDLERS.contains(&handler) || (class.is_none() && function.decorator_list.is_empty()) => Format::Raw,
        None => Format::Cbor,
    }
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

/// Names that a source spells.
#[derive(Default)]
struct Names {
    used: BTreeSet<String>,
    sends_value: bool,
}

impl<'a> Visitor<'a> for Names {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => {
                self.used.insert(name.id.to_string());
            }
            Expr::Attribute(attribute) => {
                self.used.insert(attribute.attr.to_string());
            }
            Expr::Call(call) => {
                let name = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => "",
                };
                self.sends_value |= SENDERS.contains(&name) && call.arguments.keywords.iter().any(is_value);
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        self.used.insert(alias.name.to_string());
        visitor::walk_alias(self, alias);
    }
}

fn is_value(keyword: &Keyword) -> bool {
    keyword.arg.as_ref().is_some_and(|name| name.as_str() == "value")
}

/// The manifest of these grants as JSON.
pub fn manifest(grants: &[Entitlement]) -> Value {
    let grants: Vec<Value> = grants
        .iter()
        .map(|grant| match &grant.params {
            Value::Object(params) if !params.is_empty() => json!({ "id": grant.id, "params": params }),
            _ => json!({ "id": grant.id }),
        })
        .collect();
    json!({ "entitlements": grants })
}

/// The canonical bytes of a manifest: grants by name, maps by key.
pub fn manifest_bytes(manifest: &Value) -> Vec<u8> {
    let mut manifest = manifest.clone();
    if let Some(grants) = manifest.get_mut("entitlements").and_then(Value::as_array_mut) {
        grants.sort_by(|one, other| one["id"].as_str().cmp(&other["id"].as_str()));
    }
    cbor::encode(&manifest)
}

/// The grants in a manifest; what is malformed is left out.
pub fn grants(manifest: &Value) -> Vec<Entitlement> {
    let grants = manifest.get("entitlements").unwrap_or(manifest).as_array();
    let grant = |value: &Value| {
        let id = value.get("id")?.as_str()?.to_owned();
        let params = value.get("params").cloned().unwrap_or_else(|| json!({}));
        Some(Entitlement { id, params, deprecated: false })
    };
    grants.into_iter().flatten().filter_map(grant).collect()
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
            ("this is no Python", &[]),
        ];
        for (source, expected) in rows {
            let found: Vec<String> = infer(source).into_iter().map(|grant| grant.id).collect();
            assert_eq!(&found, expected, "{source}");
        }
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
        let rows = [
            (source, "a", Format::Cbor),
            (source, "b", Format::Json),
            (source, "c", Format::Raw),
            (source, "init", Format::Raw),
            (source, "no", Format::Cbor),
        ];
        for (source, handler, expected) in rows.into_iter().chain([("def main(p): pass\n", "main", Format::Raw), ("(", "x", Format::Cbor)])
        {
            assert_eq!(format(source, handler), expected, "{handler}");
        }
    }

    #[test]
    fn a_manifest_survives_its_bytes_in_order() {
        let written = json!({ "entitlements": [{ "id": "storage.kv", "params": { "max_bytes": 10 } }, { "id": "econ.transfer" }] });
        let read = cbor::decode(&manifest_bytes(&written)).expect("the bytes are CBOR");
        let ids: Vec<String> = grants(&read).into_iter().map(|grant| grant.id).collect();
        assert_eq!(ids, ["econ.transfer", "storage.kv"]);
        assert_eq!(manifest(&grants(&read)), read);
    }
}
