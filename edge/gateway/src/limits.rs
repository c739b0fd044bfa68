//! Rates and numbers that keep one actor's visitors from hurting another's (004 §9.5), and each other (decision 574).

use crate::{
    buckets::Buckets,
    budgets::{Agreed, Budgets, Payers},
    config,
    refusal::Refusal,
    sharer::Sharer,
};
use cowboy_params::Params;
use cowboy_serve::{Client, Subnet};
use cowboy_types::{
    Address,
    units::{Cells, Cycles},
};
use hyper::StatusCode;
use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, RwLock},
    time::{Duration, Instant},
};

/// The part of an actor's rate, and of its places, that one client has: a quarter.
const CLIENTS: u32 = 4;

/// Shares of a client that all clients of its subnet have together.
const SHARES_OF_A_SUBNET: u32 = 2;

/// Seconds for which a client may save up its share of a rate: a page comes with all that belongs to it.
const SAVED: u32 = 2;

/// Requests under way: of an actor, of a client to it, and of a subnet to it. Nothing that has none.
#[derive(Debug, Default)]
struct UnderWay {
    actors: BTreeMap<Address, usize>,
    clients: BTreeMap<(Address, Client), usize>,
    subnets: BTreeMap<(Address, Subnet), usize>,
}

/// A request of one actor that is under way.
#[derive(Debug)]
pub(crate) struct AtOnce {
    actor: Address,
    sharer: Option<Sharer>,
    under_way: Arc<Mutex<UnderWay>>,
}

impl Drop for AtOnce {
    fn drop(&mut self) {
        let mut under_way = self.under_way.lock().expect("nothing panics while it holds the lock");
        release(&mut under_way.actors, &self.actor);
        if let Some(Sharer { client, subnet }) = self.sharer {
            release(&mut under_way.clients, &(self.actor, client));
            release(&mut under_way.subnets, &(self.actor, subnet));
        }
    }
}

fn count<K: Ord>(counts: &BTreeMap<K, usize>, key: &K) -> usize {
    counts.get(key).copied().unwrap_or(0)
}

/// One less of a key, which is forgotten with the last.
fn release<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// What every actor may, at this gateway.
pub(crate) struct Limits {
    config: config::Limits,
    rate: RwLock<Rate>,
    under_way: Arc<Mutex<UnderWay>>,
    budgets: Arc<Budgets>,
}

impl Limits {
    pub(crate) fn new(config: &config::Limits, params: &Params) -> Self {
        Self {
            rate: RwLock::new(Rate::new(requests_per_second(config, params), config.client_requests_per_second)),
            under_way: Arc::default(),
            budgets: Arc::new(Budgets::new(config)),
            config: config.clone(),
        }
    }

    /// Agrees to sign for a command of these cycles and cells, at the expense of its payers' budgets; or refuses. The operator's maximum holds
    /// below governance's. What a manifest promises to pay back counts all the same: it is no money yet.
    pub(crate) fn agree(&self, params: &Params, payers: Payers, (cycles, cells): (Cycles, Cells)) -> Result<Agreed, Refusal> {
        let most = self.config.max_command_cycles.min(params.gateways.command_cycles_max);
        for (needed, most, unit) in [(cycles.0, most, "cycles"), (cells.0, self.config.max_command_cells, "cells")] {
            if needed > most {
                let what = format!("The command needs {needed} {unit}, and this gateway signs for {most} at most.");
                let fix = "Send a transaction of your own, or ask a gateway that signs for more.";
                return Err(Refusal::new(StatusCode::FORBIDDEN, "COMMAND_TOO_EXPENSIVE", what, fix));
            }
        }
        self.budgets.spend(payers, cycles, cells)
    }

    /// Counts a request to an actor, the zero address for names that lead to none, before there is any work for it; or refuses it. `params` are
    /// those of the newest state.
    pub(crate) fn take(&self, params: &Params, actor: Address, address: IpAddr) -> Result<(), Refusal> {
        self.follow(params);
        let rate = self.rate.read().expect("nothing panics while it holds the lock");
        rate.take(actor, Sharer::of(address), Instant::now()).map_err(|of| {
            many(match of {
                Of::Client => "This gateway takes no more requests of this client to this actor in this second.",
                Of::Subnet => "This gateway takes no more requests of this client's network to this actor in this second.",
                Of::Actor => "This gateway takes no more requests to this actor in this second.",
            })
        })
    }

    /// Lets a request to an actor in that is there as a whole, or refuses it. What comes back is held until the request is over.
    pub(crate) fn enter(&self, params: &Params, actor: Address, address: IpAddr) -> Result<AtOnce, Refusal> {
        let protocol = usize::try_from(params.gateways.connections).unwrap_or(usize::MAX);
        let of_actor = self.config.requests_at_once.unwrap_or(protocol);
        let part = |whole: usize, parts: u32| (whole / usize::try_from(parts).unwrap_or(usize::MAX)).max(1);
        let of_client = self.config.client_requests_at_once.unwrap_or_else(|| part(of_actor, CLIENTS));
        let of_subnet = of_client.saturating_mul(usize::try_from(SHARES_OF_A_SUBNET).unwrap_or(usize::MAX));
        let sharer = Sharer::of(address);
        let mut under_way = self.under_way.lock().expect("nothing panics while it holds the lock");
        if let Some(Sharer { client, subnet }) = sharer {
            if count(&under_way.clients, &(actor, client)) >= of_client {
                return Err(many("Too many requests of this client to this actor are under way."));
            }
            if count(&under_way.subnets, &(actor, subnet)) >= of_subnet {
                return Err(many("Too many requests of this client's network to this actor are under way."));
            }
        }
        if count(&under_way.actors, &actor) >= of_actor {
            return Err(many("Too many requests to this actor are under way."));
        }
        *under_way.actors.entry(actor).or_default() += 1;
        if let Some(Sharer { client, subnet }) = sharer {
            *under_way.clients.entry((actor, client)).or_default() += 1;
            *under_way.subnets.entry((actor, subnet)).or_default() += 1;
        }
        Ok(AtOnce { actor, sharer, under_way: self.under_way.clone() })
    }

    /// Takes over the rate, where governance moved it.
    fn follow(&self, params: &Params) {
        let wanted = requests_per_second(&self.config, params);
        let is_current = self.rate.read().expect("nothing panics while it holds the lock").requests_per_second == wanted;
        if !is_current {
            let rate = Rate::new(wanted, self.config.client_requests_per_second);
            *self.rate.write().expect("nothing panics while it holds the lock") = rate;
        }
    }

    /// Forgets those whose rates and budgets are whole again.
    pub(crate) fn tidy(&self) {
        let now = Instant::now();
        self.rate.read().expect("nothing panics while it holds the lock").tidy(now);
        self.budgets.tidy(now);
    }
}

fn many(what: &str) -> Refusal {
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT", what, "Ask again in a second.").retry(1)
}

/// The operator's rate, or the protocol's.
fn requests_per_second(config: &config::Limits, params: &Params) -> u32 {
    config.requests_per_second.unwrap_or_else(|| u32::try_from(params.gateways.requests_per_second).unwrap_or(u32::MAX))
}

/// Whose rate is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Client,
    Subnet,
    Actor,
}

/// Requests a second of one actor, and what of them is one client's; zero means any number.
struct Rate {
    requests_per_second: u32,
    actors: Option<Buckets<Address>>,
    clients: Option<Buckets<(Address, Client)>>,
    subnets: Option<Buckets<(Address, Subnet)>>,
}

impl Rate {
    fn new(requests_per_second: u32, of_client: Option<u32>) -> Self {
        let part = if requests_per_second == 0 { 0 } else { (requests_per_second / CLIENTS).max(1) };
        let (share, second) = (u64::from(of_client.unwrap_or(part)), Duration::from_secs(1));
        Self {
            requests_per_second,
            actors: Buckets::new(requests_per_second.into(), second),
            clients: Buckets::new(share.saturating_mul(SAVED.into()), second * SAVED),
            subnets: Buckets::new(share.saturating_mul(SHARES_OF_A_SUBNET.into()), second),
        }
    }

    /// Counts a request. Who has no share any more takes nothing from others.
    fn take(&self, actor: Address, sharer: Option<Sharer>, now: Instant) -> Result<(), Of> {
        if let Some(Sharer { client, subnet }) = sharer {
            takes(self.clients.as_ref(), &(actor, client), now).then_some(()).ok_or(Of::Client)?;
            takes(self.subnets.as_ref(), &(actor, subnet), now).then_some(()).ok_or(Of::Subnet)?;
        }
        takes(self.actors.as_ref(), &actor, now).then_some(()).ok_or(Of::Actor)
    }

    fn tidy(&self, now: Instant) {
        self.actors.iter().for_each(|actors| actors.tidy(now));
        self.clients.iter().for_each(|clients| clients.tidy(now));
        self.subnets.iter().for_each(|subnets| subnets.tidy(now));
    }
}

fn takes<K: Ord + Clone>(buckets: Option<&Buckets<K>>, key: &K, now: Instant) -> bool {
    buckets.is_none_or(|buckets| buckets.take(key, 1, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Address = Address([1; 20]);
    const OTHER: Address = Address([2; 20]);
    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn address(net: u8, host: u8) -> IpAddr {
        IpAddr::from([10, 0, net, host])
    }

    fn limits(settings: config::Limits) -> Limits {
        Limits::new(&settings, &Params::GENESIS)
    }

    /// 100 requests a second and 1,000 at once by default; the configuration's are its own; actors do not share.
    #[test]
    fn each_actor_has_its_own_limits() {
        let own = limits(config::Limits::default());
        let now = Instant::now();
        let burst = |limits: &Limits, actor: Address, requests: usize| {
            let rate = limits.rate.read().expect("no panic");
            (0..requests).filter(|_| rate.take(actor, None, now).is_ok()).count()
        };
        assert_eq!((burst(&own, ONE, 101), burst(&own, OTHER, 1)), (100, 1));
        // What governance moves holds from the next request on.
        let mut moved = Params::GENESIS;
        moved.gateways.requests_per_second = 3;
        own.follow(&moved);
        assert_eq!(burst(&own, ONE, 9), 3);
        let open = limits(config::Limits { requests_per_second: Some(0), ..config::Limits::default() });
        assert!(
            (0..2_000).all(|_| open.take(&Params::GENESIS, ONE, address(0, 1)).is_ok()),
            "a client has no rate where the actor has none"
        );
        let held: Vec<_> = (0..1_001).map(|_| open.enter(&Params::GENESIS, ONE, HERE)).collect();
        assert_eq!(held.iter().filter(|held| held.is_ok()).count(), 1_000);
        moved.gateways.connections = 2_000;
        assert!(open.enter(&moved, ONE, HERE).is_ok());
        let few = limits(config::Limits { requests_at_once: Some(2), ..config::Limits::default() });
        let held: Vec<_> = (0..2).map(|_| few.enter(&Params::GENESIS, ONE, HERE)).collect();
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(few.enter(&Params::GENESIS, ONE, HERE).err().map(|refusal| refusal.status.as_u16()), Some(429));
        assert!(few.enter(&Params::GENESIS, OTHER, HERE).is_ok());
        drop(held);
        assert!(few.enter(&Params::GENESIS, ONE, HERE).is_ok());
        few.tidy();
    }

    /// Decision 574: a client has a quarter of an actor's rate, and its subnet a half, however often they ask; others have the rest.
    #[test]
    fn a_client_has_a_share_of_the_rate() {
        let (rate, now) = (Rate::new(100, None), Instant::now());
        let take = |from: IpAddr, now: Instant| rate.take(ONE, Sharer::of(from), now);
        let taken = |from: IpAddr, now: Instant| (0..1_000).filter(|_| take(from, now).is_ok()).count();
        assert_eq!(taken(address(1, 1), now), 50, "what it saved up");
        assert_eq!(take(address(2, 1), now), Ok(()), "another one's first request");
        let later = now + Duration::from_secs(1);
        assert_eq!(taken(address(1, 1), later), 25);
        assert_eq!((taken(address(1, 2), later), take(address(1, 3), later)), (25, Err(Of::Subnet)));
        assert_eq!((taken(address(2, 1), later), take(address(3, 1), later)), (50, Err(Of::Actor)), "an actor has its rate all the same");
        assert_eq!(rate.take(OTHER, Sharer::of(address(1, 1)), later), Ok(()), "of each actor it has one");
        let (few, given) = (Rate::new(2, None), Rate::new(100, Some(3)));
        assert_eq!(few.take(ONE, Sharer::of(address(1, 1)), now), Ok(()));
        assert_eq!((0..100).filter(|_| given.take(ONE, Sharer::of(address(1, 1)), now).is_ok()).count(), 6);
    }

    /// Decision 574: the same for requests that are under way; a request from the gateway's own machine counts for the actor alone.
    #[test]
    fn a_client_has_a_share_of_what_is_under_way() {
        let limits = limits(config::Limits { requests_at_once: Some(16), ..config::Limits::default() });
        let enter = |from: IpAddr| limits.enter(&Params::GENESIS, ONE, from);
        let held = |from: IpAddr, requests: usize| (0..requests).filter_map(|_| enter(from).ok()).collect::<Vec<_>>();
        let (first, second, third) = (held(address(1, 1), 16), held(address(1, 2), 16), held(address(1, 3), 16));
        assert_eq!([first.len(), second.len(), third.len()], [4, 4, 0]);
        let (other, own) = (held(address(2, 1), 1), held(HERE, 16));
        assert_eq!((other.len(), own.len()), (1, 7), "the rest is for others");
        assert!(enter(address(3, 1)).is_err(), "all places are taken");
        drop((first, second, other, own));
        let under_way = limits.under_way.lock().expect("no panic");
        assert!(under_way.actors.is_empty() && under_way.clients.is_empty() && under_way.subnets.is_empty(), "nobody is remembered");
    }
}
