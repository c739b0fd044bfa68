//! How many connections a process has open, in all, for each client and for each subnet.

use crate::{
    admission::{Admission, Caps, Full, Permit},
    subnet,
};
use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The connections that servers of one process share. Clones share them.
#[derive(Clone, Debug)]
pub struct Slots {
    total: usize,
    admission: Admission,
    refused: Arc<AtomicU64>,
}

impl Slots {
    /// At most this many connections at once.
    pub fn new(total: usize) -> Self {
        let admission = Admission::new(Caps { total, client: total, subnet: total });
        Self { total, admission, refused: Arc::default() }
    }

    /// Takes a place for a connection from `address`, whose client may have `share` of them. It is given back when the permit is dropped.
    ///
    /// # Errors
    ///
    /// If all places are taken, or this client or its subnet has its share.
    pub fn take(&self, address: IpAddr, share: usize) -> Result<Permit, Full> {
        let caps = Caps { total: self.total, client: share, subnet: share.saturating_mul(subnet::SHARES) };
        self.admission.admit_within(address, caps).inspect_err(|_| {
            self.refused.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Connections that are open now.
    pub fn open(&self) -> usize {
        self.admission.count()
    }

    /// Connections that were refused since the start.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever has a /60 of IPv6 has sixteen clients, and a part of the places all the same.
    #[test]
    fn clients_and_subnets_have_shares() {
        let slots = Slots::new(6);
        let take = |text: &str| slots.take(text.parse().expect("an address"), 2);
        let of_one: Vec<Permit> = (0..16).filter_map(|host| take(&format!("2001:db8:1:10::{host}")).ok()).collect();
        assert_eq!(of_one.len(), 2);
        let neighbours: Vec<Permit> = (0x11..0x20).filter_map(|net| take(&format!("2001:db8:1:{net:x}::1")).ok()).collect();
        assert_eq!(neighbours.len(), 2, "their subnet has its share");
        assert_eq!(take("2001:db8:1:20::1").err(), Some(Full::Subnet(4)));
        assert_eq!(take("2001:db8:1:10::1").err(), Some(Full::Client(2)));
        let others = [take("192.0.2.1"), take("2001:db8:2::1")];
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(take("198.51.100.1").err(), Some(Full::Total(6)));
        assert_eq!(slots.open(), 6);
        drop((of_one, neighbours, others));
        assert_eq!(slots.open(), 0);
    }
}
