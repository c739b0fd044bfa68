//! What a container has to know of its job.

use super::volumes::Volumes;
use crate::execute::{Fault, echo};
use cowboy_container::{MOUNT_FOLDER, Outcome};
use cowboy_params::Containers;
use cowboy_system::offchain::{
    container::{ContainerJob, Mount, RESERVED, is_reserved},
    request::Request,
};
use cowboy_types::{Address, Hash, keccak256};
use std::{collections::BTreeMap, sync::Arc};
use zeroize::Zeroizing;

/// What programs and their libraries read to find a proxy, in small letters.
const PROXY_VARIABLES: [&str; 2] = ["http_proxy", "https_proxy"];

/// A job's container, and what its program is told about the job.
#[derive(Clone)]
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
    /// The share of held processors that counts as used, in basis points.
    pub held_share: u64,
    /// The values of its secrets.
    pub secrets: ContainerSecrets,
    /// Its volumes; none where there is no chain.
    pub volumes: Option<Arc<dyn Volumes>>,
}

/// The values of secrets, where a program finds them.
#[derive(Clone, Default)]
pub struct ContainerSecrets {
    /// Variables of its environment.
    pub variables: Vec<(String, Zeroizing<String>)>,
    /// Files in `/run/secrets`.
    pub files: Vec<(String, Zeroizing<Vec<u8>>)>,
}

impl ContainerSecrets {
    fn echoed_in(&self, text: &[u8]) -> Option<&str> {
        let variables = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        echo::find(variables.chain(self.files.iter().map(|(name, value)| (name.as_str(), value.as_slice()))), text)
    }

    /// Refuses a result that contains a value.
    pub(super) fn require_absent(&self, result: &[u8]) -> Result<(), Fault> {
        self.echoed_in(result).map_or(Ok(()), |name| Err(echo::fault(name)))
    }

    /// Takes the errors of a program out of its outcome, where they contain a value: a fault would quote a part of it, in which nothing is found.
    pub(super) fn hide(&self, outcome: &mut Outcome) {
        if let Some(name) = self.echoed_in(&outcome.stderr) {
            outcome.stderr = format!("(what it printed contains the value of the secret {name})").into_bytes();
        }
    }
}

impl std::fmt::Debug for ContainerTask {
    /// Values of secrets are nobody's to read.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContainerTask").field("id", &self.id).field("job", &self.job).finish_non_exhaustive()
    }
}

impl ContainerTask {
    /// Reads the container of a submission, as the chain did.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(submission: &[u8], rows: &Containers) -> Result<ContainerJob, Fault> {
        let request = Request::read(submission).map_err(|refusal| Fault::Actor(refusal.to_string()))?;
        ContainerJob::read(&request, rows).map_err(|wrong| Fault::Actor(wrong.to_string()))
    }

    /// Its volumes, where it mounts some.
    pub(super) fn volumes(&self) -> Result<Option<&Arc<dyn Volumes>>, Fault> {
        if self.job.mounts.is_empty() {
            return Ok(None);
        }
        self.volumes.as_ref().map(Some).ok_or_else(no_volumes)
    }

    /// The environment of the program: the image's variables, over them the job's and its secrets, and those that tell it about the job. Nothing is of
    /// this computer.
    pub(super) fn environment(&self, image: &[(String, String)]) -> Vec<(String, String)> {
        let has_network = !self.job.hosts.is_empty();
        let is_free = |name: &str| {
            let is_proxy = has_network && PROXY_VARIABLES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy));
            !is_reserved(name) && !is_proxy
        };
        let own = [
            ("TASK_ID", self.id.to_string()),
            ("RUNNER_ADDRESS", self.runner.to_string()),
            ("ACCOUNT_ADDRESS", self.submitter.to_string()),
            ("TIMEOUT_BLOCK", self.timeout_block.to_string()),
            ("VOLUME_MOUNTS", self.job.mounts.iter().map(named).collect::<Vec<_>>().join(",")),
            ("NETWORK_POLICY", if has_network { format!("allow:{}", self.job.hosts.join(",")) } else { "none".into() }),
            ("SEED", self.seed().to_string()),
        ];
        let secrets = self.secrets.variables.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let asked = image.iter().map(|(name, value)| (name.clone(), value.clone())).chain(self.job.env.clone()).chain(secrets);
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

/// Without a chain there are no volumes.
pub(super) fn no_volumes() -> Fault {
    Fault::External("the job needs volumes, and there are none without a chain: submit it".into())
}

/// A mount, as the program is told of it: where it is, and what it may do there.
fn named(mount: &Mount) -> String {
    format!("{MOUNT_FOLDER}/{}:{}", mount.name.as_str(), mount.mode.letters())
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
        let (runner, submitter) = (Address([1; 20]), Address([2; 20]));
        let secrets = ContainerSecrets { variables: vec![("KEY".into(), Zeroizing::new("value".into()))], ..Default::default() };
        ContainerTask { job, id: Hash([7; 32]), runner, submitter, timeout_block: 42, seed: 0, held_share: 2_500, secrets, volumes: None }
    }

    /// What governance may allow at most, a box can have: else the submitter would be blamed for what the chain accepted.
    #[test]
    fn a_box_takes_all_that_may_be_allowed() {
        let most = |name: &str| u32::try_from(Params::row(name).expect("a row").max).expect("a small number");
        let mut plan = cowboy_container::Plan::new("/", vec!["program".into()]);
        plan.limits.cpu_millicores = most("containers.cpu_max");
        plan.limits.memory_mib = most("containers.memory_max");
        plan.limits.scratch_mib = most("containers.scratch_max");
        plan.limits.max_duration = std::time::Duration::from_secs(u64::from(most("containers.seconds_max")));
        plan.check().expect("a box can have it");
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
        assert_eq!((value("KEY"), alone.len()), ("value", 5 + 7));

        let online = task(json!({ "network": { "allow": ["b.example.com", "a.example.com"] } }));
        let (online, other) =
            (online.clone().environment(&image), ContainerTask { seed: 9, id: Hash([8; 32]), ..online }.environment(&image));
        assert!(online.contains(&("COWBOY_NETWORK_POLICY".into(), "allow:a.example.com,b.example.com".into())));
        assert!(!online.iter().any(|(name, _)| name == "HTTP_PROXY"), "the runner's proxy is the only one");
        assert!(online.contains(&("COWBOY_SEED".into(), seed.to_string())), "it follows from the job");
        assert!(other.contains(&("COWBOY_SEED".into(), "9".into())), "the job's own");
    }

    /// C.6, C.7: the program knows what it may do with each volume. No message shows a secret.
    #[test]
    fn mounts_are_named() {
        let volumes = json!([
            { "volume": "memory", "partition": "notes", "mode": "r" },
            { "volume": "memory", "partition": "out", "mode": "rw", "as": "out", "max_bytes": 4096 },
        ]);
        let task = task(json!({ "volumes": volumes }));
        let expected = ("COWBOY_VOLUME_MOUNTS".to_owned(), "/mnt/volumes/memory:r,/mnt/volumes/out:rw".to_owned());
        assert!(task.environment(&[]).contains(&expected));
        assert!(!format!("{task:?}").contains("value"), "{task:?}");
    }
}
