//! `cowboy account`.

use super::session::Session;
use clap::Subcommand;
use cowboy_console::{amount::both, failure::Failure};
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum Account {
    /// Print an account's balance
    Balance {
        /// The account [default: the key's account]
        address: Option<String>,
    },
    /// Print how many transactions an account has sent
    Nonce {
        /// The account [default: the key's account]
        address: Option<String>,
    },
}

impl Account {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Balance { address } => balance(session, address.as_deref()).await,
            Self::Nonce { address } => {
                let account = session.client.account_or_empty(&session.address_or_own(address.as_deref())?).await?;
                session.output.result(&json!({ "address": account.address, "nonce": account.nonce }), account.nonce);
                Ok(())
            }
        }
    }
}

/// Prints a balance. An account that nobody has seen has none.
pub(crate) async fn balance(session: &Session, address: Option<&str>) -> Result<(), Failure> {
    let account = session.client.account_or_empty(&session.address_or_own(address)?).await?;
    session.output.result(&account, both(account.balance));
    Ok(())
}
