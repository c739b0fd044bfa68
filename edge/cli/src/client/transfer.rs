//! `cowboy transfer` and `cowboy faucet`.

use super::session::Session;
use crate::send::{self, Terms};
use clap::Args;
use cowboy_api::{
    ApiError,
    error::{NOT_DEV, RATE_LIMITED},
};
use cowboy_console::{amount, failure::Failure};
use cowboy_types::{Instruction, System};
use serde_json::json;

/// Sends CBY.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy transfer 0x70997970c51812dc3a010c7d01b50e0d17dc79c8 2.5cby
  cowboy transfer --to hello --amount 1000000000 --json")]
pub(crate) struct Transfer {
    /// The recipient: an address, or an actor of this folder
    #[arg(required_unless_present = "to_flag")]
    to: Option<String>,
    /// The amount: base units, or CBY like 2.5cby
    #[arg(required_unless_present = "amount_flag")]
    amount: Option<String>,
    /// The same as TO
    #[arg(long = "to", value_name = "TO", conflicts_with = "to")]
    to_flag: Option<String>,
    /// The same as AMOUNT
    #[arg(long = "amount", value_name = "AMOUNT", conflicts_with = "amount")]
    amount_flag: Option<String>,
    #[command(flatten)]
    terms: Terms,
}

impl Transfer {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        // With --to, the one positional left is the amount.
        let (to, sum) = match (self.to_flag, self.amount_flag) {
            (Some(to), Some(sum)) => (Some(to), Some(sum)),
            (Some(to), None) => (Some(to), self.to.or(self.amount)),
            (None, Some(sum)) => (self.to, Some(sum)),
            (None, None) => (self.to, self.amount),
        };
        let missing = || Failure::argument("a transfer needs a recipient and an amount", "cowboy transfer 0x… 2.5cby");
        let to = session.address(&to.ok_or_else(missing)?)?;
        let sum = amount::argument(&sum.ok_or_else(missing)?)?;
        let key = session.key()?;
        let sent = send::send(&session.client, &key, Instruction::System(System::Transfer { to, amount: sum }), &self.terms).await?;
        let fee = sent
            .receipt
            .as_ref()
            .map_or_else(String::new, |receipt| format!("\nBlock:  {}\nFee:    {}", receipt.block_height, amount::cby(receipt.fee.total)));
        session.output.result(&sent, format_args!("Transaction hash: {}\nSent:   {} to {to}{fee}", sent.tx_hash, amount::cby(sum.get())));
        Ok(())
    }
}

/// Asks the faucet.
#[derive(Args, Debug)]
pub(crate) struct Faucet {
    /// The recipient [default: the key's account]
    address: Option<String>,
}

impl Faucet {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let address = session.address_or_own(self.address.as_deref())?;
        let answer = session.client.faucet(&address).await.map_err(|error| unserved(error, &address.to_string()))?;
        session.output.result(
            &json!({ "address": address.to_string(), "status": answer.status, "tx_hash": answer.tx_hash, "amount": answer.amount, "amount_cby": answer.amount_cby }),
            format_args!("Transaction hash: {}\nReceived: {} at {address}", answer.tx_hash, amount::cby(answer.amount)),
        );
        Ok(())
    }
}

/// The faucet's own limit counts minutes, unlike that of other requests, and without a faucet there is another way to CBY.
fn unserved(mut error: ApiError, address: &str) -> ApiError {
    if error.code == RATE_LIMITED.code {
        error.why = "The faucet gives a bounded number of times a minute.".into();
        error.fix = "Wait a minute and try again.".into();
    }
    if error.code == NOT_DEV.code {
        error.what = "This node has no faucet.".into();
        error.why = "Only the node of `cowboyd dev` gives CBY away.".into();
        error.fix = format!("Have an account that has CBY send you some: cowboy transfer {address} AMOUNT");
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who asks where there is no faucet reads how to get CBY there.
    #[test]
    fn without_a_faucet_there_is_another_way() {
        let said = |fault| Failure::from(unserved(ApiError::of_fault(fault), "0x01")).to_string();
        assert!(said(NOT_DEV).contains("no faucet") && said(NOT_DEV).contains("cowboy transfer 0x01 AMOUNT"), "{}", said(NOT_DEV));
        assert!(said(RATE_LIMITED).contains("Wait a minute"), "{}", said(RATE_LIMITED));
    }
}
