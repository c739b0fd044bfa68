//! Random traffic of secrets, and of jobs that use secrets and volumes: what owners, runners and proxies do beside each other, well or not. The
//! simulation of volumes plays it ([`crate::volumes`]), so that the money of all of them is on one chain.

use super::*;
use cowboy_system::secrets::types::Secret;
use cowboy_system::storage;
use cowboy_testkit::dice::Dice;
use cowboy_testkit::market::{DISPATCHER, Market, Said, VERIFIER, hex, jobs_of, simple_job};
use cowboy_types::Instruction;
use cowboy_types::job::{Job, JobStatus, Usage};
use serde_json::{Value as Json, json};

/// Runners, and how many of them run containers: the first ones. The others fetch pages.
const RUNNERS: u8 = 4;
const OF_CONTAINERS: usize = 2;

const NAME: Hash = Hash([8; 32]);

/// A market with a committee of proxies, runners of containers and of web jobs, and these rows beside those of short dealings.
pub(crate) fn open(rows: &[(&'static str, u64)]) -> Market {
    let mut market = jobs::with_rows(RUNNERS, rows);
    crate::containers::offer(&mut market, &[(1_000, 512, 1_026); OF_CONTAINERS]);
    market
}

/// Who does what is random.
pub(crate) struct Traffic {
    dice: Dice,
    runners: Vec<u8>,
    /// That of the committee.
    polynomial: Vec<Scalar>,
}

impl Traffic {
    /// The traffic of a seed, with these runners.
    pub(crate) fn new(runners: Vec<u8>, seed: u64) -> Self {
        Self { dice: Dice::new("traffic", seed), runners, polynomial: polynomial(threshold(4), 1) }
    }

    /// What everybody does in a block.
    pub(crate) fn calls(&mut self, chain: &Chain) -> Vec<(u8, Instruction)> {
        let mut calls: Vec<(u8, Instruction)> = self.owner(chain).into_iter().map(|call| (OWNER, call)).collect();
        for job in jobs_of(chain).into_values().filter(|job| job.status == JobStatus::Assigned) {
            calls.extend(self.runner(chain, &job));
        }
        for (name, release) in chain.records().of::<Release>(NUMBER, b"release:") {
            let id = Hash(name.try_into().expect("an id"));
            calls.extend(self.recipient(&id, &release));
            calls.extend(self.proxies(&id, &release));
        }
        calls
    }

    /// The owner stores, pauses and deletes versions, has them released to itself, and submits jobs that use them.
    fn owner(&mut self, chain: &Chain) -> Option<Instruction> {
        let name = ("name_hash", bytes(&NAME.0));
        Some(match self.dice.roll(24) {
            0 | 1 => call("put_secret", storing(chain), 0),
            2 => call("pause_secret", vec![name, ("paused", Value::Bool(self.dice.roll(3) == 0))], 0),
            3 => call("delete_version", vec![name, ("version", Value::uint(1 + self.dice.roll(6)))], 0),
            4 if self.dice.roll(3) == 0 => call("delete_secret", vec![name], 0),
            5 | 6 => call("release_to_owner", for_transport(vec![name]), 0),
            7..=11 => cowboy_testkit::market::ask(DISPATCHER, "submit_job", &self.job(), 0),
            _ => return None,
        })
    }

    /// A web job, or a container that mounts a partition, with the secret or without.
    fn job(&mut self) -> Json {
        let mut job = if self.dice.roll(2) == 0 {
            let (volume, mode) = (*self.dice.pick(&["a", "b", "c"]), *self.dice.pick(&["r", "w", "rw"]));
            crate::containers::job(json!({ "volumes": [{ "volume": volume, "partition": "notes", "mode": mode, "max_bytes": 100_000 }] }))
        } else {
            simple_job()
        };
        if self.dice.roll(3) > 0 {
            job["secrets"] = json!([{ "name_hash": hex(&NAME.0), "as": "KEY" }]);
        }
        job
    }

    /// The runner of a job has released and mounted what the job names, reports a result or a fault, or does nothing for now. With some pages it never
    /// does anything.
    fn runner(&mut self, chain: &Chain, job: &Job) -> Option<(u8, Instruction)> {
        let runner = job.members.iter().next()?.runner;
        let number = self.account(runner)?;
        let is_of_pages = !self.runners[..OF_CONTAINERS].contains(&number);
        let (of, first) = (("job", bytes(&job.id.0)), ("index", Value::uint(0)));
        let instruction = match self.dice.roll(8) {
            _ if is_of_pages && job.id.0[0].is_multiple_of(8) => return None,
            0 => call("release_to_runner", for_transport(vec![of, first]), 0),
            1 => execution(Address::system(storage::NUMBER), "mount", &Value::dict([of, first]).encode(), 0),
            2 | 3 => {
                let said = said(chain, number);
                let said = if self.dice.roll(4) == 0 { said.failing(2, 0) } else { said };
                cowboy_testkit::market::ask(VERIFIER, "submit_result", &said.alone(&job.id), 0)
            }
            _ => return None,
        };
        Some((number, instruction))
    }

    /// Whoever receives a release says who answered, also where too few did; demands the answers on the chain; or lets it lapse.
    fn recipient(&mut self, id: &Hash, release: &Release) -> Option<(u8, Instruction)> {
        let number = self.account(release.recipient)?;
        let named = ("release_id", bytes(&id.0));
        let served = *self.dice.pick(&[0b0111, 0b1111, 0b1011, 0b0011]);
        let instruction = match self.dice.roll(50) {
            0..=3 => call("close_release", vec![named, ("epoch", Value::uint(1)), ("served", Value::uint(served))], 0),
            4 => call("demand", vec![named, ("served", Value::uint(served & 0b0011))], Params::GENESIS.secrets.demand_bond),
            _ => return None,
        };
        Some((number, instruction))
    }

    /// Proxies answer what is demanded, sooner or later or not at all.
    fn proxies(&mut self, id: &Hash, release: &Release) -> Vec<(u8, Instruction)> {
        let mut calls = Vec::new();
        let Some(demand) = release.demand.as_ref().filter(|demand| !demand.is_over) else { return calls };
        for place in indices(demand.due) {
            let Some(proxy) = demand.members.get(place).filter(|_| self.dice.roll(20) == 0) else { continue };
            let answer = answer(&self.polynomial, place, &release.identity, &release.transport);
            calls.push((number_of(*proxy), call("serve", vec![("release_id", bytes(&id.0)), ("answer", bytes(&answer))], 0)));
        }
        calls
    }

    /// The number of the owner, or of a runner.
    fn account(&self, of: Address) -> Option<u8> {
        self.runners.iter().copied().chain([OWNER]).find(|number| address(*number) == of)
    }
}

/// A call of 0x04.
fn call(method: &str, argument: Vec<(&'static str, Value)>, value: u64) -> Instruction {
    execution(MANAGER, method, &Value::dict(argument).encode(), value)
}

/// The same argument, with a transport key.
fn for_transport(mut argument: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
    let (key, proof, _) = transport();
    argument.extend([("transport", bytes(&key.0)), ("proof", bytes(&proof.0))]);
    argument
}

/// The argument that stores the next version of the secret, for web jobs and containers.
fn storing(chain: &Chain) -> Vec<(&'static str, Value)> {
    let policy = Policy { jobs: JobKind::Http.bit() | JobKind::Container.bit(), ..jobs::for_web() };
    let floor = chain.record::<Vault>(&state::vault_key(address(OWNER))).map_or(Count::ZERO, |vault| vault.floor);
    let secret: Option<Secret> = chain.record(&state::secret_key(address(OWNER), &NAME));
    let next = secret.map_or(floor, |secret| secret.latest).0 + 1;
    let sealed_to = identity(chain, next, &policy);
    vec![("policy", bytes(&policy.encode())), ("sealed", bytes(&sealed(&sealed_to)))]
}

/// What a runner reports.
fn said(chain: &Chain, number: u8) -> Said {
    let (output, genesis, usage) = (b"right".to_vec(), chain.config.genesis, Usage::nothing());
    Said { number, output, secret: [number; 32], genesis, usage, fault: 0, progress: 0, attestation: Vec::new() }.using(1, 500)
}
