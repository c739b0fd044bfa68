//! Domains of other zones under which names are served (CIP-16, decision 333).
//!
//! Two sides have to agree: the owner of the name, by a claim on chain, and the owner of the domain, by a TXT record. Both are
//! looked at again and again; what one of them takes back ends.

use crate::{
    Shared,
    acme::{self, Acme, Order},
    refusal::Refusal,
    resolver,
    state::BlockState,
    tls::Served,
};
use cowboy_system::names::domains::{LABEL, is_claimed, leads, proven};
use cowboy_types::units::ChainId;
use hyper::StatusCode;
use serde::Deserialize;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::{sync::Semaphore, task::JoinSet};

/// Domains that are remembered.
const REMEMBERED: usize = 10_000;

/// Questions to the resolver at once.
const LOOKUPS: usize = 16;

/// How soon the resolver is asked again about a domain that has no proof, or about which it could not tell.
const SOON: Duration = Duration::from_secs(10);

/// How long a proof counts while the resolver cannot tell.
const STALE: Duration = Duration::from_secs(3_600);

/// How often certificates of domains are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Orders of certificates at once.
const ORDERS: usize = 4;

/// The wait after the first failure of an order; twice as long after each more, up to [`STALE`].
const RETRY: Duration = Duration::from_secs(10);

/// The settings of domains.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Domains {
    /// The resolver that is asked for TXT records.
    pub resolver: SocketAddr,
    /// The longest time in seconds for which a proof counts before it is looked at again.
    pub recheck_seconds: u64,
    /// The folder of the domains' certificates; where left out, domains are served over plain HTTP only.
    pub certificates: Option<PathBuf>,
}

impl Default for Domains {
    fn default() -> Self {
        Self { resolver: (Ipv4Addr::LOCALHOST, 53).into(), recheck_seconds: 300, certificates: None }
    }
}

/// What is known of a domain.
#[derive(Clone)]
struct Known {
    /// The name that its TXT record names.
    name: Option<String>,
    /// When it is looked at again.
    until: Instant,
    /// When it was last seen.
    seen: Instant,
}

/// Which name a domain leads to.
pub(crate) struct Names {
    settings: Domains,
    chain: ChainId,
    known: Mutex<HashMap<String, Known>>,
    lookups: Semaphore,
}

impl Names {
    pub(crate) fn new(settings: Domains, chain: ChainId) -> Self {
        Self { settings, chain, known: Mutex::default(), lookups: Semaphore::new(LOOKUPS) }
    }

    /// The name that is served under a domain on this state.
    pub(crate) async fn name_of(&self, state: &BlockState, domain: &str) -> Result<String, Refusal> {
        // Without a claim the DNS is not asked, so that made-up hosts cost nobody anything.
        if !state.ask(|world| is_claimed(world, domain)).await? {
            return Err(Refusal::misdirected(domain));
        }
        let name = self.proven(domain).await?.ok_or_else(|| unproven(domain))?;
        let height = state.head.height.next();
        if state.ask(|world| leads(world, domain, &name, height)).await? { Ok(name) } else { Err(unproven(domain)) }
    }

    /// The name that the domain's TXT record names, where there is exactly one.
    async fn proven(&self, domain: &str) -> Result<Option<String>, Refusal> {
        let former = self.known.lock().expect("nothing panics while it holds the lock").get(domain).cloned();
        if let Some(known) = former.as_ref().filter(|known| Instant::now() < known.until) {
            return Ok(known.name.clone());
        }
        let busy = |_| Refusal::busy("BUSY", "Too many domains are being looked up.");
        let _lookup = self.lookups.try_acquire().map_err(busy)?;
        let (found, now) = (resolver::texts(self.settings.resolver, &format!("{LABEL}{domain}")).await, Instant::now());
        let known = match (found, former) {
            (Ok(found), _) => {
                let name = named(self.chain, &found.texts);
                let most = Duration::from_secs(self.settings.recheck_seconds);
                let keep = if name.is_some() { Duration::from_secs(found.ttl.into()).min(most) } else { SOON.min(most) };
                Known { name, until: now + keep, seen: now }
            }
            (Err(error), Some(former)) if now < former.seen + STALE => {
                tracing::warn!(domain, %error, "the resolver does not tell; the last proof counts");
                Known { until: now + SOON, ..former }
            }
            (Err(error), _) => return Err(Refusal::unavailable(format_args!("the resolver does not tell of {domain}: {error}"))),
        };
        let mut all = self.known.lock().expect("nothing panics while it holds the lock");
        if all.len() >= REMEMBERED {
            all.retain(|_, known| now < known.until);
        }
        if all.len() < REMEMBERED {
            all.insert(domain.to_owned(), known.clone());
        }
        Ok(known.name)
    }

    /// The domains that have a proof.
    fn proven_domains(&self) -> Vec<String> {
        let all = self.known.lock().expect("nothing panics while it holds the lock");
        all.iter().filter(|(_, known)| known.name.is_some()).map(|(domain, _)| domain.clone()).collect()
    }
}

fn unproven(domain: &str) -> Refusal {
    let what = format!("{domain} is not shown to belong to a name.");
    let fix = "Its owner sets the TXT record that `cowboy name claim-domain` prints, for a name that claims the domain.";
    Refusal::new(StatusCode::MISDIRECTED_REQUEST, "DOMAIN_UNPROVEN", what, fix)
}

/// The one name that texts name for a chain; nothing where they name several.
fn named(chain: ChainId, texts: &[String]) -> Option<String> {
    let names: BTreeSet<&str> = texts.iter().filter_map(|text| proven(chain, text)).collect();
    let mut names = names.into_iter();
    names.next().filter(|_| names.next().is_none()).map(str::to_owned)
}

/// Sees to it that the domains that are served have certificates, and that others have none any more.
pub(crate) async fn keep(shared: Arc<Shared>, names: Arc<Names>, served: Arc<Served>, acme: Acme) {
    let Some(folder) = names.settings.certificates.clone() else { return };
    let (mut waits, mut orders, mut under_way) = (HashMap::<String, (Instant, Duration)>::new(), JoinSet::new(), HashSet::new());
    loop {
        tokio::time::sleep(LOOK).await;
        while let Some(ended) = orders.try_join_next() {
            let Ok((domain, obtained)): Result<(String, Result<(), acme::AcmeError>), _> = ended else { continue };
            under_way.remove(&domain);
            match obtained {
                Ok(()) => drop(waits.remove(&domain)),
                Err(error) => {
                    let wait = waits.get(&domain).map_or(RETRY, |(_, wait)| (*wait * 2).min(STALE));
                    tracing::error!(domain, %error, "no certificate; asking again");
                    waits.insert(domain, (Instant::now() + wait, wait));
                }
            }
        }
        let Ok(state) = shared.newest.state().await else { continue };
        let asked = served.asked().into_iter().chain(names.proven_domains()).chain(served.domains());
        for domain in asked.collect::<BTreeSet<String>>() {
            match names.name_of(&state, &domain).await {
                Ok(_) => {}
                Err(refusal) => {
                    // A resolver or a node that cannot tell now changes nothing.
                    if refusal.status == StatusCode::MISDIRECTED_REQUEST {
                        served.forget(&domain);
                    }
                    continue;
                }
            }
            let order = order_of(&folder, &domain);
            let is_due = acme::is_due(&order.certificate);
            if !is_due {
                if let Err(error) = served.show(&domain, &order.certificate, &order.key) {
                    tracing::warn!(domain, %error, "its certificate cannot be used");
                }
                continue;
            }
            let is_early = waits.get(&domain).is_some_and(|(from, _)| Instant::now() < *from);
            if is_early || orders.len() >= ORDERS || !under_way.insert(domain.clone()) {
                continue;
            }
            let (acme, shared) = (acme.clone(), shared.clone());
            orders.spawn(async move {
                let obtained = acme::obtain(&acme, &order, &shared.challenges, false).await;
                (domain, obtained)
            });
        }
    }
}

/// The order of a domain's certificate: its files have the domain's name.
fn order_of(folder: &Path, domain: &str) -> Order {
    let file = |ending: &str| folder.join(format!("{domain}.{ending}"));
    Order { domains: vec![domain.to_owned()], certificate: file("pem"), key: file("key") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A domain names one name of this chain, whatever else stands there; two names are none.
    #[test]
    fn a_domain_names_one_name() {
        let chain = ChainId(7);
        let rows: [(&[&str], Option<&str>); 6] = [
            (&["cowboy1 chain=7 name=mysite"], Some("mysite")),
            (&["v=spf1 -all", "cowboy1 chain=8 name=other", "cowboy1 chain=7 name=mysite"], Some("mysite")),
            (&["cowboy1 chain=7 name=mysite", "cowboy1 chain=7 name=mysite"], Some("mysite")),
            (&["cowboy1 chain=7 name=mysite", "cowboy1 chain=7 name=other"], None),
            (&["cowboy1 chain=8 name=mysite"], None),
            (&[], None),
        ];
        for (texts, expected) in rows {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(named(chain, &texts).as_deref(), expected, "{texts:?}");
        }
    }
}
