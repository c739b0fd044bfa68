//! How many connections come in: in all, of a client and of a subnet.
//!
//! Where all are taken, one more of a subnet with few replaces one of the subnet that has the most: a few addresses that hold connections and ask for
//! nothing keep nobody out. Of subnets with as many, it is the one that came last, whatever its address: a flood of new subnets closes its own connections
//! before those of whoever was there.

use crate::{Client, subnet::Subnet};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};
use tokio::sync::oneshot;

/// Connections that were closed for others and have not ended yet, at most: an end takes a moment, and until then they have their descriptors.
const MAX_ENDING: usize = 32;

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

/// The number of a subnet's connections, and its place in the order in which subnets came, which it keeps as long as it has a connection. The greatest
/// rank is the first that makes room.
type Rank = (usize, u64);

#[derive(Debug, Default)]
struct Counts {
    /// Without those that end.
    total: usize,
    /// Connections that were closed for others, and whose permits are still held.
    ending: usize,
    clients: BTreeMap<Client, usize>,
    /// No subnet without connections.
    subnets: BTreeMap<Subnet, Rank>,
    /// The same by their ranks.
    ranks: BTreeSet<(Rank, Subnet)>,
    /// How many subnets came.
    came: u64,
    /// Connections that may be closed for others, by subnet and by the number of their permit; no subnet without one.
    closable: BTreeMap<Subnet, BTreeMap<u64, Closable>>,
    /// The number of the next permit.
    next: u64,
}

/// A connection that may be closed for another.
#[derive(Debug)]
struct Closable {
    client: Client,
    used: Arc<AtomicU64>,
    close: oneshot::Sender<()>,
    closing: Closing,
}

/// What counts of a connection that is closed for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// It counts among those that end, until its permit is dropped.
    Ends,
    /// Nothing from then on.
    AtOnce,
}

impl Counts {
    fn of_subnet(&self, subnet: &Subnet) -> usize {
        self.subnets.get(subnet).map_or(0, |(count, _)| *count)
    }

    fn enter(&mut self, client: Client, subnet: Subnet) {
        self.total += 1;
        *self.clients.entry(client).or_default() += 1;
        self.rank(subnet, self.of_subnet(&subnet) + 1);
    }

    fn leave(&mut self, client: &Client, subnet: Subnet) {
        self.total = self.total.saturating_sub(1);
        if let Some(count) = self.clients.get_mut(client) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.clients.remove(client);
            }
        }
        self.rank(subnet, self.of_subnet(&subnet).saturating_sub(1));
    }

    /// The count of a subnet, which is forgotten with its last connection.
    fn rank(&mut self, subnet: Subnet, count: usize) {
        let former = self.subnets.remove(&subnet);
        if let Some(rank) = former {
            self.ranks.remove(&(rank, subnet));
        }
        if count > 0 {
            let place = former.map_or(self.came, |(_, place)| place);
            self.came += u64::from(former.is_none());
            self.subnets.insert(subnet, (count, place));
            self.ranks.insert(((count, place), subnet));
        }
    }

    /// Why one more of a client and its subnet does not count. In all there is room too where a connection can be closed for it.
    fn refusal(&self, client: &Client, subnet: &Subnet, caps: Caps) -> Option<Full> {
        if self.clients.get(client).is_some_and(|count| *count >= caps.client) {
            return Some(Full::Client(caps.client));
        }
        if self.of_subnet(subnet) >= caps.subnet {
            return Some(Full::Subnet(caps.subnet));
        }
        let has_room = self.total < caps.total || self.closable_for(subnet).is_some();
        (!has_room).then_some(Full::Total(caps.total))
    }

    /// The connection to close for one more of `subnet`: of the fullest subnet that has one, the connection that was not used for longest. None where no
    /// subnet has more than `subnet` would have, or too many connections are ending.
    fn closable_for(&self, subnet: &Subnet) -> Option<(Subnet, u64)> {
        if self.ending >= MAX_ENDING {
            return None;
        }
        let own = self.of_subnet(subnet).saturating_add(1);
        let mut fuller = self.ranks.iter().rev().take_while(|((count, _), _)| *count > own);
        let (holder, closable) = fuller.find_map(|(_, holder)| self.closable.get_key_value(holder))?;
        let (number, _) = closable.iter().min_by_key(|(_, closable)| closable.used.load(Ordering::Relaxed))?;
        Some((*holder, *number))
    }

    fn take_closable(&mut self, subnet: Subnet, number: u64) -> Option<Closable> {
        let of_subnet = self.closable.get_mut(&subnet)?;
        let found = of_subnet.remove(&number);
        if of_subnet.is_empty() {
            self.closable.remove(&subnet);
        }
        found
    }

    /// Closes a connection for one more of `subnet`, where that is possible.
    fn close_one_for(&mut self, subnet: &Subnet) {
        let Some((holder, number)) = self.closable_for(subnet) else { return };
        let Some(closable) = self.take_closable(holder, number) else { return };
        self.leave(&closable.client, holder);
        if closable.closing == Closing::Ends {
            self.ending += 1;
        }
        // Who holds it may have dropped the other end meanwhile: then it is closed already.
        let _ = closable.close.send(());
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
    /// None where it is not closed for others.
    closing: Option<Closing>,
}

impl Permit {
    /// From now on this connection may be closed for another: what is returned is ready then, and whoever holds the permit ends the connection and drops it.
    pub fn closable(&mut self) -> oneshot::Receiver<()> {
        self.closed_by(Closing::Ends)
    }

    /// The same for what has no file descriptor of its own. It counts no more once it is closed for another, however long it takes to end.
    pub fn replaceable(&mut self) -> oneshot::Receiver<()> {
        self.closed_by(Closing::AtOnce)
    }

    fn closed_by(&mut self, closing: Closing) -> oneshot::Receiver<()> {
        let (close, closed) = oneshot::channel();
        let closable = Closable { client: self.client, used: self.used.clone(), close, closing };
        self.closing = Some(closing);
        self.admission.counts().closable.entry(self.subnet).or_default().insert(self.number, closable);
        closed
    }

    /// The connection is used now.
    pub fn note_use(&self) {
        self.used.store(self.admission.now(), Ordering::Relaxed);
    }

    /// When it was used last.
    #[cfg(test)]
    pub(crate) fn used(&self) -> Arc<AtomicU64> {
        self.used.clone()
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
        if let Some(full) = counts.refusal(&client, &subnet, caps) {
            return Err(full);
        }
        if counts.total >= caps.total {
            counts.close_one_for(&subnet);
        }
        counts.enter(client, subnet);
        let number = counts.next;
        counts.next += 1;
        drop(counts);
        let used = Arc::new(AtomicU64::new(self.now()));
        Ok(Permit { admission: self.clone(), client, subnet, number, used, closing: None })
    }

    /// Whether one more of this address would count now. Nothing is closed for it.
    pub fn has_room(&self, address: IpAddr) -> bool {
        self.counts().refusal(&Client::from(address), &Subnet::of(address), self.caps).is_none()
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

impl Drop for Permit {
    fn drop(&mut self) {
        let mut counts = self.admission.counts();
        match self.closing.filter(|_| counts.take_closable(self.subnet, self.number).is_none()) {
            Some(Closing::Ends) => counts.ending = counts.ending.saturating_sub(1),
            Some(Closing::AtOnce) => {}
            None => counts.leave(&self.client, self.subnet),
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
        let counts = admission.counts();
        assert!(
            counts.total == 0 && counts.ending == 0 && counts.closable.is_empty() && counts.subnets.is_empty() && counts.ranks.is_empty()
        );
    }

    /// Connections that were closed for others and do not end are few: then nobody is let in any more.
    #[test]
    fn what_does_not_end_keeps_its_descriptor() {
        let admission = Admission::new(Caps { total: 200, client: 200, subnet: 200 });
        let admit = |address: [u8; 4]| admission.admit(IpAddr::from(address));
        let mut held: Vec<Permit> = (0..200).map(|_| admit([192, 0, 2, 1]).expect("there is room")).collect();
        let closed: Vec<_> = held.iter_mut().map(Permit::closable).collect();
        let mut others: Vec<_> = (0..100).map_while(|net| admit([10, 0, net, 1]).ok()).collect();
        assert_eq!(others.len(), MAX_ENDING);
        assert_eq!(admit([10, 0, 200, 1]).err(), Some(Full::Total(200)));
        let ended = closed.into_iter().zip(held).filter_map(|(mut closed, permit)| closed.try_recv().is_err().then_some((closed, permit)));
        let still: Vec<_> = ended.collect();
        assert_eq!((still.len(), admission.counts().ending), (200 - MAX_ENDING, 0), "the closed ones have ended");
        others.push(admit([10, 0, 200, 1]).expect("others are closed now"));
        assert_eq!(admission.count(), 200);
    }

    /// What is closed at once counts no more, though it has not ended: however much does not end, others come in.
    #[test]
    fn what_is_replaced_counts_no_more() {
        let admission = Admission::new(Caps { total: 100, client: 100, subnet: 100 });
        let admit = |address: [u8; 4]| admission.admit(IpAddr::from(address));
        let mut held: Vec<Permit> = (0..100).map(|_| admit([192, 0, 2, 1]).expect("there is room")).collect();
        let mut closed: Vec<_> = held.iter_mut().map(Permit::replaceable).collect();
        let others: Vec<_> = (0..200).map_while(|net| admit([10, 0, net, 1]).ok()).collect();
        assert_eq!(others.len(), 99, "each subnet has one");
        assert_eq!(closed.iter_mut().filter_map(|closed| closed.try_recv().ok()).count(), 99);
        drop(held);
        assert_eq!((admission.count(), admission.counts().ending), (99, 0));
    }

    /// Of subnets with as many connections, the one makes room that came last, and not the one with the highest address.
    #[test]
    fn no_address_is_a_disadvantage() {
        let admission = Admission::new(Caps { total: 6, client: 2, subnet: 2 });
        let nets = [[10, 0, 0], [203, 0, 113], [192, 0, 2]];
        let admit = |[a, b, c]: [u8; 3]| admission.admit(IpAddr::from([a, b, c, 1]));
        let mut held: Vec<Permit> = nets.iter().flat_map(|net| [admit(*net), admit(*net)]).map(|permit| permit.expect("room")).collect();
        let mut closed: Vec<_> = held.iter_mut().map(Permit::closable).collect();
        let mut order = Vec::new();
        for other in [[172, 16, 0], [172, 16, 1], [172, 16, 2]] {
            held.push(admit(other).expect("another makes room"));
            order.extend(closed.iter_mut().position(|closed| closed.try_recv().is_ok()).map(|place| place / 2));
        }
        assert_eq!(order, [2, 1, 0]);
    }

    /// New subnets, and subnets that connect again and again, close their own connections before those of a client that was there and is quiet.
    #[test]
    fn who_was_there_stays() {
        let admission = Admission::new(Caps { total: 8, client: 3, subnet: 3 });
        let admit = |address: [u8; 4]| admission.admit(IpAddr::from(address));
        let mut honest = [1, 1].map(|host| admit([192, 0, 2, host]).expect("there is room"));
        let mut closed: Vec<_> = honest.iter_mut().map(Permit::closable).collect();
        let mut flood: Vec<(Permit, oneshot::Receiver<()>)> = Vec::new();
        let mut take = |address: [u8; 4]| {
            let mut permit = admit(address)?;
            let closed = permit.closable();
            flood.push((permit, closed));
            Ok::<_, Full>(())
        };
        for net in [1, 2, 3, 1, 2, 3] {
            take([203, 0, net, 1]).expect("there is room");
        }
        for net in [4, 5, 6] {
            take([203, 0, net, 1]).expect("one of the flood makes room");
            assert!(closed.iter_mut().all(|closed| closed.try_recv().is_err()), "subnet {net}");
        }
        // Now nobody else has two.
        take([203, 0, 7, 1]).expect("there is room for another subnet");
        assert_eq!(closed.iter_mut().filter_map(|closed| closed.try_recv().ok()).count(), 1);
        assert_eq!(take([203, 0, 8, 1]), Err(Full::Total(8)), "each subnet keeps one");
    }

    /// A subnet keeps its place, however often its number of connections changes.
    #[test]
    fn a_change_is_no_arrival() {
        let admission = Admission::new(Caps { total: 4, client: 2, subnet: 2 });
        let admit = |net: u8| admission.admit(IpAddr::from([10, 0, net, 1])).expect("there is room");
        let (mut first, mut later) = (vec![admit(1)], vec![admit(2), admit(2)]);
        first.push(admit(1));
        let mut closed: Vec<_> = first.iter_mut().chain(&mut later).map(Permit::closable).collect();
        let _other = admit(3);
        assert_eq!(closed.iter_mut().position(|closed| closed.try_recv().is_ok()).map(|place| place / 2), Some(1));
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
