//! A connection of a client: who opened it, and its part of what all connections share.

use crate::acks::Acks;
use crate::app::App;
use crate::refusal::Refusal;
use crate::session::Session;
use cowboy_serve::{Admission, Caps, Client, Held, Memory, Permit};
use cowboy_volume::wire::{EXPORTER, Hello};
use quinn::Connection;
use std::{net::IpAddr, sync::Arc};
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

/// Requests that are worked on at once, of all connections and of one. Work is on the disk, or on a page in memory; waiting for the other end is none.
const AT_ONCE: usize = 256;
const AT_ONCE_OF_CONNECTION: usize = 8;

/// Bytes of pages and trees that come or go at once, in all and for each client.
const MAX_HELD: usize = 256 << 20;
const MAX_HELD_OF_CLIENT: usize = MAX_HELD / 4;

/// Shards that come at once, in all, of one client and of its subnet, and of one connection: each has two open files.
const COMING: Caps = Caps { total: 1_024, client: 256, subnet: 512 };
const COMING_OF_CONNECTION: usize = 16;

/// What all connections share.
pub(crate) struct Shared {
    app: Arc<App>,
    turns: Semaphore,
    memory: Memory,
    coming: Admission,
    acks: Acks,
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
    pub(crate) fn new(app: Arc<App>) -> Self {
        let memory = Memory::new(MAX_HELD, MAX_HELD_OF_CLIENT);
        Self { app, turns: Semaphore::new(AT_ONCE), memory, coming: Admission::new(COMING), acks: Acks::new() }
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
        let mut exported = [0; 32];
        let exporting = self.connection.export_keying_material(&mut exported, EXPORTER, &[]);
        exporting.map_err(|_| Refusal::Said("the session exports nothing"))?;
        let opened = Session::open(self.app(), hello, &exported).await?;
        self.session.set(opened).map_err(|_| Refusal::Said("the connection is open already"))
    }

    /// The session, once it is open.
    pub(crate) fn session(&self) -> Result<&Session, Refusal> {
        self.session.get().ok_or(Refusal::Said("say first who opens the connection"))
    }

    /// A turn to work, of the connection and of all of them. Nobody waits for the other end while it holds one.
    pub(crate) async fn turn(&self) -> Result<[SemaphorePermit<'_>; 2], Refusal> {
        let closed = |_| Refusal::Said("the relay ends");
        Ok([self.turns.acquire().await.map_err(closed)?, self.shared.turns.acquire().await.map_err(closed)?])
    }

    /// A place for a shard that comes. Nobody waits for one: what comes meanwhile would take the window from those that have theirs.
    pub(crate) fn coming(&self) -> Result<(SemaphorePermit<'_>, Permit), Refusal> {
        let own = self.coming.try_acquire().ok();
        let taken = self.shared.coming.admit(self.address).ok();
        own.zip(taken).ok_or(Refusal::Said("the relay takes no more shards at once; try again"))
    }

    /// Turns to look through roots.
    pub(crate) fn acks(&self) -> &Acks {
        &self.shared.acks
    }

    /// Counts bytes of a body for this client.
    pub(crate) fn hold(&self, held: &mut Held, bytes: usize) -> Result<(), Refusal> {
        if held.add(bytes) { Ok(()) } else { Err(Refusal::Said("the relay has no memory for more answers at once; try again")) }
    }
}
