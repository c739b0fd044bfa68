//! A connection of a client: who opened it, and its part of what all connections share.

use crate::acks;
use crate::app::App;
use crate::reads::Reads;
use crate::refusal::Refusal;
use crate::session::{Grade, Right, Session};
use crate::turns::Turns;
use cowboy_serve::limits::{LimitError, Limits};
use cowboy_serve::{Admission, Caps, Client, ClientTurn, ClientTurns, Held, Memory, Permit};
use cowboy_volume::wire::{EXPORTER, Hello};
use quinn::Connection;
use std::{net::IpAddr, sync::Arc, time::Instant};
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

/// Requests that are worked on at once, of all clients, of one and of a connection. Work is on the disk, or on a page in memory; waiting for the other
/// end is none.
const AT_ONCE: usize = 256;
const AT_ONCE_OF_CLIENT: usize = AT_ONCE / 4;
const AT_ONCE_OF_CONNECTION: usize = 8;

/// Bytes of pages and trees that come or go at once, in all and for each client.
const MAX_HELD: usize = 256 << 20;
const MAX_HELD_OF_CLIENT: usize = MAX_HELD / 4;

/// Shards that come at once, at most and at least, and of one connection.
const MAX_COMING: u64 = 1_024;
const MIN_COMING: u64 = 64;
const COMING_OF_CONNECTION: usize = 16;

/// Open files of a shard that comes, or of which a part is read: its bytes, and the hashes beside them.
const FILES_OF_SHARD: u64 = 2;

/// Files that stay free for what costs stake where it fails, whatever clients do: proofs and demands, the index, slots that are rebuilt, connections
/// to the node and to other relays.
const RESERVED_FILES: u64 = 256;

/// How many shards may come at once, in all, of one client and of its subnet, as far as the process may open files.
///
/// # Errors
///
/// If it may open too few for a relay.
pub(crate) fn coming(limits: &Limits) -> Result<Caps, LimitError> {
    // Each request that is worked on may read a part of a shard.
    let reading = FILES_OF_SHARD.saturating_mul(u64::try_from(AT_ONCE).unwrap_or(u64::MAX));
    let files = limits.files_beside(RESERVED_FILES.saturating_add(reading), FILES_OF_SHARD.saturating_mul(MIN_COMING))?;
    let total = files.map_or(MAX_COMING, |files| (files / FILES_OF_SHARD).min(MAX_COMING));
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    Ok(Caps { total, client: total / 4, subnet: total / 2 })
}

/// What all connections share.
pub(crate) struct Shared {
    app: Arc<App>,
    turns: ClientTurns,
    memory: Memory,
    coming: Admission,
    acks: Turns,
    reads: Reads,
}

/// A connection.
pub(crate) struct Peer {
    shared: Arc<Shared>,
    address: IpAddr,
    pub(crate) connection: Connection,
    session: OnceCell<Session>,
    turns: Semaphore,
    coming: Semaphore,
}

impl Shared {
    pub(crate) fn new(app: Arc<App>, coming: Caps) -> Self {
        let memory = Memory::new(MAX_HELD, MAX_HELD_OF_CLIENT);
        let turns = ClientTurns::new(AT_ONCE, AT_ONCE_OF_CLIENT);
        Self { app, turns, memory, coming: Admission::new(coming), acks: acks::turns(), reads: Reads::default() }
    }
}

impl Peer {
    pub(crate) fn new(shared: Arc<Shared>, connection: Connection) -> Self {
        Self {
            shared,
            address: connection.remote_address().ip(),
            connection,
            session: OnceCell::new(),
            turns: Semaphore::new(AT_ONCE_OF_CONNECTION),
            coming: Semaphore::new(COMING_OF_CONNECTION),
        }
    }

    /// Nothing yet, to which the bytes of a body are added.
    pub(crate) fn held(&self) -> Held {
        self.shared.memory.hold(Client::from(self.address))
    }

    pub(crate) fn app(&self) -> &App {
        &self.shared.app
    }

    /// Opens the session, where there is none yet.
    pub(crate) async fn open(&self, hello: &Hello) -> Result<(), Refusal> {
        let again = || Refusal::Said("the connection is open already");
        // Looking up whoever opens it takes a turn from those that do not have a connection yet (decision 777).
        if self.session.get().is_some() {
            return Err(again());
        }
        let mut exported = [0; 32];
        let exporting = self.connection.export_keying_material(&mut exported, EXPORTER, &[]);
        exporting.map_err(|_| Refusal::Said("the session exports nothing"))?;
        let opened = Session::open(self.app(), hello, &exported).await?;
        self.session.set(opened).map_err(|_| again())
    }

    /// The session, once it is open.
    pub(crate) fn session(&self) -> Result<&Session, Refusal> {
        self.session.get().ok_or(Refusal::Said("say first who opens the connection"))
    }

    /// A turn to work, of the connection, of its client and of all of them. Nobody waits for the other end while it holds one.
    pub(crate) async fn turn(&self) -> Result<(SemaphorePermit<'_>, ClientTurn), Refusal> {
        let own = self.turns.acquire().await.map_err(|_| Refusal::Said("the relay ends"))?;
        Ok((own, self.shared.turns.turn(Client::from(self.address)).await))
    }

    /// A place for a shard that comes. Nobody waits for one: what comes meanwhile would take the window from those that have theirs.
    pub(crate) fn coming(&self) -> Result<(SemaphorePermit<'_>, Permit), Refusal> {
        let own = self.coming.try_acquire().ok();
        let taken = self.shared.coming.admit(self.address).ok();
        own.zip(taken).ok_or(Refusal::Said("the relay takes no more shards at once; try again"))
    }

    /// When a read of this many bytes is due, where it goes beyond the price of its volume, and these bytes. Other relays of the volume rebuild what they
    /// should have, and no read of theirs waits.
    pub(crate) fn due(&self, right: &Right, length: u64) -> Option<(Instant, u64)> {
        let app = self.app();
        let is_stranger = match right.grade {
            Grade::Relay => return None,
            Grade::Reader => true,
            Grade::Owner | Grade::Holder(_) => false,
        };
        let epoch = app.height() / app.chain.params().volumes.epoch.max(1);
        if self.shared.reads.is_paid(right.volume, epoch, app.store.used_by(&right.volume), length, is_stranger) {
            return None;
        }
        app.metrics.throttle(length);
        Some((self.shared.reads.due(Client::from(self.address), length, Instant::now()), length))
    }

    /// Nobody waits any more for a read that was not due yet.
    pub(crate) fn give_up(&self, length: u64) {
        self.shared.reads.give_up(Client::from(self.address), length);
    }

    /// Turns to look through roots.
    pub(crate) fn acks(&self) -> &Turns {
        &self.shared.acks
    }

    /// Counts bytes of a body for this client.
    pub(crate) fn hold(&self, held: &mut Held, bytes: usize) -> Result<(), Refusal> {
        if held.add(bytes) { Ok(()) } else { Err(Refusal::Said("the relay has no memory for more answers at once; try again")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many shards come and are read, files are left for proofs; a process that may open too few says so at the start.
    #[test]
    fn files_are_left_for_proofs() {
        let reading = FILES_OF_SHARD * u64::try_from(AT_ONCE).expect("few");
        for files in [900, 1_024, 2_048, 4_096, 1 << 20] {
            let caps = coming(&Limits::of_files(files)).expect("enough files");
            let coming = u64::try_from(caps.total).expect("few");
            assert!(
                (MIN_COMING..=MAX_COMING).contains(&coming) && caps.client < caps.subnet && caps.subnet < caps.total,
                "{files}: {coming}"
            );
            assert!(files - coming * FILES_OF_SHARD - reading >= RESERVED_FILES, "{files}: {coming}");
        }
        assert_eq!(coming(&Limits::default()).expect("no limit").total, 1_024);
        let error = coming(&Limits::of_files(256)).expect_err("too few files");
        assert!(error.to_string().contains("may open 256 files, and needs 896"), "{error}");
    }
}
