//! Runs every example's `test.json`, step by step, with the real VM over the harness (the steps are described in
//! `sdk/python/tests/scenario.py`).

use bytes::Bytes;
use cowboy_chain::input::Trace;
use cowboy_chain::query::{Answer, QueryError};
use cowboy_system::verifier::similarity::Embedded;
use cowboy_testkit::chain::{address, deployment_of, execution, manifest_json, sign, unsigned};
use cowboy_testkit::market::Market;
use cowboy_types::cbor::{self, Value};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::Amount;
use cowboy_types::{Address, Hash, Receipt};
use serde_json::Value as Json;
use std::collections::{BTreeMap, VecDeque};

/// An example being run.
struct Scenario {
    market: Market,
    /// Jobs without a result, oldest first.
    jobs: VecDeque<Hash>,
    accounts: BTreeMap<&'static str, u8>,
    actors: BTreeMap<String, Address>,
    remembered: BTreeMap<String, Json>,
    events: Vec<(String, Json)>,
}

/// What an action brought: its result as JSON, or every word about its failure.
type Outcome = Result<Json, String>;

impl Scenario {
    /// A chain with a number of runners.
    fn new(runners: u8) -> Self {
        let accounts = BTreeMap::from([("alice", 1), ("bob", 2), ("carol", 3)]);
        let market = Market::new(runners);
        Self { market, jobs: VecDeque::new(), accounts, actors: BTreeMap::new(), remembered: BTreeMap::new(), events: Vec::new() }
    }

    fn address(&self, name: &str) -> Address {
        self.accounts.get(name).map(|number| address(*number)).or_else(|| self.actors.get(name).copied()).expect("the step names someone")
    }

    fn sender(&self, step: &Json) -> u8 {
        self.accounts[step["from"].as_str().unwrap_or("alice")]
    }

    /// A value of the script, with its placeholders filled in.
    fn value(&self, template: &Json) -> Json {
        match template {
            Json::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Json::Object(pairs) => {
                if let Some(name) = template["$address"].as_str() {
                    return Json::String(self.address(name).to_string());
                }
                if let Some(ahead) = template["$height"].as_u64() {
                    return Json::from(self.market.chain.height.0 + ahead);
                }
                if let Some(name) = template["$remembered"].as_str() {
                    return self.remembered[name].clone();
                }
                pairs.iter().map(|(name, item)| (name.clone(), self.value(item))).collect()
            }
            other => other.clone(),
        }
    }

    /// A block with one instruction. Remembers the events.
    fn send(&mut self, from: u8, instruction: Instruction) -> (Receipt, Trace) {
        let mut transaction = unsigned(from, self.market.chain.nonce(from), instruction);
        transaction.cycles_limit = cowboy_types::Cycles(20_000_000);
        let outcome = self.market.chain.block(vec![sign(from, transaction)]);
        assert_eq!(outcome.rejected, vec![]);
        self.note_events(&outcome.receipts);
        (outcome.receipts[0].clone(), outcome.traces[0].clone())
    }

    fn note_events(&mut self, receipts: &[Receipt]) {
        for event in receipts.iter().flat_map(|receipt| receipt.events.iter()) {
            let data = cbor::decode(&event.data).expect("event data is CBOR");
            if &event.name[..] == "JobSubmitted" {
                let id = data.get("job_id").and_then(Value::as_bytes).expect("an announcement names its job");
                self.jobs.push_back(Hash(id.try_into().expect("an id")));
            }
            // Events of the protocol are not part of the script.
            if self.actors.values().any(|actor| *actor == event.emitter) || event.emitter.0[..12] != [0; 12] {
                self.events.push((event.name.to_string(), json(&data)));
            }
        }
    }

    /// Blocks without transactions.
    fn mine(&mut self, blocks: u64) {
        for _ in 0..blocks {
            let outcome = self.market.chain.block(vec![]);
            assert!(outcome.receipts.iter().all(Receipt::is_success), "{:?} {:?}", outcome.receipts, outcome.traces);
            self.note_events(&outcome.receipts);
        }
    }

    /// The result of the oldest job that waits, from every runner that was drawn for it; until it is delivered.
    fn answer(&mut self, step: &Json) {
        let id = self.jobs.pop_front().expect("a job waits");
        let answer = match self.value(&step["answer"]) {
            Json::String(text) => text,
            other => other.to_string(),
        };
        let output = if step["embedded"] == true {
            Embedded { answer: answer.into_bytes(), model: Hash([7; 32]), embedding: vec![100, 30] }.write()
        } else {
            answer.into_bytes()
        };
        while self.market.job(&id).members.is_empty() {
            self.mine(1);
        }
        let committee = self.market.committee(&id);
        if let [runner] = committee[..] {
            let receipt = self.market.result(&id, runner, &output);
            assert_eq!(receipt.abort, None, "the result is taken");
        } else {
            let said: Vec<(u8, &[u8])> = committee.iter().map(|runner| (*runner, &output[..])).collect();
            let said = self.market.say(&said);
            self.market.commit(&id, &said);
            self.market.wait_for_members(&id);
            let receipts = self.market.reveal(&id, &said);
            assert!(receipts.iter().all(Receipt::is_success), "{receipts:?}");
        }
        self.mine(1);
    }

    fn step(&mut self, folder: &str, step: &Json) {
        let payload =
            |scenario: &Self| if step["payload"].is_null() { Vec::new() } else { encode(&scenario.value(&step["payload"])).encode() };
        let from = self.sender(step);
        if step["deploy"].is_string() {
            return self.deploy(folder, step, from);
        }
        if let Some(blocks) = step["mine"].as_u64() {
            self.mine(blocks);
        } else if !step["answer"].is_null() {
            self.answer(step);
        } else if let Some(amount) = step["transfer"].as_u64() {
            self.fund(self.address(step["to"].as_str().expect("a transfer names its receiver")), amount);
        } else if !step["events"].is_null() {
            let seen: Json =
                std::mem::take(&mut self.events).into_iter().map(|(name, data)| Json::from(vec![Json::from(name), data])).collect();
            assert_eq!(seen, self.value(&step["events"]));
        } else if let Some(whose) = step["balance"].as_str() {
            let balance = self.market.chain.balance(self.address(whose));
            self.check(step, Ok(Json::from(balance)));
        } else if let Some(handler) = step["execute"].as_str() {
            let target = self.address(step["on"].as_str().unwrap_or("actor"));
            let instruction = execution(target, handler, &payload(self), step["value"].as_u64().unwrap_or(0));
            let (receipt, trace) = self.send(from, instruction);
            let outcome =
                if receipt.is_success() { Ok(returned(&receipt.return_data)) } else { Err(format!("{:?} {trace:?}", receipt.abort)) };
            self.check(step, outcome);
        } else {
            let target = self.address(step["on"].as_str().unwrap_or("actor"));
            let handler = step["query"].as_str().expect("a step does something");
            let Answer { result, .. } = self.market.chain.ask(target, handler, &payload(self), Some(50_000_000));
            self.check(step, result.map(|data: Bytes| returned(&data)).map_err(|error: QueryError| format!("{error:?}")));
        }
    }

    fn deploy(&mut self, folder: &str, step: &Json, from: u8) {
        let read = |name: &str| example_file(folder, name);
        let source = read(step["deploy"].as_str().expect("a deployment names its source"));
        let init = source.contains("def init(").then_some("init");
        let payload = if step["init"].is_null() { Vec::new() } else { self.value(&step["init"]).to_string().into_bytes() };
        let manifest = manifest_json(read("manifest.json"));
        let (receipt, trace) = self.send(from, deployment_of(source.as_bytes(), Some(manifest), init, &payload, 0));
        assert!(receipt.is_success(), "{trace:?}");
        let actor = receipt.created.expect("a deployment creates");
        self.actors.insert(step["as"].as_str().unwrap_or("actor").to_string(), actor);
        if let Some(amount) = step["fund"].as_u64() {
            self.fund(actor, amount);
        }
    }

    /// Gives CBY without going on by a block: the scripts count blocks.
    fn fund(&mut self, to: Address, amount: u64) {
        let (receipt, _) = self.send(9, Instruction::System(System::Transfer { to, amount: Amount(amount) }));
        assert!(receipt.is_success());
    }

    fn check(&mut self, step: &Json, outcome: Outcome) {
        if let Some(expected) = step["fails"].as_str() {
            let words = outcome.expect_err("the step fails");
            // An SDK error's class is what a receipt carries; its slug stands beside it in the SDK's table.
            let class = match expected {
                "E1230" => "PermissionDeniedError",
                "E1206" => "ActorCallError",
                "E1202" => "AddressError",
                other => other,
            };
            assert!(words.contains(class), "{words}");
            return;
        }
        let result = outcome.unwrap_or_else(|words| unreachable!("the step succeeds: {words}"));
        if let Some(expected) = step.get("returns") {
            assert_eq!(result, self.value(expected));
        }
        if let Some(least) = step["at_least"].as_u64() {
            assert!(result.as_u64().expect("a number") >= least, "{result}");
        }
        if let Some(length) = step["length"].as_u64() {
            assert_eq!(result.as_array().map(Vec::len), usize::try_from(length).ok());
        }
        if let Some(before) = step.get("more_than") {
            let before = self.value(before).as_u64().expect("a number");
            assert_eq!(result.as_u64(), Some(before + step["by"].as_u64().expect("a number")));
        }
        for (name, wanted) in self.value(&step["fields"]).as_object().into_iter().flatten() {
            assert_eq!(&result[name], wanted);
        }
        for (name, options) in self.value(&step["field_one_of"]).as_object().into_iter().flatten() {
            assert!(options.as_array().expect("a list").contains(&result[name]), "{result}");
        }
        if let Some(name) = step["remember"].as_str() {
            self.remembered.insert(name.to_string(), result);
        }
    }
}

/// What a handler returned, as JSON carries it.
fn returned(data: &[u8]) -> Json {
    if data.is_empty() { Json::Null } else { json(&cbor::decode(data).expect("an SDK handler answers CBOR")) }
}

fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Integer(number) => {
            i64::try_from(*number).map(Json::from).or_else(|_| u64::try_from(*number).map(Json::from)).expect("tests use small numbers")
        }
        Value::Bytes(bytes) => Json::String(format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())),
        Value::Text(text) if text.len() == 42 && text.starts_with("0x") => Json::String(text.to_ascii_lowercase()),
        Value::Text(text) => Json::String(text.clone()),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Map(pairs) => {
            pairs.iter().map(|(key, value)| (key.as_text().expect("tests use text keys").to_string(), json(value))).collect()
        }
        Value::Float(bits) => Json::String(format!("{bits:#x}")),
        Value::Bignum { .. } => panic!("tests use small numbers"),
    }
}

fn encode(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Integer(i128::from(number.as_i64().expect("tests use small numbers"))),
        Json::String(text) => Value::text(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(encode).collect()),
        Json::Object(pairs) => {
            let mut pairs: Vec<(Value, Value)> = pairs.iter().map(|(name, item)| (Value::text(name.clone()), encode(item))).collect();
            pairs.sort_by_key(|(name, _)| (name.encode().len(), name.encode()));
            Value::Map(pairs)
        }
    }
}

macro_rules! examples {
    ($($test:ident $folder:literal;)+) => {
        fn example_file(folder: &str, name: &str) -> &'static str {
            match (folder, name) {
                $(
                    ($folder, "actor.py") => include_str!(concat!("../../../examples/", $folder, "/actor.py")),
                    ($folder, "manifest.json") => include_str!(concat!("../../../examples/", $folder, "/manifest.json")),
                    ($folder, _) => include_str!(concat!("../../../examples/", $folder, "/test.json")),
                )+
                _ => unreachable!("the example is in the table"),
            }
        }

        $(
            #[test]
            fn $test() {
                let script: Json = serde_json::from_str(example_file($folder, "test.json")).expect("the script is JSON");
                let has_jobs = script.to_string().contains("\"answer\"");
                let mut scenario = Scenario::new(if has_jobs { 6 } else { 0 });
                for (number, step) in script["steps"].as_array().expect("a script has steps").iter().enumerate() {
                    println!("step {} {step}", number + 1);
                    scenario.step($folder, step);
                }
            }
        )+
    };
}

examples! {
    hello "hello";
    counter "counter";
    heartbeat "heartbeat";
    escrow "escrow";
    token "token";
    lottery "lottery";
    oracle "oracle";
    analyst "analyst";
    jury "jury";
    shopper "shopper";
    keeper "keeper";
}
