//! The sources that a node has, and which of them to ask.

use crate::{
    scores::{Ban, Offence, Scores},
    source::{Failed, Source},
};
use cowboy_api::{ApiError, error::UNREACHABLE, model::SubmitResult};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{sync::watch, time::timeout_at};

/// Sources that a transaction is handed to.
const FORWARDED_TO: usize = 3;

/// How long the others have when the first of them has answered: one that says nothing keeps nobody waiting, and one that answers at once keeps nothing back.
const GRACE: Duration = Duration::from_secs(2);

/// How long a source that did not answer in time is handed transactions only where there are too few others.
const SLOW: Duration = Duration::from_secs(60);

struct Member {
    source: Arc<dyn Source>,
    /// Counts up with each choice, so that equals take turns.
    used: u64,
    /// Until when others are preferred for handing transactions on.
    slow_until: Duration,
}

#[derive(Default)]
struct Inner {
    members: BTreeMap<String, Member>,
    scores: Scores,
    turn: u64,
    /// Names that the operator gave: they may be away for as long as they like.
    fixed: BTreeSet<String>,
    /// Whether no others come.
    is_closed: bool,
}

impl Inner {
    /// Whether a source is banned, by its name or with its host. What others at its host did bans none that the operator named.
    fn is_banned(&self, name: &str, host: Option<&str>, now: Duration) -> bool {
        let host = host.filter(|_| !self.fixed.contains(name));
        self.scores.is_banned(name, now) || host.is_some_and(|host| self.scores.is_banned(host, now))
    }

    fn is_usable(&self, member: &Member, now: Duration) -> bool {
        !self.is_banned(member.source.name(), member.source.host().as_deref(), now)
    }
}

/// The sources of one node. They come and go; a source that lies is banned.
pub struct Pool {
    inner: Mutex<Inner>,
    changes: watch::Sender<()>,
    started: Instant,
}

/// How many sources there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Sources that may be asked.
    pub usable: usize,
    /// Sources that are banned.
    pub banned: usize,
}

/// A source as the pool knows it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// The address by which it is scored beside its name.
    pub host: Option<String>,
    /// The points that count against its name.
    pub points: u64,
    /// Whether the operator named it.
    pub is_named: bool,
    /// Whether it may be asked: neither its name nor its host is banned.
    pub is_usable: bool,
    /// How long a packet takes to it and back, where that is measured.
    pub round_trip: Option<Duration>,
}

impl Default for Pool {
    fn default() -> Self {
        Self { inner: Mutex::default(), changes: watch::Sender::new(()), started: Instant::now() }
    }
}

impl Pool {
    /// A pool of sources that the operator named. They stay however often they are away, and leave only for a lie.
    pub fn fixed(sources: impl IntoIterator<Item = Arc<dyn Source>>) -> Self {
        let pool = Self::default();
        for source in sources {
            pool.fix(source.name());
            pool.add(source);
        }
        pool.inner().is_closed = true;
        pool
    }

    /// Names a source that the operator named, whether it is here or not.
    pub fn fix(&self, name: &str) {
        self.inner().fixed.insert(name.to_owned());
    }

    /// Adds a source, in the place of an earlier one of this name.
    pub fn add(&self, source: Arc<dyn Source>) {
        let mut inner = self.inner();
        // A new one is asked after those that were asked already, but before they are asked again.
        let used = inner.turn;
        inner.members.insert(source.name().to_owned(), Member { source, used, slow_until: Duration::ZERO });
        drop(inner);
        self.changes.send_replace(());
    }

    /// Takes a source out, unless another one has its name by now.
    pub fn remove(&self, source: &Arc<dyn Source>) {
        let mut inner = self.inner();
        if inner.members.get(source.name()).is_some_and(|member| Arc::ptr_eq(&member.source, source)) {
            inner.members.remove(source.name());
        }
        drop(inner);
        self.changes.send_replace(());
    }

    /// Counts an offence of a source. One that is banned by it is closed.
    pub fn report(&self, source: &dyn Source, offence: Offence) {
        let now = self.now();
        let mut inner = self.inner();
        let is_fixed = inner.fixed.contains(source.name());
        if is_fixed && matches!(offence, Offence::Away | Offence::Silent) {
            return;
        }
        let mut is_banned = inner.scores.report(source.name(), offence, now);
        if let Some(host) = source.host() {
            is_banned |= inner.scores.report(&host, offence, now);
        }
        drop(inner);
        tracing::info!(source = source.name(), ?offence, is_banned, "a source did not answer as it should");
        if is_banned {
            source.close();
            self.changes.send_replace(());
        }
    }

    /// Whether a source of this name or host is banned now.
    pub fn is_banned(&self, name: &str, host: Option<&str>) -> bool {
        self.inner().is_banned(name, host, self.now())
    }

    /// The sources that may be asked, the best first: the fewest points, and among equals the one that was not asked for longest.
    pub fn usable(&self) -> Vec<Arc<dyn Source>> {
        let inner = self.inner();
        let now = self.now();
        let mut found: Vec<_> = inner.members.values().filter(|member| inner.is_usable(member, now)).collect();
        found.sort_by_key(|member| (inner.scores.points(member.source.name(), now), member.used));
        found.into_iter().map(|member| member.source.clone()).collect()
    }

    /// The source to ask next, where there is one.
    pub fn choose(&self) -> Option<Arc<dyn Source>> {
        let chosen = self.usable().into_iter().next()?;
        self.note_use(&*chosen);
        Some(chosen)
    }

    /// The source of this name, where it may be asked.
    pub fn choose_named(&self, name: &str) -> Option<Arc<dyn Source>> {
        let chosen = self.usable().into_iter().find(|source| source.name() == name)?;
        self.note_use(&*chosen);
        Some(chosen)
    }

    /// Whoever is asked now comes after its equals.
    fn note_use(&self, source: &dyn Source) {
        let mut inner = self.inner();
        inner.turn += 1;
        let turn = inner.turn;
        if let Some(member) = inner.members.get_mut(source.name()) {
            member.used = turn;
        }
    }

    /// The sources that transactions are handed to: those that answered in time first, and the best of them.
    fn for_transactions(&self) -> Vec<Arc<dyn Source>> {
        let mut sources = self.usable();
        let (inner, now) = (self.inner(), self.now());
        sources.sort_by_key(|source| inner.members.get(source.name()).is_some_and(|member| member.slow_until > now));
        sources.truncate(FORWARDED_TO);
        sources
    }

    /// Notes who let transactions wait. That costs no points: a stranger chooses when transactions are handed on.
    fn note_slow<'a>(&self, silent: impl Iterator<Item = &'a Arc<dyn Source>>) {
        let until = self.now() + SLOW;
        let mut inner = self.inner();
        for source in silent {
            if let Some(member) = inner.members.get_mut(source.name()) {
                member.slow_until = until;
            }
        }
    }

    /// Hands transactions on toward a proposer, through several sources at once, so that one of them cannot keep them back. Answers
    /// the result of each, in order: that it was taken, where any source took it.
    pub async fn submit(&self, transactions: Vec<Vec<u8>>, hops: u8) -> Result<Vec<SubmitResult>, ApiError> {
        let sources = self.for_transactions();
        let asked: FuturesUnordered<BoxFuture<'_, _>> = FuturesUnordered::new();
        for source in &sources {
            let answer = source.submit(transactions.clone(), hops);
            asked.push(async move { (source, answer.await) }.boxed());
        }
        let (mut merged, mut failure): (Option<Vec<SubmitResult>>, _) = (None, ApiError::of_fault(UNREACHABLE));
        // One that refuses everything at once does not shorten the time of the others.
        let is_good = |results: &[SubmitResult]| results.iter().any(|result| result.tx_hash.is_some());
        let answers = until_answered(asked, |(_, answer)| answer.as_deref().is_ok_and(is_good), GRACE).await;
        self.note_slow(
            sources.iter().filter(|source| !answers.iter().any(|(answered, answer)| answer.is_ok() && answered.name() == source.name())),
        );
        for (source, answer) in answers {
            match (answer, &mut merged) {
                (Ok(results), None) => merged = Some(results),
                (Ok(results), Some(merged)) => {
                    let better =
                        merged.iter_mut().zip(results).filter(|(known, result)| known.tx_hash.is_none() && result.tx_hash.is_some());
                    better.for_each(|(known, result)| *known = result);
                }
                (Err(failed), _) => {
                    // A source that cannot hand it on, or waits for others that do, has done no wrong: a stranger chooses what is handed on.
                    if let Some(offence @ (Offence::Malformed | Offence::Lie)) = failed.offence() {
                        self.report(&**source, offence);
                    }
                    if let Failed::Away(error) = failed {
                        failure = error;
                    }
                }
            }
        }
        merged.ok_or(failure)
    }

    /// How many sources there are.
    pub fn standing(&self) -> Standing {
        let inner = self.inner();
        let now = self.now();
        let banned = inner.members.values().filter(|member| !inner.is_usable(member, now)).count();
        Standing { usable: inner.members.len() - banned, banned }
    }

    /// The sources there are, by name.
    pub fn list(&self) -> Vec<Listed> {
        let inner = self.inner();
        let now = self.now();
        let listed = inner.members.iter().map(|(name, member)| Listed {
            name: name.clone(),
            host: member.source.host(),
            points: inner.scores.points(name, now),
            is_named: inner.fixed.contains(name),
            is_usable: inner.is_usable(member, now),
            round_trip: member.source.round_trip(),
        });
        listed.collect()
    }

    /// The bans that have not ended: of sources, whether they are here or not, and of hosts.
    pub fn bans(&self) -> Vec<Ban> {
        self.inner().scores.bans(self.now())
    }

    /// Ends the ban of a source or of a host, which begins again without points. False where it is not banned.
    pub fn unban(&self, name: &str) -> bool {
        let is_unbanned = self.inner().scores.forgive(name, self.now());
        if is_unbanned {
            tracing::info!(name, "the operator ended a ban");
            self.changes.send_replace(());
        }
        is_unbanned
    }

    /// Whether the operator named all sources, and all of them are banned.
    pub fn is_exhausted(&self) -> bool {
        let inner = self.inner();
        let now = self.now();
        let mut members = inner.members.values();
        inner.is_closed && !inner.members.is_empty() && members.all(|member| !inner.is_usable(member, now))
    }

    /// Notices when sources come, go or are banned.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What comes of these, as it comes: of all of them, or until this time is over after the first that is good (decision 769).
async fn until_answered<T>(mut asked: FuturesUnordered<BoxFuture<'_, T>>, is_good: impl Fn(&T) -> bool, grace: Duration) -> Vec<T> {
    let (mut came, mut until) = (Vec::new(), None);
    loop {
        let next = match until {
            None => asked.next().await,
            Some(until) => timeout_at(until, asked.next()).await.unwrap_or(None),
        };
        let Some(answer) = next else { return came };
        if until.is_none() && is_good(&answer) {
            until = Some(tokio::time::Instant::now() + grace);
        }
        came.push(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        HttpSource,
        source::tests::{Scripted, source_on},
    };

    fn names(pool: &Pool) -> Vec<String> {
        pool.usable().iter().map(|source| source.name().to_owned()).collect()
    }

    #[test]
    fn who_lies_is_banned_with_its_host_and_who_is_slow_comes_last() {
        let pool = Pool::default();
        let sources: Vec<Arc<Scripted>> =
            [("a", "192.0.2.1"), ("b", "192.0.2.1"), ("c", "192.0.2.2")].map(|(name, host)| source_on(name, host)).into();
        sources.iter().for_each(|source| pool.add(source.clone()));
        assert_eq!(names(&pool), ["a", "b", "c"]);
        let chosen: Vec<_> = (0..4).filter_map(|_| pool.choose()).map(|source| source.name().to_owned()).collect();
        assert_eq!(chosen, ["a", "b", "c", "a"], "equals take turns");
        assert!(pool.choose_named("b").is_some() && pool.choose_named("other").is_none());
        assert_eq!(names(&pool), ["c", "a", "b"], "also one that was named");
        pool.report(&*sources[2], Offence::Silent);
        assert_eq!(names(&pool), ["a", "b", "c"]);
        pool.report(&*sources[0], Offence::Lie);
        assert_eq!((names(&pool), pool.standing()), (vec!["c".to_owned()], Standing { usable: 1, banned: 2 }));
        assert!(sources[0].is_closed() && pool.is_banned("new name", Some("192.0.2.1")));
        assert!(!pool.is_exhausted(), "others may come");
        pool.add(source_on("d", "192.0.2.3"));
        assert_eq!(names(&pool), ["d", "c"]);
    }

    /// Decision 769: a source that never answers keeps nobody waiting once another one has answered. All that answer in time are heard, and a failure is no answer.
    #[tokio::test]
    async fn a_silent_source_keeps_nobody_waiting() {
        let (ready, silent) = (|number: u8| std::future::ready(number).boxed(), || std::future::pending::<u8>().boxed());
        let is_good = |number: &u8| *number > 0;
        let answers = |asked: Vec<BoxFuture<'static, u8>>, grace| until_answered(asked.into_iter().collect(), is_good, grace);
        assert_eq!(answers(vec![silent(), ready(7), silent()], Duration::ZERO).await, [7]);
        let mut all = answers(vec![ready(0), ready(1), ready(2)], Duration::from_secs(3_600)).await;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
        assert!(answers(vec![silent(), ready(0)], Duration::ZERO).now_or_never().is_none());
    }

    /// Decision 769: whoever let transactions wait comes after those who answer, and is asked where there are no others.
    #[test]
    fn who_let_transactions_wait_comes_last() {
        let pool = Pool::default();
        let sources: Vec<_> = (0..4u8).map(|number| source_on(&format!("source{number}"), &format!("192.0.2.{number}"))).collect();
        sources.iter().for_each(|source| pool.add(source.clone()));
        let chosen = || pool.for_transactions().iter().map(|source| source.name().to_owned()).collect::<Vec<_>>();
        assert_eq!(chosen(), ["source0", "source1", "source2"]);
        let silent: Vec<Arc<dyn Source>> = vec![sources[0].clone(), sources[1].clone()];
        pool.note_slow(silent.iter());
        assert_eq!(chosen(), ["source2", "source3", "source0"]);
        assert!(pool.list().iter().all(|listed| listed.is_usable && listed.points == 0));
    }

    /// The operator sees who is banned, by name and by host, and can end each ban.
    #[test]
    fn bans_are_listed_and_end_by_order() {
        let pool = Pool::default();
        let (liar, other) = (source_on("liar", "192.0.2.1"), source_on("other", "192.0.2.1"));
        pool.fix("other");
        pool.add(liar.clone());
        pool.add(other);
        pool.report(&*liar, Offence::Lie);
        let listed: Vec<_> =
            pool.list().into_iter().map(|listed| (listed.name, listed.is_named, listed.is_usable, listed.points)).collect();
        assert_eq!(listed, [("liar".to_owned(), false, false, 0), ("other".to_owned(), true, true, 0)]);
        assert!(pool.list().iter().all(|listed| listed.host.as_deref() == Some("192.0.2.1") && listed.round_trip.is_none()));
        let banned = |pool: &Pool| pool.bans().into_iter().map(|ban| ban.name).collect::<Vec<_>>();
        assert_eq!(banned(&pool), ["192.0.2.1", "liar"]);
        let changes = pool.changes();
        assert!(pool.unban("liar") && !pool.unban("liar") && !pool.unban("other"));
        assert!(changes.has_changed().expect("the pool lives"), "who waits for a source learns of it");
        assert_eq!((banned(&pool), names(&pool)), (vec!["192.0.2.1".to_owned()], vec!["other".to_owned()]), "its host is banned still");
        assert!(pool.unban("192.0.2.1"));
        assert_eq!(names(&pool).len(), 2);
    }

    /// A node that the operator named stays usable while it is away, also where others at its host are banned, and is banned for a lie.
    #[test]
    fn a_named_peer_leaves_only_for_a_lie() {
        let pool = Pool::default();
        let (named, other) = (source_on("named", "192.0.2.1"), source_on("other", "192.0.2.1"));
        pool.fix("named");
        pool.add(named.clone());
        pool.add(other.clone());
        (0..100).for_each(|_| pool.report(&*named, Offence::Silent));
        pool.report(&*other, Offence::Lie);
        assert_eq!(names(&pool), ["named"]);
        pool.report(&*named, Offence::Lie);
        assert!(names(&pool).is_empty() && !pool.is_exhausted(), "others may come");
    }

    /// A source that the operator named may be away, and must not lie.
    #[test]
    fn a_fixed_source_leaves_only_for_a_lie() {
        let http: Arc<dyn Source> = Arc::new(HttpSource::new("http://127.0.0.1:1").expect("an address"));
        let pool = Pool::fixed([http.clone()]);
        (0..100).for_each(|_| pool.report(&*http, Offence::Away));
        assert!(pool.choose().is_some() && !pool.is_exhausted());
        pool.report(&*http, Offence::Lie);
        assert!(pool.choose().is_none() && pool.is_exhausted());
        pool.remove(&http);
        assert_eq!(pool.standing(), Standing { usable: 0, banned: 0 });
    }
}
