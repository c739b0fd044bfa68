//! What runners ask 0x01, 0x03 and 0x05.

use super::{Request, list, request, wrong};
use crate::runners::api::{AddStake, Declared, Environment, Heartbeat, Rates, Register, Update};
use crate::runners::capacity::{ContainerCapacity, Platform};
use crate::schema::{Form as _, Record as _, Refused};
use crate::tee::api::Attest;
use crate::verifier::api::{AttestCrash, Commit, Opening, Reveal, SubmitResult, SubmitVerifiedResult, Used};
use cowboy_types::cbor::Value;
use cowboy_types::job::runner::RateCard;
use cowboy_types::job::{JobKind, MAX_MEMBERS, Report, SALT_BYTES, Usage};
use cowboy_types::units::Count;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text};

/// What a runner says of itself.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The Ed25519 public key that signs its results.
    pub result_key: [u8; 32],
    /// The kinds of work that it does.
    pub kinds: Vec<JobKind>,
    /// What it asks for its work.
    pub rates: RateCard,
    /// How many jobs it does at a time.
    pub max_concurrent: u64,
    /// The trusted environments that it has.
    pub environments: Vec<String>,
    /// Where other runners send results to an aggregator.
    pub endpoint: String,
    /// The regions where it runs.
    pub regions: Vec<String>,
    /// Web domains that it reaches; none means all.
    pub domains: Vec<String>,
    /// Models that it has.
    pub models: Vec<Hash>,
    /// What it gives to one container.
    pub containers: Option<Containers>,
}

/// What a runner gives to one container.
#[derive(Clone, Debug)]
pub struct Containers {
    /// Thousandths of a processor.
    pub cpu_millicores: u64,
    /// Mebibytes of memory.
    pub memory_mib: u64,
    /// Mebibytes of files.
    pub scratch_mib: u64,
    /// The platforms that it runs.
    pub platforms: Vec<String>,
    /// Whether it mounts volumes.
    pub volumes: bool,
}

impl Declaration {
    /// Makes the sender a runner, with the stake as value.
    ///
    /// # Errors
    ///
    /// The field that is longer than the chain takes it, or of another form.
    pub fn register(&self) -> Result<Request, String> {
        self.declared().map(|declared| request(&Register(declared)))
    }

    /// Replaces what a runner said of itself.
    ///
    /// # Errors
    ///
    /// As of [`Self::register`].
    pub fn update(&self) -> Result<Request, String> {
        self.declared().map(|declared| request(&Update(declared)))
    }

    fn declared(&self) -> Result<Declared, String> {
        self.read().map_err(|refused| refused.text(Declared::FIELDS))
    }

    fn read(&self) -> Result<Declared, Refused> {
        let rates = &self.rates;
        Ok(Declared {
            result_key: Fixed(self.result_key),
            kinds: list("kinds", self.kinds.iter().cloned().map(Some))?,
            rates: Rates {
                llm_input_token: rates.llm_input_token,
                llm_output_token: rates.llm_output_token,
                http_request_base: rates.http_request_base,
                compute_second: rates.compute_second,
                memory_mb: rates.memory_mb,
                min_job_value: rates.min_job_value,
                max_job_value: rates.max_job_value,
            },
            max_concurrent: Count(self.max_concurrent),
            tee: list("tee", self.environments.iter().map(|name| Environment::read(&Value::text(name)).ok()))?,
            endpoint: Text::new(self.endpoint.as_str()).ok_or_else(|| wrong("endpoint"))?,
            regions: list("regions", self.regions.iter().map(|region| Text::new(region.as_str())))?,
            domains: list("domains", self.domains.iter().map(|domain| Text::new(domain.as_str())))?,
            models: list("models", self.models.iter().copied().map(Some))?,
            provides: Default::default(),
            containers: self.containers.as_ref().map(Containers::read).transpose()?,
        })
    }
}

impl Containers {
    fn read(&self) -> Result<ContainerCapacity, Refused> {
        let platforms = self.platforms.iter().map(|name| Platform::read(&Value::text(name)).ok());
        Ok(ContainerCapacity {
            cpu_millicores: Count(self.cpu_millicores),
            memory_mib: Count(self.memory_mib),
            scratch_mib: Count(self.scratch_mib),
            platforms: list("platforms", platforms).map_err(|refused| refused.within("containers"))?,
            volumes: self.volumes,
        })
    }
}

/// Stakes the value, too.
pub fn add_stake() -> Request {
    request(&AddStake {})
}

/// Says that a runner is up.
pub fn heartbeat() -> Request {
    request(&Heartbeat {})
}

/// Binds a member to its report.
pub fn commit(job_id: Hash, commitment: Hash) -> Request {
    request(&Commit { job_id, commitment })
}

fn used(usage: &Usage) -> Used {
    let Usage { input_tokens, output_tokens, requests, compute_ms, memory_mb } = usage.clone();
    Used { input_tokens, output_tokens, requests, compute_ms, memory_mb }
}

/// Opens a commitment.
pub fn reveal(job_id: Hash, report: &Report<'_>, salt: Fixed<SALT_BYTES>, signature: Fixed<64>) -> Request {
    request(&Reveal {
        job_id,
        output: report.result.map(<[u8]>::to_vec),
        fault: report.fault,
        progress: report.progress,
        salt: Some(salt),
        signature,
        usage: used(&report.usage),
        attestation: report.attestation.to_vec(),
    })
}

/// Submits the result of a committee of one.
pub fn submit_result(job_id: Hash, report: &Report<'_>, signature: Fixed<64>) -> Request {
    request(&SubmitResult {
        job_id,
        output: report.result.map(<[u8]>::to_vec),
        fault: report.fault,
        progress: report.progress,
        signature,
        usage: used(&report.usage),
        attestation: report.attestation.to_vec(),
    })
}

/// A member's report, as an aggregator opens it.
#[derive(Clone, Debug)]
pub struct Opened<'a> {
    /// The member.
    pub runner: Address,
    /// Its report.
    pub report: Report<'a>,
    /// What the commitment was salted with.
    pub salt: Fixed<SALT_BYTES>,
    /// The member's signature of the report.
    pub signature: Fixed<64>,
}

/// Opens several commitments at once: every different result once (decision 127). Nothing where there are more than a committee has members.
pub fn submit_verified_result(job_id: Hash, opened: &[Opened<'_>]) -> Option<Request> {
    let mut outputs: Vec<&[u8]> = Vec::new();
    let mut place_of = |output| {
        let place = outputs.iter().position(|known| *known == output).unwrap_or_else(|| {
            outputs.push(output);
            outputs.len() - 1
        });
        u64::try_from(place).unwrap_or(u64::MAX)
    };
    let opening = |one: &Opened<'_>| Opening {
        runner: one.runner,
        output: None,
        fault: one.report.fault,
        progress: one.report.progress,
        salt: Some(one.salt),
        signature: one.signature,
        usage: used(&one.report.usage),
        attestation: one.report.attestation.to_vec(),
    };
    let reveals: Vec<Opening> = opened.iter().map(|one| Opening { output: one.report.result.map(&mut place_of), ..opening(one) }).collect();
    let outputs: List<Vec<u8>, MAX_MEMBERS> = List::new(outputs.into_iter().map(<[u8]>::to_vec).collect())?;
    Some(request(&SubmitVerifiedResult { job_id, outputs, reveals: List::new(reveals)? }))
}

/// Says that the sender committed, and lost its result.
pub fn attest_crash(job_id: Hash, signal: Text<64>) -> Request {
    request(&AttestCrash { job_id, signal })
}

/// Proves a trusted environment; nothing where there is none of the name.
pub fn attest(environment: &str, document: Vec<u8>, collateral: Vec<u8>, key: [u8; 32]) -> Option<Request> {
    let environment = crate::tee::environment(environment)?;
    Some(request(&Attest { environment, document, collateral, key: Fixed(key) }))
}
