//! Prices, shares and refunds (003 §8.4, Runner Resource Accounting; decisions 41, 80, 81). All rounding is down; dust is burned.

use cowboy_params::Jobs;
use cowboy_types::job::{Bounds, JobKind, RateCard, Usage};
use cowboy_types::units::{Amount, Count};

/// What bounds would cost in full: what the price filter compares (002 §4).
pub fn estimate(rates: &RateCard, kind: &JobKind, bounds: &Bounds) -> Amount {
    let usage = Usage {
        input_tokens: bounds.input_tokens,
        output_tokens: bounds.output_tokens,
        // A container makes none, unless it has a network.
        requests: Count(u64::from(*kind != JobKind::Container)),
        compute_ms: bounds.wall_ms,
        memory_mb: bounds.memory_mb,
    };
    price(rates, kind, &usage)
}

/// What usage costs at a runner's rates: tokens for a model, calls for the web, tools and containers, time and memory for all but models and the web.
pub fn price(rates: &RateCard, kind: &JobKind, usage: &Usage) -> Amount {
    let times = |rate: Amount, count: u64| u128::from(rate.0) * u128::from(count);
    let time = || (times(rates.compute_second, usage.compute_ms.0) / 1_000).saturating_add(times(rates.memory_mb, usage.memory_mb.0));
    let total = match kind {
        JobKind::Llm => {
            times(rates.llm_input_token, usage.input_tokens.0).saturating_add(times(rates.llm_output_token, usage.output_tokens.0))
        }
        JobKind::Http => times(rates.http_request_base, usage.requests.0),
        JobKind::Mcp | JobKind::Container => times(rates.http_request_base, usage.requests.0).saturating_add(time()),
        JobKind::Custom => time(),
    };
    Amount(u64::try_from(total).unwrap_or(u64::MAX))
}

/// The units of usage that a kind of work is paid by.
pub fn priced(kind: &JobKind, usage: &Usage) -> Vec<Count> {
    match kind {
        JobKind::Llm => vec![usage.input_tokens, usage.output_tokens],
        JobKind::Http => vec![usage.requests],
        JobKind::Mcp | JobKind::Container => vec![usage.requests, usage.compute_ms, usage.memory_mb],
        JobKind::Custom => vec![usage.compute_ms, usage.memory_mb],
    }
}

/// The lower median of what several used, unit by unit.
pub fn median(usages: &[&Usage]) -> Usage {
    let of = |unit: fn(&Usage) -> Count| {
        let mut used: Vec<Count> = usages.iter().map(|usage| unit(usage)).collect();
        used.sort_unstable();
        used.get(used.len().saturating_sub(1) / 2).copied().unwrap_or(Count::ZERO)
    };
    Usage {
        input_tokens: of(|usage| usage.input_tokens),
        output_tokens: of(|usage| usage.output_tokens),
        requests: of(|usage| usage.requests),
        compute_ms: of(|usage| usage.compute_ms),
        memory_mb: of(|usage| usage.memory_mb),
    }
}

/// Usage cut to another, unit by unit.
pub fn at_most(usage: &Usage, most: &Usage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens.min(most.input_tokens),
        output_tokens: usage.output_tokens.min(most.output_tokens),
        requests: usage.requests.min(most.requests),
        compute_ms: usage.compute_ms.min(most.compute_ms),
        memory_mb: usage.memory_mb.min(most.memory_mb),
    }
}

/// The part that each of `count` runners may have of an amount, rounded down.
pub fn part_of_each(amount: Amount, count: usize) -> Amount {
    Amount(amount.0 / u64::try_from(count.max(1)).expect("a few committees"))
}

/// A share of an amount, in basis points, rounded down.
pub fn share(amount: Amount, basis_points: u64) -> Amount {
    let part = u128::from(amount.0) * u128::from(basis_points.min(10_000)) / 10_000;
    Amount(u64::try_from(part).expect("a share is at most the whole"))
}

/// What one of the rows `jobs.payout_*` gives of a job's price: its part of the three rows' sum, so that moving any one of
/// them moves all parts (decision 296).
pub fn of_payout(rows: &Jobs, gross: Amount, row: u64) -> Amount {
    part(gross, row, [rows.payout_runners, rows.payout_burn, rows.payout_treasury])
}

/// What one of the rows `jobs.slash_*` gives of slashed stake: its part of the three rows' sum.
pub fn of_slash(rows: &Jobs, slashed: Amount, row: u64) -> Amount {
    part(slashed, row, [rows.slash_burn, rows.slash_submitter, rows.slash_treasury])
}

/// A row's part of what some rows share, rounded down; nothing where all are zero.
fn part(amount: Amount, row: u64, rows: [u64; 3]) -> Amount {
    let whole: u128 = rows.into_iter().map(u128::from).sum();
    let part = (u128::from(amount.0) * u128::from(row)).checked_div(whole).unwrap_or(0);
    Amount(u64::try_from(part).expect("a part is at most the whole"))
}

/// Who gets what of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// What the job costs, tip aside.
    pub gross: Amount,
    /// To each paid runner, in order, tip and bonus included.
    pub runners: Vec<Amount>,
    /// To the treasury.
    pub treasury: Amount,
    /// Destroyed, dust included.
    pub burned: Amount,
    /// Refunded to the requester.
    pub refund: Amount,
}

/// Splits a job's escrow. `prices` is what each paid runner asks, at most its part of `max_price`; `aggregator` the place of
/// the one that put the results together, where it did, and its bonus in basis points of the gross. Everything together is
/// `max_price` + `tip`.
pub fn split(rows: &Jobs, max_price: Amount, tip: Amount, prices: &[Amount], aggregator: Option<(usize, u64)>) -> Split {
    let asked = prices.iter().fold(Amount::ZERO, |sum, price| sum.saturating_add(*price));
    let gross = asked.min(max_price);
    let treasury = of_payout(rows, gross, rows.payout_treasury);
    let pool = of_payout(rows, gross, rows.payout_runners);
    let bonus = aggregator.map_or(Amount::ZERO, |(_, bonus)| share(gross, bonus).min(pool));
    let rest = pool.saturating_sub(bonus);
    let count = u64::try_from(prices.len()).expect("committees are small");
    let part = |price: Amount| {
        let part = (u128::from(rest.0) * u128::from(price.0)).checked_div(u128::from(asked.0)).unwrap_or(0);
        Amount(u64::try_from(part).expect("a part of the rest"))
    };
    let mut runners: Vec<Amount> = prices.iter().map(|price| part(*price)).collect();
    for (place, paid) in runners.iter_mut().enumerate() {
        let of_tip = Amount(tip.0.checked_div(count).unwrap_or(0));
        let dust_of_tip = if place == 0 { Amount(tip.0.checked_rem(count).unwrap_or(0)) } else { Amount::ZERO };
        let of_bonus = if aggregator.is_some_and(|(of, _)| of == place) { bonus } else { Amount::ZERO };
        *paid = paid.saturating_add(of_tip).saturating_add(dust_of_tip).saturating_add(of_bonus);
    }
    let paid_tip = if prices.is_empty() { Amount::ZERO } else { tip };
    let to_runners = runners.iter().fold(Amount::ZERO, |sum, paid| sum.saturating_add(*paid)).saturating_sub(paid_tip);
    Split {
        gross,
        treasury,
        burned: gross.saturating_sub(treasury).saturating_sub(to_runners),
        refund: max_price.saturating_sub(gross).saturating_add(tip.saturating_sub(paid_tip)),
        runners,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_params::Params;

    /// 89/10/1 of the gross, the aggregator's part out of the 89, dust burned, and nothing lost.
    #[test]
    fn splits() {
        let rows = Params::GENESIS.jobs;
        type Row<'a> = (&'a str, u64, u64, &'a [u64], Option<usize>, &'a [u64], u64, u64, u64);
        let cases: [Row<'_>; 8] = [
            ("one runner, all of it", 10_000, 0, &[10_000], None, &[8_900], 100, 1_000, 0),
            ("one runner, half of it", 10_000, 0, &[5_000], None, &[4_450], 50, 500, 5_000),
            ("the tip is the runner's", 10_000, 77, &[10_000], None, &[8_977], 100, 1_000, 0),
            ("two, evenly", 10_000, 1, &[5_000, 5_000], None, &[4_451, 4_450], 100, 1_000, 0),
            ("three, one aggregates", 30_000, 0, &[10_000; 3], Some(1), &[8_750, 9_200, 8_750], 300, 3_000, 0),
            ("dust", 101, 0, &[33, 33, 33], None, &[29, 29, 29], 0, 12, 2),
            ("more than there is", 100, 3, &[100, 100], None, &[46, 45], 1, 11, 0),
            ("nobody", 10_000, 5, &[], None, &[], 0, 0, 10_005),
        ];
        for (case, max_price, tip, prices, aggregator, runners, treasury, burned, refund) in cases {
            let prices: Vec<Amount> = prices.iter().copied().map(Amount).collect();
            let split = split(&rows, Amount(max_price), Amount(tip), &prices, aggregator.map(|place| (place, rows.aggregator_bonus)));
            assert_eq!(split.runners.iter().map(|paid| paid.0).collect::<Vec<_>>(), runners, "{case}");
            assert_eq!((split.treasury.0, split.burned.0, split.refund.0), (treasury, burned, refund), "{case}");
            let all: u64 = split.runners.iter().map(|paid| paid.0).sum::<u64>() + split.treasury.0 + split.burned.0 + split.refund.0;
            assert_eq!(all, max_price + tip, "{case}: nothing is lost");
        }
    }

    /// Attack: a runner with the largest rates, and a job with the largest bounds, whose price does not fit 128 bits. A price that does not fit is the largest
    /// there is.
    #[test]
    fn prices_at_the_extremes() {
        let rate = Amount(u64::MAX);
        let rates = RateCard {
            llm_input_token: rate,
            llm_output_token: rate,
            http_request_base: rate,
            compute_second: rate,
            memory_mb: rate,
            min_job_value: rate,
            max_job_value: rate,
        };
        let bound = Count(u64::MAX);
        let bounds = Bounds { input_tokens: bound, output_tokens: bound, wall_ms: bound, memory_mb: bound };
        for kind in [JobKind::Llm, JobKind::Http, JobKind::Mcp, JobKind::Custom, JobKind::Container] {
            assert_eq!(estimate(&rates, &kind, &bounds), rate, "{kind:?}");
        }
    }
}
