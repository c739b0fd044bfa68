//! Cycles and cells that a gateway signs for in an hour: for each client, subnet, name and actor (decisions 317 and 574).

use crate::{buckets::Buckets, config, refusal::Refusal};
use cowboy_serve::{Client, Subnet};
use cowboy_types::{
    Address,
    units::{Cells, Cycles},
};
use hyper::StatusCode;
use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

const HOUR: Duration = Duration::from_secs(3_600);

/// Budgets of a client that all clients of its subnet have together.
const BUDGETS_OF_A_SUBNET: u64 = 2;

/// Whose budgets a command counts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payers {
    client: Client,
    subnet: Subnet,
    name: String,
    actor: Address,
}

impl Payers {
    /// Those of a command from this address to an actor by a name.
    pub(crate) fn new(address: IpAddr, name: &str, actor: Address) -> Self {
        Self { client: address.into(), subnet: Subnet::of(address), name: name.to_owned(), actor }
    }
}

/// The budgets of a gateway.
pub(crate) struct Budgets {
    clients: Budget<Client>,
    subnets: Budget<Subnet>,
    names: Budget<String>,
    actors: Budget<Address>,
}

impl Budgets {
    pub(crate) fn new(config: &config::Limits) -> Self {
        let of_subnet = |of_client: u64| of_client.saturating_mul(BUDGETS_OF_A_SUBNET);
        Self {
            clients: Budget::new("client", config.client_cycles_per_hour, config.client_cells_per_hour),
            subnets: Budget::new("network", of_subnet(config.client_cycles_per_hour), of_subnet(config.client_cells_per_hour)),
            names: Budget::new("name", config.name_cycles_per_hour, config.name_cells_per_hour),
            actors: Budget::new("actor", config.actor_cycles_per_hour, config.actor_cells_per_hour),
        }
    }

    /// Counts a command in the budgets of its payers, or refuses it.
    pub(crate) fn spend(&self, payers: &Payers, cycles: Cycles, cells: Cells) -> Result<(), Refusal> {
        let now = Instant::now();
        self.clients.spend(&payers.client, cycles, cells, now)?;
        self.subnets.spend(&payers.subnet, cycles, cells, now)?;
        self.names.spend(&payers.name, cycles, cells, now)?;
        self.actors.spend(&payers.actor, cycles, cells, now)
    }

    /// Gives back what was counted for a command and not used.
    pub(crate) fn give_back(&self, payers: &Payers, cycles: Cycles, cells: Cells) {
        self.clients.give_back(&payers.client, cycles, cells);
        self.subnets.give_back(&payers.subnet, cycles, cells);
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

    fn spend(&self, key: &K, cycles: Cycles, cells: Cells, now: Instant) -> Result<(), Refusal> {
        for (buckets, spent) in [(&self.cycles, cycles.0), (&self.cells, cells.0)] {
            if buckets.as_ref().is_some_and(|buckets| !buckets.take(key, spent, now)) {
                let what = format!("This gateway has signed for as much as it does in an hour for this {}.", self.of);
                let fix = "Ask again later, or send a transaction of your own.";
                return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "COMMAND_BUDGET", what, fix).retry(60));
            }
        }
        Ok(())
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

    /// What the gateway says to a command of one client of a subnet.
    fn agree(limits: &Limits, (net, host): (u8, u8), (name, actor): (&str, Address), cycles: u64, cells: u64) -> Option<&'static str> {
        let payers = Payers::new(IpAddr::from([10, 0, net, host]), name, actor);
        limits.agree(&Params::GENESIS, &payers, (Cycles(cycles), Cells(cells))).err().map(|refusal| refusal.code)
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
        let spend = || agree(&limits, (1, 1), ("a", ONE), 1_000_000, 0).is_none();
        assert!(spend() && spend() && !spend());
        limits.budgets.give_back(&Payers::new(IpAddr::from([10, 0, 1, 1]), "a", ONE), Cycles(900_000), Cells(0));
        assert!(!spend());
        limits.budgets.give_back(&Payers::new(IpAddr::from([10, 0, 1, 1]), "a", ONE), Cycles(100_000), Cells(0));
        assert!(spend(), "the client's, the name's and the actor's");
    }
}
