//! Bidding agents that schedulers name: what one is asked about a timer that is due, and what it answers (003 §5.1b; CIP-1 §4.2; decision 322).
//!
//! Asking is the block's business.

use crate::auction::{Auction, Bid};
use cowboy_params::Params;
use cowboy_state::records::{Markets, Timer};
use cowboy_types::Hash;
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::{Amount, Cells, Height, Price};

/// The handler of an agent that is asked.
pub const HANDLER: &str = "get_gas_bid";

/// Cells that one question may take: its answer is a map of two numbers.
pub const CELLS: Cells = Cells(4_096);

/// What an agent is asked: a canonical CBOR map with CIP-1's names, and what identifies the timer.
pub fn question(
    params: &Params,
    auction: &Auction,
    fees: &Markets,
    height: Height,
    (id, timer): (&Hash, &Timer),
    balance: Amount,
) -> Vec<u8> {
    let numbers = [
        ("trigger_block_height", timer.trigger.0),
        ("current_block_height", height.0),
        ("basefee_cycle", fees.base_fee_cycle.0),
        ("basefee_cell", fees.base_fee_cell.0),
        ("basefee_lane_timer", auction.lane_fee(params).0),
        ("last_block_cycle_usage", auction.block_cycles.0),
        ("previous_block_p50_priority_tip_per_cycle", auction.median_tip.0),
        ("owner_actor_balance", balance.0),
        ("cycles_limit", timer.cycles_limit.0),
        ("expires_at", timer.expires_at.0),
    ];
    let bytes = [("timer_id", &id.0[..]), ("owner", &timer.fee_payer.0), ("target", &timer.actor.0)];
    let numbers = numbers.into_iter().map(|(name, number)| (name, Value::uint(number)));
    let bytes = bytes.into_iter().map(|(name, bytes)| (name, Value::Bytes(bytes.to_vec())));
    Value::dict(numbers.chain(bytes).collect::<Vec<_>>()).encode()
}

/// The longest answer that is read as a bid, in bytes.
const MAX_ANSWER: usize = 1_024;

/// The bid in an agent's answer; nothing where it has none: the default agent bids then. A tip above the maximum is cut to it.
pub fn bid(answer: &[u8]) -> Option<Bid> {
    if answer.len() > MAX_ANSWER {
        return None;
    }
    let answer = cbor::decode(answer).ok()?;
    let price = |name| answer.get(name).and_then(Value::as_u64).map(Price);
    let max_fee = price("max_fee_per_cycle").filter(|max_fee| *max_fee > Price::ZERO)?;
    let priority = match answer.get("max_priority_fee_per_cycle") {
        Some(_) => price("max_priority_fee_per_cycle")?,
        None => Price::ZERO,
    };
    Some(Bid::Fixed { max_fee, priority: priority.min(max_fee) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// an answer is a bid, or it is none.
    #[test]
    fn answers_are_bids() {
        let map = |pairs: &[(&'static str, Value)]| Value::dict(pairs.to_vec()).encode();
        let fixed = |max_fee: u64, priority: u64| Some(Bid::Fixed { max_fee: Price(max_fee), priority: Price(priority) });
        let (max, tip) = ("max_fee_per_cycle", "max_priority_fee_per_cycle");
        let rows = [
            (map(&[(max, Value::uint(30)), (tip, Value::uint(4))]), fixed(30, 4)),
            (map(&[(max, Value::uint(30)), (tip, Value::uint(40))]), fixed(30, 30)),
            (map(&[(max, Value::uint(30))]), fixed(30, 0)),
            (map(&[(max, Value::uint(0)), (tip, Value::uint(4))]), None),
            (map(&[(tip, Value::uint(4))]), None),
            (map(&[(max, Value::uint(30)), (tip, Value::text("4"))]), None),
            (map(&[(max, Value::Integer(-1))]), None),
            (Value::Null.encode(), None),
            (Vec::new(), None),
            (vec![0xFF; 9], None),
            (map(&[(max, Value::uint(30)), ("note", Value::text("x".repeat(900)))]), fixed(30, 0)),
            (map(&[(max, Value::uint(30)), ("note", Value::text("x".repeat(1_000)))]), None),
        ];
        for (answer, expected) in rows {
            assert_eq!(bid(&answer), expected, "{answer:02x?}");
        }
    }
}
