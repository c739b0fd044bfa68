//! `cowboy runner`: who works, and becoming one of them.

use super::leaving;
use super::listing::{Rows, lines};
use super::method::instruction;
use super::session::{Session, unregistered};
use crate::send::Terms;
use clap::Subcommand;
use cowboy_api::model;
use cowboy_console::{amount, failure::Failure, output::table, payload};
use cowboy_system::runners;
use cowboy_types::Amount;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum Runner {
    /// Register as a runner
    Register {
        /// The runner's declaration as JSON, or @FILE: result_key, kinds, rates, max_concurrent and more
        declaration: String,
        /// The stake: base units, or CBY like 50000cby
        #[arg(long, default_value = "50000cby")]
        stake: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Update a runner's registration
    Update {
        /// The declaration, as for `register`
        declaration: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Send a runner's heartbeat
    Heartbeat {
        #[command(flatten)]
        terms: Terms,
    },
    /// Add to the stake of a runner
    Stake {
        /// Amount in base units, or CBY like 500cby
        amount: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Start withdrawal of all stake, and take no more jobs
    Leave {
        #[command(flatten)]
        terms: Terms,
    },
    /// Withdraw stake after its waiting period
    Withdraw {
        #[command(flatten)]
        terms: Terms,
    },
    /// Delegate CBY to a runner; they count in its draws, and are slashed together with its own stake
    Delegate {
        /// The runner
        runner: String,
        /// The amount: base units, or CBY like 500cby
        amount: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Start withdrawal of delegated CBY
    Undelegate {
        /// The runner
        runner: String,
        /// The amount [default: everything]
        amount: Option<String>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Withdraw delegated CBY after the waiting period, or after the runner has left
    WithdrawDelegation {
        /// The runner
        runner: String,
        /// The height at which a runner that has left had registered
        #[arg(long, value_name = "HEIGHT")]
        registered_at: Option<u64>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print an account's delegation to a runner
    Delegation {
        /// The runner
        runner: String,
        /// The account [default: the key's account]
        delegator: Option<String>,
    },
    /// Print a runner
    Get {
        /// Its address [default: the key's account]
        address: Option<String>,
    },
    /// Print the runners
    List {
        #[command(flatten)]
        rows: Rows,
    },
}

impl Runner {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let none = json!({});
        match self {
            Self::Register { declaration, stake, terms } => {
                call(session, "register", &payload::json(&declaration)?, amount::argument(&stake)?, &terms).await
            }
            Self::Update { declaration, terms } => call(session, "update", &payload::json(&declaration)?, Amount::ZERO, &terms).await,
            Self::Heartbeat { terms } => call(session, "heartbeat", &none, Amount::ZERO, &terms).await,
            Self::Stake { amount, terms } => call(session, "stake", &none, amount::argument(&amount)?, &terms).await,
            Self::Leave { terms } => leave(session, "leave", &none, &terms).await,
            Self::Withdraw { terms } => withdraw(session, "withdraw", &none, &terms).await,
            Self::Delegate { runner, amount, terms } => {
                let argument = json!({ "runner": session.address(&runner)?.to_string() });
                call(session, "delegate", &argument, amount::argument(&amount)?, &terms).await
            }
            Self::Undelegate { runner, amount, terms } => {
                let mut argument = json!({ "runner": session.address(&runner)?.to_string() });
                if let Some(amount) = amount {
                    argument["amount"] = amount::argument(&amount)?.0.into();
                }
                leave(session, "undelegate", &argument, &terms).await
            }
            Self::WithdrawDelegation { runner, registered_at, terms } => {
                let mut argument = json!({ "runner": session.address(&runner)?.to_string() });
                if let Some(height) = registered_at {
                    argument["registered_at"] = height.into();
                }
                withdraw(session, "withdraw_delegation", &argument, &terms).await
            }
            Self::Delegation { runner, delegator } => {
                let (runner, delegator) = (session.address(&runner)?, session.address_or_own(delegator.as_deref())?);
                let found: model::Delegation = session.client.get(&format!("/runner/{runner}/delegations/{delegator}")).await?;
                let mut lines = vec![table([("behind", runner.to_string()), ("delegated", amount::cby(found.amount))])];
                lines.extend(found.leaving.iter().map(|one| format!("  {} from {} on", amount::cby(one.amount), one.release)));
                session.output.result(&found, lines.join("\n"));
                Ok(())
            }
            Self::Get { address } => {
                let address = session.address_or_own(address.as_deref())?;
                let found = session.client.get(&format!("/runner/{address}")).await;
                let runner: model::Runner = found.map_err(|error| unregistered(error, &address, "runner"))?;
                session.output.result(&runner, describe(&runner));
                Ok(())
            }
            Self::List { rows } => {
                let line = |runner: &model::Runner| {
                    let stake = amount::cby(runner.stake);
                    format!("{}  {:<9} reputation {:>3}  stake {stake}", runner.address, runner.health, runner.reputation)
                };
                rows.print::<model::Runners>(session, "/runners", |runners| lines(runners, line, "no runners")).await
            }
        }
    }
}

async fn call(session: &Session, method: &str, argument: &serde_json::Value, value: Amount, terms: &Terms) -> Result<(), Failure> {
    session.submit(instruction(runners::NUMBER, method, argument, value)?, terms).await
}

/// Sends a call that begins to free a stake.
async fn leave(session: &Session, method: &str, argument: &serde_json::Value, terms: &Terms) -> Result<(), Failure> {
    let instruction = instruction(runners::NUMBER, method, argument, Amount::ZERO)?;
    leaving::submit(session, (runners::NUMBER, method), instruction, terms).await
}

/// Sends a call that pays stake.
async fn withdraw(session: &Session, method: &str, argument: &serde_json::Value, terms: &Terms) -> Result<(), Failure> {
    let instruction = instruction(runners::NUMBER, method, argument, Amount::ZERO)?;
    leaving::withdraw(session, (runners::NUMBER, method), instruction, terms).await
}

/// Whether jobs are drawn to a runner, and what helps where they are not.
fn health(runner: &model::Runner) -> String {
    let help = match &runner.health[..] {
        "stake" => "below the minimum after a fine or a slash; add to it with `cowboy runner stake`",
        "silent" => "no heartbeat for too long; start its `cowboy-runner`",
        "low" | "probation" => "too many failures; it can be drawn again after its probation and a heartbeat",
        _ => return runner.health.clone(),
    };
    format!("{}: {help}", runner.health)
}

/// What others delegated to a runner, and how much of it counts where that is not all.
fn delegated(all: u64, counted: Option<u64>) -> String {
    match counted {
        Some(counted) if counted < all => {
            format!("{}, of which {} count: more stake of its own lets more count", amount::cby(all), amount::cby(counted))
        }
        _ => amount::cby(all),
    }
}

fn describe(runner: &model::Runner) -> String {
    table([
        ("runner", runner.address.to_string()),
        ("health", health(runner)),
        ("stake", format!("{}, {} on its way out", amount::cby(runner.stake), amount::cby(runner.unbonding))),
        ("delegated", delegated(runner.delegated, runner.delegated_counted)),
        (
            "environment",
            runner
                .attestation
                .as_ref()
                .map_or_else(|| "none proven".to_owned(), |proven| format!("{}, proven until {}", proven.environment, proven.valid_until)),
        ),
        ("reputation", runner.reputation.to_string()),
        ("jobs", format!("{} under way, {} done, {} failed", runner.active_jobs, runner.jobs_done, runner.jobs_failed)),
        ("kinds", runner.capabilities.job_types.join(", ")),
        ("largest job", amount::cby(runner.rate_card.max_job_value)),
        ("heard of", format!("at {}", runner.last_heartbeat)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 721: a runner whose own stake shrank sees that others' stake does not count in full. A node that does not know says nothing of it.
    #[test]
    fn what_counts_of_delegated_stake_is_said() {
        let (four, nine) = (4_000_000_000, 9_000_000_000);
        assert_eq!(delegated(nine, Some(four)), "9 CBY, of which 4 CBY count: more stake of its own lets more count");
        assert_eq!([delegated(nine, Some(nine)), delegated(nine, None)], ["9 CBY", "9 CBY"]);
    }
}
