//! Commits of several changes at once. A commit is a transaction and takes a block or two, so what comes meanwhile goes into the next one (decision 609). Whoever
//! asked for a change is answered when the commit with it is final.

use super::{Engine, Listing};
use crate::fault::Fault;
use crate::store::Edit;
use cowboy_cli::volumes::Files;
use cowboy_types::Hash;
use cowboy_volumes::{Name, Path};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::oneshot;

/// The most changes of one commit.
const AT_ONCE: usize = 1_000;

/// How many commits may fail one after the other before what is left is not made in smaller parts: then it is no single change that cannot be made.
const FAILURES: usize = 64;

/// The wait before a commit is made anew.
const PAUSE: Duration = Duration::from_millis(500);

/// What has to hold of the file that stands before a change of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Nothing.
    Any,
    /// There is none.
    Absent,
    /// There is one.
    Present,
    /// Its content has this hash.
    Content(Hash),
}

impl Condition {
    /// Whether it holds where the file has this content, or is not there.
    pub(crate) fn holds(self, content: Option<Hash>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => content.is_none(),
            Self::Present => content.is_some(),
            Self::Content(hash) => content == Some(hash),
        }
    }
}

/// A change, and when it may be made.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The change.
    pub(crate) edit: Edit,
    /// The file.
    pub(crate) path: Path,
    /// What has to hold of it before.
    pub(crate) condition: Condition,
    /// When it began, see [`Engine::next`]: a file that takes long to come is not put over what began later and was committed before it.
    pub(crate) began: u64,
}

/// Changes, by path, and when each began.
type Edits = BTreeMap<String, (u64, Edit)>;

/// Changes that are made together or not at all, and who waits for them.
struct Waiting {
    orders: Vec<Order>,
    done: oneshot::Sender<Result<(), Fault>>,
}

/// What waits to be committed to a partition.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: Vec<Waiting>,
    is_working: bool,
}

impl Queue {
    /// The next ones that go together: at most as many changes as a commit has, and at least one who waits.
    fn next(&mut self) -> Vec<Waiting> {
        let (mut count, mut end) = (0_usize, 0);
        for waiting in &self.waiting {
            count = count.saturating_add(waiting.orders.len());
            if end > 0 && count > AT_ONCE {
                break;
            }
            end += 1;
        }
        self.waiting.drain(..end).collect()
    }
}

/// The content of a file that an edit leaves.
fn content(edit: &Edit) -> Option<Hash> {
    match edit {
        Edit::Put(entry) => Some(entry.meta.hash),
        Edit::Remove(_) => None,
    }
}

/// Takes changes over into a listing.
pub(super) fn apply(files: &mut Listing, edits: &[Edit]) {
    for edit in edits {
        match edit {
            Edit::Put(entry) => drop(files.insert(entry.meta.path.to_string(), (**entry).clone())),
            Edit::Remove(path) => drop(files.remove(path.as_str())),
        }
    }
}

impl Engine {
    /// Makes changes of one partition, all or none, and answers when they are final.
    pub(crate) async fn change(self: &Rc<Self>, partition: &Name, orders: Vec<Order>) -> Result<(), Fault> {
        if orders.is_empty() {
            return Ok(());
        }
        let (done, heard) = oneshot::channel();
        {
            let mut queues = self.queues.borrow_mut();
            let queue = queues.entry(partition.clone()).or_default();
            queue.waiting.push(Waiting { orders, done });
            if !std::mem::replace(&mut queue.is_working, true) {
                tokio::task::spawn_local(self.clone().work(partition.clone()));
            }
        }
        heard.await.map_err(|_| Fault::Closed)?
    }

    /// Waits until nothing waits to be committed.
    pub(crate) async fn settle(&self) {
        loop {
            let settled = self.settled.notified();
            if self.queues.borrow().is_empty() {
                return;
            }
            settled.await;
        }
    }

    /// Commits what waits in a queue, until nothing does.
    async fn work(self: Rc<Self>, partition: Name) {
        loop {
            let batch = {
                let mut queues = self.queues.borrow_mut();
                let batch = queues.get_mut(&partition).map(Queue::next).unwrap_or_default();
                if batch.is_empty() {
                    queues.remove(&partition);
                    self.settled.notify_waiters();
                    return;
                }
                batch
            };
            self.commit(&partition, batch).await;
        }
    }

    /// Commits changes together. Where that fails, they are committed in halves: one that cannot be made takes no other with it.
    async fn commit(&self, partition: &Name, batch: Vec<Waiting>) {
        let orders: Vec<&[Order]> = batch.iter().map(|waiting| &waiting.orders[..]).collect();
        let (mut answers, mut parts, mut failures) = (Vec::with_capacity(batch.len()), vec![&orders[..]], 0_usize);
        while let Some(part) = parts.pop() {
            match self.together(partition, part).await {
                Ok(done) => {
                    failures = 0;
                    answers.extend(done);
                }
                Err(fault) => {
                    // Any other fault is that of a change.
                    failures = failures.saturating_add(usize::from(matches!(fault, Fault::Outside(_) | Fault::Busy)));
                    if part.len() <= 1 || failures >= FAILURES {
                        answers.extend(part.iter().map(|_| Err(fault.clone())));
                    } else {
                        let (first, second) = part.split_at(part.len() / 2);
                        parts.extend([second, first]);
                    }
                }
            }
        }
        for (waiting, answer) in batch.into_iter().zip(answers) {
            // Nobody waits where a client has gone.
            let _ = waiting.done.send(answer);
        }
    }

    /// Commits those of some changes whose conditions hold. Where somebody else was first, that is looked at again.
    async fn together(&self, partition: &Name, batch: &[&[Order]]) -> Result<Vec<Result<(), Fault>>, Fault> {
        for _ in 0..Files::MERGES {
            let root = self.store.root(partition).await?;
            let (answers, edits) = self.judged(root, batch).await?;
            let removes_alone = edits.values().all(|(_, edit)| matches!(edit, Edit::Remove(_)));
            // A partition that is not there has nothing to remove.
            if edits.is_empty() || root.is_none() && removes_alone {
                return Ok(answers);
            }
            let (began, edits): (Vec<(String, u64)>, Vec<Edit>) =
                edits.into_iter().map(|(path, (began, edit))| ((path, began), edit)).unzip();
            if let Some(new) = self.store.commit(partition, &edits, root).await? {
                self.overtake(&began);
                self.note(partition, root, new, &edits);
                return Ok(answers);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(Fault::Busy)
    }

    /// Which changes may be made after this root, each after those before it, and what they come to.
    async fn judged(&self, root: Option<Hash>, batch: &[&[Order]]) -> Result<(Vec<Result<(), Fault>>, Edits), Fault> {
        let (mut answers, mut edits) = (Vec::with_capacity(batch.len()), Edits::new());
        for orders in batch {
            let mut holds = true;
            for order in *orders {
                if order.condition == Condition::Any {
                    continue;
                }
                let standing = match edits.get(order.path.as_str()) {
                    Some((_, edit)) => content(edit),
                    None if root.is_none() => None,
                    None => match self.looked_up(&order.path).await? {
                        // A commit of which nobody heard put it there.
                        Some(entry) if matches!(&order.edit, Edit::Put(own) if **own == entry) => continue,
                        entry => entry.map(|entry| entry.meta.hash),
                    },
                };
                holds &= order.condition.holds(standing);
            }
            for order in orders.iter().filter(|_| holds) {
                let path = order.path.as_str();
                let newest = edits.get(path).map(|(began, _)| *began).max(self.racing.borrow().get(path).map(|racing| racing.newest));
                // What is late was there for a moment: who sent it is told so.
                if order.condition != Condition::Any || newest.is_none_or(|newest| newest < order.began) {
                    edits.insert(path.to_owned(), (order.began, order.edit.clone()));
                }
            }
            answers.push(if holds { Ok(()) } else { Err(Fault::Condition) });
        }
        Ok((answers, edits))
    }

    /// Notes for files that are still under way what was committed at their paths, and when it began.
    fn overtake(&self, changes: &[(String, u64)]) {
        let mut racing = self.racing.borrow_mut();
        for (path, began) in changes {
            if let Some(own) = racing.get_mut(path) {
                own.newest = own.newest.max(*began);
            }
        }
    }

    /// Takes a commit over into the listing that it follows, and into those that are read.
    fn note(&self, partition: &Name, old: Option<Hash>, new: Hash, edits: &[Edit]) {
        // Who removes the last file has not removed the partition.
        if edits.iter().any(|edit| matches!(edit, Edit::Remove(_))) {
            self.made.borrow_mut().insert(partition.clone());
        } else {
            self.made.borrow_mut().remove(partition);
        }
        for (_, meanwhile) in self.listings.borrow().iter().filter(|(of, _)| of == partition) {
            if let Some(meanwhile) = meanwhile.upgrade() {
                meanwhile.borrow_mut().extend(edits.iter().cloned());
            }
        }
        self.known.borrow_mut().follow(partition, old, new, |files| apply(files, edits));
    }
}
