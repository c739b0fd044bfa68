//! Becoming a runner, and staying one: registration, changes of what it says of itself, heartbeats.

use crate::config::Config;
use cowboy_api::{
    ApiError, Client,
    error::NOT_FOUND,
    model,
    sender::{Call, Sender},
};
use cowboy_params::Jobs;
use cowboy_system::offchain::required_stake;
use cowboy_system::requests::market::{self as requests, Containers, Declaration};
use cowboy_types::{Address, Amount, Hash};
use ed25519_consensus::VerificationKey;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// How long a registration may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// How often the chain is asked meanwhile.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// CBY that a runner keeps for fees beside its stake, in base units.
const FOR_FEES: u64 = 1_000_000_000;

/// Why a runner is none on the chain.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The node refuses or is silent.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// There is too little on the account.
    #[error("{address} has {balance} base units, but stake and fees need {needed}\n  fix: send it CBY, or lower runner.stake_cby")]
    TooLittle {
        /// The account.
        address: Address,
        /// The balance.
        balance: u64,
        /// What it needs.
        needed: u64,
    },
    /// The stake is lower than the largest job allows.
    #[error(
        "a stake of {stake} base units is too low for jobs of {largest}: {needed} are needed\n  fix: raise runner.stake_cby, or lower rates.max_job_value"
    )]
    StakeTooLow {
        /// The configured stake.
        stake: u64,
        /// The largest job.
        largest: u64,
        /// What is needed.
        needed: u64,
    },
    /// The chain takes no such declaration.
    #[error("the chain refuses what the configuration says of the runner: {reason}\n  fix: correct the configuration")]
    Wrong {
        /// The field, and what it has to be.
        reason: String,
    },
    /// The chain does not show it.
    #[error("the chain does not show the registration after {} s\n  fix: look at the log for the node's refusal; check that blocks are made", PATIENCE.as_secs())]
    Late,
}

/// The ids of the models that the configuration names.
fn models(config: &Config) -> BTreeSet<Hash> {
    config.runner.models.keys().filter_map(|id| id.parse::<Hash>().ok()).collect()
}

/// What a runner says of itself.
fn declaration(config: &Config, result_key: &VerificationKey, endpoint: &str) -> Declaration {
    let containers = config.container_capacity().map(|given| Containers {
        cpu_millicores: given.cpu_millicores,
        memory_mib: given.memory_mib,
        scratch_mib: given.scratch_mib,
        platforms: given.platforms,
        volumes: given.volumes,
    });
    Declaration {
        result_key: result_key.to_bytes(),
        kinds: config.kinds(),
        rates: config.rates.card(),
        max_concurrent: config.runner.max_concurrent,
        environments: config.environments(),
        endpoint: endpoint.to_owned(),
        regions: config.runner.regions.clone(),
        domains: config.http.as_ref().map(|http| http.allow.clone()).unwrap_or_default(),
        models: models(config).into_iter().collect(),
        containers,
    }
}

/// Whether the chain has what the declaration says.
fn is_declared(runner: &model::Runner, config: &Config, result_key: &VerificationKey, endpoint: &str) -> bool {
    let card = config.rates.card();
    let capabilities = &runner.capabilities;
    let mut kinds: Vec<String> = config.kinds().iter().map(|kind| kind.name().to_lowercase()).collect();
    let mut declared = capabilities.job_types.clone();
    kinds.sort();
    declared.sort();
    let declared_models: BTreeSet<Hash> = runner.rate_card.supported_models.iter().map(|id| id.0).collect();
    let domains = config.http.as_ref().map(|http| http.allow.as_slice()).unwrap_or_default();
    runner.result_key.0 == result_key.to_bytes()
        && runner.rate_card.llm_input_token == card.llm_input_token.0
        && runner.rate_card.llm_output_token == card.llm_output_token.0
        && runner.rate_card.http_request_base == card.http_request_base.0
        && runner.rate_card.compute_second == card.compute_second.0
        && runner.rate_card.memory_mb == card.memory_mb.0
        && runner.rate_card.min_job_value == card.min_job_value.0
        && runner.rate_card.max_job_value == card.max_job_value.0
        && capabilities.max_concurrent_jobs == config.runner.max_concurrent
        && capabilities.endpoint == endpoint
        && capabilities.regions == config.runner.regions
        && capabilities.tee_support == config.environments()
        && capabilities.http_domains == domains
        && capabilities.containers == config.container_capacity()
        && kinds == declared
        && models(config) == declared_models
}

/// A runner of the chain, or nothing where it has none of this address.
///
/// # Errors
///
/// If the node refuses or is silent.
pub async fn find(client: &Client, address: &Address) -> Result<Option<model::Runner>, ApiError> {
    match client.get(&format!("/runner/{address}")).await {
        Ok(runner) => Ok(Some(runner)),
        Err(error) if error.code == NOT_FOUND.code => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a runner that starts adds to its stake, in base units.
///
/// # Errors
///
/// What its account has to have for that and for fees, where it has less.
pub fn to_add(staked: u64, stake: u64, balance: u64) -> Result<u64, u64> {
    let missing = stake.saturating_sub(staked);
    let needed = missing.saturating_add(FOR_FEES);
    if missing > 0 && balance < needed { Err(needed) } else { Ok(missing) }
}

/// Makes the chain say of a runner what the configuration does. Answers the chain's record.
pub(crate) async fn register(
    client: &Client,
    sender: &Sender,
    rows: &Jobs,
    config: &Config,
    address: &Address,
    result_key: &VerificationKey,
    endpoint: &str,
) -> Result<model::Runner, RegisterError> {
    let stake = Amount::from_cby(config.runner.stake_cby).unwrap_or(Amount(u64::MAX));
    let largest = Amount(config.rates.max_job_value);
    let needed = required_stake(rows, largest);
    if stake < needed {
        return Err(RegisterError::StakeTooLow { stake: stake.0, largest: largest.0, needed: needed.0 });
    }
    let found = find(client, address).await?;
    let staked = found.as_ref().map_or(0, |runner| runner.stake);
    let balance = client.account_or_empty(address).await?.balance;
    let missing = match to_add(staked, stake.0, balance) {
        Ok(missing) => missing,
        Err(needed) if found.is_none() => return Err(RegisterError::TooLittle { address: *address, balance, needed }),
        // It may have results to reveal, which would cost more of its stake (decision 713).
        Err(needed) => {
            tracing::warn!(balance, needed, staked, "the account has too little to add stake; the runner works with the stake that it has");
            0
        }
    };
    let declaration = declaration(config, result_key, endpoint);
    match &found {
        None => {
            let request = declaration.register().map_err(|reason| RegisterError::Wrong { reason })?;
            sender.post(Call { value: stake, ..Call::from(request) });
        }
        Some(runner) => {
            if missing > 0 {
                sender.post(Call { value: Amount(missing), ..Call::from(requests::add_stake()) });
            }
            if !is_declared(runner, config, result_key, endpoint) {
                sender.post(Call::from(declaration.update().map_err(|reason| RegisterError::Wrong { reason })?));
            }
        }
    }
    let began = Instant::now();
    loop {
        if let Some(runner) = find(client, address).await?
            // It may lose some while this waits.
            && (missing == 0 || runner.stake >= staked.saturating_add(missing))
            && is_declared(&runner, config, result_key, endpoint)
        {
            return Ok(runner);
        }
        if began.elapsed() > PATIENCE {
            return Err(RegisterError::Late);
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// What says that a runner is there.
pub(crate) fn heartbeat() -> Call {
    // What was tried once may be too little after a probation: a heartbeat is always tried.
    Call { tries: 1, ..Call::from(requests::heartbeat()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is missing is added where the account has it and something for fees.
    #[test]
    fn what_is_missing_is_added() {
        let rows = [
            (0, 1_000, FOR_FEES + 1_000, Ok(1_000)),
            (0, 1_000, FOR_FEES + 999, Err(FOR_FEES + 1_000)),
            (700, 1_000, FOR_FEES + 300, Ok(300)),
            (700, 1_000, FOR_FEES + 299, Err(FOR_FEES + 300)),
            (1_000, 1_000, 0, Ok(0)),
            (2_000, 1_000, 0, Ok(0)),
        ];
        for (staked, stake, balance, expected) in rows {
            assert_eq!(to_add(staked, stake, balance), expected, "{staked} of {stake}, with {balance}");
        }
    }
}
