//! What a refusal leaves out: which entitlements are missing or unknown, where the source and the manifest show it.

use super::missing;
use crate::{ApiError, model::Entitlement};
use cowboy_types::entitlement::entitlement;
use cowboy_types::error::{ENTITLEMENT_UNKNOWN, MISSING_ENTITLEMENT};
use serde_json::json;

/// What an actor needs that keeps CBY across transactions (000 §9.7).
pub const HOLD_BALANCE: &str = "econ.hold_balance";

/// A deployed source, or one that is about to be, and what a failed transaction gave to its actor.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The source.
    pub source: &'a str,
    /// What its manifest grants.
    pub granted: &'a [Entitlement],
    /// CBY that went along, in base units.
    pub value: u64,
}

/// The failure `missing_entitlement` with what the actor needs and its manifest does not grant: which, where that shows, and what to add.
/// Any other failure, and one that neither the value nor the source explains, as it is.
pub fn explain_missing(mut error: ApiError, asked: Asked<'_>) -> ApiError {
    if error.code != MISSING_ENTITLEMENT.code {
        return error;
    }
    let needs = missing(asked.source, asked.granted);
    // A source may take CBY without a word about it, and then it fails for this reason whatever else it does.
    let is_held = asked.value == 0 || asked.granted.iter().any(|grant| grant.id == HOLD_BALANCE);
    let mut rows: Vec<_> = needs.iter().map(|need| (need.id, need.because.as_str(), Some(need.line))).collect();
    if !is_held {
        rows.retain(|(id, ..)| *id != HOLD_BALANCE);
        rows.insert(0, (HOLD_BALANCE, "the CBY that it is sent", None));
    }
    if rows.is_empty() {
        return explain_narrow(error, asked.granted);
    }
    let ids: Vec<&str> = rows.iter().map(|(id, ..)| *id).collect();
    let place = |(id, because, line): &(&str, &str, Option<usize>)| {
        let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
        format!("{{\"id\": \"{id}\"}} for {because}{line}")
    };
    let places: Vec<String> = rows.iter().map(place).collect();
    error.what = format!("The manifest does not grant {}.", ids.join(", "));
    error.fix = format!("Add {} to the manifest, and deploy again.", places.join(", "));
    let rows: Vec<_> = rows.iter().map(|(id, because, line)| json!({ "id": id, "because": because, "line": line })).collect();
    if !error.context.is_object() {
        error.context = json!({});
    }
    error.context["missing"] = json!(rows);
    error
}

/// The failure `missing_entitlement` of an actor that has all that its source needs: a parameter of a grant is too narrow, a host for example.
fn explain_narrow(mut error: ApiError, granted: &[Entitlement]) -> ApiError {
    let is_bounded = |grant: &&Entitlement| grant.params.as_object().is_some_and(|params| !params.is_empty());
    let bounded: Vec<String> = granted.iter().filter(is_bounded).map(|grant| format!("{} {}", grant.id, grant.params)).collect();
    if !bounded.is_empty() {
        error.what = "A parameter of the manifest does not grant this.".to_owned();
        error.why = format!("The manifest grants no more than: {}.", bounded.join(", "));
        error.fix = "Widen the parameter that is too narrow, such as a list of hosts, and deploy again.".to_owned();
    }
    error
}

/// The failure `entitlement_unknown` with the ids that no entitlement has. Any other failure as it is.
pub fn explain_unknown(mut error: ApiError, granted: &[Entitlement]) -> ApiError {
    let unknown: Vec<&str> = granted.iter().map(|grant| grant.id.as_str()).filter(|id| entitlement(id).is_none()).collect();
    if error.code == ENTITLEMENT_UNKNOWN.code && !unknown.is_empty() {
        let quoted: Vec<String> = unknown.iter().map(|id| format!("{id:?}")).collect();
        error.what = format!("There is no entitlement {}.", quoted.join(", "));
        error.fix = "Take an id of `cowboy entitlement registry`, or remove the grant from the manifest.".to_owned();
        error.context = json!({ "unknown": unknown });
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_name_the_entitlements() {
        let grant = |id: &str| Entitlement { id: id.into(), params: json!({}), deprecated: false };
        let source = "def f(self):\n    self.storage['a'] = 1\n";
        let explained = |granted: &[Entitlement], value| {
            let error = explain_missing(ApiError::of_abort(MISSING_ENTITLEMENT), Asked { source, granted, value });
            (error.what, error.fix)
        };
        let (what, fix) = explained(&[grant("storage.kv")], 5);
        assert_eq!(what, "The manifest does not grant econ.hold_balance.");
        assert_eq!(fix, "Add {\"id\": \"econ.hold_balance\"} for the CBY that it is sent to the manifest, and deploy again.");
        assert_eq!(explained(&[], 5).0, "The manifest does not grant econ.hold_balance, storage.kv.");
        assert_eq!(explained(&[], 0).0, "The manifest does not grant storage.kv.");
        let bounded = Entitlement { id: "storage.kv".into(), params: json!({ "max_bytes": 10 }), deprecated: false };
        let narrow = explain_missing(ApiError::of_abort(MISSING_ENTITLEMENT), Asked { source, granted: &[bounded], value: 0 });
        assert_eq!(narrow.why, "The manifest grants no more than: storage.kv {\"max_bytes\":10}.");
        assert_eq!(explained(&[grant("storage.kv"), grant(HOLD_BALANCE)], 5).0, ApiError::of_abort(MISSING_ENTITLEMENT).what);

        let granted = [grant("storage.kv"), grant("storage.disk"), grant("Econ")];
        let error = explain_unknown(ApiError::of_abort(ENTITLEMENT_UNKNOWN), &granted);
        assert_eq!(error.what, "There is no entitlement \"storage.disk\", \"Econ\".");
        assert_eq!(error.context["unknown"], json!(["storage.disk", "Econ"]));
        assert_eq!(explain_unknown(ApiError::of_abort(MISSING_ENTITLEMENT), &granted), ApiError::of_abort(MISSING_ENTITLEMENT));
    }
}
