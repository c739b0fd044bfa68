//! TLS: one certificate, read again whenever its files change.

use crate::acme::Acme;
use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use serde::Deserialize;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    time::{Duration, SystemTime},
};

/// How often the files are looked at.
const WATCH: Duration = Duration::from_secs(1);

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
}

impl ResolvesServerCert for Served {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.newest.read().expect("nothing panics while it holds the lock").clone()
    }
}

impl Served {
    /// Reads certificate and key, and shows them from the next connection on.
    pub(crate) fn load(&self, certificate: &Path, key: &Path) -> Result<(), CertificateError> {
        let file = |file: &Path| {
            let file = file.to_owned();
            move |source| CertificateError::File { file, source }
        };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificate).map_err(file(certificate))?.collect();
        let key = PrivateKeyDer::from_pem_file(key).map_err(file(key))?;
        let certified = CertifiedKey::from_der(chain.map_err(file(certificate))?, key, &provider())?;
        *self.newest.write().expect("nothing panics while it holds the lock") = Some(Arc::new(certified));
        Ok(())
    }

    /// Loads both files again whenever they change. While they do not fit together, the last pair stays.
    pub(crate) async fn watch(&self, tls: &Tls) {
        let mut known = versions(tls);
        // Where there was none at first, it is loaded as soon as it is there.
        let mut is_loaded = self.newest.read().expect("nothing panics while it holds the lock").is_some();
        loop {
            tokio::time::sleep(WATCH).await;
            let now = versions(tls);
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

/// What tells one version of a file from another; its length as well, for clocks that are coarse.
fn versions(tls: &Tls) -> [Option<(SystemTime, u64)>; 2] {
    [&tls.certificate, &tls.key].map(|path| {
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
