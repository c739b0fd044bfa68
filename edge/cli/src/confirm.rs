//! The question before a large payment, and before what cannot be taken back, where a person is there to answer it.

use cowboy_api::Client;
use cowboy_console::{amount, failure::Failure, output};
use cowboy_types::{Actor, Address, Amount, Instruction, System};
use std::io::{BufRead, IsTerminal as _};

/// From this sum on, a price is said before it is paid, and a payment to an account that never had anything is asked about, in base units.
pub(crate) const HIGH: u64 = 100 * Amount::CBY.get();

/// Asks on the terminal before a large payment: more than half of the balance, or [`HIGH`] and more to an account that never had anything.
/// Asks nothing where standard input and standard error are not both a terminal. Fails if the answer is not yes.
pub(crate) async fn large_payment(client: &Client, payer: &Address, balance: u64, instruction: &Instruction) -> Result<(), Failure> {
    if !has_person() {
        return Ok(());
    }
    let sum = cowboy_chain::admit::value(instruction).get();
    let recipient = match instruction {
        Instruction::System(System::Transfer { to, .. }) if sum >= HIGH => Some(to),
        _ => None,
    };
    let is_new = match recipient {
        Some(to) => is_unused(client, to).await?,
        None => false,
    };
    match reason(sum, balance, is_new) {
        Some(reason) => ask(&question(payer, sum, balance, instruction, reason), std::io::stdin().lock()),
        None => Ok(()),
    }
}

/// Asks on the terminal before what nobody can take back, unless that is agreed to already. Asks nothing where nobody is there, as above.
pub(crate) fn irreversible(what: &str, is_agreed: bool) -> Result<(), Failure> {
    if is_agreed || !has_person() {
        return Ok(());
    }
    ask(&format!("{what} Continue? [y/N]"), std::io::stdin().lock())
}

/// Whether somebody is there who reads a question and answers it.
fn has_person() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether an address never sent anything and holds nothing: no CBY and no actor.
async fn is_unused(client: &Client, address: &Address) -> Result<bool, Failure> {
    let account = client.account_or_empty(address).await?;
    Ok(account.nonce == 0 && account.balance == 0 && client.actor(address).await.is_err())
}

/// Why a payment is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// It is more than half of what the account has.
    HalfOfBalance,
    /// The recipient never had anything: the address may be wrong.
    NewAccount,
}

fn reason(sum: u64, balance: u64, is_new: bool) -> Option<Reason> {
    if is_new && sum >= HIGH {
        Some(Reason::NewAccount)
    } else if sum > balance / 2 {
        Some(Reason::HalfOfBalance)
    } else {
        None
    }
}

fn question(payer: &Address, sum: u64, balance: u64, instruction: &Instruction, reason: Reason) -> String {
    let target = match instruction {
        Instruction::System(System::Transfer { to, .. }) => format!(" to {to}"),
        Instruction::Actor(Actor::Execute { target, handler, .. }) => format!(" to {target}, with a call of {}", &**handler),
        Instruction::Actor(Actor::Deploy { .. }) => " to the new actor".to_owned(),
        Instruction::System(_) | Instruction::Custom(_) => String::new(),
    };
    let why = match reason {
        Reason::HalfOfBalance => format!("that is more than half of the {} that {payer} has", amount::cby(balance)),
        Reason::NewAccount => "that account never had anything, so check its address".to_owned(),
    };
    format!("This pays {}{target}: {why}. Continue? [y/N]", amount::cby(sum))
}

/// Asks, and fails unless the answer is yes.
fn ask(question: &str, mut answers: impl BufRead) -> Result<(), Failure> {
    output::note(question);
    let mut answer = String::new();
    answers.read_line(&mut answer).map_err(Failure::file("stdin"))?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::refused("that was not confirmed, and nothing was sent", "answer y, or give --yes to be asked nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_payments_are_asked_about() {
        let rows = [
            (0, 0, true, None),
            (1, 1, false, Some(Reason::HalfOfBalance)),
            (1, 3, false, None),
            (2, 4, false, None),
            (3, 4, false, Some(Reason::HalfOfBalance)),
            (HIGH, 10 * HIGH, false, None),
            (HIGH, 10 * HIGH, true, Some(Reason::NewAccount)),
            (HIGH - 1, 10 * HIGH, true, None),
            (u64::MAX, u64::MAX, false, Some(Reason::HalfOfBalance)),
        ];
        for (sum, balance, is_new, expected) in rows {
            assert_eq!(reason(sum, balance, is_new), expected, "{sum} of {balance}, new: {is_new}");
        }
    }

    #[test]
    fn only_yes_confirms() {
        for (answer, is_confirmed) in [("y\n", true), (" Yes \n", true), ("n\n", false), ("\n", false), ("", false), ("yet\n", false)] {
            let confirmed = ask("Continue?", answer.as_bytes());
            assert_eq!(confirmed.is_ok(), is_confirmed, "{answer:?}");
            assert!(confirmed.err().is_none_or(|failure| failure.to_string().contains("nothing was sent")), "{answer:?}");
        }
    }

    #[test]
    fn the_question_names_sum_recipient_and_reason() {
        let (payer, to) = (Address([1; 20]), Address([2; 20]));
        let transfer = Instruction::System(System::Transfer { to, amount: Amount(HIGH) });
        let said = question(&payer, HIGH, 150 * Amount::CBY.get(), &transfer, Reason::HalfOfBalance);
        assert_eq!(said, format!("This pays 100 CBY to {to}: that is more than half of the 150 CBY that {payer} has. Continue? [y/N]"));
        let said = question(&payer, HIGH, 10 * HIGH, &transfer, Reason::NewAccount);
        assert!(
            said.ends_with(&format!("100 CBY to {to}: that account never had anything, so check its address. Continue? [y/N]")),
            "{said}"
        );
    }
}
