//! What is read of each volume for its price, and how fast an address reads what goes beyond it (decisions 161 and 608).

use cowboy_serve::Client;
use cowboy_types::Hash;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is read of a volume in an epoch for its price, as a multiple of what it has here.
const TIMES_STORED: u64 = 30;

/// Bytes that are read for the price however little there is: the tree of a few files is read with each of them.
const MIN_BYTES: u64 = 4 << 20;

/// Bytes that an address reads in a second beyond the price.
const BYTES_PER_SECOND: u64 = 1 << 20;

/// Addresses that are held before those are forgotten whose reads are all due.
const HELD: usize = 1_024;

/// What is read.
#[derive(Default)]
pub(crate) struct Reads {
    counted: Mutex<Counted>,
    /// When the next read beyond the price of an address is due.
    next: Mutex<HashMap<Client, Instant>>,
}

/// Bytes that were read in an epoch for the price, by volume.
#[derive(Default)]
struct Counted {
    epoch: u64,
    bytes: HashMap<Hash, u64>,
}

impl Reads {
    /// Counts a read of a volume that has `stored` bytes here; false, and nothing is counted, where it goes beyond the price. Strangers leave a quarter
    /// to the owner and to holders of rights.
    pub(crate) fn is_paid(&self, volume: Hash, epoch: u64, stored: u64, length: u64, is_stranger: bool) -> bool {
        let all = stored.saturating_mul(TIMES_STORED).max(MIN_BYTES);
        let most = if is_stranger { all - all / 4 } else { all };
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.epoch != epoch {
            *counted = Counted { epoch, bytes: HashMap::new() };
        }
        let bytes = counted.bytes.entry(volume).or_default();
        let sum = bytes.saturating_add(length);
        let is_paid = sum <= most;
        if is_paid {
            *bytes = sum;
        }
        is_paid
    }

    /// When a read of an address beyond the price is due: after those before it, as long as their bytes take.
    pub(crate) fn due(&self, client: Client, length: u64, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.len() >= HELD {
            next.retain(|_, due| *due > now);
        }
        let own = next.entry(client).or_insert(now);
        let due = (*own).max(now);
        *own = due.checked_add(time_of(length)).unwrap_or(due);
        due
    }

    /// Nobody waits any more for a read of an address: those that come later are due earlier. Otherwise clients that give up and ask again would wait
    /// for what nobody reads.
    pub(crate) fn give_up(&self, client: Client, length: u64) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = next.get_mut(&client) {
            *own = own.checked_sub(time_of(length)).unwrap_or(*own);
        }
    }
}

/// The time that a read beyond the price takes.
fn time_of(length: u64) -> Duration {
    Duration::from_micros(length.saturating_mul(1_000_000) / BYTES_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    const VOLUME: Hash = Hash([1; 32]);
    const MIB: u64 = 1 << 20;

    fn client(number: u32) -> Client {
        Client::from(IpAddr::V4(Ipv4Addr::from(number)))
    }

    /// Thirty times what is stored is read in an epoch, at least 4 MiB, by volume; strangers leave a quarter; the next epoch begins anew.
    #[test]
    fn reads_are_in_the_price_up_to_thirty_times() {
        let reads = Reads::default();
        let read = |volume, epoch, stored, is_stranger| (0..100).filter(|_| reads.is_paid(volume, epoch, stored, MIB, is_stranger)).count();
        assert_eq!(read(VOLUME, 5, MIB, false), 30);
        assert_eq!(read(VOLUME, 5, MIB, true), 0);
        assert_eq!(read(VOLUME, 5, 2 * MIB, false), 30, "more is stored by now");
        assert_eq!(read(Hash([2; 32]), 5, 4 * MIB, true), 90, "another volume has its own");
        assert_eq!(read(Hash([2; 32]), 5, 4 * MIB, false), 30);
        assert_eq!(read(VOLUME, 6, 0, true), 3, "another epoch, with nothing stored");
        assert_eq!(read(VOLUME, 6, 0, false), 1);
        assert!(!reads.is_paid(VOLUME, 6, u64::MAX, u64::MAX, true) && reads.is_paid(VOLUME, 6, u64::MAX, MIB, true));
    }

    /// Beyond the price an address reads 1 MiB in a second, and its first read at once; another address does not wait for it.
    #[test]
    fn an_address_has_a_rate_beyond_the_price() {
        let reads = Reads::default();
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let due: Vec<Instant> = (0..4).map(|_| reads.due(client(1), MIB / 2, start)).collect();
        assert_eq!(due, [after(0), after(500), after(1_000), after(1_500)]);
        assert_eq!(reads.due(client(2), MIB, start), start);
        assert_eq!(reads.due(client(1), 0, after(1_800)), after(2_000), "what was taken before counts");
        assert_eq!(reads.due(client(1), MIB, after(9_000)), after(9_000), "what was not taken is lost");
        assert_eq!(reads.due(client(1), 1, after(9_000)), after(10_000));
    }

    /// A read that nobody waits for any more holds no other one up.
    #[test]
    fn what_is_given_up_takes_no_time() {
        let reads = Reads::default();
        let start = Instant::now();
        for _ in 0..128 {
            reads.due(client(1), MIB, start);
        }
        let after = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..98 {
            reads.give_up(client(1), MIB);
        }
        assert_eq!(reads.due(client(1), MIB, after(1)), after(30));
        reads.give_up(client(2), MIB);
        assert_eq!(reads.due(client(2), MIB, start), start);
    }

    /// However many addresses read, only those are held that would have to wait.
    #[test]
    fn addresses_that_need_not_wait_are_forgotten() {
        let reads = Reads::default();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        reads.due(client(0), 20_000 * MIB, start);
        for number in 1..10_000 {
            reads.due(client(number), MIB, after(u64::from(number)));
        }
        let held = reads.next.lock().expect("nothing panicked").len();
        assert!(held <= HELD, "{held}");
        assert_eq!(reads.due(client(0), 1, after(10_000)), after(20_000), "it has to wait");
    }
}
