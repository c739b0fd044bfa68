//! The documentation page of entitlements, out of the rows.

use super::registry::{DOMAIN_SETS, REGISTRY};
use crate::error;
use std::fmt::Write as _;

/// What 000 §11 calls each failure of the gate.
const ERRORS: &[(&str, error::Abort)] = &[
    ("ERR_MISSING_ENTITLEMENT", error::MISSING_ENTITLEMENT),
    ("ERR_ENTITLEMENT_QUOTA_EXCEEDED", error::ENTITLEMENT_QUOTA),
    ("ERR_ENTITLEMENT_PARAM_INVALID", error::ENTITLEMENT_PARAM),
    ("ERR_ACTOR_NON_EXECUTABLE", error::ACTOR_NON_EXECUTABLE),
    ("ERR_SYSTEM_ENTITLEMENT_UNAUTHORIZED", error::SYSTEM_ENTITLEMENT_UNAUTHORIZED),
    ("unknown id", error::ENTITLEMENT_UNKNOWN),
    ("one id twice", error::ENTITLEMENT_DUPLICATE),
    ("not ascending by id", error::ENTITLEMENTS_UNSORTED),
    ("not canonical CBOR, or other fields", error::MANIFEST_INVALID),
    ("an attestation that is none", error::ATTESTATION_INVALID),
];

/// The page's tables.
pub fn markdown() -> String {
    let mut page = String::new();
    let mark = |is_set: bool| if is_set { "yes" } else { "" };
    page.push_str(
        "| id | what it allows | inheritable | attested | quota | parameters | without it fails |\n|---|---|---|---|---|---|---|\n",
    );
    for row in REGISTRY {
        let params: Vec<String> = row.params.iter().map(|param| format!("`{}`", param.name)).collect();
        let (inheritable, attested, quota) = (mark(row.inheritable), mark(row.attested), mark(row.quota));
        writeln!(page, "| `{}` | {} | {inheritable} | {attested} | {quota} | {} | {} |", row.id, row.what, params.join(", "), row.gate)
            .expect("a text takes whatever is written");
    }
    page.push_str("\n### Parameters\n\n| entitlement | parameter | type | meaning |\n|---|---|---|---|\n");
    for row in REGISTRY {
        for param in row.params {
            writeln!(page, "| `{}` | `{}` | {} | {} |", row.id, param.name, param.schema.words(), param.what)
                .expect("a text takes whatever is written");
        }
    }
    page.push_str("\n### Curated sets of domains at genesis\n\n| `domain_set` | hosts |\n|---|---|\n");
    for (name, patterns) in DOMAIN_SETS {
        let patterns: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
        writeln!(page, "| `{name}` | {} |", patterns.join(", ")).expect("a text takes whatever is written");
    }
    page.push_str("\n### Errors\n\n| case | code | slug | why | fix |\n|---|---|---|---|---|\n");
    for (case, abort) in ERRORS {
        let row = error::row(abort.code);
        writeln!(page, "| {case} | {} | `{}` | {} {} | {} |", row.code, row.slug, row.what, row.why, row.fix)
            .expect("a text takes whatever is written");
    }
    page
}
