//! Rates and numbers that keep one actor's visitors from hurting another's (004 §9.5).

use crate::{config, refusal::Refusal};
use cowboy_params::Params;
use cowboy_types::Address;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use hyper::StatusCode;
use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, Mutex},
};

/// Requests of one actor that are under way.
pub(crate) struct AtOnce {
    actor: Address,
    all: Arc<Mutex<HashMap<Address, usize>>>,
}

impl Drop for AtOnce {
    fn drop(&mut self) {
        let mut all = self.all.lock().expect("nothing panics while it holds the lock");
        if let Some(count) = all.get_mut(&self.actor) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.actor);
            }
        }
    }
}

/// What every actor may, at this gateway.
pub(crate) struct Limits {
    rate: Option<DefaultKeyedRateLimiter<Address>>,
    at_once: usize,
    all: Arc<Mutex<HashMap<Address, usize>>>,
}

impl Limits {
    pub(crate) fn new(config: &config::Limits, params: &Params) -> Self {
        let protocol = u32::try_from(params.gateways.requests_per_second).unwrap_or(u32::MAX);
        let rate = NonZeroU32::new(config.requests_per_second.unwrap_or(protocol));
        let protocol = usize::try_from(params.gateways.connections).unwrap_or(usize::MAX);
        Self {
            rate: rate.map(|rate| RateLimiter::keyed(Quota::per_second(rate))),
            at_once: config.requests_at_once.unwrap_or(protocol),
            all: Arc::default(),
        }
    }

    /// Lets a request to an actor in, or refuses it. What comes back is held until the request is over.
    pub(crate) fn enter(&self, actor: Address) -> Result<AtOnce, Refusal> {
        let many = |what: &str| Refusal::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT", what, "Ask again in a second.").retry(1);
        if self.rate.as_ref().is_some_and(|rate| rate.check_key(&actor).is_err()) {
            return Err(many("This gateway takes no more requests to this actor in this second."));
        }
        let mut all = self.all.lock().expect("nothing panics while it holds the lock");
        let count = all.entry(actor).or_default();
        if *count >= self.at_once {
            return Err(many("Too many requests to this actor are under way."));
        }
        *count += 1;
        Ok(AtOnce { actor, all: self.all.clone() })
    }

    /// Forgets actors that nobody asked for a while.
    pub(crate) fn tidy(&self) {
        if let Some(rate) = &self.rate {
            rate.retain_recent();
            rate.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 requests a second and 1,000 at once by default; the configuration's are its own; actors do not share.
    #[test]
    fn each_actor_has_its_own_limits() {
        let (one, other) = (Address([1; 20]), Address([2; 20]));
        let limits = Limits::new(&config::Limits::default(), &Params::GENESIS);
        assert_eq!(limits.at_once, 1_000);
        let burst: Vec<bool> = (0..101).map(|_| limits.enter(one).is_ok()).collect();
        assert_eq!(burst.iter().filter(|is_in| **is_in).count(), 100);
        assert!(limits.enter(other).is_ok());
        let few = config::Limits { requests_per_second: Some(0), requests_at_once: Some(2), ..config::Limits::default() };
        let limits = Limits::new(&few, &Params::GENESIS);
        let held: Vec<_> = (0..2).map(|_| limits.enter(one)).collect();
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(limits.enter(one).err().map(|refusal| refusal.status.as_u16()), Some(429));
        assert!(limits.enter(other).is_ok());
        drop(held);
        assert!(limits.enter(one).is_ok());
        limits.tidy();
    }
}
