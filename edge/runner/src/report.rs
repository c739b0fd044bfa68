//! A runner's own report, as it keeps it and gives it to an aggregator.

use crate::{
    execute::{Done, Usage},
    tee::Tee,
};
use cowboy_api::{Hex, HexBytes};
use cowboy_system::offchain::{DEV_NAME, FAULT_ACTOR};
use cowboy_types::{
    Address, Hash,
    cbor::Value,
    job::{JobSpec, Report},
};
use serde::{Deserialize, Serialize};

/// The parts of a [`Report`], owned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnedReport {
    /// The result's bytes; nothing where the work failed.
    pub result: Option<HexBytes>,
    /// What the work took.
    pub usage: Usage,
    /// The fault's number; zero where there is a result.
    pub fault: u64,
    /// Work done before the fault, in hundredths of a percent.
    pub progress: u64,
    /// What a trusted environment says of the result; empty for nothing.
    pub attestation: HexBytes,
}

impl OwnedReport {
    /// The report of what came of an execution. The progress of a failed one is the part of the job's time, in ms, that it took.
    pub(crate) fn of(done: Done, wall_ms: u64) -> Self {
        let (result, fault) = match done.result {
            Ok(output) => (Some(Hex(output)), 0),
            Err(fault) => (None, fault.number()),
        };
        let took = u128::from(done.took_ms) * 10_000 / u128::from(wall_ms.max(1));
        let progress = if fault > FAULT_ACTOR { u64::try_from(took.min(10_000)).unwrap_or(10_000) } else { 0 };
        Self { result, usage: done.usage, fault, progress, attestation: Hex(Vec::new()) }
    }

    /// The report as the chain's rules see it.
    pub(crate) fn view(&self) -> Report<'_> {
        Report {
            result: self.result.as_ref().map(|result| result.0.as_slice()),
            usage: (&self.usage).into(),
            fault: self.fault,
            progress: self.progress,
            attestation: &self.attestation.0,
        }
    }
}

/// What makes a runner's results those of a trusted environment.
#[derive(Clone)]
pub(crate) struct Environment {
    /// The environment, where the runner works in one.
    pub(crate) tee: Option<Tee>,
    /// Whether the runner claims the environment of development chains.
    pub(crate) is_dev: bool,
    /// The runner.
    pub(crate) runner: Address,
}

impl Environment {
    /// What the environment says of a result; nothing where the job requires none.
    pub(crate) fn statement(&self, job: &Hash, spec: &JobSpec, output: &[u8]) -> Vec<u8> {
        match &self.tee {
            _ if !spec.verification.is_tee_required => Vec::new(),
            Some(tee) => tee.statement(job, &self.runner, output, &spec.model),
            None if self.is_dev => dev_attestation(&self.runner, output, &spec.model),
            None => Vec::new(),
        }
    }
}

/// What a development chain takes for an attestation. It proves nothing.
fn dev_attestation(runner: &Address, output: &[u8], model: &Hash) -> Vec<u8> {
    let digest = cowboy_types::keccak256(&[output]);
    let mut fields =
        vec![("type", Value::text(DEV_NAME)), ("runner", Value::Bytes(runner.0.to_vec())), ("output", Value::Bytes(digest.0.to_vec()))];
    if *model != Hash::ZERO {
        fields.push(("model", Value::Bytes(model.0.to_vec())));
    }
    Value::dict(fields).encode()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Fault;

    /// a page that held the runner for half of its job's time is reported as half of the work.
    #[test]
    fn the_time_that_a_page_held_the_runner_is_its_progress() {
        let failed = |fault: Fault, took_ms: u64| {
            let report = OwnedReport::of(Done { took_ms, ..Done::failed(fault) }, 10_000);
            (report.fault, report.progress)
        };
        assert_eq!(failed(Fault::External(String::new()), 5_000), (2, 5_000));
        assert_eq!(failed(Fault::Impossible(String::new()), 12_000), (3, 10_000), "at most all of it");
        assert_eq!(failed(Fault::Actor(String::new()), 5_000), (1, 0), "what nobody can do is paid the least fee");
    }
}
