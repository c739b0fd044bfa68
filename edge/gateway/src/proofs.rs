//! What domains say of themselves, remembered for its time: the TXT records by which their owners agree (decision 362).
//!
//! Invariants: of one domain at most one lookup is under way, whoever asks; a domain without a working resolver holds no permit that
//! a domain with a former proof needs; what failed is asked again later and later.

use crate::{Domains, refusal::Refusal, resolver};
use cowboy_host::clock;
use cowboy_system::names::domains::{LABEL, proven};
use cowboy_types::{Address, units::ChainId};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::timeout,
};

/// Domains that are remembered.
const REMEMBERED: usize = 10_000;

/// Lookups at once of domains that had a proof before, and as many of others.
const LOOKUPS: usize = 8;

/// How soon the resolver is asked again about a domain that has no proof, or about which it could not tell; for a proof the shortest
/// time that counts, whatever the record says.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// The longest wait after failures.
const LATE: Duration = Duration::from_secs(300);

/// How long a proof counts while the resolver cannot tell.
pub(crate) const STALE: Duration = Duration::from_secs(3_600);

/// How long a request waits for news of a domain whose former proof still counts.
const BRIEFLY: Duration = Duration::from_millis(250);

/// What a domain's TXT record names: a name, and the owner that it has to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) name: String,
    pub(crate) owner: Address,
}

/// What is known of a domain.
#[derive(Clone, Debug)]
struct Known {
    /// What the resolver said last: a proof, or that there is none.
    proof: Option<Proof>,
    /// When it said that; nothing where it never did, or too long ago.
    seen: Option<Instant>,
    /// When it is asked again.
    until: Instant,
    /// Failures since.
    failures: u32,
    /// Why the last lookup failed.
    error: Option<String>,
}

impl Known {
    /// What is known after an answer of the resolver.
    fn answered(proof: Option<Proof>, ttl: u32, most: Duration, now: Instant) -> Self {
        let keep = if proof.is_some() { Duration::from_secs(ttl.into()).max(SOON).min(most).min(STALE) } else { SOON.min(most) };
        Self { proof, seen: Some(now), until: now + keep, failures: 0, error: None }
    }

    /// What is known after a lookup failed: asked again after [`SOON`], then twice as late each time.
    fn failed(former: Option<Self>, error: String, now: Instant) -> Self {
        let failures = former.as_ref().map_or(0, |former| former.failures);
        let wait = clock::doubled(SOON, failures, LATE);
        let (proof, seen) = former.filter(|former| former.counts(now)).map_or((None, None), |former| (former.proof, former.seen));
        Self { proof, seen, until: now + wait, failures: failures.saturating_add(1), error: Some(error) }
    }

    fn is_fresh(&self, now: Instant) -> bool {
        now < self.until
    }

    /// Whether the last answer still counts.
    fn counts(&self, now: Instant) -> bool {
        self.seen.is_some_and(|seen| now < seen + STALE)
    }

    /// Whether there is a proof that still counts.
    fn is_proven(&self, now: Instant) -> bool {
        self.proof.is_some() && self.counts(now)
    }

    fn answer(&self, domain: &str, now: Instant) -> Result<Option<Proof>, Refusal> {
        match (&self.error, self.counts(now)) {
            (Some(error), false) => Err(Refusal::unavailable(format_args!("the resolver does not tell of {domain}: {error}"))),
            _ => Ok(self.proof.clone().filter(|_| self.counts(now))),
        }
    }
}

#[derive(Default)]
struct Memory {
    known: HashMap<String, Known>,
    /// Lookups under way; each closes when it is over.
    under_way: HashMap<String, watch::Receiver<()>>,
}

impl Memory {
    /// Remembers what is known, where there is room: what is out of date goes first, then what has no proof.
    fn remember(&mut self, domain: String, known: Known, now: Instant) {
        let is_full = |known: &HashMap<String, Known>| known.len() >= REMEMBERED;
        if is_full(&self.known) {
            self.known.retain(|_, known| known.is_fresh(now) || known.is_proven(now));
        }
        if is_full(&self.known) && known.is_proven(now) {
            self.known.retain(|_, known| known.is_proven(now));
        }
        if !is_full(&self.known) || self.known.contains_key(&domain) {
            self.known.insert(domain, known);
        }
    }
}

/// The proofs of domains. Clones share them.
#[derive(Clone)]
pub(crate) struct Proofs(Arc<Shared>);

struct Shared {
    settings: Domains,
    chain: ChainId,
    memory: Mutex<Memory>,
    /// Lookups of domains that had a proof before.
    renewals: Arc<Semaphore>,
    /// Lookups of others.
    firsts: Arc<Semaphore>,
}

impl Proofs {
    pub(crate) fn new(settings: Domains, chain: ChainId) -> Self {
        let permits = || Arc::new(Semaphore::new(LOOKUPS));
        Self(Arc::new(Shared { settings, chain, memory: Mutex::default(), renewals: permits(), firsts: permits() }))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.memory.lock().expect("nothing panics while it holds the lock")
    }

    /// What a domain's TXT record names, where it names exactly one.
    pub(crate) async fn of(&self, domain: &str) -> Result<Option<Proof>, Refusal> {
        self.at(domain, Instant::now()).await
    }

    async fn at(&self, domain: &str, now: Instant) -> Result<Option<Proof>, Refusal> {
        let (former, under_way) = {
            let mut memory = self.memory();
            let former = memory.known.get(domain).cloned();
            if let Some(known) = former.as_ref().filter(|known| known.is_fresh(now)) {
                return known.answer(domain, now);
            }
            (former.clone(), self.lookup(&mut memory, domain, former, now))
        };
        let former = former.filter(|former| former.is_proven(now));
        match (former, under_way) {
            // The former proof counts, unless the news come at once.
            (Some(former), Some(mut under_way)) => {
                let _ = timeout(BRIEFLY, under_way.changed()).await;
                let known = self.memory().known.get(domain).cloned();
                known.unwrap_or(former).answer(domain, now)
            }
            (Some(former), None) => former.answer(domain, now),
            (None, Some(mut under_way)) => {
                let _ = under_way.changed().await;
                let known = self.memory().known.get(domain).cloned();
                known.ok_or_else(busy)?.answer(domain, now)
            }
            (None, None) => Err(busy()),
        }
    }

    /// The lookup of a domain that is under way, begun where there is none; nothing where there are too many.
    fn lookup(&self, memory: &mut Memory, domain: &str, former: Option<Known>, now: Instant) -> Option<watch::Receiver<()>> {
        if let Some(under_way) = memory.under_way.get(domain).filter(|under_way| under_way.has_changed().is_ok()) {
            return Some(under_way.clone());
        }
        let was_proven = former.as_ref().is_some_and(|former| former.is_proven(now));
        let permits = if was_proven { &self.0.renewals } else { &self.0.firsts };
        let permit = permits.clone().try_acquire_owned().ok()?;
        let (over, under_way) = watch::channel(());
        memory.under_way.insert(domain.to_owned(), under_way.clone());
        tokio::spawn(self.clone().look_up(domain.to_owned(), former, now, (permit, over)));
        Some(under_way)
    }

    /// Asks the resolver about a domain, and remembers what it says. The permit is given back, and those who wait hear of it, at the end.
    async fn look_up(self, domain: String, former: Option<Known>, asked: Instant, _held: (OwnedSemaphorePermit, watch::Sender<()>)) {
        let (shared, began) = (&self.0, Instant::now());
        let found = resolver::texts(shared.settings.resolver, &format!("{LABEL}{domain}")).await;
        let now = asked + began.elapsed();
        let known = match found {
            Ok(found) => {
                let most = Duration::from_secs(shared.settings.recheck_seconds);
                Known::answered(named(shared.chain, &found.texts), found.ttl, most, now)
            }
            Err(error) => {
                tracing::warn!(domain, %error, "the resolver does not tell; a proof counts for an hour more");
                Known::failed(former, error.to_string(), now)
            }
        };
        let mut memory = self.memory();
        memory.under_way.remove(&domain);
        memory.remember(domain, known, now);
    }

    /// The domains that have a proof.
    pub(crate) fn domains(&self) -> Vec<String> {
        let now = Instant::now();
        self.memory().known.iter().filter(|(_, known)| known.is_proven(now)).map(|(domain, _)| domain.clone()).collect()
    }
}

fn busy() -> Refusal {
    Refusal::busy("BUSY", "Too many domains are being looked up.")
}

/// The one name and owner that texts name for a chain; nothing where they name several.
fn named(chain: ChainId, texts: &[String]) -> Option<Proof> {
    let named: BTreeSet<(&str, Address)> = texts.iter().filter_map(|text| proven(chain, text)).collect();
    let mut named = named.into_iter();
    let (name, owner) = named.next().filter(|_| named.next().is_none())?;
    Some(Proof { name: name.to_owned(), owner })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::tests::Zone;
    use cowboy_system::names::domains::proof;
    use tokio::task::JoinSet;

    const CHAIN: ChainId = ChainId(7);
    const OWNER: Address = Address([1; 20]);

    fn proofs(zone: &Zone) -> Proofs {
        Proofs::new(Domains { resolver: zone.address, ..Domains::default() }, CHAIN)
    }

    fn mysite() -> Option<Proof> {
        Some(Proof { name: "mysite".into(), owner: OWNER })
    }

    /// Waits until no lookup is under way.
    async fn settled(proofs: &Proofs) {
        loop {
            let under_way = proofs.memory().under_way.values().next().cloned();
            let Some(mut under_way) = under_way else { return };
            let _ = under_way.changed().await;
        }
    }

    /// A domain names one name and owner of this chain, whatever else stands there; two are none.
    #[test]
    fn a_domain_names_one_name() {
        let (mine, other) = (proof(CHAIN, "mysite", OWNER), proof(CHAIN, "other", OWNER));
        let (sold, elsewhere) = (proof(CHAIN, "mysite", Address([2; 20])), proof(ChainId(8), "other", OWNER));
        let rows: [(&[&str], Option<Proof>); 7] = [
            (&[&mine], mysite()),
            (&["v=spf1 -all", &elsewhere, &mine], mysite()),
            (&[&mine, &mine], mysite()),
            (&[&mine, &other], None),
            (&[&mine, &sold], None),
            (&[&elsewhere], None),
            (&[], None),
        ];
        for (texts, expected) in rows {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(named(CHAIN, &texts), expected, "{texts:?}");
        }
    }

    /// However many ask, a domain is looked up once at a time; a record without time to live counts for a while.
    #[tokio::test]
    async fn one_domain_is_one_lookup() {
        let zone = Zone::start(vec![proof(CHAIN, "mysite", OWNER)]).await;
        let proofs = proofs(&zone);
        let mut asking = JoinSet::new();
        for _ in 0..50 {
            let proofs = proofs.clone();
            asking.spawn(async move { proofs.of("shop.example.com").await });
        }
        assert_eq!(asking.join_all().await, vec![Ok(mysite()); 50]);
        assert_eq!(proofs.of("shop.example.com").await, Ok(mysite()));
        assert_eq!(zone.asked(), 1);
    }

    /// A resolver that never answers for one domain takes nothing from others: the former proof counts for its hour, failures are
    /// remembered, and the permits of renewals are not those of new domains.
    #[tokio::test]
    async fn dead_domains_are_in_nobodys_way() {
        let zone = Zone::start(vec![proof(CHAIN, "mysite", OWNER)]).await;
        let proofs = proofs(&zone);
        assert_eq!(proofs.of("shop.example.com").await, Ok(mysite()));
        zone.fail(true);
        // As many domains as there are permits hang, each asked about by many.
        let held: Vec<_> = std::iter::from_fn(|| proofs.0.firsts.clone().try_acquire_owned().ok()).collect();
        assert_eq!(held.len(), LOOKUPS);
        assert_eq!(proofs.of("new.example.com").await.map_err(|refusal| refusal.code), Err("BUSY"));
        let (before, later) = (zone.asked(), Instant::now() + SOON * 60);
        assert_eq!(proofs.at("shop.example.com", later).await, Ok(mysite()), "the former proof counts");
        settled(&proofs).await;
        assert_eq!(zone.asked(), before + 1, "it has a permit");
        assert_eq!(proofs.at("shop.example.com", later).await, Ok(mysite()), "and the failure is remembered");
        assert_eq!(zone.asked(), before + 1);
        let found = proofs.at("shop.example.com", later + STALE).await;
        assert_eq!(found.map_err(|refusal| refusal.code), Err("BUSY"), "an hour later it does not count");
    }

    /// The first lookups of a domain that fail are remembered, each longer than the one before.
    #[tokio::test]
    async fn failures_are_remembered() {
        let zone = Zone::start(Vec::new()).await;
        let proofs = proofs(&zone);
        zone.fail(true);
        for _ in 0..3 {
            assert_eq!(proofs.of("dead.example.com").await.map_err(|refusal| refusal.code), Err("UNAVAILABLE"));
        }
        assert_eq!(zone.asked(), 1);
        let now = Instant::now();
        let mut known = None;
        let waits: Vec<u64> = (0..7)
            .map(|_| {
                let failed = Known::failed(known.take(), "dead".into(), now);
                let wait = failed.until - now;
                known = Some(failed);
                wait.as_secs()
            })
            .collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 300, 300]);
    }

    /// What has a proof stays when the memory is full of what has none.
    #[test]
    fn proofs_stay_when_the_memory_is_full() {
        let (mut memory, now) = (Memory::default(), Instant::now());
        let minute = Duration::from_secs(60);
        memory.remember("shop.example.com".into(), Known::answered(mysite(), 60, minute, now), now);
        for number in 0..2 * REMEMBERED {
            memory.remember(format!("n{number}.example.com"), Known::answered(None, 60, minute, now), now);
        }
        assert_eq!(memory.known.len(), REMEMBERED);
        memory.remember("late.example.com".into(), Known::answered(mysite(), 60, minute, now), now);
        assert!(memory.known.contains_key("shop.example.com") && memory.known.contains_key("late.example.com"));
        assert_eq!(memory.known.len(), 2, "what has no proof made room");
    }
}
