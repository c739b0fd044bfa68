//! Connections that come in: who may shake hands, and how many at a time (decisions
//! [356](../../../../docs/decisions/0356-who-may-shake-hands.md) and [657](../../../../docs/decisions/0657-validators-without-an-address.md)).

use super::{Context, Sink, Stream, halves};
use commonware_runtime::{Error, Listener as RuntimeListener};
use cowboy_serve::{Admission, Caps};
use quinn::{Endpoint, Incoming};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc},
    time::{sleep, timeout},
};

/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Handshakes under way at a time with other ports of the peers' hosts; more are refused.
pub(super) const MAX_HANDSHAKES: usize = 256;

/// Handshakes under way at a time with the address at which a peer listens, from which it also dials.
pub(super) const HANDSHAKES_OF_A_PEER: usize = 4;

/// Handshakes at a time with hosts of which no peer has the address, while such hosts may connect.
const OF_STRANGERS: Caps = Caps { total: MAX_HANDSHAKES, client: HANDSHAKES_OF_A_PEER, subnet: 4 * HANDSHAKES_OF_A_PEER };

/// Connections that came in and finished their handshake.
pub struct Listener {
    address: SocketAddr,
    accepted: mpsc::Receiver<(SocketAddr, Sink, Stream)>,
}

impl Listener {
    /// What comes in at an endpoint, from hosts that the gate admits.
    pub(super) fn new(endpoint: &Endpoint, gate: Arc<Gate>) -> Result<Self, Error> {
        let address = endpoint.local_addr().map_err(|_| Error::BindFailed)?;
        let (sender, accepted) = mpsc::channel(MAX_HANDSHAKES);
        tokio::spawn(accept_all(endpoint.clone(), gate, sender));
        Ok(Self { address, accepted })
    }
}

impl RuntimeListener for Listener {
    type Sink = Sink;
    type Stream = Stream;

    async fn accept(&mut self) -> Result<(SocketAddr, Sink, Stream), Error> {
        self.accepted.recv().await.ok_or(Error::Closed)
    }

    fn local_addr(&self) -> Result<SocketAddr, std::io::Error> {
        Ok(self.address)
    }
}

/// Who may shake hands, and with how many at a time.
///
/// Whoever opens a connection and then says nothing holds a handshake until it times out. So a peer's own address has handshakes that
/// nobody else can hold, and hosts without a peer have none, or few while a peer is expected whose address nobody knows.
#[derive(Debug)]
pub struct Gate {
    peers: Mutex<BTreeMap<SocketAddr, Arc<Semaphore>>>,
    neighbours: Arc<Semaphore>,
    strangers: Admission,
    takes_strangers: AtomicBool,
}

impl Context {
    /// Who may connect to this node.
    pub(crate) fn gate(&self) -> Arc<Gate> {
        self.quic.gate.clone()
    }
}

impl Gate {
    /// A gate for hosts of these peers.
    pub(crate) fn new(peers: impl IntoIterator<Item = SocketAddr>) -> Self {
        let gate = Self {
            peers: Mutex::default(),
            neighbours: Arc::new(Semaphore::new(MAX_HANDSHAKES)),
            strangers: Admission::new(OF_STRANGERS),
            takes_strangers: AtomicBool::default(),
        };
        gate.admit(peers, false);
        gate
    }

    /// Admits hosts of these peers from now on, and others only if it takes strangers. Connections that are there stay.
    pub(crate) fn admit(&self, peers: impl IntoIterator<Item = SocketAddr>, takes_strangers: bool) {
        self.takes_strangers.store(takes_strangers, Ordering::Relaxed);
        let mut held = self.peers.lock().expect("nothing panics while it holds the lock");
        let own = || Arc::new(Semaphore::new(HANDSHAKES_OF_A_PEER));
        let peers = peers.into_iter().map(canonical);
        *held = peers.map(|address| (address, held.remove(&address).unwrap_or_else(own))).collect();
    }

    /// Whether hosts without a peer may connect.
    pub(crate) fn takes_strangers(&self) -> bool {
        self.takes_strangers.load(Ordering::Relaxed)
    }

    /// The handshakes that an address has its part of; none on a host without a peer.
    fn slots(&self, from: SocketAddr) -> Option<Arc<Semaphore>> {
        let from = canonical(from);
        let peers = self.peers.lock().expect("nothing panics while it holds the lock");
        let is_neighbour = || peers.keys().any(|peer| peer.ip() == from.ip());
        peers.get(&from).or_else(|| is_neighbour().then_some(&self.neighbours)).cloned()
    }
}

/// The address by which peers know a host. A listener of both IPv4 and IPv6 sees IPv4 addresses mapped into IPv6 ones.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Takes connections until the listener is dropped.
async fn accept_all(endpoint: Endpoint, gate: Arc<Gate>, accepted: mpsc::Sender<(SocketAddr, Sink, Stream)>) {
    loop {
        let incoming = tokio::select! {
            incoming = endpoint.accept() => incoming,
            () = accepted.closed() => return,
        };
        let Some(incoming) = incoming else { return };
        let from = incoming.remote_address();
        let slots = gate.slots(from);
        if slots.is_none() && !gate.takes_strangers() {
            incoming.ignore();
            continue;
        }
        // An address that was not shown to be the sender's costs no state until it is.
        if !incoming.remote_address_validated() {
            // Fails only for addresses that are validated already.
            let _ = incoming.retry();
            continue;
        }
        let held = match slots {
            Some(slots) => slots.try_acquire_owned().ok().map(|permit| (Some(permit), None)),
            None => gate.strangers.admit(canonical(from).ip()).ok().map(|permit| (None, Some(permit))),
        };
        let Some((permit, stranger)) = held else {
            incoming.refuse();
            continue;
        };
        let accepted = accepted.clone();
        tokio::spawn(async move {
            let _permit = permit;
            if let Ok(Some(connection)) = timeout(HANDSHAKE_TIMEOUT, finish(incoming)).await {
                // A listener that is gone wants no connection.
                let _ = accepted.send(connection).await;
            }
            if stranger.is_some() {
                // The network verifies next who it is, for a number of connections that peers need, too.
                sleep(HANDSHAKE_TIMEOUT).await;
            }
        });
    }
}

pub(super) async fn finish(incoming: Incoming) -> Option<(SocketAddr, Sink, Stream)> {
    let connection = incoming.await.ok()?;
    let (sending, receiving) = connection.accept_bi().await.ok()?;
    let address = canonical(connection.remote_address());
    let (sink, stream) = halves(connection, sending, receiving);
    Some((address, sink, stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts without a peer have no handshakes; a peer's are its own, whatever its neighbours hold.
    #[test]
    fn hosts_without_a_peer_may_not_connect() {
        let [peer, other] = ["192.0.2.1:3000", "192.0.2.1:4000"].map(|text| text.parse().expect("an address"));
        let gate = Gate::new([peer]);
        let (own, shared) = (gate.slots(peer).expect("a peer's"), gate.slots(other).expect("its host's"));
        assert_eq!((own.available_permits(), shared.available_permits()), (HANDSHAKES_OF_A_PEER, MAX_HANDSHAKES));
        for stranger in ["192.0.2.2:3000", "[2001:db8::1]:3000"] {
            assert!(gate.slots(stranger.parse().expect("an address")).is_none(), "{stranger}");
        }
        assert!(Gate::new([]).slots(peer).is_none(), "who has no peers lets nobody in");
        let mapped: [SocketAddr; 2] = ["[::ffff:192.0.2.1]:3000", "[::ffff:192.0.2.1]:4000"].map(|text| text.parse().expect("an address"));
        assert!(Arc::ptr_eq(&gate.slots(mapped[0]).expect("a peer's"), &own), "as a listener of IPv4 and IPv6 sees it");
        assert!(gate.slots(mapped[1]).is_some() && Gate::new([mapped[0]]).slots(peer).is_some());
        let later: SocketAddr = "192.0.2.2:3000".parse().expect("an address");
        let held = own.clone().try_acquire_owned().expect("one is free");
        gate.admit([peer, later], false);
        assert!(gate.slots(later).is_some(), "a peer of the next epoch");
        assert_eq!(gate.slots(peer).expect("a peer's").available_permits(), HANDSHAKES_OF_A_PEER - 1, "what is under way counts");
        drop(held);
        gate.admit([later], false);
        assert!(gate.slots(peer).is_none() && !gate.takes_strangers(), "a peer of an epoch that is over");
    }
}
