//! Work that waits for a thread: subnets take turns, and so do the clients of one.

use crate::{Client, Subnet};
use std::collections::{HashMap, VecDeque};

/// What a worker runs. It calls its argument when the work is done, before anybody learns of it.
pub(crate) type Work = Box<dyn FnOnce(&dyn Fn()) + Send>;

#[derive(Default)]
pub(crate) struct Queue {
    /// What waits, by subnet; no subnet without work.
    waiting: HashMap<Subnet, Waiting>,
    /// The subnets that have work waiting, in the order of their turns.
    turns: VecDeque<Subnet>,
    /// How much waits.
    pub(crate) length: usize,
    /// How much of each client waits or runs.
    pub(crate) held: HashMap<Client, usize>,
    /// Whether the pool has ended.
    pub(crate) is_over: bool,
}

/// What waits of one subnet.
#[derive(Default)]
struct Waiting {
    /// By client; no client without work.
    clients: HashMap<Client, VecDeque<Work>>,
    /// The clients, in the order of their turns.
    turns: VecDeque<Client>,
    length: usize,
}

impl Waiting {
    fn push(&mut self, client: Client, work: Work) {
        let own = self.clients.entry(client).or_default();
        if own.is_empty() {
            self.turns.push_back(client);
        }
        own.push_back(work);
        self.length += 1;
    }

    /// The next work: the oldest of the client whose turn it is.
    fn pop(&mut self) -> Option<(Client, Work)> {
        let client = self.turns.pop_front()?;
        let own = self.clients.get_mut(&client)?;
        let work = own.pop_front()?;
        self.length -= 1;
        if own.is_empty() {
            self.clients.remove(&client);
        } else {
            self.turns.push_back(client);
        }
        Some((client, work))
    }

    fn of(&self, client: Client) -> usize {
        self.clients.get(&client).map_or(0, VecDeque::len)
    }

    /// The client that has the most, and how much that is.
    fn fullest(&self) -> Option<(Client, usize)> {
        self.clients.iter().map(|(client, work)| (*client, work.len())).max_by_key(|(client, length)| (*length, *client))
    }

    /// Takes out the newest work of the client that has the most.
    fn displace(&mut self) -> Option<(Client, Work)> {
        let (client, _) = self.fullest()?;
        let own = self.clients.get_mut(&client)?;
        let work = own.pop_back()?;
        self.length -= 1;
        if own.is_empty() {
            self.clients.remove(&client);
            self.turns.retain(|other| *other != client);
        }
        Some((client, work))
    }
}

impl Queue {
    /// Lets work of the client wait.
    pub(crate) fn push(&mut self, client: Client, work: Work) {
        let subnet = client.subnet();
        let of_subnet = self.waiting.entry(subnet).or_default();
        if of_subnet.length == 0 {
            self.turns.push_back(subnet);
        }
        of_subnet.push(client, work);
        self.length += 1;
        *self.held.entry(client).or_default() += 1;
    }

    /// The next work of the subnet whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<(Client, Work)> {
        let subnet = self.turns.pop_front()?;
        let of_subnet = self.waiting.get_mut(&subnet)?;
        let next = of_subnet.pop()?;
        self.length -= 1;
        if of_subnet.length == 0 {
            self.waiting.remove(&subnet);
        } else {
            self.turns.push_back(subnet);
        }
        Some(next)
    }

    /// Takes out work for one more of `client`: a full queue is shared by the subnets that wait in it, and the part of a subnet by its clients. None where
    /// nobody has more than `client` and its subnet would have.
    pub(crate) fn displace(&mut self, client: Client) -> Option<Work> {
        let subnet = client.subnet();
        let (own, of_subnet) = self.waiting.get(&subnet).map_or((0, 0), |waiting| (waiting.of(client), waiting.length));
        let lengths = self.waiting.iter().map(|(subnet, waiting)| (waiting.length, *subnet));
        let (length, fullest) = lengths.max()?;
        let holder = if length > of_subnet + 1 { fullest } else { subnet };
        let waiting = self.waiting.get_mut(&holder)?;
        if holder == subnet && waiting.fullest()?.1 <= own + 1 {
            return None;
        }
        // It leaves something of its subnet, which stays in its turns.
        let (displaced, work) = waiting.displace()?;
        self.length -= 1;
        self.done(displaced);
        Some(work)
    }

    /// Work of the client waits and runs no more.
    pub(crate) fn done(&mut self, client: Client) {
        if let Some(held) = self.held.get_mut(&client) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&client);
            }
        }
    }
}
