//! `cowboy validator`: who stakes, and who agrees on blocks.

use super::listing::{Rows, lines};
use super::{
    evidence, leaving,
    method::instruction,
    session::{Session, unregistered},
};
use crate::{address::HostPort, send::Terms};
use clap::Subcommand;
use cowboy_api::{Hex, HexBytes, model};
use cowboy_console::{amount, failure::Failure, output::table, payload};
use cowboy_system::governance;
use cowboy_types::{Address, Amount};
use serde_json::json;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub(crate) enum Validator {
    /// Register as a validator, which signs three epochs later at the earliest
    Register {
        /// The keys and their proofs as JSON, or @FILE: the output of `cowboyd --json keys registration`
        registration: String,
        /// The stake: base units, or CBY like 100000cby
        #[arg(long, default_value = "100000cby")]
        stake: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Add to the stake of a validator
    AddStake {
        /// Amount in base units, or CBY like 500cby
        amount: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Change where other validators reach this one
    Edit {
        /// Address and port, or a host's name and port, as in 192.0.2.7:3000. The chain has the address to which the name leads now
        #[arg(long, value_name = "HOST:PORT")]
        address: HostPort,
        #[command(flatten)]
        terms: Terms,
    },
    /// Leave: sign until the next set that is fixed begins, and withdraw the stake after the unbonding time
    Leave {
        #[command(flatten)]
        terms: Terms,
    },
    /// Withdraw the stake after the unbonding time
    Withdraw {
        #[command(flatten)]
        terms: Terms,
    },
    /// Request release from jail after the jail time
    Unjail {
        #[command(flatten)]
        terms: Terms,
    },
    /// Report a validator that signed two headers of one round. Anyone may; the nodes of validators do so by themselves
    Report {
        /// The validator
        validator: String,
        /// A header in hex, or @FILE with a block as `cowboy block get HEIGHT --json` prints it
        first: String,
        /// Another header of the same round, in the same way
        second: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print the validators
    List {
        #[command(flatten)]
        rows: Rows,
    },
    /// Print a validator
    Get {
        /// Its address [default: the key's account]
        address: Option<String>,
    },
    /// Print how far a validator is: bonded, chosen, receiving a share, signing
    #[command(after_help = "Example:
  cowboy validator status --watch")]
    Status {
        /// Its address [default: the key's account]
        address: Option<String>,
        /// Print every change, until the validator signs or cannot
        #[arg(long)]
        watch: bool,
    },
}

impl Validator {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let none = json!({});
        match self {
            Self::Register { registration, stake, terms } => {
                let argument = payload::json(&registration)?;
                has_own_key(session, &argument).await?;
                call(session, "register_validator", &argument, amount::argument(&stake)?, &terms).await?;
                session
                    .output
                    .progress("Next: start its node with `cowboyd start`, and see how far it is: cowboy validator status --watch");
                Ok(())
            }
            Self::AddStake { amount, terms } => call(session, "add_stake", &none, stake(&amount)?, &terms).await,
            Self::Edit { address, terms } => {
                let argument = json!({ "endpoint": Hex(address.endpoint()?.0.to_vec()) });
                call(session, "edit_validator", &argument, Amount::ZERO, &terms).await
            }
            Self::Leave { terms } => {
                let leave = (governance::NUMBER, "leave");
                leaving::submit(session, leave, instruction(leave.0, leave.1, &none, Amount::ZERO)?, &terms).await
            }
            Self::Withdraw { terms } => {
                may_withdraw(&get(session, &session.address_or_own(None)?).await?)?;
                let withdraw = (governance::NUMBER, "withdraw");
                leaving::withdraw(session, withdraw, instruction(withdraw.0, withdraw.1, &none, Amount::ZERO)?, &terms).await
            }
            Self::Unjail { terms } => {
                may_unjail(&get(session, &session.address_or_own(None)?).await?)?;
                call(session, "unjail", &none, Amount::ZERO, &terms).await
            }
            Self::Report { validator, first, second, terms } => {
                let argument = evidence::argument(session.address(&validator)?, &first, &second)?;
                call(session, "report_equivocation", &argument, Amount::ZERO, &terms).await
            }
            Self::List { rows } => {
                let line = |one: &model::Validator| {
                    let signs = if one.is_signing { "signs" } else { "" };
                    format!("{}  {:<9} {:<5}  stake {}", one.address, one.status, signs, amount::cby(one.stake))
                };
                rows.print::<model::Validators>(session, "/validators", |validators| lines(validators, line, "no validators")).await
            }
            Self::Get { address } => {
                let address = session.address_or_own(address.as_deref())?;
                let found = get(session, &address).await?;
                session.output.result(&found, describe(&found));
                Ok(())
            }
            Self::Status { address, watch } => status(session, &session.address_or_own(address.as_deref())?, watch).await,
        }
    }
}

/// A validator, as the node has it.
async fn get(session: &Session, address: &Address) -> Result<model::Validator, Failure> {
    session.client.get(&format!("/validators/{address}")).await.map_err(|error| unregistered(error, address, "validator"))
}

/// Fails where another account has registered the network key of a registration. What else is wrong with it, and a node that does not list the validators,
/// is left to the chain, which refuses such a key too.
async fn has_own_key(session: &Session, registration: &serde_json::Value) -> Result<(), Failure> {
    let Some(key) = registration["network_key"].as_str().and_then(|text| text.parse::<HexBytes>().ok()) else { return Ok(()) };
    let own = session.address_or_own(None)?;
    let Ok(listed) = session.client.all::<model::Validators>("/validators").await else { return Ok(()) };
    let Some(other) = owner_of(&listed.validators, &key).filter(|other| *other != own) else { return Ok(()) };
    Err(Failure::refused(
        format!("the network key {key} is that of the validator {other}, and each validator has its own"),
        "make new keys with `cowboyd keys new`, and register with the output of `cowboyd --json keys registration` for them",
    ))
}

/// The account that registered a network key.
fn owner_of(validators: &[model::Validator], key: &HexBytes) -> Option<Address> {
    validators.iter().find(|validator| validator.consensus_key == *key).map(|validator| validator.address.0)
}

/// What is added to a stake.
fn stake(amount: &str) -> Result<Amount, Failure> {
    let stake = amount::argument(amount)?;
    match stake {
        Amount::ZERO => Err(Failure::argument("the stake to add is zero", "name an amount, like 500cby")),
        _ => Ok(stake),
    }
}

/// Fails where a validator has not left, so that its stake cannot be withdrawn.
fn may_withdraw(validator: &model::Validator) -> Result<(), Failure> {
    match validator.status.as_str() {
        "waiting" | "active" => Err(Failure::refused(format!("{} has not left", validator.address), "leave first: cowboy validator leave")),
        _ => Ok(()),
    }
}

/// Fails where a validator is not in jail.
fn may_unjail(validator: &model::Validator) -> Result<(), Failure> {
    if validator.status == "jailed" {
        return Ok(());
    }
    Err(Failure::refused(
        format!("{} is not in jail: it is {}", validator.address, validator.status),
        "there is nothing to do; see cowboy validator status",
    ))
}

/// How often a watched validator is asked for.
const WATCH_EVERY: Duration = Duration::from_millis(500);

/// Prints how far a validator is. With `watch`, prints each change until nothing more comes by itself.
async fn status(session: &Session, address: &Address, watch: bool) -> Result<(), Failure> {
    let mut before = None;
    loop {
        let found = get(session, address).await?;
        let said = stage(&found);
        if before.as_ref() != Some(&said) {
            let height = session.client.height().await?;
            let (status, share, lacking) = (&found.status, &found.share, &found.unacknowledged_by);
            let json = json!({
                "height": height, "status": status, "until": found.until, "stake": found.stake, "share": share, "unacknowledged_by": lacking,
            });
            session.output.result(&json, format_args!("height {height}: {said}"));
            before = Some(said);
        }
        // A node that is busy answers later.
        if !watch || matches!(found.share.stage.as_str(), "signing" | "none") {
            return Ok(());
        }
        tokio::time::sleep(WATCH_EVERY).await;
    }
}

/// How far a validator is, in words.
fn stage(validator: &model::Validator) -> String {
    let at = |height: Option<u64>| height.map_or_else(|| "a later height".to_owned(), |height| format!("height {height}"));
    let share = &validator.share;
    let reason = match validator.left_out.as_deref() {
        Some("share_revealed") => {
            let dealers: Vec<_> = validator.unacknowledged_by.iter().map(ToString::to_string).collect();
            let dealers =
                if dealers.is_empty() { String::new() } else { format!("; its acknowledgement did not reach {}", dealers.join(", ")) };
            format!(
                "; the next set leaves it out: it did not acknowledge its share in time (it was behind or could not be reached), so the share is public{dealers}"
            )
        }
        Some(_) => "; the next set leaves it out: it was to receive a share when a dealing failed, and may have been the reason".to_owned(),
        None => String::new(),
    };
    let stage = match (share.stage.as_str(), validator.status.as_str()) {
        ("signing", "active" | "waiting") => "signing".to_owned(),
        ("signing", status) => format!("{status}, and signing until its epoch ends"),
        ("receiving", _) => format!("receiving a share; signing from {}", at(share.signs_from)),
        ("chosen", _) => format!(
            "in the set fixed at {}; receiving a share from {}; signing from {}",
            at(share.chosen_at),
            at(share.receives_from),
            at(share.signs_from)
        ),
        ("bonded", _) => format!("bonded with {}; the next set is fixed at {}", amount::cby(validator.stake), at(share.chosen_at)),
        (_, status) => {
            let until = validator.until.map_or_else(String::new, |height| format!(" until height {height}"));
            format!("{status}{until}; it receives no share")
        }
    };
    format!("{stage}{reason}")
}

async fn call(session: &Session, method: &str, argument: &serde_json::Value, value: Amount, terms: &Terms) -> Result<(), Failure> {
    session.submit(instruction(governance::NUMBER, method, argument, value)?, terms).await
}

fn describe(validator: &model::Validator) -> String {
    let until = validator.until.map(|until| format!(" until {until}")).unwrap_or_default();
    let yes_no = |is: bool| if is { "yes" } else { "no" }.to_owned();
    table([
        ("validator", validator.address.to_string()),
        ("status", format!("{}{until}", validator.status)),
        ("stake", amount::cby(validator.stake)),
        ("in the set", yes_no(validator.in_set)),
        ("signs blocks", yes_no(validator.is_signing)),
        ("share", stage(validator)),
        ("share is public", yes_no(validator.is_share_public)),
        ("address", validator.network_address.clone().unwrap_or_else(|| "none on chain".into())),
        ("jailed", amount::counted(validator.jailings, "time")),
        ("signer", validator.signer.to_string()),
        ("consensus key", validator.consensus_key.to_string()),
        ("BLS key", validator.bls_key.to_string()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validator(status: &str) -> model::Validator {
        serde_json::from_value(json!({
            "address": format!("0x{}", "11".repeat(20)), "signer": format!("0x{}", "22".repeat(20)), "consensus_key": "0x", "bls_key": "0x",
            "stake": 1, "status": status, "jailings": 0, "in_set": true, "is_signing": true, "is_share_public": false, "share": { "stage": "signing" },
        }))
        .expect("a record")
    }

    /// What the chain would refuse for the validator's state is refused before it is sent, with what to do.
    #[test]
    fn commands_fit_the_state_of_the_validator() {
        for (status, withdraws, unjails) in
            [("waiting", false, false), ("active", false, false), ("leaving", true, false), ("jailed", true, true)]
        {
            let (withdraw, unjail) = (may_withdraw(&validator(status)), may_unjail(&validator(status)));
            assert_eq!((withdraw.is_ok(), unjail.is_ok()), (withdraws, unjails), "{status}");
            assert!(withdraw.err().is_none_or(|failure| failure.to_string().contains("leave first")), "{status}");
            assert!(unjail.err().is_none_or(|failure| failure.to_string().contains("is not in jail")), "{status}");
        }
    }

    /// A validator whose share is public is told which dealers lacked its acknowledgement, where the node knows them.
    #[test]
    fn a_public_share_has_its_dealers() {
        let mut one = validator("active");
        one.left_out = Some("share_revealed".into());
        assert!(stage(&one).ends_with("so the share is public"), "{}", stage(&one));
        one.unacknowledged_by = vec![Hex(Address([3; 20])), Hex(Address([4; 20]))];
        let [third, fourth] = ["03", "04"].map(|byte| byte.repeat(20));
        let said = stage(&one).to_lowercase();
        assert!(said.ends_with(&format!("its acknowledgement did not reach 0x{third}, 0x{fourth}")), "{said}");
    }

    /// A network key belongs to the account that registered it.
    #[test]
    fn a_network_key_has_one_owner() {
        let mut one = validator("waiting");
        one.consensus_key = Hex(vec![7; 32]);
        let listed = [validator("active"), one];
        assert_eq!(owner_of(&listed, &Hex(vec![7; 32])), Some(listed[1].address.0));
        assert_eq!(owner_of(&listed, &Hex(vec![8; 32])), None);
    }

    #[test]
    fn a_stake_that_is_added_is_not_zero() {
        for zero in ["0", "0cby"] {
            assert!(stake(zero).expect_err("it is zero").to_string().contains("is zero"), "{zero}");
        }
        assert_eq!(stake("1cby").expect("a stake"), Amount(1_000_000_000));
    }
}
