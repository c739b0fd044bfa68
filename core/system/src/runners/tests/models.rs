//! What governance decided of models, while somebody publishes them and while nobody does (decision 761).

use super::*;
use cowboy_testkit::chain::address;

/// A market with a model that account 2 publishes and withdraws, and a job that names it.
struct Models {
    market: Market,
    model: serde_json::Value,
    id: Hash,
    job: serde_json::Value,
}

impl Models {
    fn new() -> Self {
        let part = |number: u8| hex(&[number; 32]);
        let model = serde_json::json!({ "weights": part(1), "arch": part(2), "tokenizer": part(3), "license": part(4), "name": "small" });
        let id = keccak256(&[&[1; 32], &[2; 32], &[3; 32], &[4; 32]]);
        let mut job = simple_job();
        job["job_type"] = serde_json::json!({ "type": "Llm", "model_id": hex(&id.0) });
        job["bounds"]["max_output_tokens"] = 10.into();
        Self { market: Market::new(1), model, id, job }
    }

    fn publish(&mut self, number: u8) -> &'static str {
        slug(&self.market.chain.send(number, ask(REGISTRY, "publish_model", &self.model, cby(1_000))))
    }

    fn retire(&mut self) -> &'static str {
        let named = serde_json::json!({ "model_id": hex(&self.id.0) });
        slug(&self.market.chain.send(2, ask(REGISTRY, "retire_model", &named, 0)))
    }

    /// Whether a decision about it takes effect.
    fn decide(&mut self, status: u8) -> bool {
        let argument = serde_json::json!({ "model_id": hex(&self.id.0), "status": status });
        self.market.chain.decide(runners::NUMBER, "set_model_status", &map(&argument))
    }

    /// What the registry says of it: who publishes it, what is decided, and the deposit.
    fn shown(&mut self) -> Option<(Vec<u8>, u64, u64)> {
        let named = serde_json::json!({ "model_id": hex(&self.id.0) });
        let receipt = self.market.chain.send(3, ask(REGISTRY, "get_model", &named, 0));
        let shown = cowboy_types::cbor::decode(&receipt.return_data).ok()?;
        let number = |name: &str| shown.get(name).and_then(Value::as_u64);
        Some((shown.get("publisher")?.as_bytes()?.to_vec(), number("status")?, number("deposit")?))
    }
}

/// Attack: a publisher withdraws its model while a ban is voted on, so that the decision finds no model, and publishes it again, as often as there is a vote.
/// The ban holds all the same, and nobody publishes what is banned, until another decision lifts it.
#[test]
fn no_publisher_escapes_a_ban() {
    let mut models = Models::new();
    assert_eq!((models.publish(2), models.retire()), ("", ""));
    assert_eq!(models.shown(), None, "nothing is left of it");
    assert!(models.decide(2), "nobody publishes it now");
    assert_eq!(models.shown(), Some((vec![0; 20], 2, 0)));
    assert_eq!((models.publish(2), models.publish(3)), ("model_not_found", "model_not_found"));
    let job = models.job.clone();
    assert_eq!(models.market.refused(&job), "model_not_found", "no job names it");
    assert!(models.decide(0));
    assert_eq!(models.shown(), None);
    assert!(!models.decide(0), "there is nothing to lift");
    assert_eq!((models.publish(2), models.publish(3)), ("", "model_exists"));
    models.market.submit(&job);
}

/// A flag stays with a model that is withdrawn and published again, whoever does it. Its deposit comes back each time.
#[test]
fn a_flag_outlives_the_publication() {
    let mut models = Models::new();
    assert_eq!(models.publish(2), "");
    assert!(models.decide(1));
    let before = models.market.chain.balance(address(2));
    assert_eq!(models.retire(), "");
    assert!(models.market.chain.balance(address(2)) > before + cby(999), "but for the fee");
    assert_eq!(models.shown(), Some((vec![0; 20], 1, 0)));
    assert_eq!(models.publish(3), "");
    assert_eq!(models.shown(), Some((address(3).0.to_vec(), 1, cby(1_000))));
    assert_eq!(models.retire(), "not_owner");
    assert!(models.decide(0));
    assert_eq!(models.shown(), Some((address(3).0.to_vec(), 0, cby(1_000))));
}
