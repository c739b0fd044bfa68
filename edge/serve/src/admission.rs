//! How many connections come in: in all, of a client and of a subnet.
//!
//! Where all are taken, one more of a subnet with few replaces one of the subnet that has the most: a few addresses that hold connections and ask for
//! nothing keep nobody out.

use crate::{Client, subnet::Subnet};
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};
use tokio::sync::oneshot;

/// Bounds on connections at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// In all.
    pub total: usize,
    /// Of one IPv4 address, or one IPv6 /64.
    pub client: usize,
    /// Of one IPv4 /24, or one IPv6 /48.
    pub subnet: usize,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    clients: BTreeMap<Client, usize>,
    subnets: BTreeMap<Subnet, usize>,
    /// Connections that may be closed for others, by the number of their permit.
    closable: BTreeMap<u64, Closable>,
    /// The number of the next permit.
    next: u64,
}

/// A connection that may be closed for another.
#[derive(Debug)]
struct Closable {
    client: Client,
    subnet: Subnet,
    used: Arc<AtomicU64>,
    close: oneshot::Sender<()>,
}

impl Counts {
    fn of_subnet(&self, subnet: &Subnet) -> usize {
        self.subnets.get(subnet).copied().unwrap_or(0)
    }

    fn leave(&mut self, client: &Client, subnet: &Subnet) {
        self.total = self.total.saturating_sub(1);
        release(&mut self.clients, client);
        release(&mut self.subnets, subnet);
    }

    /// Closes a connection for one more of `subnet`: of the subnet that has the most, the one that was not used for longest. Answers whether there is one
    /// of a subnet that has more than `subnet` would have.
    fn close_one_for(&mut self, subnet: &Subnet) -> bool {
        let rank = |closable: &Closable| (self.of_subnet(&closable.subnet), Reverse(closable.used.load(Ordering::Relaxed)));
        let found = self.closable.iter().max_by_key(|(_, closable)| rank(closable)).map(|(number, _)| *number);
        let Some(closable) = found.and_then(|number| self.closable.remove(&number)) else { return false };
        if self.of_subnet(&closable.subnet) <= self.of_subnet(subnet).saturating_add(1) {
            self.closable.extend(found.map(|number| (number, closable)));
            return false;
        }
        self.leave(&closable.client, &closable.subnet);
        // Who holds it may have dropped the other end meanwhile: then it is closed already.
        let _ = closable.close.send(());
        true
    }
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// There are as many as the process has room for.
    #[error("all {0} connections are in use")]
    Total(usize),
    /// This client has its share.
    #[error("this client has its {0} connections")]
    Client(usize),
    /// The clients of this subnet have their share together.
    #[error("this subnet has its {0} connections")]
    Subnet(usize),
}

/// Counts connections within caps. Clones share the counts.
#[derive(Clone, Debug)]
pub struct Admission {
    caps: Caps,
    counts: Arc<Mutex<Counts>>,
    began: Instant,
}

/// A connection that counts until this is dropped.
#[derive(Debug)]
pub struct Permit {
    admission: Admission,
    client: Client,
    subnet: Subnet,
    number: u64,
    /// When it was used last, in ms of the admission's time.
    used: Arc<AtomicU64>,
    is_closable: bool,
}

impl Permit {
    /// From now on this connection may be closed for another: what is returned is ready then, and the connection counts no more.
    pub fn closable(&mut self) -> oneshot::Receiver<()> {
        let (close, closed) = oneshot::channel();
        let (client, subnet, used) = (self.client, self.subnet, self.used.clone());
        self.is_closable = true;
        self.admission.counts().closable.insert(self.number, Closable { client, subnet, used, close });
        closed
    }

    /// The connection is used now.
    pub fn note_use(&self) {
        self.used.store(self.admission.now(), Ordering::Relaxed);
    }
}

impl Admission {
    /// Nothing counted yet.
    pub fn new(caps: Caps) -> Self {
        Self { caps, counts: Arc::default(), began: Instant::now() }
    }

    /// Counts one more of this address.
    ///
    /// # Errors
    ///
    /// Where that is beyond a cap.
    pub fn admit(&self, address: IpAddr) -> Result<Permit, Full> {
        self.admit_within(address, self.caps)
    }

    /// The same, with other caps than its own.
    pub(crate) fn admit_within(&self, address: IpAddr, caps: Caps) -> Result<Permit, Full> {
        let (client, subnet) = (Client::from(address), Subnet::of(address));
        let mut counts = self.counts();
        let (of_client, of_subnet) = (counts.clients.get(&client).copied().unwrap_or(0), counts.of_subnet(&subnet));
        if of_client >= caps.client {
            return Err(Full::Client(caps.client));
        }
        if of_subnet >= caps.subnet {
            return Err(Full::Subnet(caps.subnet));
        }
        if counts.total >= caps.total && !counts.close_one_for(&subnet) {
            return Err(Full::Total(caps.total));
        }
        counts.total += 1;
        counts.clients.insert(client, of_client + 1);
        counts.subnets.insert(subnet, of_subnet + 1);
        let number = counts.next;
        counts.next += 1;
        drop(counts);
        let used = Arc::new(AtomicU64::new(self.now()));
        Ok(Permit { admission: self.clone(), client, subnet, number, used, is_closable: false })
    }

    /// Milliseconds since it began.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// How many count now.
    pub fn count(&self) -> usize {
        self.counts().total
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

impl Drop for Permit {
    fn drop(&mut self) {
        let mut counts = self.admission.counts();
        // One that was closed for another counts no more.
        if !self.is_closable || counts.closable.remove(&self.number).is_some() {
            counts.leave(&self.client, &self.subnet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flood from one address, and then from one subnet, leaves room for others.
    #[test]
    fn a_flood_leaves_room_for_others() {
        let admission = Admission::new(Caps { total: 10, client: 3, subnet: 6 });
        let admit = |text: &str| admission.admit(text.parse().expect("an address"));
        let mut held: Vec<Permit> = (0..100).filter_map(|_| admit("192.0.2.1").ok()).collect();
        assert_eq!(held.len(), 3);
        held.extend((2..=255u8).filter_map(|host| admit(&format!("192.0.2.{host}")).ok()));
        assert_eq!(held.len(), 6);
        assert_eq!((admit("192.0.2.1").err(), admit("192.0.2.2").err()), (Some(Full::Client(3)), Some(Full::Subnet(6))));
        held.extend((0..100).filter_map(|host| admit(&format!("2001:db8:1:2::{host}")).ok()));
        assert_eq!(held.len(), 9, "one subscriber of IPv6 has as many addresses as it likes");
        assert!(admit("198.51.100.1").is_ok_and(|permit| permit.admission.count() == 10));
        drop(held);
        assert_eq!(admission.count(), 0);
        assert!(admission.counts().clients.is_empty() && admission.counts().subnets.is_empty());
    }

    /// Two subnets that hold all connections make room for others, down to as many as these have; what is used stays longest.
    #[test]
    fn a_subnet_with_many_makes_room() {
        let admission = Admission::new(Caps { total: 8, client: 4, subnet: 4 });
        let mut taken: Vec<(Permit, oneshot::Receiver<()>)> = Vec::new();
        let mut take = |text: &str| {
            let mut permit = admission.admit(text.parse().expect("an address"))?;
            let closed = permit.closable();
            taken.push((permit, closed));
            Ok::<_, Full>(taken.len())
        };
        for host in 0..4 {
            take(&format!("192.0.2.{host}")).expect("there is room");
            take(&format!("198.51.100.{host}")).expect("there is room");
        }
        let others: Vec<_> = (0..8).map(|net| take(&format!("10.0.{net}.1"))).collect();
        assert!(others[..6].iter().all(Result::is_ok), "{others:?}");
        assert_eq!(others[6..], [Err(Full::Total(8)), Err(Full::Total(8))], "each subnet has one");
        let is_closed: Vec<bool> = taken.iter_mut().map(|(_, closed)| closed.try_recv().is_ok()).collect();
        assert_eq!(is_closed.iter().filter(|is_closed| **is_closed).count(), 6);
        assert_eq!(admission.count(), 8);
        drop(taken);
        assert!(admission.count() == 0 && admission.counts().closable.is_empty() && admission.counts().subnets.is_empty());
    }

    /// Of one subnet the connection goes that was not used for longest, and none that cannot be closed.
    #[test]
    fn what_is_used_stays() {
        let admission = Admission::new(Caps { total: 4, client: 4, subnet: 4 });
        let mut held: Vec<Permit> = (0..4).map(|_| admission.admit("192.0.2.1".parse().expect("an address")).expect("room")).collect();
        let mut closed: Vec<_> = held[1..].iter_mut().map(Permit::closable).collect();
        for (permit, used) in held.iter().zip([0, 2, 1, 3]) {
            permit.used.store(used, Ordering::Relaxed);
        }
        assert!(admission.admit("198.51.100.1".parse().expect("an address")).is_ok());
        assert_eq!(closed.iter_mut().map(|closed| closed.try_recv().is_ok()).collect::<Vec<_>>(), [false, true, false]);
    }
}
