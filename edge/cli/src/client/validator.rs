//! `cowboy validator`: who stakes, and who agrees on blocks.

use super::session::Session;
use crate::{amount, failure::Failure, output::table};
use clap::Subcommand;
use cowboy_api::model;

#[derive(Debug, Subcommand)]
pub(crate) enum Validator {
    /// Print the validators
    List {
        /// At most this many rows
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Print a validator
    Get {
        /// Its address; the key's own account where left out
        address: Option<String>,
    },
}

impl Validator {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::List { limit } => {
                let found: model::Validators = session.client.get(&format!("/validators?limit={limit}")).await?;
                let lines = found.validators.iter().map(|one| {
                    let signs = if one.is_signing { "signs" } else { "" };
                    format!("{}  {:<9} {:<5}  stake {}", one.address, one.status, signs, amount::cby(one.stake))
                });
                session.output.result(&found, lines.collect::<Vec<_>>().join("\n"));
            }
            Self::Get { address } => {
                let address = session.address_or_own(address.as_deref())?;
                let found: model::Validator = session.client.get(&format!("/validators/{address}")).await?;
                session.output.result(&found, describe(&found));
            }
        }
        Ok(())
    }
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
        ("jailed", format!("{} times", validator.jailings)),
        ("consensus key", validator.consensus_key.to_string()),
        ("BLS key", validator.bls_key.to_string()),
    ])
}
