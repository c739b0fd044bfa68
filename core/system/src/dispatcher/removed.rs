//! Whom the filters of 002 §4 removed from the candidates of a job: what its submitter is told where too few are left.

use crate::runners::handlers::HEALTHY;
use cowboy_types::units::Amount;

pub(super) const KIND: &str = "the kind of work";
pub(super) const TEE: &str = "the trusted environment";
pub(super) const PRICE: &str = "the price";
pub(super) const VALUE: &str = "the least or the largest job that they take";
pub(super) const STAKE: &str = "their stake";
pub(super) const WORKED: &str = "their part in the job that is checked";
pub(super) const MODEL: &str = "the model";
pub(super) const ROOM: &str = "the class, the platform or the volumes of the container";
pub(super) const REQUIRED: &str = "what the job or the manifest requires of a runner";
pub(super) const POOL: &str = "the runner pool";
pub(super) const SECRET: &str = "the policy of a secret";

/// The reason of a runner that is not healthy, by the word for its health.
pub(super) fn of_health(health: &str) -> Option<&'static str> {
    match health {
        HEALTHY => None,
        "leaving" => Some("leaving the market"),
        "probation" => Some("probation"),
        "low" => Some("low reputation"),
        "silent" => Some("no heartbeat"),
        _ => Some(STAKE),
    }
}

/// How many runners each filter removed.
#[derive(Debug, Default)]
pub struct Removed {
    counts: Vec<(&'static str, usize)>,
    /// The least price at which one more would be a candidate.
    price: Option<Amount>,
}

impl Removed {
    /// Counts one runner.
    pub(super) fn add(&mut self, reason: &'static str) {
        self.add_all(reason, 1);
    }

    /// Counts those that a filter did not keep, and gives those that it kept.
    pub(super) fn keep<T>(&mut self, reason: &'static str, before: &[T], kept: Vec<T>) -> Vec<T> {
        self.add_all(reason, before.len().saturating_sub(kept.len()));
        kept
    }

    /// Notes what a runner asks that was removed for its price, which each of a committee may have its share of.
    pub(super) fn note_price(&mut self, asked: Amount, committee: u64) {
        let price = Amount(asked.0.saturating_mul(committee.max(1)));
        self.price = Some(self.price.map_or(price, |least| least.min(price)));
    }

    fn add_all(&mut self, reason: &'static str, count: usize) {
        match self.counts.iter_mut().find(|(of, _)| *of == reason) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None if count > 0 => self.counts.push((reason, count)),
            None => {}
        }
    }

    /// Why too few are left of those that are registered.
    pub(super) fn explanation(&self, registered: usize, left: u64, least: u64) -> String {
        let removed: Vec<String> = self.counts.iter().map(|(reason, count)| format!("{count} for {reason}")).collect();
        let removed = if removed.is_empty() { "nobody".to_string() } else { removed.join(", ") };
        let price = self.price.map_or_else(String::new, |price| format!(" From a max_price of {} on one more takes it.", price.0));
        format!("Of {registered} registered runners the filters removed {removed}; {left} are left, and the job needs {least}.{price}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_count_every_filter() {
        let mut removed = Removed::default();
        removed.add(KIND);
        removed.add(KIND);
        removed.add(PRICE);
        removed.note_price(Amount(500), 3);
        removed.note_price(Amount(400), 3);
        assert_eq!(removed.keep(POOL, &[1, 2, 3], vec![2]), [2]);
        assert_eq!(removed.keep(SECRET, &[2], vec![2]), [2]);
        let expected = "Of 6 registered runners the filters removed 2 for the kind of work, 1 for the price, 2 for the runner pool; 1 are left, and \
            the job needs 3. From a max_price of 1200 on one more takes it.";
        assert_eq!(removed.explanation(6, 1, 3), expected);
        assert!(Removed::default().explanation(0, 0, 1).contains("removed nobody; 0 are left"));
    }
}
