//! What a container has to know of its job.

use crate::execute::Fault;
use cowboy_params::Containers;
use cowboy_system::offchain::{container::ContainerJob, request::Request};
use cowboy_types::{Address, Hash, keccak256};
use std::collections::BTreeMap;

/// What names of variables begin with that the runner sets.
const RESERVED: &str = "COWBOY_";

/// What programs and their libraries read to find a proxy, in small letters.
const PROXY_VARIABLES: [&str; 2] = ["http_proxy", "https_proxy"];

/// A job's container, and what its program is told about the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerTask {
    /// The container.
    pub job: ContainerJob,
    /// The job's id.
    pub id: Hash,
    /// This runner.
    pub runner: Address,
    /// Who submitted the job.
    pub submitter: Address,
    /// The height before which the result is due.
    pub timeout_block: u64,
    /// The seed that the job names; zero where it names none.
    pub seed: u64,
}

impl ContainerTask {
    /// Reads the container of a submission, as the chain did. What no runner does yet is refused by its name.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(submission: &[u8], rows: &Containers) -> Result<ContainerJob, Fault> {
        let request = Request::read(submission).map_err(|refusal| Fault::Actor(refusal.to_string()))?;
        let missing = [
            ("secrets", "containers get no secrets yet: leave out secrets"),
            ("secret_refs", "containers get no secrets yet: leave out secret_refs"),
            ("volumes", "containers mount no volumes yet: leave out volumes"),
            ("volume_mounts", "containers mount no volumes yet: leave out volume_mounts"),
        ];
        if let Some((_, reason)) = missing.iter().find(|(name, _)| request.work.contains_key(*name)) {
            return Err(Fault::Actor((*reason).into()));
        }
        let source = request.work.get("source").and_then(|source| source.as_text());
        if source.is_some_and(|source| source.starts_with("volume:")) {
            return Err(Fault::Actor("images come from no volumes yet: name a source oci://HOST/NAME".into()));
        }
        ContainerJob::read(&request, rows).map_err(|wrong| Fault::Actor(wrong.to_string()))
    }

    /// The environment of the program: the image's variables, over them the job's, and those that tell it about the job. Nothing is of this computer.
    pub(super) fn environment(&self, image: &[(String, String)]) -> Vec<(String, String)> {
        let has_network = !self.job.hosts.is_empty();
        let is_free = |name: &str| {
            let is_proxy = has_network && PROXY_VARIABLES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy));
            !name.starts_with(RESERVED) && !is_proxy
        };
        let own = [
            ("TASK_ID", self.id.to_string()),
            ("RUNNER_ADDRESS", self.runner.to_string()),
            ("ACCOUNT_ADDRESS", self.submitter.to_string()),
            ("TIMEOUT_BLOCK", self.timeout_block.to_string()),
            ("VOLUME_MOUNTS", String::new()),
            ("NETWORK_POLICY", if has_network { format!("allow:{}", self.job.hosts.join(",")) } else { "none".into() }),
            ("SEED", self.seed().to_string()),
        ];
        let asked = image.iter().map(|(name, value)| (name.clone(), value.clone())).chain(self.job.env.clone());
        let mut variables: BTreeMap<String, String> = asked.filter(|(name, _)| is_free(name)).collect();
        variables.extend(own.map(|(name, value)| (format!("{RESERVED}{name}"), value)));
        variables.into_iter().collect()
    }

    /// The same number for every runner of the job: the job's own, or one that follows from its id.
    fn seed(&self) -> u64 {
        if self.seed != 0 {
            return self.seed;
        }
        let hash = keccak256(&[b"cowboy-container-seed:", &self.id.0]);
        hash.0.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_params::Params;
    use serde_json::{Value as Json, json};

    fn read(fields: Json) -> Result<ContainerJob, Fault> {
        let image = format!("tool@sha256:{}", "b".repeat(64));
        let mut job = json!({ "job_type": { "type": "Container", "image": image } });
        job["job_type"].as_object_mut().expect("a map").extend(fields.as_object().expect("fields").clone());
        ContainerTask::read(&cowboy_api::cbor::encode(&job), &Params::GENESIS.containers)
    }

    fn task(fields: Json) -> ContainerTask {
        let job = read(fields).expect("a container");
        ContainerTask { job, id: Hash([7; 32]), runner: Address([1; 20]), submitter: Address([2; 20]), timeout_block: 42, seed: 0 }
    }

    /// C.6: the program knows its job, and nothing of the computer; neither image nor job replaces what it is told.
    #[test]
    fn the_environment_is_the_jobs() {
        let image = [("PATH", "/bin"), ("A", "image"), ("B", "image"), ("COWBOY_SEED", "1"), ("HTTP_PROXY", "http://other")];
        let image = image.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let alone: BTreeMap<_, _> = task(json!({ "env": { "A": "job" } })).environment(&image).into_iter().collect();
        let value = |name: &str| alone.get(name).map(String::as_str).unwrap_or_default();
        assert_eq!((value("A"), value("B"), value("PATH"), value("HTTP_PROXY")), ("job", "image", "/bin", "http://other"));
        assert_eq!((value("COWBOY_NETWORK_POLICY"), value("COWBOY_VOLUME_MOUNTS"), value("COWBOY_TIMEOUT_BLOCK")), ("none", "", "42"));
        assert_eq!(value("COWBOY_TASK_ID"), Hash([7; 32]).to_string());
        assert_eq!(value("COWBOY_RUNNER_ADDRESS"), Address([1; 20]).to_string());
        assert_eq!(value("COWBOY_ACCOUNT_ADDRESS"), Address([2; 20]).to_string());
        let seed: u64 = value("COWBOY_SEED").parse().expect("a number");
        assert_ne!(seed, 1, "it is not the image's");
        assert_eq!(alone.len(), 4 + 7);

        let online = task(json!({ "network": { "allow": ["b.example.com", "a.example.com"] } }));
        let (online, other) =
            (online.clone().environment(&image), ContainerTask { seed: 9, id: Hash([8; 32]), ..online }.environment(&image));
        assert!(online.contains(&("COWBOY_NETWORK_POLICY".into(), "allow:a.example.com,b.example.com".into())));
        assert!(!online.iter().any(|(name, _)| name == "HTTP_PROXY"), "the runner's proxy is the only one");
        assert!(online.contains(&("COWBOY_SEED".into(), seed.to_string())), "it follows from the job");
        assert!(other.contains(&("COWBOY_SEED".into(), "9".into())), "the job's own");
    }

    #[test]
    fn what_no_runner_does_yet_is_named() {
        let rows = [
            (json!({ "source": "volume:1/images" }), "images come from no volumes"),
            (json!({ "secrets": [{ "name": "KEY" }] }), "no secrets"),
            (json!({ "volumes": [{ "id": 1 }] }), "no volumes"),
        ];
        for (fields, expected) in rows {
            let fault = read(fields).expect_err(expected);
            assert!(matches!(&fault, Fault::Actor(reason) if reason.contains(expected)), "{fault}");
        }
    }
}
