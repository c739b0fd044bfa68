//! Node records that this node knows: bounded in all, and for each subnet, so that one operator cannot fill them (decision 496).

use crate::record::{NodeId, Record};
use cowboy_serve::{Subnet, is_of_use};
use cowboy_types::{Hash, keccak256};
use std::{
    collections::BTreeMap,
    fs,
    net::{IpAddr, SocketAddr},
    path::Path,
};

/// The most records.
const MAX_RECORDS: usize = 1_024;

/// The most records of one subnet.
const MAX_OF_SUBNET: usize = 8;

/// The most connections that are opened to one subnet.
const MAX_DIALLED_OF_SUBNET: usize = 2;

/// The most bytes of the file.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Attempts that failed after which a record gives way to a new one.
const MAX_FAILURES: u32 = 3;

/// Why a record is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// It is of another chain.
    #[error("the record is of another chain: its genesis block is {0}")]
    OtherChain(Hash),
    /// It is this node's own.
    #[error("the record is this node's own")]
    Own,
    /// It has no address to connect to.
    #[error("the record has no address to connect to")]
    NoAddress,
    /// Its address is one of the node's own computer or network, where this node is on the internet.
    #[error("the record's address is not one of the internet")]
    Inside,
    /// A newer one of the same node is there.
    #[error("a newer record of the same node is known")]
    Old,
    /// Its subnet has as many as it may have.
    #[error("{MAX_OF_SUBNET} records of its subnet are known")]
    SubnetFull,
    /// There are as many as there may be, and none gives way.
    #[error("{MAX_RECORDS} records are known")]
    Full,
}

#[derive(Clone, Debug)]
struct Entry {
    record: Record,
    address: SocketAddr,
    /// Attempts that failed since it was last connected.
    failures: u32,
    /// Whether it was ever connected, or was named by this node's operator.
    is_proven: bool,
}

/// The records that a node knows.
#[derive(Debug)]
pub struct PeerTable {
    chain: Hash,
    own: NodeId,
    at: IpAddr,
    entries: BTreeMap<NodeId, Entry>,
}

impl PeerTable {
    /// An empty table for records of this chain. `own` is left out. The node listens `at` this address, which may be unspecified.
    pub fn new(chain: Hash, own: NodeId, at: IpAddr) -> Self {
        Self { chain, own, at, entries: BTreeMap::new() }
    }

    /// Adds the records in a file that [`PeerTable::save`] wrote, as such of nodes that were connected; a file that is not there has none. Lines that are
    /// no records are passed over: they are found again.
    pub fn load(&mut self, path: &Path) {
        if !fs::metadata(path).is_ok_and(|data| data.len() <= MAX_FILE_BYTES) {
            return;
        }
        let Ok(text) = fs::read_to_string(path) else { return };
        for record in text.lines().filter_map(|line| line.parse().ok()) {
            // A record of another chain is of no use in this folder.
            let _ = self.pin(record);
        }
    }

    /// Writes the records of nodes that were connected to a file. What strangers only named does not outlive the process.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let proven = self.entries.values().filter(|entry| entry.is_proven);
        let text: String = proven.map(|entry| format!("{}\n", entry.record)).collect();
        cowboy_host::files::replace(path, text.as_bytes())
    }

    /// Adds a record that this node's operator named, or of a node that was connected: it does not give way to others, wherever it is.
    pub fn pin(&mut self, record: Record) -> Result<(), Rejected> {
        let id = record.id();
        match self.add(record) {
            Ok(()) | Err(Rejected::Old) => self.proven(&id),
            Err(rejected) => return Err(rejected),
        }
        Ok(())
    }

    /// Adds a record that a stranger named, or takes over a newer one of a node that is known.
    pub fn insert(&mut self, record: Record) -> Result<(), Rejected> {
        match record.quic() {
            Some(address) if !is_of_use(self.at, address.ip()) => Err(Rejected::Inside),
            _ => self.add(record),
        }
    }

    fn add(&mut self, record: Record) -> Result<(), Rejected> {
        if *record.chain() != self.chain {
            return Err(Rejected::OtherChain(*record.chain()));
        }
        let id = record.id();
        if id == self.own {
            return Err(Rejected::Own);
        }
        let address = record.quic().ok_or(Rejected::NoAddress)?;
        let known = self.entries.get(&id);
        if known.is_some_and(|known| known.record.sequence() >= record.sequence()) {
            return Err(Rejected::Old);
        }
        let (subnet, is_local) = (Subnet::of(address.ip()), address.ip().is_loopback());
        let neighbours = || self.entries.iter().filter(|(other, entry)| **other != id && Subnet::of(entry.address.ip()) == subnet);
        if !is_local && neighbours().count() >= MAX_OF_SUBNET {
            return Err(Rejected::SubnetFull);
        }
        // A new record of the same address changes nothing about how it answers.
        let known_there = known.filter(|known| known.address.ip() == address.ip());
        let (failures, is_proven) = known_there.map_or((0, false), |known| (known.failures, known.is_proven));
        if known.is_none() && self.entries.len() >= MAX_RECORDS {
            let worst = self.entries.iter().filter(|(_, entry)| !entry.is_proven && entry.failures >= MAX_FAILURES);
            let worst = worst.max_by_key(|(_, entry)| entry.failures).map(|(id, _)| *id).ok_or(Rejected::Full)?;
            self.entries.remove(&worst);
        }
        self.entries.insert(id, Entry { record, address, failures, is_proven });
        Ok(())
    }

    /// Notes that the node was connected, and proved to be the one of its record.
    pub fn proven(&mut self, id: &NodeId) {
        if let Some(entry) = self.entries.get_mut(id) {
            (entry.failures, entry.is_proven) = (0, true);
        }
    }

    /// Notes that a connection to the node failed.
    pub fn failed(&mut self, id: &NodeId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.failures = entry.failures.saturating_add(1);
        }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All records.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.entries.values().map(|entry| &entry.record)
    }

    /// Up to `count` nodes to connect to, none of `connected`, at most two of a subnet together with those. Half of them are such that were connected
    /// before, or that the operator named, as far as there are any: whatever strangers name, those have their turn. Nodes that failed less come first;
    /// among equals `seed` decides.
    pub fn candidates(&self, count: usize, connected: &BTreeMap<NodeId, SocketAddr>, seed: u64) -> Vec<(Record, SocketAddr)> {
        let mut subnets: BTreeMap<Subnet, usize> = BTreeMap::new();
        for address in connected.values() {
            *subnets.entry(Subnet::of(address.ip())).or_default() += 1;
        }
        let mut free: Vec<(&NodeId, &Entry)> = self.entries.iter().filter(|(id, _)| !connected.contains_key(*id)).collect();
        free.sort_by_cached_key(|(id, entry)| (entry.failures, keccak256(&[&seed.to_be_bytes(), id.as_slice()])));
        let (proven, strangers): (Vec<_>, Vec<_>) = free.into_iter().partition(|(_, entry)| entry.is_proven);
        let (first, later) = proven.split_at(proven.len().min(count.div_ceil(2)));
        let mut chosen = Vec::new();
        for (_, entry) in first.iter().chain(&strangers).chain(later) {
            if chosen.len() >= count {
                break;
            }
            let of_subnet = subnets.entry(Subnet::of(entry.address.ip())).or_default();
            if !entry.address.ip().is_loopback() && *of_subnet >= MAX_DIALLED_OF_SUBNET {
                continue;
            }
            *of_subnet += 1;
            chosen.push((entry.record.clone(), entry.address));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{record, record_of};

    /// A table of a node in a network of its own, where addresses for documentation are as good as any.
    fn table() -> PeerTable {
        PeerTable::new(Hash([1; 32]), [0; 32], at("10.0.0.1"))
    }

    fn at(address: &str) -> IpAddr {
        address.parse().expect("an address")
    }

    /// endpoints are public, and nothing traverses an address translation. Whoever names addresses inside does not lead a node of the internet
    /// there; a network on one computer has all its nodes there.
    #[test]
    fn nothing_leads_inside() {
        let inserted = |own: &str, address: &str| PeerTable::new(Hash([1; 32]), [0; 32], at(own)).insert(record(1, address));
        for address in ["127.0.0.1", "127.9.9.9", "10.1.2.3", "192.168.1.1", "169.254.0.1", "::1", "fd00::1"] {
            for own in ["0.0.0.0", "::", "8.8.8.8"] {
                assert_eq!(inserted(own, address), Err(Rejected::Inside), "{own} {address}");
            }
            assert_eq!(inserted("127.0.0.1", address), Ok(()), "{address}");
        }
        assert_eq!((inserted("10.0.0.1", "10.1.2.3"), inserted("10.0.0.1", "127.0.0.1")), (Ok(()), Err(Rejected::Inside)));
        assert_eq!((inserted("0.0.0.0", "8.8.8.8"), inserted("127.0.0.1", "8.8.8.8")), (Ok(()), Ok(())));
        let mut table = PeerTable::new(Hash([1; 32]), [0; 32], at("0.0.0.0"));
        assert_eq!(table.pin(record(1, "127.0.0.1")), Ok(()), "the operator names what it likes");
    }

    /// On loopback no subnet bounds anything: a table that strangers filled leaves half of the connections to those that were connected.
    #[test]
    fn a_full_table_leaves_turns_to_those_that_are_known() {
        let mut table = PeerTable::new(Hash([1; 32]), [0; 32], at("127.0.0.1"));
        let known: Vec<NodeId> = (0..2).map(|number| record(number, "127.0.0.1").id()).collect();
        table.pin(record(0, "127.0.0.1")).expect("there is room");
        table.pin(record(1, "127.0.0.1")).expect("there is room");
        for number in 2..1_100 {
            assert_eq!(
                table.insert(record(number, "127.0.0.1")).is_ok(),
                usize::try_from(number).is_ok_and(|number| number < MAX_RECORDS),
                "{number}"
            );
        }
        assert_eq!(table.len(), MAX_RECORDS);
        // Also where they failed, and the others have not been tried.
        known.iter().for_each(|id| (0..9).for_each(|_| table.failed(id)));
        for seed in 0..50 {
            let chosen = table.candidates(8, &BTreeMap::new(), seed);
            assert!(known.iter().all(|id| chosen.iter().any(|(record, _)| record.id() == *id)) && chosen.len() == 8);
        }
    }

    /// Eclipse: a thousand records of one subnet, offered first, take eight places, and two of the connections.
    #[test]
    fn a_thousand_records_of_one_subnet_do_not_fill_it() {
        let mut table = table();
        for number in 0..1_000u32 {
            let added = table.insert(record(number, &format!("203.0.113.{}", number % 250 + 1)));
            assert_eq!(added.err(), (number >= 8).then_some(Rejected::SubnetFull), "{number}");
        }
        assert_eq!(table.len(), MAX_OF_SUBNET);
        for number in 1_000..1_010u32 {
            table.insert(record(number, &format!("198.51.{}.1", number - 1_000))).expect("there is room for others");
        }
        for seed in 0..50 {
            let chosen = table.candidates(8, &BTreeMap::new(), seed);
            let of_attacker = chosen.iter().filter(|(_, address)| address.ip().to_string().starts_with("203.0.113.")).count();
            assert!(chosen.len() == 8 && of_attacker <= MAX_DIALLED_OF_SUBNET, "{of_attacker} of 8");
        }
        // Also with connections that are there already.
        let connected: BTreeMap<_, _> =
            [([9; 32], "203.0.113.9:1".parse().expect("an address")), ([8; 32], "203.0.113.8:1".parse().expect("an address"))].into();
        let chosen = table.candidates(8, &connected, 1);
        assert!(chosen.iter().all(|(_, address)| !address.ip().to_string().starts_with("203.0.113.")));
    }

    #[test]
    fn a_full_table_lets_go_of_what_never_answered() {
        let mut table = table();
        let ip = |number: u32| format!("{}.{}.1.1", 11 + number / 250, number % 250);
        let mut first = None;
        for number in 0..1_024u32 {
            let one = record(number, &ip(number));
            first.get_or_insert(one.id());
            table.insert(one).expect("there is room");
        }
        assert_eq!(table.insert(record(5_000, "192.0.2.1")), Err(Rejected::Full));
        let first = first.expect("there are records");
        (0..MAX_FAILURES).for_each(|_| table.failed(&first));
        assert_eq!(table.insert(record(5_000, "192.0.2.1")), Ok(()));
        assert_eq!(table.len(), MAX_RECORDS);
        let second = record(1, &ip(1)).id();
        table.proven(&second);
        (0..10).for_each(|_| table.failed(&second));
        assert_eq!(table.insert(record(5_001, "192.0.3.1")), Err(Rejected::Full), "what was once connected stays");
    }

    #[test]
    fn records_of_other_chains_and_older_ones_are_refused() {
        let mut table = PeerTable::new(Hash([1; 32]), record(1, "192.0.2.1").id(), at("10.0.0.1"));
        assert_eq!(table.insert(record_of(2, 7, "192.0.2.1")), Err(Rejected::OtherChain(Hash([2; 32]))));
        assert_eq!(table.insert(record(1, "192.0.2.1")), Err(Rejected::Own));
        assert_eq!(table.insert(record(2, "0.0.0.0")), Err(Rejected::NoAddress));
        assert_eq!((table.insert(record(3, "192.0.2.3")), table.insert(record(3, "192.0.2.4"))), (Ok(()), Err(Rejected::Old)));
        assert!(!table.is_empty() && table.records().count() == 1);
    }

    #[test]
    fn records_outlive_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("peers");
        let mut first = table();
        first.load(&path);
        first.insert(record(1, "192.0.2.1")).expect("there is room");
        first.pin(record(2, "198.51.100.1")).expect("there is room");
        first.insert(record(3, "203.0.113.1")).expect("there is room");
        first.proven(&record(3, "203.0.113.1").id());
        first.save(&path).expect("it is writable");
        let mut text = fs::read_to_string(&path).expect("it is readable");
        text.push_str("enr:damaged\n\nxyz\n");
        fs::write(&path, text).expect("it is writable");
        let mut second = table();
        second.load(&path);
        let kept: Vec<NodeId> = second.records().map(Record::id).collect();
        assert_eq!(kept.len(), 2, "what a stranger named, and never answered, does not outlive the process");
        assert!(second.entries.values().all(|entry| entry.is_proven) && !kept.contains(&record(1, "192.0.2.1").id()));
        let mut other = PeerTable::new(Hash([2; 32]), [0; 32], at("10.0.0.1"));
        other.load(&path);
        assert_eq!(other.len(), 0, "records of another chain");
    }
}
