//! Cycles and cells that a gateway signs for in an hour: for each client, subnet, name and actor (decisions 317 and 574).

use crate::{buckets::Buckets, config, refusal::Refusal, sharer::Sharer};
use cowboy_serve::{Client, Subnet};
use cowboy_types::{
    Address,
    units::{Cells, Cycles},
};
use hyper::StatusCode;
use std::{
    net::IpAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

const HOUR: Duration = Duration::from_secs(3_600);

/// Budgets of a client that all clients of its subnet have together.
const BUDGETS_OF_A_SUBNET: u64 = 2;

/// Whose budgets a command counts in.
#[derive(Clone, Debug)]
pub(crate) struct Payers {
    sharer: Option<Sharer>,
    name: String,
    actor: Address,
}

impl Payers {
    /// Those of a command from this address to an actor by a name.
    pub(crate) fn new(address: IpAddr, name: &str, actor: Address) -> Self {
        Self { sharer: Sharer::of(address), name: name.to_owned(), actor }
    }
}

/// Cycles and cells of a command that count in the budgets of its payers. They come back when this is dropped, unless it was [kept](Self::keep).
#[must_use]
pub(crate) struct Agreed {
    budgets: Arc<Budgets>,
    payers: Payers,
    cycles: Cycles,
    cells: Cells,
    is_kept: bool,
}

impl Agreed {
    /// The command is signed, and others may have seen it: from now on it counts whatever becomes of this.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Nobody has seen the command: it is not kept any more.
    pub(crate) fn release(&mut self) {
        self.is_kept = false;
    }

    /// Gives back what a final command did not use.
    pub(crate) fn settle(mut self, (cycles, cells): (Cycles, Cells)) {
        self.cycles = Cycles(self.cycles.0.saturating_sub(cycles.0));
        self.cells = Cells(self.cells.0.saturating_sub(cells.0));
        self.release();
    }
}

impl Drop for Agreed {
    fn drop(&mut self) {
        if !self.is_kept {
            self.budgets.give_back(&self.payers, self.cycles, self.cells);
        }
    }
}

/// The budgets of a gateway.
pub(crate) struct Budgets {
    clients: Budget<Client>,
    subnets: Budget<Subnet>,
    names: Budget<String>,
    actors: Budget<Address>,
    /// Held while a command is counted: in all budgets of its payers, or in none.
    counting: Mutex<()>,
}

impl Budgets {
    pub(crate) fn new(config: &config::Limits) -> Self {
        let of_subnet = |of_client: u64| of_client.saturating_mul(BUDGETS_OF_A_SUBNET);
        Self {
            clients: Budget::new("client", config.client_cycles_per_hour, config.client_cells_per_hour),
            subnets: Budget::new("network", of_subnet(config.client_cycles_per_hour), of_subnet(config.client_cells_per_hour)),
            names: Budget::new("name", config.name_cycles_per_hour, config.name_cells_per_hour),
            actors: Budget::new("actor", config.actor_cycles_per_hour, config.actor_cells_per_hour),
            counting: Mutex::default(),
        }
    }

    /// Counts a command in the budgets of its payers. Where one of them refuses it, it counts in none.
    pub(crate) fn spend(self: &Arc<Self>, payers: Payers, cycles: Cycles, cells: Cells) -> Result<Agreed, Refusal> {
        let (now, used) = (Instant::now(), (cycles, cells));
        let _counting = self.counting.lock().expect("nothing panics while it holds the lock");
        if let Some(Sharer { client, subnet }) = &payers.sharer {
            self.clients.require(client, used, now)?;
            self.subnets.require(subnet, used, now)?;
        }
        self.names.require(&payers.name, used, now)?;
        self.actors.require(&payers.actor, used, now)?;
        if let Some(Sharer { client, subnet }) = &payers.sharer {
            self.clients.take(client, used, now);
            self.subnets.take(subnet, used, now);
        }
        self.names.take(&payers.name, used, now);
        self.actors.take(&payers.actor, used, now);
        Ok(Agreed { budgets: self.clone(), payers, cycles, cells, is_kept: false })
    }

    fn give_back(&self, payers: &Payers, cycles: Cycles, cells: Cells) {
        if let Some(Sharer { client, subnet }) = &payers.sharer {
            self.clients.give_back(client, cycles, cells);
            self.subnets.give_back(subnet, cycles, cells);
        }
        self.names.give_back(&payers.name, cycles, cells);
        self.actors.give_back(&payers.actor, cycles, cells);
    }

    /// Forgets those whose budget is whole again.
    pub(crate) fn tidy(&self, now: Instant) {
        self.clients.tidy(now);
        self.subnets.tidy(now);
        self.names.tidy(now);
        self.actors.tidy(now);
    }
}

/// Cycles and cells of an hour, for each key; they come back evenly.
struct Budget<K> {
    of: &'static str,
    cycles: Option<Buckets<K>>,
    cells: Option<Buckets<K>>,
}

impl<K: Ord + Clone> Budget<K> {
    fn new(of: &'static str, cycles_per_hour: u64, cells_per_hour: u64) -> Self {
        Self { of, cycles: Buckets::new(cycles_per_hour, HOUR), cells: Buckets::new(cells_per_hour, HOUR) }
    }

    /// Refuses what is beyond the budget of a key.
    fn require(&self, key: &K, (cycles, cells): (Cycles, Cells), now: Instant) -> Result<(), Refusal> {
        for (buckets, needed) in [(&self.cycles, cycles.0), (&self.cells, cells.0)] {
            if buckets.as_ref().is_some_and(|buckets| !buckets.has(key, needed, now)) {
                let what = format!("This gateway has signed for as much as it does in an hour for this {}.", self.of);
                let fix = "Ask again later, or send a transaction of your own.";
                return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "COMMAND_BUDGET", what, fix).retry(60));
            }
        }
        Ok(())
    }

    /// Takes what is within the budget of a key.
    fn take(&self, key: &K, (cycles, cells): (Cycles, Cells), now: Instant) {
        for (buckets, used) in [(&self.cycles, cycles.0), (&self.cells, cells.0)] {
            let is_taken = buckets.as_ref().is_none_or(|buckets| buckets.take(key, used, now));
            debug_assert!(is_taken, "nothing was taken since it was required");
        }
    }

    fn give_back(&self, key: &K, cycles: Cycles, cells: Cells) {
        for (buckets, unused) in [(&self.cycles, cycles.0), (&self.cells, cells.0)] {
            buckets.iter().for_each(|buckets| buckets.give_back(key, unused));
        }
    }

    fn tidy(&self, now: Instant) {
        self.cycles.iter().chain(&self.cells).for_each(|buckets| buckets.tidy(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use cowboy_params::Params;

    const ONE: Address = Address([1; 20]);
    const OTHER: Address = Address([2; 20]);

    /// What the gateway says to a command of one client of a subnet, which it signs.
    fn agree(limits: &Limits, (net, host): (u8, u8), to: (&str, Address), cycles: u64, cells: u64) -> Option<&'static str> {
        agreed(limits, IpAddr::from([10, 0, net, host]), to, (cycles, cells)).map(|mut agreed| agreed.keep()).err()
    }

    fn agreed(limits: &Limits, from: IpAddr, (name, actor): (&str, Address), (cycles, cells): (u64, u64)) -> Result<Agreed, &'static str> {
        let payers = Payers::new(from, name, actor);
        limits.agree(&Params::GENESIS, payers, (Cycles(cycles), Cells(cells))).map_err(|refusal| refusal.code)
    }

    fn settings() -> config::Limits {
        config::Limits {
            max_command_cycles: 1_000_000,
            client_cycles_per_hour: 2_000_000,
            name_cycles_per_hour: 3_000_000,
            actor_cycles_per_hour: 4_000_000,
            max_command_cells: 100_000,
            client_cells_per_hour: 100_000,
            ..config::Limits::default()
        }
    }

    /// What one command may cost, and what commands of a client, to a name and to an actor may cost together.
    #[test]
    fn commands_stay_within_what_the_gateway_agreed_to() {
        const MILLION: u64 = 1_000_000;
        let (limits, spent) = (Limits::new(&settings(), &Params::GENESIS), Some("COMMAND_BUDGET"));
        assert_eq!(agree(&limits, (1, 1), ("a", ONE), MILLION + 1, 0), Some("COMMAND_TOO_EXPENSIVE"));
        for (place, (net, refused)) in [(1, None), (1, None), (1, spent), (2, None), (3, spent)].into_iter().enumerate() {
            assert_eq!(agree(&limits, (net, 1), ("a", ONE), MILLION, 0), refused, "row {place}");
        }
        assert_eq!(agree(&limits, (4, 1), ("b", ONE), MILLION, 0), None, "the actor's fourth");
        assert_eq!(agree(&limits, (5, 1), ("b", ONE), MILLION, 0), spent, "the actor's fifth");
        assert_eq!(agree(&limits, (6, 1), ("c", OTHER), MILLION, 0), None);
        // Bytes cost as cycles do, and have budgets of their own.
        let cells = |net, cells| agree(&limits, (net, 1), ("d", OTHER), 1_000, cells);
        assert_eq!(cells(7, 100_001), Some("COMMAND_TOO_EXPENSIVE"));
        assert_eq!([cells(7, 60_000), cells(7, 60_000), cells(8, 60_000)], [None, spent, None]);
        let open = config::Limits { client_cycles_per_hour: 0, name_cycles_per_hour: 0, actor_cycles_per_hour: 0, ..settings() };
        let limits = Limits::new(&open, &Params::GENESIS);
        assert!((0..100).all(|_| agree(&limits, (1, 1), ("a", ONE), MILLION, 0).is_none()));
        limits.tidy();
    }

    /// Decision 574: neighbours have two budgets together, so that one subnet does not use up a name's.
    #[test]
    fn a_subnet_has_two_budgets() {
        let open = config::Limits { name_cycles_per_hour: 0, actor_cycles_per_hour: 0, ..settings() };
        let limits = Limits::new(&open, &Params::GENESIS);
        let taken = |net, host| (0..9).filter(|_| agree(&limits, (net, host), ("a", ONE), 1_000_000, 0).is_none()).count();
        assert_eq!([taken(1, 1), taken(1, 2), taken(1, 3), taken(2, 1)], [2, 2, 0, 2]);
    }

    /// Decision 574: what a command did not use is there for the next one.
    #[test]
    fn what_is_not_used_comes_back() {
        let limits = Limits::new(&settings(), &Params::GENESIS);
        let spend = || agreed(&limits, IpAddr::from([10, 0, 1, 1]), ("a", ONE), (1_000_000, 0)).ok();
        let [mut first, second] = [spend(), spend()].map(|agreed| agreed.expect("two million are its budget"));
        assert!(spend().is_none());
        first.keep();
        first.settle((Cycles(100_000), Cells(0)));
        assert!(spend().is_none());
        second.settle((Cycles(900_000), Cells(0)));
        assert!(spend().is_some(), "the client's, the name's and the actor's");
    }

    /// Decision 590: what is not signed, for whatever reason, uses up no budget; what is signed counts even where its client is gone.
    #[test]
    fn what_is_not_signed_costs_nothing() {
        let limits = Limits::new(&settings(), &Params::GENESIS);
        let spend = || agreed(&limits, IpAddr::from([10, 0, 1, 1]), ("a", ONE), (1_000_000, 50_000));
        assert!((0..500).all(|_| spend().is_ok()), "a pool that is full");
        let mut unseen = spend().expect("nothing is counted");
        unseen.keep();
        unseen.release();
        drop(unseen);
        for _ in 0..2 {
            spend().expect("nothing was counted before").keep();
        }
        assert_eq!(spend().err(), Some("COMMAND_BUDGET"));
    }

    /// Decision 590: a command that one budget refuses counts in no other.
    #[test]
    fn a_refused_command_counts_nowhere() {
        const MILLION: u64 = 1_000_000;
        let few = config::Limits { client_cells_per_hour: 0, name_cells_per_hour: 0, actor_cells_per_hour: 10, ..settings() };
        let limits = Limits::new(&few, &Params::GENESIS);
        assert!((1..=3).all(|net| agree(&limits, (net, 1), ("a", ONE), MILLION, 0).is_none()), "the name's three");
        assert!((0..100).all(|_| agree(&limits, (4, 1), ("a", ONE), MILLION, 0).is_some()), "the name has none");
        assert!((0..100).all(|_| agree(&limits, (4, 1), ("b", OTHER), MILLION, 11).is_some()), "the actor has no cells");
        let more = |host| agree(&limits, (4, host), ("b", OTHER), MILLION, 0);
        assert_eq!([more(1), more(1), more(2)], [None; 3], "clients, subnet, name and actor have what they had");
    }

    /// Decision 574: a proxy on the gateway's own machine brings the commands of others, so that they count for names and actors only.
    #[test]
    fn the_own_machine_has_no_budget() {
        let limits = Limits::new(&settings(), &Params::GENESIS);
        for own in [IpAddr::from([127, 0, 0, 1]), "::1".parse().expect("an address")] {
            let to = if own.is_ipv4() { ("a", ONE) } else { ("b", OTHER) };
            let spend = || agreed(&limits, own, to, (1_000_000, 0)).map(|mut agreed| agreed.keep());
            assert_eq!([spend(), spend(), spend(), spend()], [Ok(()), Ok(()), Ok(()), Err("COMMAND_BUDGET")], "the name's three");
        }
    }
}
