//! Python actors that wait for jobs: what the SDK sends, what the market answers, and what the actor makes of it.

use super::*;
use cowboy_testkit::chain::{address, deployment_of, manifest_json, sign, unsigned};
use cowboy_types::units::Cycles;
use cowboy_types::{ReceiptKind, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_method_goes_on_with_what_the_majority_said,
    a_method_learns_that_its_job_failed,
    a_quote_cannot_lift_the_manifest,
];

const READER: &str = r#"
from cowboy_sdk import JobFailed, Verify, actor, public, runner

RULE = Verify.builder().mode("consensus").runners(3).threshold(2).check(Verify.length_bounds(1, 40)).build()


@actor
class Reader:
    @public
    @runner.continuation
    async def read(self, url):
        try:
            page = await runner.http(url, timeout_blocks=10, verify=RULE)
            self.storage["got"] = page.text
        except JobFailed as problem:
            self.storage["got"] = [problem.reason, problem.attempts, len(problem.job_id)]
"#;

const GRANTS: &str = r#"{"entitlements": [{"id": "econ.hold_balance"}, {"id": "http.fetch"}, {"id": "storage.kv"}]}"#;

/// Actors in Python that submit jobs.
trait Requesters {
    /// Deploys a Python actor that owns a thousand CBY.
    fn python(&mut self, source: &str, manifest: &str) -> Address;

    fn python_call(&mut self, instruction: Instruction) -> Receipt;

    /// Calls a handler that submits a job. Answers the job's id.
    fn asked(&mut self, actor: Address, handler: &str, payload: &Value) -> Hash;

    fn kept(&self, actor: Address, key: &str) -> Option<Value>;
}

impl Requesters for Market {
    fn python(&mut self, source: &str, manifest: &str) -> Address {
        let instruction = deployment_of(source.as_bytes(), Some(manifest_json(manifest)), None, b"", cby(1_000));
        let receipt = self.python_call(instruction);
        receipt.created.expect("a deployment creates")
    }

    fn python_call(&mut self, instruction: Instruction) -> Receipt {
        let mut transaction = unsigned(1, self.chain.nonce(1), instruction);
        transaction.cycles_limit = Cycles(20_000_000);
        let outcome = self.chain.block(vec![sign(1, transaction)]);
        assert_eq!(outcome.receipts[0].abort, None, "{:?}", outcome.traces[0]);
        outcome.receipts[0].clone()
    }

    fn asked(&mut self, actor: Address, handler: &str, payload: &Value) -> Hash {
        let receipt = self.python_call(execution(actor, handler, &payload.encode(), 0));
        let submitted = receipt.events.iter().find(|event| &event.name[..] == "JobSubmitted").expect("a job was submitted");
        let data = cowboy_types::cbor::decode(&submitted.data).expect("canonical CBOR");
        Hash(data.get("job_id").and_then(Value::as_bytes).expect("an id").try_into().expect("an id"))
    }

    fn kept(&self, actor: Address, key: &str) -> Option<Value> {
        self.chain.stored(actor, key).map(|bytes| cowboy_types::cbor::decode(&bytes).expect("canonical CBOR"))
    }
}

/// A-205, A-213, A-214, A-217: the SDK's `verify` makes a committee whose majority is handed to the method that waits.
#[test]
fn a_method_goes_on_with_what_the_majority_said() {
    let mut market = Market::new(5);
    let reader = market.python(READER, GRANTS);
    let id = market.asked(reader, "read", &Value::text("https://example.com"));
    let committee = market.draw(&id);
    assert_eq!((committee.len(), market.job(&id).threshold.0), (3, 2));
    let said = market.say(&[(committee[0], b"yes"), (committee[1], b"no"), (committee[2], b"yes")]);
    market.commit(&id, &said);
    market.wait_for_members(&id);
    market.reveal(&id, &said);
    let receipts = market.chain.idle(1);
    assert_eq!((receipts[0].kind.clone(), receipts[0].abort.clone()), (ReceiptKind::Callback, None));
    assert_eq!(market.kept(reader, "got"), Some(Value::text("yes")));
}

/// A-198, A-217: nobody works; the chain's report arrives as `JobFailed` at the await.
#[test]
fn a_method_learns_that_its_job_failed() {
    let mut market = Market::new(5);
    let reader = market.python(READER, GRANTS);
    let id = market.asked(reader, "read", &Value::text("https://example.com"));
    for _ in 0..60 {
        market.chain.idle(1);
        if market.kept(reader, "got").is_some() {
            break;
        }
    }
    let job = market.job(&id);
    let attempts = Value::uint(job.attempt.0 + 1);
    let expected = Value::Array(vec![Value::text(job.reason.to_string()), attempts, Value::uint(66)]);
    assert_eq!(market.kept(reader, "got"), Some(expected));
}

/// A-233, A-254: a tool's quote cannot make the shopper pay more than its manifest allows; the payment and its step are undone.
#[test]
fn a_quote_cannot_lift_the_manifest() {
    let mut market = Market::new(3);
    let source = include_str!("../../../../../examples/shopper/actor.py");
    let shopper = market.python(source, include_str!("../../../../../examples/shopper/manifest.json"));
    let order = Value::Array(vec![Value::text("hat"), Value::uint(1_000_000)]);
    let id = market.asked(shopper, "buy", &order);
    let runner = market.committee(&id)[0];
    let quote = format!(r#"{{"seller":"{}","price":5001}}"#, address(7));
    let before = market.chain.balance(address(7));
    assert_eq!(market.result(&id, runner, quote.as_bytes()).abort, None);
    let receipts = market.chain.idle(1);
    assert_eq!(receipts[0].abort, Some(error::ENTITLEMENT_QUOTA));
    assert_eq!(market.chain.balance(address(7)), before, "nothing was paid");
}
