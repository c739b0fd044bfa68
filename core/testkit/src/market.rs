//! The market of off-chain work: 002 and 003 §5, with runners that do as a test says.

use crate::chain::{Chain, address, execution, signed};
use cowboy_system::{dispatcher, governance, runners, verifier};
use cowboy_types::cbor::Value;
use cowboy_types::job::{Job, Report, Runner, Usage, commitment, salt};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Hash, Instruction, Receipt, keccak256};
use ed25519_consensus::SigningKey;
use std::collections::BTreeMap;

/// The Runner Registry.
pub const REGISTRY: Address = Address::system(runners::NUMBER);
/// The Job Dispatcher.
pub const DISPATCHER: Address = Address::system(dispatcher::NUMBER);
/// The Result Verifier.
pub const VERIFIER: Address = Address::system(verifier::NUMBER);

/// The accounts that are the council, once it is named.
pub const COUNCIL: std::ops::Range<u8> = 50..59;

/// Base units of an amount in CBY.
pub fn cby(amount: u64) -> u64 {
    Amount::from_cby(amount).expect("fits").0
}

/// The key with which the n-th account signs results.
pub fn result_key(number: u8) -> SigningKey {
    SigningKey::from([number; 32])
}

/// A CBOR map out of JSON: texts that begin with `0x` are bytes.
pub fn map(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => {
            Value::Integer(number.as_i64().map_or_else(|| i128::from(number.as_u64().expect("whole")), i128::from))
        }
        serde_json::Value::String(text) => match text.strip_prefix("0x").and_then(hex_bytes) {
            Some(bytes) => Value::Bytes(bytes),
            None => Value::text(text.clone()),
        },
        serde_json::Value::Array(items) => Value::Array(items.iter().map(map).collect()),
        serde_json::Value::Object(pairs) => {
            let mut pairs: Vec<(Value, Value)> = pairs.iter().map(|(name, item)| (Value::text(name.clone()), map(item))).collect();
            pairs.sort_by_key(|(name, _)| (name.encode().len(), name.encode()));
            Value::Map(pairs)
        }
    }
}

/// The bytes of hexadecimal digits, unless they are none.
pub fn hex_bytes(digits: &str) -> Option<Vec<u8>> {
    digits.len().is_multiple_of(2).then_some(())?;
    (0..digits.len()).step_by(2).map(|place| u8::from_str_radix(digits.get(place..place + 2)?, 16).ok()).collect()
}

/// Bytes as JSON carries them here.
pub fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// A call of a system actor's method.
pub fn ask(target: Address, method: &str, argument: &serde_json::Value, value: u64) -> Instruction {
    execution(target, method, &map(argument).encode(), value)
}

/// What a runner of tests says of itself.
pub fn declaration(number: u8) -> serde_json::Value {
    serde_json::json!({
        "result_key": hex(result_key(number).verification_key().as_ref()),
        "kinds": ["llm", "http", "mcp", "custom"],
        "tee": ["dev"],
        "rates": { "llm_input_token": 1, "llm_output_token": 2, "http_request_base": 1_000, "compute_second": 1_000, "max_job_value": cby(5_000) },
        "max_concurrent": 100,
    })
}

/// A job with one runner that is believed.
pub fn simple_job() -> serde_json::Value {
    serde_json::json!({
        "job_type": { "type": "Http", "url": "https://example.com" },
        "bounds": { "max_wall_time_seconds": 1 },
        "result_schema": { "max_return_bytes": 1_024, "expected_execution_ms": 1_000, "data_format": "" },
        "verification": { "mode": "none" },
        "max_price": 100_000,
        "tip": 500,
        "timeout_blocks": 10,
    })
}

/// The same with a committee.
pub fn committee_job(mode: &str, runners: u64) -> serde_json::Value {
    let mut job = simple_job();
    job["verification"] = serde_json::json!({ "mode": mode, "runners": runners });
    if mode == "deterministic" {
        job["job_type"] = serde_json::json!({ "type": "Custom", "tool": "sum" });
    }
    job
}

/// What a runner reports.
#[derive(Clone, Debug)]
pub struct Said {
    /// The number of the runner's account.
    pub number: u8,
    /// The result.
    pub output: Vec<u8>,
    /// What the commitment's salt is made of.
    pub secret: [u8; 32],
    /// The genesis hash that the signature covers.
    pub genesis: Hash,
    /// What it cost.
    pub usage: Usage,
    /// The number of a fault, or 0 where there is a result.
    pub fault: u64,
    /// Of a fault: how far the work came, in basis points.
    pub progress: u64,
    /// What an environment says of the result.
    pub attestation: Vec<u8>,
}

impl Said {
    /// The same with a fault in the place of a result.
    pub fn failing(self, fault: u64, progress: u64) -> Self {
        Self { fault, progress, output: Vec::new(), ..self }
    }

    /// The same with this usage.
    pub fn using(self, requests: u64, compute_ms: u64) -> Self {
        let usage = Usage { requests: Count(requests), compute_ms: Count(compute_ms), ..Usage::nothing() };
        Self { usage, ..self }
    }

    /// The same with what an environment says of it.
    pub fn attested(self, attestation: Vec<u8>) -> Self {
        Self { attestation, ..self }
    }

    fn report(&self) -> Report<'_> {
        Report {
            result: (self.fault == 0).then_some(&self.output[..]),
            usage: self.usage.clone(),
            fault: self.fault,
            progress: self.progress,
            attestation: &self.attestation,
        }
    }

    /// The commitment.
    pub fn commitment(&self) -> Hash {
        commitment(&self.report().encode(), &salt(&self.secret, &address(self.number)))
    }

    /// The report as the argument of `submit_result`.
    pub fn alone(&self, job: &Hash) -> serde_json::Value {
        let message = self.report().signed(&self.genesis, job);
        let usage = &self.usage;
        let mut argument = serde_json::json!({
            "job_id": hex(&job.0),
            "signature": hex(&result_key(self.number).sign(&message).to_bytes()),
            "usage": {
                "input_tokens": usage.input_tokens.0,
                "output_tokens": usage.output_tokens.0,
                "requests": usage.requests.0,
                "compute_ms": usage.compute_ms.0,
            },
        });
        match self.fault {
            0 => argument["output"] = hex(&self.output).into(),
            fault => {
                argument["fault"] = fault.into();
                argument["progress"] = self.progress.into();
            }
        }
        if !self.attestation.is_empty() {
            argument["attestation"] = hex(&self.attestation).into();
        }
        argument
    }

    /// What opens the commitment, as the argument of `reveal`.
    pub fn revelation(&self, job: &Hash) -> serde_json::Value {
        let mut argument = self.alone(job);
        argument["salt"] = hex(&salt(&self.secret, &address(self.number))).into();
        argument
    }
}

/// What an aggregator says for several: the argument of `submit_verified_result`.
pub fn together(job: &Hash, said: &[Said]) -> serde_json::Value {
    let item = |(place, said): (usize, &Said)| {
        let mut item = said.revelation(job);
        item["runner"] = hex(&address(said.number).0).into();
        if said.fault == 0 {
            item["output"] = place.into();
        }
        item
    };
    let outputs: Vec<String> = said.iter().map(|said| hex(&said.output)).collect();
    serde_json::json!({ "job_id": hex(&job.0), "outputs": outputs, "reveals": said.iter().enumerate().map(item).collect::<Vec<_>>() })
}

/// A chain whose accounts 1 to 9 hold a million CBY, with seeds, and accounts 2 and up as runners.
pub struct Market {
    /// The chain.
    pub chain: Chain,
    /// The numbers of the runners' accounts.
    pub runners: Vec<u8>,
}

impl Market {
    /// A market of a number of runners that stake 10,000 CBY each.
    pub fn new(runners: u8) -> Self {
        Self::with(runners, |_| {})
    }

    /// The same, with a changed genesis.
    pub fn with(runners: u8, change: impl FnOnce(&mut cowboy_chain::GenesisConfig)) -> Self {
        let mut chain = Chain::with(|genesis| {
            let more = (10..=60).map(|number| cowboy_chain::genesis::Funded { address: address(number), amount: Amount(cby(200_000)) });
            let accounts = genesis.accounts.iter().cloned().chain(more).collect();
            genesis.accounts = cowboy_types::List::new(accounts).expect("fits");
            change(genesis);
        });
        chain.has_seeds = true;
        let mut market = Self { chain, runners: Vec::new() };
        for number in 10..10 + runners {
            let receipt = market.chain.send(number, ask(REGISTRY, "register", &declaration(number), cby(10_000)));
            assert_eq!(receipt.abort, None, "the runner registers");
            market.runners.push(number);
        }
        market
    }

    /// Submits a job of account 1. Answers its id.
    pub fn submit(&mut self, job: &serde_json::Value) -> Hash {
        let receipt = self.chain.send(1, ask(DISPATCHER, "submit_job", job, 0));
        assert_eq!(receipt.abort, None, "the job is taken");
        id_of(&receipt)
    }

    /// Submits a job that is refused. Answers why.
    pub fn refused(&mut self, job: &serde_json::Value) -> &'static str {
        let receipt = self.chain.send(1, ask(DISPATCHER, "submit_job", job, 0));
        slug(&receipt)
    }

    /// A job.
    pub fn job(&self, id: &Hash) -> Job {
        self.chain.record(&dispatcher::state::job_key(id)).expect("the job is there")
    }

    /// The account number of an address.
    pub fn number(&self, runner: Address) -> u8 {
        self.runners.iter().copied().find(|number| address(*number) == runner).expect("a runner of the test")
    }

    /// The job's committee, by account number, in the order of the draw.
    pub fn committee(&self, id: &Hash) -> Vec<u8> {
        self.job(id).members.iter().map(|member| self.number(member.runner)).collect()
    }

    /// Makes blocks until the job's committee is drawn.
    pub fn draw(&mut self, id: &Hash) -> Vec<u8> {
        for _ in 0..10 {
            if !self.job(id).members.is_empty() {
                return self.committee(id);
            }
            self.chain.idle(1);
        }
        unreachable!("the committee is drawn within a few blocks")
    }

    /// What a runner says.
    pub fn said(&self, number: u8, output: &[u8]) -> Said {
        let (secret, genesis) = (keccak256(&[&[number], output]).0, self.chain.config.genesis);
        Said { number, output: output.to_vec(), secret, genesis, usage: Usage::nothing(), fault: 0, progress: 0, attestation: Vec::new() }
            .using(1, 500)
    }

    /// What these runners say, each its own output.
    pub fn say(&self, outputs: &[(u8, &[u8])]) -> Vec<Said> {
        outputs.iter().map(|(number, output)| self.said(*number, output)).collect()
    }

    /// One block in which these runners commit.
    pub fn commit(&mut self, id: &Hash, said: &[Said]) {
        let transactions = said.iter().map(|said| {
            let argument = serde_json::json!({ "job_id": hex(&id.0), "commitment": hex(&said.commitment().0) });
            signed(said.number, self.chain.nonce(said.number), ask(VERIFIER, "commit", &argument, 0))
        });
        let outcome = self.chain.block(transactions.collect());
        assert!(outcome.receipts.iter().all(Receipt::is_success), "commitments are taken");
    }

    /// One block in which these runners reveal. Answers the receipts.
    pub fn reveal(&mut self, id: &Hash, said: &[Said]) -> Vec<Receipt> {
        let transactions =
            said.iter().map(|said| signed(said.number, self.chain.nonce(said.number), ask(VERIFIER, "reveal", &said.revelation(id), 0)));
        self.chain.block(transactions.collect()).receipts
    }

    /// The result of a committee of one.
    pub fn result(&mut self, id: &Hash, number: u8, output: &[u8]) -> Receipt {
        let said = self.said(number, output);
        self.submit_alone(id, &said)
    }

    /// The report of a committee of one.
    pub fn submit_alone(&mut self, id: &Hash, said: &Said) -> Receipt {
        self.chain.send(said.number, ask(VERIFIER, "submit_result", &said.alone(id), 0))
    }

    /// Names accounts 50 to 58 as the council.
    pub fn name_council(&mut self) {
        let mut members: Vec<Address> = COUNCIL.map(address).collect();
        members.sort_unstable();
        let council = governance::types::Council { members: cowboy_types::List::new(members).expect("nine fit") };
        let key = governance::state::council_key();
        self.chain.state.insert(key.digest(), key.seal(&commonware_codec::Encode::encode(&council)));
    }

    /// One block in which as many members of the council as it takes vote on a claim. Answers why the last one failed, if it did.
    pub fn council_decides(&mut self, argument: &serde_json::Value) -> &'static str {
        self.name_council();
        let votes = COUNCIL.take(7).map(|member| signed(member, self.chain.nonce(member), ask(VERIFIER, "decide_challenge", argument, 0)));
        let outcome = self.chain.block(votes.collect());
        outcome.receipts.iter().rfind(|receipt| receipt.target == VERIFIER).map_or("", slug)
    }

    /// Waits until a runner's probation is over, where it is on one, and lets it be heard of.
    pub fn heal(&mut self, number: u8) {
        let until = runners_of(&self.chain)[&address(number)].probation_until;
        self.chain.height = self.chain.height.max(until);
        let beat = self.chain.send(number, ask(REGISTRY, "heartbeat", &serde_json::json!({}), 0));
        assert_eq!(beat.abort, None, "a runner is heard of");
    }

    /// Waits for the aggregator's time to be over.
    pub fn wait_for_members(&mut self, id: &Hash) {
        let from = self.job(id).reveal_from.0;
        let now = self.chain.height.0;
        self.chain.idle(from.saturating_sub(now + 1));
    }
}

/// The id that a submission answers.
pub fn id_of(receipt: &Receipt) -> Hash {
    let value = cowboy_types::cbor::decode(&receipt.return_data).expect("canonical CBOR");
    Hash(value.as_bytes().expect("bytes").try_into().expect("an id"))
}

/// Why a delivery failed, in a word.
pub fn slug(receipt: &Receipt) -> &'static str {
    receipt.abort.as_ref().map_or("", |abort| cowboy_types::error::row(abort.code).slug)
}

/// The names of the emitted events.
pub fn announced(receipts: &[Receipt]) -> Vec<String> {
    receipts.iter().flat_map(|receipt| receipt.events.iter().map(|event| event.name.to_string())).collect()
}

/// Commits and reveals the same output for all, attested.
pub fn work_attested(market: &mut Market, id: &Hash, committee: &[u8], output: &[u8]) {
    let outputs: Vec<(u8, &[u8])> = committee.iter().map(|number| (*number, output)).collect();
    let said = market.say(&outputs).into_iter().map(|said| {
        let statement = attestation(&said, None);
        said.attested(statement)
    });
    let said: Vec<Said> = said.collect();
    market.commit(id, &said);
    market.wait_for_members(id);
    assert!(market.reveal(id, &said).iter().all(Receipt::is_success));
}

/// What an environment of tests says of a report.
pub fn attestation(said: &Said, model: Option<Hash>) -> Vec<u8> {
    let model = model.unwrap_or(Hash::ZERO);
    Value::map([
        ("type", Value::text("dev")),
        ("runner", Value::Bytes(address(said.number).0.to_vec())),
        ("output", Value::Bytes(keccak256(&[&said.output]).0.to_vec())),
        ("model", Value::Bytes(model.0.to_vec())),
    ])
    .encode()
}

/// Every runner.
pub fn runners_of(chain: &Chain) -> BTreeMap<Address, Runner> {
    chain
        .records()
        .of(runners::NUMBER, b"runner:")
        .into_iter()
        .map(|(name, runner)| (Address(name.try_into().expect("an address")), runner))
        .collect()
}

/// Every job that is not forgotten.
pub fn jobs_of(chain: &Chain) -> BTreeMap<Hash, Job> {
    chain.records().of(dispatcher::NUMBER, b"job:").into_iter().map(|(name, job)| (Hash(name.try_into().expect("an id")), job)).collect()
}
