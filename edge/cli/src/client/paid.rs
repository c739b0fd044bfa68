//! What a command pays beside its fee: a high price is said before, and every price after.

use super::session::Session;
use crate::{confirm::HIGH, send::Sent};
use cowboy_console::amount;
use cowboy_types::Amount;

/// Says what something costs before it is paid, where that is much.
pub(super) fn warn_if_high(session: &Session, what: &str, price: Amount) {
    if price.get() >= HIGH {
        session.output.progress(format_args!("{what} costs {}", amount::cby(price.get())));
    }
}

/// What was paid: `10 CBY for mysite, and a fee of 0.2 CBY`.
pub(super) fn line(sent: &Sent, what: &str, price: u64) -> String {
    let fee = sent.receipt.as_ref().map(|receipt| receipt.fee.total);
    words(what, price, fee)
}

fn words(what: &str, price: u64, fee: Option<u64>) -> String {
    let fee = fee.map_or_else(String::new, |fee| format!(", and a fee of {}", amount::cby(fee)));
    format!("{} for {what}{fee}", amount::cby(price))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_paid_is_said() {
        assert_eq!(words("mysite", 10_000_000_000, Some(210_000_000)), "10 CBY for mysite, and a fee of 0.21 CBY");
        assert_eq!(words("mysite", 1, None), "0.000000001 CBY for mysite");
    }
}
