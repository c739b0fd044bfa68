//! What serves requests: it lives on one thread, because connections to relays do, and requests come to it through a [`Handle`].

mod commits;
mod handle;
mod known;
mod repeats;
mod requests;
#[cfg(test)]
mod tests;

pub(crate) use commits::{Condition, Order};
pub(crate) use handle::{Handle, serve};
pub(crate) use requests::Requests;

use crate::fault::Fault;
use crate::spool::{Body, Spooled};
use crate::store::{About, Edit, Sent, Space, Store};
use commits::{Queue, apply};
use cowboy_cli::volumes::Rights;
use cowboy_host::clock;
use cowboy_volume::Entry;
use cowboy_volumes::code::OBJECT_BYTES;
use cowboy_volumes::name::MAX_PARTITIONS;
use cowboy_volumes::{Name, Path};
use known::Listings;
use repeats::{Repeats, is_same_file};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};
use tokio::io::DuplexStream;
use tokio::sync::{Notify, Semaphore};
use tokio_util::io::ReaderStream;

/// Files that are sent at once.
const SENDING: usize = 8;

/// Bytes of a file that are read ahead of who takes them.
const AHEAD: usize = 256 * 1024;

/// The files of a partition, by path.
pub(crate) type Listing = BTreeMap<String, Entry>;

/// What is committed while a listing is read.
type Meanwhile = RefCell<Vec<Edit>>;

/// Files that are sent to one path at once.
#[derive(Default)]
struct Racing {
    /// How many are under way.
    count: usize,
    /// When the newest change of the path began that was committed meanwhile.
    newest: u64,
}

/// A file that is under way to its path.
pub(crate) struct Begun {
    engine: Rc<Engine>,
    path: String,
    /// Its place in the order in which changes began.
    number: u64,
}

impl Drop for Begun {
    fn drop(&mut self) {
        let mut racing = self.engine.racing.borrow_mut();
        let Some(own) = racing.get_mut(&self.path) else { return };
        own.count = own.count.saturating_sub(1);
        if own.count == 0 {
            racing.remove(&self.path);
        }
    }
}

/// A volume, with what waits to be committed.
pub(crate) struct Engine {
    store: Box<dyn Store>,
    is_read_only: bool,
    known: RefCell<Listings>,
    /// What is committed while lists are read.
    listings: RefCell<Vec<(Name, Weak<Meanwhile>)>>,
    /// Partitions that are shown also without files: somebody asked for them, or removed files of them.
    made: RefCell<BTreeSet<Name>>,
    queues: RefCell<BTreeMap<Name, Queue>>,
    sending: Semaphore,
    /// How many changes began.
    begun: Cell<u64>,
    racing: RefCell<BTreeMap<String, Racing>>,
    /// What was put under conditions a while ago.
    repeats: RefCell<Repeats>,
    /// The same, also of programs before this one.
    requests: RefCell<Requests>,
    /// Tells whoever waits that a queue is empty.
    settled: Notify,
}

impl Engine {
    /// An engine for a volume.
    pub(crate) fn new(store: Box<dyn Store>, is_read_only: bool) -> Rc<Self> {
        Rc::new(Self {
            store,
            is_read_only,
            known: RefCell::default(),
            listings: RefCell::default(),
            made: RefCell::default(),
            queues: RefCell::default(),
            sending: Semaphore::new(SENDING),
            begun: Cell::default(),
            racing: RefCell::default(),
            repeats: RefCell::default(),
            requests: RefCell::default(),
            settled: Notify::new(),
        })
    }

    /// Keeps what is put under conditions for the next program, and knows what earlier ones put.
    pub(crate) fn remember(&self, requests: Requests) {
        self.requests.replace(requests);
    }

    /// What requests may do.
    pub(crate) fn rights(&self) -> Rights {
        let rights = self.store.rights();
        Rights { writes: rights.writes && !self.is_read_only, removes: rights.removes && !self.is_read_only, ..rights }
    }

    fn lies_within(&self, partition: &Name) -> bool {
        self.rights().partition.is_none_or(|only| only == partition.partition())
    }

    /// Refuses who may not write a partition.
    pub(crate) fn may_write(&self, partition: &Name) -> Result<(), Fault> {
        match self.rights().writes && self.lies_within(partition) {
            true => Ok(()),
            false => Err(Fault::Forbidden("files may be read here, and not written")),
        }
    }

    /// Refuses who may not remove files of a partition.
    pub(crate) fn may_remove(&self, partition: &Name) -> Result<(), Fault> {
        match self.rights().removes && self.lies_within(partition) {
            true => Ok(()),
            false => Err(Fault::Forbidden("only the owner of a volume removes files, and not where it is served for reading")),
        }
    }

    fn may_read(&self, partition: &Name) -> Result<(), Fault> {
        match self.rights().reads && self.lies_within(partition) {
            true => Ok(()),
            false => Err(Fault::Forbidden("the capability does not read this partition")),
        }
    }

    /// The partitions whose names are known here.
    pub(crate) async fn partitions(&self) -> Result<BTreeSet<Name>, Fault> {
        let mut names: BTreeSet<Name> = self.store.names().await?.into_iter().collect();
        names.extend(self.made.borrow().iter().cloned());
        Ok(names)
    }

    /// Whether a partition has files, or is shown without any. The chain keeps those that have none.
    pub(crate) async fn has_partition(&self, partition: &Name) -> Result<bool, Fault> {
        Ok(self.is_made(partition) || self.lies_within(partition) && self.store.has_files(partition).await?)
    }

    /// Whether a partition is shown also without files: it was asked for, or lost files here.
    pub(crate) fn is_made(&self, partition: &Name) -> bool {
        self.made.borrow().contains(partition)
    }

    /// Notes that a partition is wanted. The chain knows of it with its first file.
    pub(crate) fn make_partition(&self, partition: &Name) -> Result<(), Fault> {
        self.may_write(partition)?;
        let mut made = self.made.borrow_mut();
        if made.len() >= MAX_PARTITIONS && !made.contains(partition) {
            return Err(Fault::Forbidden("a volume has at most 64 partitions"));
        }
        made.insert(partition.clone());
        Ok(())
    }

    /// Forgets a partition without files.
    pub(crate) fn forget_partition(&self, partition: &Name) {
        self.made.borrow_mut().remove(partition);
    }

    /// The files of a partition. What was seen within `age` is believed to stand.
    pub(crate) async fn listing(&self, partition: &Name, age: Duration) -> Result<Rc<Listing>, Fault> {
        self.may_read(partition)?;
        if let Some(files) = self.known.borrow_mut().recent(partition, age) {
            return Ok(files);
        }
        let meanwhile: Rc<Meanwhile> = Rc::default();
        {
            let mut listings = self.listings.borrow_mut();
            listings.retain(|(_, edits)| edits.strong_count() > 0);
            listings.push((partition.clone(), Rc::downgrade(&meanwhile)));
        }
        let root = self.store.root(partition).await?;
        if root.is_none() && !self.made.borrow().contains(partition) {
            return Err(Fault::NoPartition(partition.as_str().to_owned()));
        }
        if let Some(files) = self.known.borrow_mut().standing(partition, root) {
            return Ok(files);
        }
        let entries = if root.is_none() { Vec::new() } else { self.store.list(partition).await? };
        let mut files: Listing = entries.into_iter().map(|entry| (entry.meta.path.to_string(), entry)).collect();
        let meanwhile = meanwhile.take();
        if !meanwhile.is_empty() {
            // What was read may be older than that, and is not kept.
            apply(&mut files, &meanwhile);
            return Ok(Rc::new(files));
        }
        let files = Rc::new(files);
        // Where it was changed meanwhile, the next request reads it again.
        self.known.borrow_mut().keep(partition, root, files.clone());
        Ok(files)
    }

    /// A file, as the chain has it now.
    pub(crate) async fn find(&self, path: &Path) -> Result<Option<Entry>, Fault> {
        let partition = path.partition();
        self.may_read(&partition)?;
        self.looked_up(path).await
    }

    /// The same, also for who may only write.
    async fn looked_up(&self, path: &Path) -> Result<Option<Entry>, Fault> {
        let partition = path.partition();
        let root = self.store.root(&partition).await?;
        if root.is_none() {
            let is_made = self.made.borrow().contains(&partition);
            return if is_made { Ok(None) } else { Err(Fault::NoPartition(partition.as_str().to_owned())) };
        }
        if let Some(files) = self.known.borrow_mut().of_root(&partition, root) {
            return Ok(files.get(path.as_str()).cloned());
        }
        self.store.find(path).await
    }

    /// A part of a file. Reading continues as long as somebody takes it; what cannot be read ends the stream early.
    pub(crate) fn read(self: &Rc<Self>, entry: Entry, part: Range<u64>) -> DuplexStream {
        let (mut writer, reader) = tokio::io::duplex(AHEAD);
        let engine = self.clone();
        tokio::task::spawn_local(async move {
            // Whoever reads sees that it is too short.
            let _ = engine.store.read(&entry, part, &mut writer).await;
        });
        reader
    }

    /// A part of a file, as a whole.
    pub(crate) async fn part(&self, entry: &Entry, part: Range<u64>) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        self.store.read(entry, part, &mut bytes).await?;
        Ok(bytes)
    }

    /// Takes a part of a file into the spool, and shows each piece to `see`. Answers where it lies.
    pub(crate) async fn spool(
        &self,
        entry: &Entry,
        part: Range<u64>,
        spooled: &Spooled,
        see: impl FnMut(&[u8]),
    ) -> Result<Range<u64>, Fault> {
        let (mut writer, reader) = tokio::io::duplex(AHEAD);
        let length = part.end.saturating_sub(part.start);
        let reading = async move {
            let done = self.store.read(entry, part, &mut writer).await;
            // Its end is that of the stream.
            drop(writer);
            done
        };
        let (read, place) = tokio::join!(reading, spooled.append(ReaderStream::new(reader), length, see));
        read.and(place)
    }

    /// Sends a file, unless the relays still have what was sent of it before. It is committed with [`Engine::change`].
    pub(crate) async fn send(&self, path: &Path, body: &Body, about: &About, before: Option<Sent>) -> Result<Sent, Fault> {
        self.may_write(&path.partition())?;
        if body.size() > OBJECT_BYTES {
            return Err(Fault::TooLong);
        }
        let _one = self.sending.acquire().await.map_err(|_| Fault::Closed)?;
        match before {
            Some(sent) if self.store.is_sent(&sent).await? => Ok(sent),
            _ => self.store.send(path, body, about).await,
        }
    }

    /// The place of a change that begins now in the order of all.
    pub(crate) fn next(&self) -> u64 {
        self.begun.set(self.begun.get().saturating_add(1));
        self.begun.get()
    }

    /// Begins to send a file. What begins later at its path, and is committed before it, stands.
    pub(crate) fn begin(self: &Rc<Self>, path: &Path) -> Begun {
        let path = path.as_str().to_owned();
        let mut racing = self.racing.borrow_mut();
        let own = racing.entry(path.clone()).or_default();
        own.count = own.count.saturating_add(1);
        Begun { engine: self.clone(), path, number: self.next() }
    }

    /// Sends a file and commits it, together with others that come at the same time. Answers the file that stands, see [`Engine::put_asked`].
    pub(crate) async fn put(
        self: &Rc<Self>,
        path: &Path,
        body: &Body,
        about: &About,
        asked: (Condition, Option<&str>),
    ) -> Result<Entry, Fault> {
        let begun = self.begin(path);
        let entry = self.send(path, body, about, None).await?.entry;
        self.put_asked(&begun, path, entry, asked).await
    }

    /// Commits a file that was sent, for a request that its client may repeat under this name. Where the condition does not hold because an earlier try of
    /// the request put the same file there, that is a success. Answers the file that stands.
    pub(crate) async fn put_asked(
        self: &Rc<Self>,
        begun: &Begun,
        path: &Path,
        entry: Entry,
        (condition, caller): (Condition, Option<&str>),
    ) -> Result<Entry, Fault> {
        if let Some(caller) = caller.filter(|_| condition != Condition::Any) {
            // Where there is no room for it, the next program does not know the request, and that is all.
            let _ = self.requests.borrow_mut().note(clock::now_ms(), &entry.record(), caller);
        }
        let done = self.put_sent(begun, path, entry.clone(), condition).await;
        match done {
            Err(Fault::Condition) => {
                let standing = match self.looked_up(path).await {
                    Err(Fault::NoPartition(_)) => None,
                    found => found?,
                };
                standing.filter(|standing| self.is_repeated(standing, &entry, caller)).ok_or(Fault::Condition)
            }
            done => {
                if condition != Condition::Any {
                    self.repeats.borrow_mut().note(Instant::now(), &entry, caller, done.is_ok());
                }
                done.map(|()| entry)
            }
        }
    }

    /// Whether the file that stands was put by an earlier try of a request for `own`, by this program or an earlier one.
    fn is_repeated(&self, standing: &Entry, own: &Entry, caller: Option<&str>) -> bool {
        let is_of = |caller: &str| self.requests.borrow().is_of(clock::now_ms(), &standing.record(), caller);
        self.repeats.borrow_mut().is_repeated(Instant::now(), standing, own, caller)
            || is_same_file(standing, own) && caller.is_some_and(is_of)
    }

    /// Commits a file that was sent, together with others that come at the same time.
    pub(crate) async fn put_sent(self: &Rc<Self>, begun: &Begun, path: &Path, entry: Entry, condition: Condition) -> Result<(), Fault> {
        let order = Order { edit: Edit::Put(Box::new(entry)), path: path.clone(), condition, began: begun.number };
        self.change(&path.partition(), vec![order]).await
    }

    /// Removes files of one partition, those that are there.
    pub(crate) async fn remove(self: &Rc<Self>, partition: &Name, paths: Vec<(Path, Condition)>) -> Result<(), Fault> {
        self.may_remove(partition)?;
        let began = self.next();
        let order = |(path, condition): (Path, Condition)| Order { edit: Edit::Remove(path.clone()), path, condition, began };
        self.change(partition, paths.into_iter().map(order).collect()).await
    }

    /// The room in the volume.
    pub(crate) async fn space(&self) -> Result<Space, Fault> {
        self.store.space().await
    }
}
