//! TLS: the gateway's certificate, read again whenever its files change, and those of domains by the name that is asked for.

use cowboy_system::names::domains::is_domain;
use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use serde::Deserialize;
use std::{
    collections::HashMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, RwLock},
    time::{Duration, SystemTime},
};

/// How often the files are looked at.
const WATCH: Duration = Duration::from_secs(1);

/// Names without a certificate that are remembered until somebody looks: as many as a byte counts.
const ASKED: usize = 256;

/// What ends TLS.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The certificate and those that lead to its root, PEM. Read again when it changes.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// Who gives certificates; where left out, they are put there by somebody else.
    pub acme: Option<Acme>,
}

impl Tls {
    /// Reads the certificate and its key.
    ///
    /// # Errors
    ///
    /// If a file is missing or damaged, or they are of different pairs.
    pub fn check(&self) -> Result<(), CertificateError> {
        certified(&self.certificate, &self.key).map(drop)
    }
}

/// Who gives certificates, and for what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acme {
    /// The authority's directory; Let's Encrypt's where left out.
    #[serde(default = "lets_encrypt")]
    pub directory: String,
    /// The domains of the certificate, like `*.cowboy.network`. A wildcard needs the name server.
    pub domains: Vec<String>,
    /// Whom the authority may write to, like `mailto:ops@example.com`.
    #[serde(default)]
    pub contact: Vec<String>,
    /// The root that the authority's own server has, PEM; the system's where left out.
    pub root: Option<PathBuf>,
    /// Where the account with the authority is kept.
    pub account: PathBuf,
}

fn lets_encrypt() -> String {
    instant_acme::LetsEncrypt::Production.url().to_owned()
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file is missing, or is not PEM.
    #[error("{file} cannot be read: {source}")]
    File {
        /// The file's path.
        file: PathBuf,
        /// The underlying error.
        source: rustls::pki_types::pem::Error,
    },
    /// Key and certificate are of different pairs, or of a kind that is not known.
    #[error("certificate and key do not work: {0}; put both of the same pair in place")]
    Pair(#[from] rustls::Error),
}

/// The certificate that visitors see.
#[derive(Debug, Default)]
pub(crate) struct Served {
    newest: RwLock<Option<Arc<CertifiedKey>>>,
    domains: RwLock<HashMap<String, OfDomain>>,
    /// Names that were asked for and have no certificate of their own.
    asked: Mutex<Asked>,
}

/// Names that were asked for, each once. Where there are too many, a new one takes the place of any, so that a flood of made-up names
/// keeps no name out for sure.
#[derive(Debug, Default)]
struct Asked(Vec<String>);

impl Asked {
    fn add(&mut self, name: String) {
        if self.0.contains(&name) {
            return;
        }
        if self.0.len() < ASKED {
            return self.0.push(name);
        }
        let mut place = [0];
        // Without randomness the name has to ask again.
        if getrandom::fill(&mut place).is_ok() {
            self.0[usize::from(place[0])] = name;
        }
    }

    /// Takes up to `most` of them.
    fn take(&mut self, most: usize) -> Vec<String> {
        let kept = self.0.len().saturating_sub(most);
        self.0.split_off(kept)
    }
}

/// The certificate of a domain, and which versions of its files it is of.
#[derive(Debug)]
struct OfDomain {
    certified: Arc<CertifiedKey>,
    versions: Versions,
}

impl ResolvesServerCert for Served {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if let Some(name) = hello.server_name() {
            let name = name.to_ascii_lowercase();
            if let Some(found) = self.domains.read().expect("nothing panics while it holds the lock").get(&name) {
                return Some(found.certified.clone());
            }
            if is_domain(&name) {
                self.asked.lock().expect("nothing panics while it holds the lock").add(name);
            }
        }
        self.newest.read().expect("nothing panics while it holds the lock").clone()
    }
}

impl Served {
    /// Reads certificate and key, and shows them from the next connection on.
    pub(crate) fn load(&self, certificate: &Path, key: &Path) -> Result<(), CertificateError> {
        *self.newest.write().expect("nothing panics while it holds the lock") = Some(certified(certificate, key)?);
        Ok(())
    }

    /// Shows a domain's certificate, where its files are others than those that are shown.
    pub(crate) fn show(&self, domain: &str, certificate: &Path, key: &Path) -> Result<(), CertificateError> {
        let versions = versions([certificate, key]);
        let is_shown = |all: &HashMap<String, OfDomain>| all.get(domain).is_some_and(|shown| shown.versions == versions);
        if is_shown(&self.domains.read().expect("nothing panics while it holds the lock")) {
            return Ok(());
        }
        let certified = certified(certificate, key)?;
        let mut all = self.domains.write().expect("nothing panics while it holds the lock");
        all.insert(domain.to_owned(), OfDomain { certified, versions });
        Ok(())
    }

    /// Shows a domain's certificate no more.
    pub(crate) fn forget(&self, domain: &str) {
        self.domains.write().expect("nothing panics while it holds the lock").remove(domain);
    }

    /// The domains whose certificates are shown.
    pub(crate) fn domains(&self) -> Vec<String> {
        self.domains.read().expect("nothing panics while it holds the lock").keys().cloned().collect()
    }

    /// Takes up to `most` of the domains that were asked for, and have no certificate.
    pub(crate) fn take_asked(&self, most: usize) -> Vec<String> {
        self.asked.lock().expect("nothing panics while it holds the lock").take(most)
    }

    /// Loads both files again whenever they change. While they do not fit together, the last pair stays.
    pub(crate) async fn watch(&self, tls: &Tls) {
        let files = [tls.certificate.as_path(), tls.key.as_path()];
        let mut known = versions(files);
        // Where there was none at first, it is loaded as soon as it is there.
        let mut is_loaded = self.newest.read().expect("nothing panics while it holds the lock").is_some();
        loop {
            tokio::time::sleep(WATCH).await;
            let now = versions(files);
            let is_due = now != known || (!is_loaded && now.iter().all(Option::is_some));
            if !is_due {
                continue;
            }
            known = now;
            match self.load(&tls.certificate, &tls.key) {
                Ok(()) => tracing::info!(file = %tls.certificate.display(), "a new certificate is in use"),
                Err(error) => tracing::warn!(%error, "the certificate's files changed, and the old one stays"),
            }
            is_loaded = true;
        }
    }
}

/// Certificate and key in two files.
fn certified(certificate: &Path, key: &Path) -> Result<Arc<CertifiedKey>, CertificateError> {
    let file = |file: &Path| {
        let file = file.to_owned();
        move |source| CertificateError::File { file, source }
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificate).map_err(file(certificate))?.collect();
    let key = PrivateKeyDer::from_pem_file(key).map_err(file(key))?;
    Ok(Arc::new(CertifiedKey::from_der(chain.map_err(file(certificate))?, key, &provider())?))
}

/// What tells one version of two files from another; their length as well, for clocks that are coarse.
type Versions = [Option<(SystemTime, u64)>; 2];

fn versions(files: [&Path; 2]) -> Versions {
    files.map(|path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.modified().ok()?, found.len()))
    })
}

/// HTTP/2 where the client speaks it, else HTTP/1.1, over TLS 1.2 or 1.3.
pub(crate) fn server_config(served: Arc<Served>) -> Arc<ServerConfig> {
    let versions = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let mut config = versions.expect("the provider has suites for both versions").with_no_client_auth().with_cert_resolver(served);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flood of names neither grows what is remembered nor keeps a later name out for sure; each is taken once.
    #[test]
    fn a_flood_of_names_is_bounded() {
        let mut asked = Asked::default();
        (0..2 * ASKED).for_each(|number| asked.add(format!("n{number}.example.com")));
        (0..2).for_each(|_| asked.add("shop.example.com".into()));
        assert_eq!(asked.0.len(), ASKED);
        assert!(asked.0.contains(&"shop.example.com".to_owned()), "the last name is among them");
        let (some, rest) = (asked.take(100), asked.take(ASKED));
        assert_eq!((some.len(), rest.len(), asked.0.len()), (100, ASKED - 100, 0));
        let all: std::collections::BTreeSet<_> = some.into_iter().chain(rest).collect();
        assert_eq!(all.len(), ASKED, "each once");
    }
}
