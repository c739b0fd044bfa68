//! Entitlements and permissions, as the API shows them.

use crate::devnet::Devnet;
use cowboy_api::{Hex, manifest, model};
use cowboy_types::permission::{Action, Constraints, Scope};
use cowboy_types::{Actor, Address, Amount, Blob, Instruction, System};
use serde_json::json;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

fn encoded<const MAX: usize>(value: &impl commonware_codec::Encode) -> Blob<MAX> {
    Blob::new(value.encode()).expect("an operand fits")
}

/// grants of an actor, the registry with its flags, and what an address holds.
#[tokio::test(flavor = "multi_thread")]
async fn entitlements_and_permissions_are_shown() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let wished = json!({ "entitlements": [
        { "id": "storage.kv", "params": { "max_bytes": 100 } },
        { "id": "http.fetch", "params": { "allowlist_domains": ["API.Example.com"] } },
    ]});
    let deploy = Instruction::Actor(Actor::Deploy {
        code: Blob::new(b"def greet(payload):\n    return payload\n".to_vec()).expect("a source fits"),
        salt: Blob::default(),
        init: None,
        manifest: Blob::new(manifest::manifest_bytes(&wished)),
        endowment: Amount(0),
    });
    let receipt = devnet.send(key, 0, deploy).await;
    let actor = receipt.created.expect("a deployment creates");
    let shown: model::Entitlements = client.get(&format!("/actor/{actor}/entitlements")).await.expect("the actor has a manifest");
    let ids: Vec<(&str, bool)> = shown.entitlements.iter().map(|grant| (grant.id.as_str(), grant.deprecated)).collect();
    assert_eq!((ids, shown.history.len()), (vec![("http.fetch", false), ("storage.kv", false)], 0));
    assert_eq!(shown.entitlements[0].params, json!({ "allowlist_domains": ["api.example.com"] }));

    let registry: model::EntitlementRegistry = client.get("/entitlements").await.expect("the registry is shown");
    let flags = |id: &str| registry.entitlements.iter().find(|row| row.id == id).map(|row| (row.inheritable, row.attested, row.quota));
    assert_eq!(
        (registry.entitlements.len(), flags("http.fetch"), flags("sys.upgrade")),
        (15, Some((true, true, true)), Some((false, false, false)))
    );
    assert!(registry.entitlements.iter().all(|row| row.standing == "current" && row.removed_at.is_none()));
    assert!(
        registry.domain_sets.iter().any(|set| set.name == "price_feeds" && set.domains.iter().any(|domain| domain == "api.coingecko.com"))
    );

    let runner: Address = "0x1100000000000000000000000000000000000011".parse().expect("an address");
    // A pool belongs to the address that its name begins with (decision 332).
    let pool = format!("{}/eu", key.address().to_string().trim_start_matches("0x").to_lowercase());
    let scope: Scope = format!("pool:{pool}").parse().expect("a scope");
    let action: Action = format!("join_pool:{pool}").parse().expect("an action");
    let (scope_text, action_text) = (scope.to_string(), action.to_string());
    assert_eq!((&scope_text, &action_text), (&format!("pool:{pool}"), &format!("join_pool:{pool}")), "a name is shown as it is written");
    let constraints = Constraints { valid_until: Some(cowboy_types::Height(1_000_000)), ..Constraints::default() };
    let grant =
        System::EntitlementGrant { grantee: runner, scope: encoded(&scope), action: encoded(&action), constraints: encoded(&constraints) };
    let sent = devnet.transaction(key, 1, Instruction::System(grant));
    let receipt = client.submit_wait(&sent, PATIENCE).await.expect("the grant is included");
    assert_eq!((receipt.status.as_str(), receipt.events[0].name.as_str()), ("success", "EntitlementGranted"));
    let held: model::Permissions = client.get(&format!("/permissions/{}", Hex(runner))).await.expect("the holder is shown");
    let held = &held.permissions[0];
    assert_eq!((held.scope.as_str(), held.action.as_str(), held.issuer.0), (scope_text.as_str(), action_text.as_str(), key.address()));
    assert_eq!((held.id.0.0.to_vec(), &held.constraints["valid_until"]), (receipt.return_data.0.clone(), &json!(1_000_000)));
    let shown = client.transaction(&sent.digest()).await.expect("the transaction is known").instruction;
    assert_eq!((shown.name.as_str(), shown.number), ("EntitlementGrant", 30));
    assert_eq!(shown.details.map(|details| details["scope"].clone()), Some(json!(scope_text)));
    devnet.stop().await;
}
