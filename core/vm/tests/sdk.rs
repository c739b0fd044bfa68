//! The SDK inside the VM leaves behind what it leaves behind under CPython: results, errors, state, events, messages, timers.
//!
//! `tests/vectors/sdk.json` holds the calls and what CPython made of them; `sdk/python/tests/make_vectors.py` writes it
//!

use cowboy_vm::{Entry, Exit, HostCall, HostError, HostFn, HostValue, Image, Limits, Rules, Vm, build_image, compile};
use serde_json::{Value, json};
use sha2::Sha256;
use sha3::{Digest, Keccak256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const OWN: [u8; 20] = [0x22; 20];
const OWNER: [u8; 20] = [0x01; 20];
const LIMITS: Limits = Limits {
    cycles: 10_000_000,
    cells: 10_000_000,
    memory_bytes: 10 << 20,
    recursion: 256,
    weight_ns: 1_000_000_000,
    rules: Rules::GENESIS,
};

/// A chain with one actor, by the rules of the SDK's fake one.
#[derive(Clone, Default)]
struct Host {
    sender: Vec<u8>,
    value: u64,
    height: u64,
    balance: u64,
    storage: BTreeMap<Vec<u8>, Vec<u8>>,
    timers: BTreeMap<Vec<u8>, (u64, Vec<u8>)>,
    timer_count: u64,
    events: Vec<(String, Vec<u8>)>,
    messages: Vec<(Vec<u8>, String, Vec<u8>, u64)>,
    jobs: u64,
    /// Keys whose values go even if the step fails.
    deletions: Vec<Vec<u8>>,
}

type Answer = Result<HostValue, HostError>;

fn bytes(call: &HostCall, index: usize) -> Vec<u8> {
    call.args.get(index).and_then(HostValue::as_bytes).unwrap_or_default().to_vec()
}

fn number(call: &HostCall, index: usize) -> u64 {
    call.args.get(index).and_then(HostValue::as_u64).unwrap_or_default()
}

fn text(call: &HostCall, index: usize) -> String {
    call.args.get(index).and_then(HostValue::as_str).unwrap_or_default().to_owned()
}

fn refuse(code: u32, name: &'static str, message: impl Into<String>) -> Answer {
    Err(HostError { code, name, message: message.into() })
}

fn pair(name: &str, value: HostValue) -> (HostValue, HostValue) {
    (HostValue::Str(name.to_owned()), value)
}

fn list(items: Vec<HostValue>) -> HostValue {
    HostValue::List(items)
}

impl Host {
    fn answer(&mut self, call: &HostCall) -> Answer {
        Ok(match call.function {
            HostFn::Context => self.context(),
            HostFn::SelfAddress => HostValue::Bytes(OWN.to_vec()),
            HostFn::CurrentBlock => HostValue::int(self.height),
            HostFn::RuntimeConfig => HostValue::Map(vec![pair("continuation_mode", HostValue::Str("local".to_owned()))]),
            HostFn::ActorOwner => HostValue::Bytes(OWNER.to_vec()),
            HostFn::Balance => HostValue::int(self.balance),
            HostFn::GetState => self.storage.get(&bytes(call, 0)).map_or(HostValue::None, |value| HostValue::Bytes(value.clone())),
            HostFn::SetState | HostFn::SetReservedState => {
                self.storage.insert(bytes(call, 0), bytes(call, 1));
                HostValue::None
            }
            HostFn::DeleteState => {
                self.storage.remove(&bytes(call, 0));
                HostValue::None
            }
            HostFn::DeleteOnFailure => {
                self.deletions.push(bytes(call, 0));
                HostValue::None
            }
            HostFn::ScanStatePrefix => self.scan(&bytes(call, 0), number(call, 1)),
            HostFn::EmitEvent => {
                self.events.push((text(call, 0), bytes(call, 1)));
                let id = HostValue::int(u64::try_from(self.events.len()).expect("few events"));
                HostValue::Map(vec![pair("emit_id", id), pair("sync_outcomes", list(vec![])), pair("deferred_subs", list(vec![]))])
            }
            HostFn::SendMessage => {
                self.messages.push((bytes(call, 0), text(call, 3), bytes(call, 1), number(call, 2)));
                HostValue::None
            }
            HostFn::SubmitJob => {
                let dispatcher = [vec![0; 19], vec![2]].concat();
                self.messages.push((dispatcher, String::new(), bytes(call, 0), 0));
                self.jobs += 1;
                let hash = Sha256::new().chain_update(OWN).chain_update([0xab; 32]).chain_update((self.jobs - 1).to_be_bytes());
                HostValue::Bytes(hash.chain_update(self.height.to_be_bytes()).finalize().to_vec())
            }
            HostFn::CallActor => return Self::call(call),
            HostFn::TransferBalance => {
                let amount = number(call, 1);
                if self.balance < amount {
                    return refuse(2, "transfer_failed", format!("balance {} is below {amount}", self.balance));
                }
                self.balance -= amount;
                HostValue::None
            }
            HostFn::ScheduleTimer | HostFn::ScheduleTimerEx => return self.schedule(number(call, 0), bytes(call, 1)),
            HostFn::SetInterval => return self.schedule(self.height + number(call, 0), bytes(call, 1)),
            HostFn::ExtendTimer | HostFn::ResumeInterval => HostValue::None,
            HostFn::CancelTimer => {
                self.timers.remove(&bytes(call, 0));
                HostValue::None
            }
            other => return refuse(5, "unavailable", format!("the test's host has no {other:?}")),
        })
    }

    fn context(&self) -> HostValue {
        HostValue::Map(vec![
            pair("sender", HostValue::Bytes(self.sender.clone())),
            pair("actor_addr", HostValue::Bytes(OWN.to_vec())),
            pair("value", HostValue::int(self.value)),
            pair("block_height", HostValue::int(self.height)),
            pair("tx_hash", HostValue::Bytes(vec![0xab; 32])),
            pair("timestamp_ms", HostValue::int(1_700_000_000_000_u64)),
            pair("chain_id", HostValue::int(1_u64)),
            pair("chain_instance_id", HostValue::Bytes(vec![1; 32])),
            pair("pvm_version", HostValue::Str("fake".to_owned())),
            pair("round", list(vec![HostValue::int(0_u64), HostValue::int(self.height)])),
        ])
    }

    fn scan(&self, prefix: &[u8], limit: u64) -> HostValue {
        let found = self.storage.iter().filter(|(key, _)| key.starts_with(prefix) && key.len() <= 64);
        let pairs = found.map(|(key, value)| list(vec![HostValue::Bytes(key.clone()), HostValue::Bytes(value.clone())]));
        list(pairs.take(usize::try_from(limit).expect("a small limit")).collect())
    }

    fn schedule(&mut self, height: u64, payload: Vec<u8>) -> Answer {
        if height <= self.height {
            return refuse(2, "timer_in_past", format!("timer height {height} is not after block {}", self.height));
        }
        self.timer_count += 1;
        let hash = Keccak256::new().chain_update(OWN).chain_update(height.to_be_bytes()).chain_update(&payload);
        let id = hash.chain_update(self.timer_count.to_be_bytes()).finalize().to_vec();
        self.timers.insert(id.clone(), (height, payload));
        Ok(HostValue::Bytes(id))
    }

    /// Other actors: 0x66… is not there, the rest answer with what they were asked.
    fn call(call: &HostCall) -> Answer {
        if bytes(call, 0) == [0x66; 20] {
            return refuse(3, "actor_not_found", "no actor at the target");
        }
        let (method, payload) = (text(call, 1), bytes(call, 2));
        let parts = [vec![0x84], head(3, size(method.as_bytes())), method.into_bytes(), head(2, size(&payload)), payload];
        Ok(HostValue::Bytes([parts.concat(), head(0, number(call, 3)), head(0, number(call, 4))].concat()))
    }
}

/// A CBOR head.
fn head(major: u8, number: u64) -> Vec<u8> {
    let major = major << 5;
    match (u8::try_from(number), u16::try_from(number), u32::try_from(number)) {
        (Ok(small), _, _) if small < 24 => vec![major | small],
        (Ok(byte), _, _) => vec![major | 24, byte],
        (_, Ok(short), _) => [vec![major | 25], short.to_be_bytes().to_vec()].concat(),
        (_, _, Ok(word)) => [vec![major | 26], word.to_be_bytes().to_vec()].concat(),
        _ => [vec![major | 27], number.to_be_bytes().to_vec()].concat(),
    }
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).expect("a short value")
}

fn run(image: &Arc<Image>, host: &mut Host, method: &str, payload: &[u8]) -> Exit {
    let entry = Entry::Handler { method: method.to_owned(), payload: payload.to_vec() };
    let mut vm = Vm::start(Arc::clone(image), entry, LIMITS);
    let mut exit = vm.run();
    while let Exit::HostCall(call) = &exit {
        let answer = host.answer(call);
        exit = vm.resume(answer);
    }
    exit
}

fn hex_of(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

fn field<'a>(step: &'a Value, name: &str) -> &'a str {
    step[name].as_str().expect("the vectors have this text")
}

/// What the step did, in the words of the vectors.
fn observe(image: &Arc<Image>, host: &mut Host, step: &Value) -> Value {
    host.sender = hex::decode(field(step, "sender")).expect("hex");
    host.value = step["value"].as_u64().expect("a number");
    host.height = step["height"].as_u64().expect("a number");
    host.events.clear();
    host.messages.clear();
    host.deletions.clear();
    let before = host.clone();
    let payload = hex::decode(field(step, "payload")).expect("hex");
    let exit = run(image, host, field(step, "method"), &payload);
    let mut seen = json!({ "method": step["method"], "payload": step["payload"], "sender": step["sender"], "value": step["value"], "height": step["height"] });
    match exit {
        Exit::Return(result) => seen["returns"] = hex_of(result.as_bytes().unwrap_or_default()).into(),
        Exit::Raise(error) => {
            let deletions = std::mem::replace(host, before).deletions;
            deletions.iter().for_each(|key| drop(host.storage.remove(key)));
            let name = error.type_name.rsplit('.').next().unwrap_or_default().to_owned();
            if step["raises"][0] != name.as_str() {
                eprintln!("{}\n{}: {}", error.traceback.join("\n"), error.type_name, error.message);
            }
            seen["raises"] = json!([name, error.slug]);
        }
        other => panic!("{step}: {other:?}"),
    }
    seen["state"] =
        host.storage.iter().map(|(key, value)| (hex_of(key), Value::from(hex_of(value)))).collect::<serde_json::Map<_, _>>().into();
    seen["events"] = host.events.iter().map(|(name, data)| json!([name, hex_of(data)])).collect();
    seen["messages"] =
        host.messages.iter().map(|(target, handler, payload, value)| json!([hex_of(target), handler, hex_of(payload), value])).collect();
    let mut timers: Vec<_> = host.timers.values().map(|(height, payload)| (*height, hex_of(payload))).collect();
    timers.sort();
    seen["timers"] = timers.into_iter().map(|(height, payload)| json!([height, payload])).collect();
    seen["balance"] = host.balance.into();
    seen
}

#[test]
fn actors_leave_behind_what_they_do_under_cpython() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let vectors = std::fs::read_to_string(root.join("tests/vectors/sdk.json")).expect("the vectors are part of the clone");
    let cases: Vec<Value> = serde_json::from_str(&vectors).expect("the vectors are JSON");
    let mut differences = Vec::new();
    for case in &cases {
        let actor = field(case, "actor");
        let source = std::fs::read_to_string(root.join(actor)).expect("the actor is part of the clone");
        let unit = compile(&source, actor).unwrap_or_else(|error| panic!("{actor}: {error}"));
        let (image, _) = build_image(&unit, LIMITS).unwrap_or_else(|failure| panic!("{actor}: {failure:?}"));
        let mut host = Host { balance: 1_000_000, ..Host::default() };
        for step in case["steps"].as_array().expect("a case has steps") {
            let seen = observe(&image, &mut host, step);
            if seen != *step {
                differences.push(format!("{actor} {}\n  expected {step}\n  got      {seen}", field(step, "method")));
            }
        }
    }
    let first: Vec<&String> = differences.iter().take(3).collect();
    assert!(differences.is_empty(), "{} calls differ, the first of them:\n{first:#?}", differences.len());
}
