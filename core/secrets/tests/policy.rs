//! Which policies are accepted.

use cowboy_secrets::Policy;
use cowboy_secrets::policy::{Actors, Attestation, PolicyError, Runners};
use cowboy_types::environment::Environment;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Blob, Hash, List, Text};

fn list<T, const MAX: usize>(items: Vec<T>) -> List<T, MAX> {
    List::new(items).expect("few")
}

fn hosts(names: &[&str]) -> List<Text<255>, 32> {
    list(names.iter().map(|name| Text::new(*name).expect("short")).collect())
}

fn attested(environments: &[Environment], measurements: &[[u8; 1]]) -> Attestation {
    let measurements = measurements.iter().map(|bytes| Blob::new(bytes.to_vec()).expect("short")).collect();
    Attestation::Required { environments: list(environments.to_vec()), measurements: list(measurements) }
}

fn policy() -> Policy {
    Policy {
        actors: Actors::Owned,
        accounts: List::default(),
        code_hashes: List::default(),
        jobs: 1 << 2,
        hosts: hosts(&["*.weather.test", "api.test"]),
        runners: Runners::Any,
        min_stake: Amount::ZERO,
        min_reputation: Count::ZERO,
        attestation: Attestation::NotRequired,
        copies: 1,
        from: Height(5),
        until: Height::ZERO,
        max_releases: Count::ZERO,
    }
}

#[test]
fn each_rule_refuses() {
    let [low, high] = [Address([1; 20]), Address([2; 20])];
    type Change = fn(&mut Policy, Address, Address);
    let rows: [(Change, Result<(), PolicyError>); 22] = [
        (|_, _, _| (), Ok(())),
        (|policy, low, high| policy.actors = Actors::Listed { addresses: list(vec![low, high]) }, Ok(())),
        (|policy, low, high| policy.actors = Actors::Listed { addresses: list(vec![high, low]) }, Err(PolicyError::Order("actors"))),
        (|policy, _, _| policy.actors = Actors::Listed { addresses: List::default() }, Err(PolicyError::Nobody("actors"))),
        (|policy, low, _| policy.accounts = list(vec![low, low]), Err(PolicyError::Order("accounts"))),
        (|policy, _, _| policy.code_hashes = list(vec![Hash([2; 32]), Hash([1; 32])]), Err(PolicyError::Order("code_hashes"))),
        (|policy, _, _| policy.actors = Actors::Any, Err(PolicyError::Everybody)),
        (|policy, low, _| (policy.actors, policy.accounts) = (Actors::Any, list(vec![low])), Ok(())),
        (|policy, _, _| policy.jobs = 0, Err(PolicyError::Nobody("jobs"))),
        (|policy, _, _| policy.jobs |= 1 << 4, Err(PolicyError::Jobs)),
        (|policy, _, _| policy.hosts = hosts(&["b.test", "a.test"]), Err(PolicyError::Order("hosts"))),
        (|policy, _, _| policy.hosts = hosts(&["A.test"]), Err(PolicyError::Host)),
        (|policy, _, _| policy.hosts = hosts(&[]), Ok(())),
        (|policy, low, high| policy.runners = Runners::Listed { addresses: list(vec![high, low]) }, Err(PolicyError::Order("runners"))),
        (|policy, _, _| policy.attestation = attested(&[Environment::Sev, Environment::Nitro], &[[1], [2]]), Ok(())),
        (|policy, _, _| policy.attestation = attested(&[], &[]), Err(PolicyError::Nobody("environments"))),
        (
            |policy, _, _| policy.attestation = attested(&[Environment::Nitro, Environment::Sgx], &[]),
            Err(PolicyError::Order("environments")),
        ),
        (|policy, _, _| policy.attestation = attested(&[Environment::Sgx], &[[1], [1]]), Err(PolicyError::Order("measurements"))),
        (|policy, _, _| policy.copies = 0, Err(PolicyError::Copies(0))),
        (|policy, _, _| policy.copies = 10, Err(PolicyError::Copies(10))),
        (|policy, _, _| policy.until = Height(4), Err(PolicyError::Times)),
        (|policy, _, _| policy.until = Height(5), Ok(())),
    ];
    for (place, (change, expected)) in rows.into_iter().enumerate() {
        let mut policy = policy();
        change(&mut policy, low, high);
        assert_eq!(policy.check(), expected, "row {place}");
    }
}

#[test]
fn a_host_is_reached_by_a_pattern_alone() {
    let rows = [("api.test", true), ("x.weather.test", true), ("weather.test", false), ("api.test.evil", false), ("evil.test", false)];
    for (host, is_reached) in rows {
        assert_eq!(policy().reaches(host), is_reached, "{host}");
    }
    assert!(!Policy { hosts: hosts(&[]), ..policy() }.reaches("api.test"));
}

/// A wider policy is another policy, so that what is sealed under the first stays closed.
#[test]
fn every_change_changes_the_hash() {
    let first = policy();
    for wider in [Policy { copies: 2, ..policy() }, Policy { hosts: hosts(&["*"]), ..policy() }, Policy { from: Height(4), ..policy() }] {
        assert_ne!(first.hash(), wider.hash());
    }
}
