//! From an instruction to a receipt: limits and fees found by trying, signature, submission.

use crate::confirm;
use clap::Args;
use cowboy_api::{ApiError, Client, Hex, HexHash, error::TIMEOUT, model};
use cowboy_console::{amount, failure::Failure};
use cowboy_types::{Cells, ChainId, Cycles, Instruction, Nonce, Transaction, error as aborts, signing::PrivateKey, units::Price};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a transaction may use and pay. Everything is found automatically where it is left out.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Fees")]
pub(crate) struct Terms {
    /// The maximum number of cycles
    #[arg(long)]
    pub(crate) cycles_limit: Option<u64>,
    /// The maximum number of cells
    #[arg(long)]
    pub(crate) cells_limit: Option<u64>,
    /// The maximum price per cycle, in base units
    #[arg(long)]
    pub(crate) max_fee_per_cycle: Option<u64>,
    /// The maximum price per cell, in base units
    #[arg(long)]
    pub(crate) max_fee_per_cell: Option<u64>,
    /// The tip per cycle, in base units
    #[arg(long, default_value_t = 0)]
    pub(crate) tip_per_cycle: u64,
    /// The tip per cell, in base units
    #[arg(long, default_value_t = 0)]
    pub(crate) tip_per_cell: u64,
    /// The account's nonce, of the first transaction where there are several [default: its next one]
    #[arg(long)]
    pub(crate) nonce: Option<u64>,
    /// Transactions that nodes took under these terms: each has the nonce after the one before. Copies count together.
    #[arg(skip)]
    pub(crate) taken: Arc<AtomicU64>,
    /// Print the hash and do not wait for the receipt
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Send it even if its simulation fails
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask before a large payment, or before what cannot be taken back. On a terminal it asks about more than half of the balance, and about
    /// 100 CBY or more to an account that never had anything
    #[arg(long)]
    pub(crate) yes: bool,
    /// Seconds to wait for the receipt
    #[arg(long, default_value_t = 60)]
    pub(crate) timeout: u64,
}

impl Terms {
    /// The nonce of the next transaction of an account whose next one is `of_account`: it counts on from the one that was named.
    fn next_nonce(&self, of_account: u64) -> u64 {
        self.nonce.map_or(of_account, |first| first.saturating_add(self.taken.load(Ordering::Relaxed)))
    }

    /// Notes what became of a transaction. Whatever a node took has used up its nonce, whether it fails, waits or is done.
    fn note(&self, submitted: Result<(), &ApiError>) {
        if submitted.err().is_none_or(|error| error.code == TIMEOUT.code) {
            self.taken.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What was sent: its name, and what came of it where it was waited for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Sent {
    /// The transaction's name.
    pub(crate) tx_hash: HexHash,
    /// The receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<model::Receipt>,
}

impl Sent {
    /// A field of an event of the receipt.
    pub(crate) fn event(&self, name: &str, field: &str) -> Option<serde_json::Value> {
        let receipt = self.receipt.as_ref()?;
        receipt.events.iter().find(|event| event.name == name).map(|event| event.value[field].clone())
    }
}

/// Tries an instruction and sends nothing. What it would fail with is a failure.
pub(crate) async fn try_out(client: &Client, key: &PrivateKey, instruction: Instruction) -> Result<model::Simulated, Failure> {
    let mut transaction = Transaction::unsigned(key.address(), instruction);
    transaction.chain_id = ChainId(client.health().await?.chain_id);
    transaction.nonce = Nonce(client.account_or_empty(&key.address()).await?.nonce);
    let tried = client.simulate(&transaction).await?;
    match tried.receipt.error.clone() {
        Some(error) => Err(error.into()),
        None => Ok(tried),
    }
}

/// Tries, signs and sends an instruction. A failure that trying it shows is never sent, unless the terms say so.
pub(crate) async fn send(client: &Client, key: &PrivateKey, instruction: Instruction, terms: &Terms) -> Result<Sent, Failure> {
    let account = client.account_or_empty(&key.address()).await?;
    let mut transaction = Transaction::unsigned(key.address(), instruction);
    transaction.chain_id = ChainId(client.health().await?.chain_id);
    transaction.nonce = Nonce(terms.next_nonce(account.nonce));
    let value = cowboy_chain::admit::value(&transaction.instruction);
    if value.get() > account.balance {
        let context = serde_json::json!({ "value": amount::cby(value.get()), "balance": amount::cby(account.balance), "account": key.address().to_string() });
        return Err(ApiError::of_abort(aborts::INSUFFICIENT_VALUE).with(context).into());
    }
    if !terms.yes {
        confirm::large_payment(client, &key.address(), account.balance, &transaction.instruction).await?;
    }
    let tried = client.simulate(&transaction).await?;
    if let Some(error) = tried.receipt.error.clone().filter(|_| !terms.force) {
        return Err(unsent(error, tried.receipt.cycles_used).into());
    }
    transaction.cycles_limit = Cycles(terms.cycles_limit.unwrap_or(tried.cycles_limit));
    transaction.cells_limit = Cells(terms.cells_limit.unwrap_or(tried.cells_limit));
    transaction.max_fee_per_cycle = Price(terms.max_fee_per_cycle.unwrap_or(tried.max_fee_per_cycle.saturating_add(terms.tip_per_cycle)));
    transaction.max_fee_per_cell = Price(terms.max_fee_per_cell.unwrap_or(tried.max_fee_per_cell.saturating_add(terms.tip_per_cell)));
    transaction.max_priority_fee_per_cycle = Price(terms.tip_per_cycle);
    transaction.max_priority_fee_per_cell = Price(terms.tip_per_cell);
    key.sign_transaction(&mut transaction);
    submit(client, &transaction, terms).await
}

/// Submits a signed transaction, and waits for its receipt unless told not to. A failed receipt is a failure.
pub(crate) async fn submit(client: &Client, transaction: &Transaction, terms: &Terms) -> Result<Sent, Failure> {
    if terms.no_wait {
        let submitted = client.submit(transaction).await;
        terms.note(submitted.as_ref().map(|_| ()));
        return match submitted {
            Ok(hash) => Ok(Sent { tx_hash: Hex(hash), receipt: None }),
            Err(error) => Err(with_units(client, transaction, error).await.into()),
        };
    }
    let submitted = client.submit_wait(transaction, Duration::from_secs(terms.timeout)).await;
    terms.note(submitted.as_ref().map(|_| ()));
    let receipt = match submitted {
        Ok(receipt) => receipt,
        Err(error) if error.code == TIMEOUT.code => return Err(late(client, transaction, error).await.into()),
        Err(error) => return Err(with_units(client, transaction, error).await.into()),
    };
    match failed(&receipt) {
        Some(error) => Err(error.into()),
        None => Ok(Sent { tx_hash: receipt.tx_hash, receipt: Some(receipt) }),
    }
}

/// The refusal of a price, a fee or a value, with the sums in CBY and the unit of the node's numbers.
async fn with_units(client: &Client, transaction: &Transaction, error: ApiError) -> ApiError {
    if ![aborts::INSUFFICIENT_FEE.code, aborts::INSUFFICIENT_VALUE.code, aborts::BASE_FEE_TOO_LOW.code].contains(&error.code) {
        return error;
    }
    let balance = client.account_or_empty(&transaction.from).await.ok().map(|account| account.balance);
    in_units(error, transaction, balance)
}

fn in_units(mut error: ApiError, transaction: &Transaction, balance: Option<u64>) -> ApiError {
    if !error.context.is_object() {
        error.context = serde_json::json!({});
    }
    error.context["units"] = "prices and sums in the reason are in base units; 1 CBY is 1000000000 of them".into();
    if error.code != aborts::BASE_FEE_TOO_LOW.code {
        let most = |limit: u64, price: Price| limit.saturating_mul(price.0);
        let cycles = most(transaction.cycles_limit.0, transaction.max_fee_per_cycle);
        let fee = cycles.saturating_add(most(transaction.cells_limit.0, transaction.max_fee_per_cell));
        error.context["reserved_fee"] = amount::cby(fee).into();
        error.context["value"] = amount::cby(cowboy_chain::admit::value(&transaction.instruction).get()).into();
        if let Some(balance) = balance {
            error.context["balance"] = amount::cby(balance).into();
        }
    }
    error
}

/// The failure of a simulation, which says that nothing was sent.
fn unsent(mut error: ApiError, cycles: u64) -> ApiError {
    if error.code == aborts::OUT_OF_CYCLES.code {
        error.why = format!("It used {cycles} cycles, the most that a transaction may use.");
        error.fix = "Look for a loop that does not end, or divide the work among several transactions.".into();
    }
    if !error.context.is_object() {
        error.context = serde_json::json!({});
    }
    error.context["sent"] = "nothing: the simulation failed; --force sends it all the same".into();
    error
}

/// The end of a wait without a receipt: the transaction's hash, what it waits for, and the nonces before it that are missing.
async fn late(client: &Client, transaction: &Transaction, mut error: ApiError) -> ApiError {
    let hash = transaction.digest();
    let waits = client.transaction(&hash).await.ok().and_then(|found| found.waits);
    let next = client.account_or_empty(&transaction.from).await.map_or(transaction.nonce.0, |account| account.nonce);
    error.context = serde_json::json!({ "tx_hash": hash.to_string() });
    if let Some(waits) = waits {
        error.context["waits"] = waits.into();
    }
    error.fix = format!("Check it with `cowboy transaction status {hash}`, or wait longer with --timeout.");
    let missing = transaction.nonce.0.saturating_sub(next);
    if missing > 0 {
        error.why = format!(
            "The transaction has nonce {}, but the next of the account is {next}. Nonces missing before it: {missing}.",
            transaction.nonce.0
        );
        error.fix = format!("Send what is missing, or leave out --nonce. Check it with `cowboy transaction status {hash}`.");
    }
    error
}

/// Why a receipt says failed, with the transaction's name.
fn failed(receipt: &model::Receipt) -> Option<ApiError> {
    let mut error = receipt.error.clone()?;
    if !error.context.is_object() {
        error.context = serde_json::json!({});
    }
    error.context["tx_hash"] = receipt.tx_hash.to_string().into();
    if error.code == aborts::OUT_OF_CYCLES.code {
        error.fix = "Raise --cycles-limit, or leave it out: a simulation then finds it.".into();
    }
    Some(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::{Address, Amount, System};

    #[test]
    fn the_help_says_what_is_asked_about() {
        let command = Terms::augment_args(clap::Command::new("send"));
        let yes = command.get_arguments().find(|argument| argument.get_long() == Some("yes")).expect("the flag exists");
        let help = yes.get_help().expect("it has a help").to_string();
        assert!(help.contains(&format!("about {} or more to an account", amount::cby(confirm::HIGH))), "{help}");
    }

    /// What the node says in base units is said in CBY beside it, and the unit of a price is named.
    #[test]
    fn refused_fees_name_their_units() {
        let transfer = Instruction::System(System::Transfer { to: Address([2; 20]), amount: Amount(2_000_000_000) });
        let mut transaction = Transaction::unsigned(Address([1; 20]), transfer);
        (transaction.cycles_limit, transaction.max_fee_per_cycle) = (Cycles(1_000), Price(500_000));
        (transaction.cells_limit, transaction.max_fee_per_cell) = (Cells(10), Price(25_000_000));
        let reason = serde_json::json!({ "reason": "the fee may take 750000000 and the account has 5" });
        let poor = in_units(ApiError::of_abort(aborts::INSUFFICIENT_FEE).with(reason), &transaction, Some(5)).to_string();
        for line in ["reserved_fee: 0.75 CBY", "value: 2 CBY", "balance: 0.000000005 CBY", "in base units; 1 CBY is 1000000000"] {
            assert!(poor.contains(line), "{line}\n{poor}");
        }
        let low = in_units(ApiError::of_abort(aborts::BASE_FEE_TOO_LOW), &transaction, Some(5));
        assert_eq!(low.context.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>()), Some(vec!["units".to_owned()]));
    }

    /// With `--nonce`, each further transaction of a command has the next nonce, also where it goes with a copy of the terms. One that no node took leaves
    /// its nonce to the next one. Without it, the chain's account says which.
    #[test]
    fn further_transactions_count_on_from_the_nonce() {
        let terms = Terms { nonce: Some(7), ..Terms::default() };
        let waiting = Terms { no_wait: false, ..terms.clone() };
        let refused = ApiError::of_abort(aborts::BASE_FEE_TOO_LOW);
        let late = ApiError { code: TIMEOUT.code, ..refused.clone() };
        let mut nonces = Vec::new();
        for (used, submitted) in [(&terms, Ok(())), (&waiting, Err(&refused)), (&waiting, Err(&late)), (&terms, Ok(()))] {
            nonces.push(used.next_nonce(3));
            used.note(submitted);
        }
        nonces.push(waiting.next_nonce(3));
        assert_eq!(nonces, [7, 8, 8, 9, 10]);

        let unnamed = Terms::default();
        unnamed.note(Ok(()));
        assert_eq!(unnamed.next_nonce(3), 3);
    }

    /// A failed simulation says that nothing was sent, and keeps its particulars.
    #[test]
    fn a_failed_simulation_says_that_nothing_was_sent() {
        let raised = unsent(ApiError::of_abort(aborts::HANDLER_RAISED).with(serde_json::json!({ "trace": "ValueError: no" })), 7);
        assert_eq!(raised.context["trace"], "ValueError: no");
        assert!(raised.to_string().contains("\n  sent: nothing: the simulation failed"), "{raised}");
        let endless = unsent(ApiError::of_abort(aborts::OUT_OF_CYCLES), 7);
        assert_eq!(endless.why, "It used 7 cycles, the most that a transaction may use.");
    }
}
