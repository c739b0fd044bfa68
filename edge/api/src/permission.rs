//! Permissions of the Entitlement Registry as JSON (002 §7.1).

use crate::hex_text::Hex;
use commonware_codec::{Decode as _, Read};
use cowboy_types::List;
use cowboy_types::permission::{Action, Constraints, Scope};
use serde_json::{Value, json};

fn decoded<T: Read<Cfg = ()>>(bytes: &[u8]) -> Option<T> {
    T::decode_cfg(bytes.to_vec(), &()).ok()
}

/// A value out of its bytes, or the bytes in hex where they are none.
fn shown<T: Read<Cfg = ()>>(bytes: &[u8], show: impl FnOnce(&T) -> Value) -> Value {
    decoded(bytes).map_or_else(|| json!(Hex(bytes.to_vec())), |value| show(&value))
}

/// Encoded conditions.
pub(crate) fn constraints_of(bytes: &[u8]) -> Value {
    shown(bytes, constraints)
}

/// Conditions by name, without those that bound nothing.
pub fn constraints(constraints: &Constraints) -> Value {
    let mut shown = json!({
        "max_uses": constraints.max_uses.get(),
        "used_count": constraints.used_count.get(),
        "total_amount_used": constraints.total_amount_used.get(),
        "delegatable": constraints.delegatable,
        "delegation_depth_max": constraints.delegation_depth_max,
        "revocable": constraints.revocable,
    });
    let bounds = [
        ("valid_from", constraints.valid_from.map(|height| height.get())),
        ("valid_until", constraints.valid_until.map(|height| height.get())),
        ("max_amount_per_use", constraints.max_amount_per_use.map(|amount| amount.get())),
        ("max_total_amount", constraints.max_total_amount.map(|amount| amount.get())),
    ];
    for (name, bound) in bounds {
        if let Some(bound) = bound {
            shown[name] = json!(bound);
        }
    }
    if let Some(rate) = &constraints.rate_limit {
        shown["rate_limit"] = json!({ "uses": rate.uses.get(), "blocks": rate.blocks.get() });
    }
    shown
}

/// A grant's operands.
pub(crate) fn grant(scope: &[u8], action: &[u8], constraints: &[u8]) -> Value {
    json!({
        "scope": shown(scope, |scope: &Scope| json!(scope.to_string())),
        "action": shown(action, |action: &Action| json!(action.to_string())),
        "constraints": constraints_of(constraints),
    })
}

/// A role's operands.
pub(crate) fn role(name: &[u8], scopes: &[u8], actions: &[u8], constraints: &[u8]) -> Value {
    let scopes = shown(scopes, |scopes: &List<Scope, 16>| scopes.iter().map(ToString::to_string).collect());
    let actions = shown(actions, |actions: &List<Action, 16>| actions.iter().map(ToString::to_string).collect());
    json!({ "name": String::from_utf8_lossy(name), "scopes": scopes, "actions": actions, "constraints": constraints_of(constraints) })
}
