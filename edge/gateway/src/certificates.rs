//! Certificates of domains: read from their folder, shown while the domain is served, ordered and renewed within bounds.
//!
//! Nothing here waits for one domain: lookups and orders are tasks, of which a fixed number runs at once, and files are read on threads that
//! may wait.

use crate::{
    Shared,
    acme::{self, AcmeError, Challenges, Order},
    domains::{Domains, Names},
    refusal::Refusal,
    resolver,
    tls::{Acme, Served},
    turns::{Allowed, End, Turns},
};
use cowboy_serve::is_public;
use hyper::StatusCode;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    io,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::{JoinSet, spawn_blocking},
    time::timeout,
};

/// How often somebody looks whether there is something to do.
const TICK: Duration = Duration::from_secs(1);

/// How soon a domain that is served is looked at again.
const AGAIN: Duration = Duration::from_secs(5);

/// How soon its files are.
const FILES_AGAIN: Duration = Duration::from_secs(60);

/// Domains that are looked at at once.
const LOOKS: usize = 64;

/// Orders at once.
const ORDERS: usize = 4;

/// How long a domain may take to show that it leads here.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of an answer in which the proof has to be.
const ANSWER_BYTES: u64 = 4 * 1024;

/// What a look at a domain found: the name that is served there.
type Look = (String, Result<String, Refusal>);

/// The certificates of domains, and what is done about them.
struct Keeper {
    shared: Arc<Shared>,
    names: Arc<Names>,
    served: Arc<Served>,
    acme: Acme,
    folder: PathBuf,
    looks: JoinSet<Look>,
    looking: HashSet<String>,
    /// When a domain was looked at, of those that are served or proven.
    looked: HashMap<String, Instant>,
    /// When the files of a domain that is shown are read again.
    files: HashMap<String, Instant>,
    orders: JoinSet<(String, Result<(), Unobtained>)>,
    turns: Turns,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
enum Unobtained {
    #[error("it does not lead to this gateway: {0}")]
    Unreached(io::Error),
    #[error(transparent)]
    Refused(#[from] AcmeError),
}

/// Sees to it that the domains that are served have certificates, and that others have none any more.
pub(crate) async fn keep(shared: Arc<Shared>, names: Arc<Names>, served: Arc<Served>, acme: Acme) {
    let Some(folder) = names.settings.certificates.clone() else { return };
    // Those of yesterday are shown at once; the first look takes back what ended meanwhile.
    let (stored, into) = (folder.clone(), served.clone());
    let show = move || stored_domains(&stored).iter().filter(|domain| shown(&into, &stored, domain)).count();
    match spawn_blocking(show).await {
        Ok(certificates) => tracing::info!(certificates, "certificates of domains are in use"),
        Err(error) => tracing::error!(%error, "stored certificates could not be read"),
    }
    let mut keeper = Keeper {
        shared,
        names,
        served,
        acme,
        folder,
        looks: JoinSet::new(),
        looking: HashSet::new(),
        looked: HashMap::new(),
        files: HashMap::new(),
        orders: JoinSet::new(),
        turns: Turns::default(),
    };
    loop {
        tokio::time::sleep(TICK).await;
        keeper.finish_orders();
        keeper.look().await;
        let due = keeper.finish_looks().await;
        keeper.order(&due);
    }
}

impl Keeper {
    fn finish_orders(&mut self) {
        while let Some(ended) = self.orders.try_join_next() {
            let Ok((domain, obtained)) = ended else { continue };
            let end = match obtained {
                Ok(()) => End::Obtained,
                Err(error) => {
                    tracing::error!(domain, %error, "no certificate; asking again");
                    if matches!(error, Unobtained::Unreached(_)) { End::Unreached } else { End::Refused }
                }
            };
            // A new certificate is shown with the next look.
            self.files.remove(&domain);
            self.looked.remove(&domain);
            self.turns.end(&domain, end, Instant::now());
        }
    }

    /// Begins to look at domains that somebody asked for, that have a proof, or whose certificates are shown.
    async fn look(&mut self) {
        let Ok(state) = self.shared.newest.state().await else { return };
        let now = Instant::now();
        self.looked.retain(|_, at| now.duration_since(*at) < AGAIN);
        let known: BTreeSet<String> = self.names.proven_domains().into_iter().chain(self.served.domains()).collect();
        let known = known.into_iter().filter(|domain| !self.looked.contains_key(domain));
        let free = LOOKS.saturating_sub(self.looks.len());
        // What is known and what is asked for share the places, so that neither is in the way of the other.
        let mut wanted: Vec<String> = self.served.take_asked(free / 2);
        wanted.extend(known.take(free.saturating_sub(wanted.len())));
        for domain in wanted {
            if !self.looking.insert(domain.clone()) {
                continue;
            }
            let (names, state) = (self.names.clone(), state.clone());
            self.looks.spawn(async move {
                let found = names.name_of(&state, &domain).await;
                (domain, found)
            });
        }
    }

    /// The domains that need a certificate, each with its name. What is not served any more is shown no more.
    async fn finish_looks(&mut self) -> Vec<(String, String)> {
        let (mut served, now) = (Vec::new(), Instant::now());
        while let Some(ended) = self.looks.try_join_next() {
            let Ok((domain, found)) = ended else { continue };
            self.looking.remove(&domain);
            match found {
                Ok(name) => {
                    self.looked.insert(domain.clone(), now);
                    if self.files.get(&domain).is_none_or(|again| *again <= now) {
                        served.push((domain, name));
                    }
                }
                Err(refusal) if refusal.status == StatusCode::MISDIRECTED_REQUEST => {
                    self.served.forget(&domain);
                    self.files.remove(&domain);
                }
                // A resolver or a node that cannot tell now changes nothing.
                Err(_) => drop(self.looked.insert(domain, now)),
            }
        }
        let (into, folder) = (self.served.clone(), self.folder.clone());
        let read = spawn_blocking(move || {
            served.into_iter().partition::<Vec<_>, _>(|(domain, _)| {
                let is_due = acme::is_due(&order_of(&folder, domain).certificate);
                // Until there is another one, what is due is still shown.
                !shown(&into, &folder, domain) || is_due
            })
        });
        let (due, kept) = read.await.unwrap_or_default();
        self.files.extend(kept.into_iter().map(|(domain, _)| (domain, now + FILES_AGAIN)));
        due
    }

    /// Begins to order certificates, as many as are allowed.
    fn order(&mut self, due: &[(String, String)]) {
        let Domains { orders_per_hour, orders_per_name, .. } = self.names.settings;
        let allowed = Allowed { orders: orders_per_hour, of_name: orders_per_name };
        let free = ORDERS.saturating_sub(self.orders.len());
        for domain in self.turns.take(due, allowed, free, Instant::now()) {
            let order = order_of(&self.folder, &domain);
            let (acme, shared, settings) = (self.acme.clone(), self.shared.clone(), self.names.settings.clone());
            self.orders.spawn(async move {
                let obtained = obtain(&acme, &order, &shared.challenges, &settings, &domain).await;
                (domain, obtained)
            });
        }
    }
}

/// Orders a certificate, once the domain leads here: what the authority would find out, too, but counts against everybody.
async fn obtain(acme: &Acme, order: &Order, challenges: &Challenges, settings: &Domains, domain: &str) -> Result<(), Unobtained> {
    let late = || io::Error::from(io::ErrorKind::TimedOut);
    let reached = timeout(PATIENCE, reach(settings, challenges, domain)).await;
    reached.unwrap_or_else(|_| Err(late())).map_err(Unobtained::Unreached)?;
    Ok(acme::obtain(acme, order, challenges, false).await?)
}

/// Asks a domain for a proof that this gateway shows just now, as an authority does.
async fn reach(settings: &Domains, challenges: &Challenges, domain: &str) -> io::Result<()> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    let (token, proof) = (hex::encode(&secret[..16]), hex::encode(&secret[16..]));
    let _shown = challenges.show(&token, &proof);
    let addresses = resolver::addresses(settings.resolver, domain).await?;
    let address: &IpAddr = addresses.first().ok_or_else(|| io::Error::other("it has no address"))?;
    if !settings.allow_private && !is_public(*address) {
        return Err(io::Error::other(format!("{address} is not an address of the internet")));
    }
    let mut stream = TcpStream::connect(SocketAddr::new(*address, settings.http_port)).await?;
    let head = format!("GET {}{token} HTTP/1.1\r\nhost: {domain}\r\nconnection: close\r\n\r\n", acme::CHALLENGE_PATH);
    stream.write_all(head.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES).read_to_end(&mut answer).await?;
    let is_there = answer.windows(proof.len()).any(|part| part == proof.as_bytes());
    if is_there { Ok(()) } else { Err(io::Error::other(format!("{address} shows no proof of this gateway"))) }
}

/// The order of a domain's certificate: its files have the domain's name.
fn order_of(folder: &Path, domain: &str) -> Order {
    let file = |ending: &str| folder.join(format!("{domain}.{ending}"));
    Order { domains: vec![domain.to_owned()], certificate: file("pem"), key: file("key") }
}

/// The domains whose certificates are in a folder.
fn stored_domains(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".pem")?.to_owned()));
    names.filter(|name| cowboy_system::names::domains::is_domain(name)).collect()
}

/// Shows a domain's certificate; false where there is none that can be used.
fn shown(served: &Served, folder: &Path, domain: &str) -> bool {
    let order = order_of(folder, domain);
    if !order.certificate.exists() {
        return false;
    }
    let result = served.show(domain, &order.certificate, &order.key);
    if let Err(error) = &result {
        tracing::warn!(domain, %error, "its certificate cannot be used");
    }
    result.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::tests::Zone;
    use tokio::net::TcpListener;

    /// A web server that answers each request with what `answer` makes of its path.
    async fn site(answer: impl Fn(&str) -> String + Send + 'static) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("the loopback has ports");
        let port = listener.local_addr().expect("it is bound").port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 1_024];
                let length = stream.read(&mut head).await.expect("a request");
                let head = String::from_utf8_lossy(&head[..length]).into_owned();
                let body = answer(head.split(' ').nth(1).unwrap_or_default());
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                stream.write_all(answer.as_bytes()).await.expect("it is sent");
            }
        });
        port
    }

    /// A domain leads here where it shows what this gateway shows; another server does not, and nothing is left of the proof.
    #[tokio::test]
    async fn a_domain_has_to_lead_here() {
        let zone = Zone::start(Vec::new()).await;
        let challenges = Arc::new(Challenges::default());
        let known = challenges.clone();
        let ours =
            site(move |path| path.strip_prefix(acme::CHALLENGE_PATH).and_then(|token| known.of_token(token)).unwrap_or_default()).await;
        let theirs = site(|path| format!("nothing at {path}")).await;
        for (http_port, expected) in [(ours, true), (theirs, false)] {
            let settings = Domains { resolver: zone.address, http_port, allow_private: true, ..Domains::default() };
            assert_eq!(reach(&settings, &challenges, "shop.example.com").await.is_ok(), expected);
            let careful = Domains { allow_private: false, ..settings };
            let refused = reach(&careful, &challenges, "shop.example.com").await.expect_err("it is the gateway's own network");
            assert!(refused.to_string().contains("not an address of the internet"), "{refused}");
        }
        assert!(challenges.is_empty());
        zone.fail(true);
        let settings = Domains { resolver: zone.address, http_port: ours, allow_private: true, ..Domains::default() };
        assert!(reach(&settings, &challenges, "shop.example.com").await.is_err(), "its address is not known");
    }

    /// Certificates of yesterday are found by their files' names, and nothing else is.
    #[test]
    fn stored_certificates_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in ["shop.example.com.pem", "shop.example.com.key", "tls.pem", "a.cowboy.network.pem", "Example.com.pem", "note.txt"] {
            std::fs::write(folder.path().join(file), "").expect("it writes");
        }
        assert_eq!(stored_domains(folder.path()), ["shop.example.com"]);
        assert!(stored_domains(&folder.path().join("none")).is_empty());
    }
}
