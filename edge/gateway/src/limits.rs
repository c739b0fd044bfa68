//! Rates and numbers that keep one actor's visitors from hurting another's (004 §9.5).

use crate::{config, refusal::Refusal};
use cowboy_params::Params;
use cowboy_serve::Client;
use cowboy_types::{
    Address,
    units::{Cells, Cycles},
};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use hyper::StatusCode;
use std::{
    collections::HashMap,
    hash::Hash,
    num::NonZeroU32,
    sync::{Arc, Mutex, RwLock},
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
    config: config::Limits,
    rate: RwLock<Rate>,
    all: Arc<Mutex<HashMap<Address, usize>>>,
    actors: Budget<Address>,
    names: Budget<String>,
    clients: Budget<Client>,
}

impl Limits {
    pub(crate) fn new(config: &config::Limits, params: &Params) -> Self {
        Self {
            rate: RwLock::new(Rate::new(requests_per_second(config, params))),
            all: Arc::default(),
            actors: Budget::new("actor", config.actor_cycles_per_hour, config.actor_cells_per_hour),
            names: Budget::new("name", config.name_cycles_per_hour, config.name_cells_per_hour),
            clients: Budget::new("client", config.client_cycles_per_hour, config.client_cells_per_hour),
            config: config.clone(),
        }
    }

    /// Agrees to sign for a command of these cycles and cells, at the expense of its client's, its name's and its actor's budgets; or refuses.
    /// The operator's maximum holds below governance's. What a manifest promises to pay back counts all the same: it is no money yet.
    pub(crate) fn agree(
        &self,
        params: &Params,
        (client, name, actor): (Client, &str, Address),
        (cycles, cells): (Cycles, Cells),
    ) -> Result<(), Refusal> {
        let most = self.config.max_command_cycles.min(params.gateways.command_cycles_max);
        for (needed, most, unit) in [(cycles.0, most, "cycles"), (cells.0, self.config.max_command_cells, "cells")] {
            if needed > most {
                let what = format!("The command needs {needed} {unit}, and this gateway signs for {most} at most.");
                let fix = "Send a transaction of your own, or ask a gateway that signs for more.";
                return Err(Refusal::new(StatusCode::FORBIDDEN, "COMMAND_TOO_EXPENSIVE", what, fix));
            }
        }
        self.clients.spend(&client, cycles, cells)?;
        self.names.spend(&name.to_owned(), cycles, cells)?;
        self.actors.spend(&actor, cycles, cells)
    }

    /// Lets a request to an actor in, or refuses it; `params` are those of the newest state. What comes back is held until
    /// the request is over.
    pub(crate) fn enter(&self, params: &Params, actor: Address) -> Result<AtOnce, Refusal> {
        let many = |what: &str| Refusal::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT", what, "Ask again in a second.").retry(1);
        self.follow(params);
        if !self.rate.read().expect("nothing panics while it holds the lock").takes(&actor) {
            return Err(many("This gateway takes no more requests to this actor in this second."));
        }
        let protocol = usize::try_from(params.gateways.connections).unwrap_or(usize::MAX);
        let at_once = self.config.requests_at_once.unwrap_or(protocol);
        let mut all = self.all.lock().expect("nothing panics while it holds the lock");
        let count = all.entry(actor).or_default();
        if *count >= at_once {
            return Err(many("Too many requests to this actor are under way."));
        }
        *count += 1;
        Ok(AtOnce { actor, all: self.all.clone() })
    }

    /// Takes over the rate, where governance moved it.
    fn follow(&self, params: &Params) {
        let wanted = requests_per_second(&self.config, params);
        let is_current = self.rate.read().expect("nothing panics while it holds the lock").requests_per_second == wanted;
        if !is_current {
            *self.rate.write().expect("nothing panics while it holds the lock") = Rate::new(wanted);
        }
    }

    /// Forgets actors that nobody asked for a while.
    pub(crate) fn tidy(&self) {
        if let Some(limiter) = &mut self.rate.write().expect("nothing panics while it holds the lock").limiter {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
        self.actors.tidy();
        self.names.tidy();
        self.clients.tidy();
    }
}

/// Cycles, or cells, of a unit in which budgets are counted.
const BUDGET_UNIT: u64 = 1_000;

/// Cycles and cells that the gateway signs for in an hour, for each key; they come back evenly.
struct Budget<K: Clone + Hash + Eq> {
    of: &'static str,
    cycles: Option<DefaultKeyedRateLimiter<K>>,
    cells: Option<DefaultKeyedRateLimiter<K>>,
}

impl<K: Clone + Hash + Eq> Budget<K> {
    fn new(of: &'static str, cycles_per_hour: u64, cells_per_hour: u64) -> Self {
        let limiter = |per_hour| units(per_hour).map(|units| RateLimiter::keyed(Quota::per_hour(units)));
        Self { of, cycles: limiter(cycles_per_hour), cells: limiter(cells_per_hour) }
    }

    fn spend(&self, key: &K, cycles: Cycles, cells: Cells) -> Result<(), Refusal> {
        for (limiter, spent) in [(&self.cycles, cycles.0), (&self.cells, cells.0)] {
            let (Some(limiter), Some(units)) = (limiter, units(spent)) else { continue };
            if !matches!(limiter.check_key_n(key, units), Ok(Ok(()))) {
                let what = format!("This gateway has signed for as much as it does in an hour for this {}.", self.of);
                let fix = "Ask again later, or send a transaction of your own.";
                return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "COMMAND_BUDGET", what, fix).retry(60));
            }
        }
        Ok(())
    }

    /// Forgets keys whose budget is whole again.
    fn tidy(&self) {
        self.cycles.iter().chain(&self.cells).for_each(DefaultKeyedRateLimiter::retain_recent);
    }
}

/// Cycles or cells in units of a budget; `None` for zero.
fn units(count: u64) -> Option<NonZeroU32> {
    NonZeroU32::new(u32::try_from(count.div_ceil(BUDGET_UNIT)).unwrap_or(u32::MAX))
}

/// The operator's rate, or the protocol's.
fn requests_per_second(config: &config::Limits, params: &Params) -> u32 {
    config.requests_per_second.unwrap_or_else(|| u32::try_from(params.gateways.requests_per_second).unwrap_or(u32::MAX))
}

/// Requests a second of one actor; zero means any number.
struct Rate {
    requests_per_second: u32,
    limiter: Option<DefaultKeyedRateLimiter<Address>>,
}

impl Rate {
    fn new(requests_per_second: u32) -> Self {
        let limiter = NonZeroU32::new(requests_per_second).map(|rate| RateLimiter::keyed(Quota::per_second(rate)));
        Self { requests_per_second, limiter }
    }

    fn takes(&self, actor: &Address) -> bool {
        self.limiter.as_ref().is_none_or(|limiter| limiter.check_key(actor).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    /// What one command may cost, and what commands of a client, to a name and to an actor may cost together.
    #[test]
    fn commands_stay_within_what_the_gateway_agreed_to() {
        let client = |last: u8| Client::from(IpAddr::from([10, 0, 0, last]));
        let (one, other) = (Address([1; 20]), Address([2; 20]));
        let settings = config::Limits {
            max_command_cycles: 1_000_000,
            client_cycles_per_hour: 2_000_000,
            name_cycles_per_hour: 3_000_000,
            actor_cycles_per_hour: 4_000_000,
            max_command_cells: 100_000,
            client_cells_per_hour: 100_000,
            ..config::Limits::default()
        };
        let limits = Limits::new(&settings, &Params::GENESIS);
        let million = (Cycles(1_000_000), Cells(0));
        let code = |refused: Result<(), Refusal>| refused.err().map(|refusal| refusal.code);
        assert_eq!(
            code(limits.agree(&Params::GENESIS, (client(1), "a", one), (Cycles(1_000_001), Cells(0)))),
            Some("COMMAND_TOO_EXPENSIVE")
        );
        let rows = [(1, "a", one, None), (1, "a", one, None), (1, "a", one, Some(())), (2, "a", one, None), (3, "a", one, Some(()))];
        for (place, (from, name, actor, refused)) in rows.into_iter().enumerate() {
            assert_eq!(
                code(limits.agree(&Params::GENESIS, (client(from), name, actor), million)),
                refused.map(|()| "COMMAND_BUDGET"),
                "row {place}"
            );
        }
        assert_eq!(code(limits.agree(&Params::GENESIS, (client(4), "b", one), million)), None, "the actor's fourth");
        assert_eq!(code(limits.agree(&Params::GENESIS, (client(5), "b", one), million)), Some("COMMAND_BUDGET"), "the actor's fifth");
        assert_eq!(code(limits.agree(&Params::GENESIS, (client(6), "c", other), million)), None);
        // Bytes cost as cycles do, and have budgets of their own.
        let cells = |from, cells| code(limits.agree(&Params::GENESIS, (client(from), "d", other), (Cycles(1_000), Cells(cells))));
        assert_eq!(cells(7, 100_001), Some("COMMAND_TOO_EXPENSIVE"));
        assert_eq!([cells(7, 60_000), cells(7, 60_000), cells(8, 60_000)], [None, Some("COMMAND_BUDGET"), None]);
        let open = config::Limits { client_cycles_per_hour: 0, name_cycles_per_hour: 0, actor_cycles_per_hour: 0, ..settings };
        let limits = Limits::new(&open, &Params::GENESIS);
        assert!((0..100).all(|_| limits.agree(&Params::GENESIS, (client(1), "a", one), million).is_ok()));
        limits.tidy();
    }

    /// 100 requests a second and 1,000 at once by default; the configuration's are its own; actors do not share.
    #[test]
    fn each_actor_has_its_own_limits() {
        let (one, other) = (Address([1; 20]), Address([2; 20]));
        let limits = Limits::new(&config::Limits::default(), &Params::GENESIS);
        let burst: Vec<bool> = (0..101).map(|_| limits.enter(&Params::GENESIS, one).is_ok()).collect();
        assert_eq!(burst.iter().filter(|is_in| **is_in).count(), 100);
        assert!(limits.enter(&Params::GENESIS, other).is_ok());
        // What governance moves holds from the next request on.
        let mut moved = Params::GENESIS;
        moved.gateways.requests_per_second = 3;
        let burst: Vec<bool> = (0..9).map(|_| limits.enter(&moved, one).is_ok()).collect();
        assert_eq!(burst.iter().filter(|is_in| **is_in).count(), 3);
        let limits = Limits::new(&config::Limits { requests_per_second: Some(0), ..config::Limits::default() }, &Params::GENESIS);
        let held: Vec<_> = (0..1_001).map(|_| limits.enter(&Params::GENESIS, one)).collect();
        assert_eq!(held.iter().filter(|held| held.is_ok()).count(), 1_000);
        moved.gateways.connections = 2_000;
        assert!(limits.enter(&moved, one).is_ok());
        let few = config::Limits { requests_per_second: Some(0), requests_at_once: Some(2), ..config::Limits::default() };
        let limits = Limits::new(&few, &Params::GENESIS);
        let held: Vec<_> = (0..2).map(|_| limits.enter(&Params::GENESIS, one)).collect();
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(limits.enter(&Params::GENESIS, one).err().map(|refusal| refusal.status.as_u16()), Some(429));
        assert!(limits.enter(&Params::GENESIS, other).is_ok());
        drop(held);
        assert!(limits.enter(&Params::GENESIS, one).is_ok());
        limits.tidy();
    }
}
