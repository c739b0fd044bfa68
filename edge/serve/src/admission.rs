//! How many connections come in: in all, of a client and of a subnet.

use crate::{Client, subnet::Subnet};
use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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
}

/// A connection that counts until this is dropped.
#[derive(Debug)]
pub struct Permit {
    admission: Admission,
    client: Client,
    subnet: Subnet,
}

impl Admission {
    /// Nothing counted yet.
    pub fn new(caps: Caps) -> Self {
        Self { caps, counts: Arc::default() }
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
        let (of_client, of_subnet) = (counts.clients.get(&client).copied().unwrap_or(0), counts.subnets.get(&subnet).copied().unwrap_or(0));
        if counts.total >= caps.total {
            return Err(Full::Total(caps.total));
        }
        if of_client >= caps.client {
            return Err(Full::Client(caps.client));
        }
        if of_subnet >= caps.subnet {
            return Err(Full::Subnet(caps.subnet));
        }
        counts.total += 1;
        counts.clients.insert(client, of_client + 1);
        counts.subnets.insert(subnet, of_subnet + 1);
        drop(counts);
        Ok(Permit { admission: self.clone(), client, subnet })
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
        counts.total = counts.total.saturating_sub(1);
        release(&mut counts.clients, &self.client);
        release(&mut counts.subnets, &self.subnet);
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
}
