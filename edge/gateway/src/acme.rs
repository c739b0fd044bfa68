//! Certificates by ACME (RFC 8555): asked for when there is none, and again when two thirds of one's time are over.
//!
//! With a name server of its own the gateway proves its domains there, and may ask for `*.zone`; without one, over plain HTTP.

use crate::tls::{Acme, Tls};
use cowboy_host::clock;
use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, ChallengeType, Identifier, NewAccount, NewOrder, OrderStatus, RetryPolicy,
};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};
use tokio::task::spawn_blocking;
use x509_cert::der::Decode as _;

/// Where an authority of certificates looks for a proof (RFC 8555 §8.3). While there is none, the path is the actor's.
pub(crate) const CHALLENGE_PATH: &str = "/.well-known/acme-challenge/";

/// How often it looks whether a certificate is due.
const LOOK: Duration = Duration::from_secs(3_600);

/// The wait after the first failure; twice as long after each more, up to `LOOK`.
const RETRY: Duration = Duration::from_secs(10);

/// How long an order may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why there is no new certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AcmeError {
    #[error("the authority: {0}")]
    Authority(#[from] instant_acme::Error),
    #[error("the authority does not take the proof of {domain}: no {kind:?}")]
    NoChallenge { domain: String, kind: ChallengeType },
    #[error("the authority says the order is {0:?}")]
    Refused(OrderStatus),
    #[error("{file}: {source}")]
    File { file: PathBuf, source: io::Error },
    #[error("the account's file is damaged: {0}; remove it for a new account")]
    Account(#[from] serde_json::Error),
}

/// Proofs that the authority comes to look at.
#[derive(Default)]
pub(crate) struct Challenges {
    tokens: Mutex<HashMap<String, String>>,
    domains: Mutex<HashMap<String, Vec<String>>>,
}

impl Challenges {
    /// What is shown at `/.well-known/acme-challenge/{token}`.
    pub(crate) fn of_token(&self, token: &str) -> Option<String> {
        self.tokens.lock().expect("nothing panics while it holds the lock").get(token).cloned()
    }

    /// Shows a proof until what is answered is dropped.
    pub(crate) fn show(&self, token: &str, proof: &str) -> Shown<'_> {
        let mut shown = Shown { challenges: self, tokens: Vec::new(), texts: Vec::new() };
        shown.token(token, proof);
        shown
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.lock().expect("nothing panics while it holds the lock").is_empty()
    }

    /// The texts at `_acme-challenge.{domain}`.
    pub(crate) fn of_domain(&self, domain: &str) -> Vec<String> {
        self.domains.lock().expect("nothing panics while it holds the lock").get(domain).cloned().unwrap_or_default()
    }
}

/// What is asked for: domains, and the files for certificate and key.
pub(crate) struct Order {
    pub(crate) domains: Vec<String>,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// The proofs that one order shows, until it is over.
pub(crate) struct Shown<'a> {
    challenges: &'a Challenges,
    tokens: Vec<String>,
    texts: Vec<(String, String)>,
}

impl Shown<'_> {
    fn token(&mut self, token: &str, proof: &str) {
        let mut all = self.challenges.tokens.lock().expect("nothing panics while it holds the lock");
        all.insert(token.to_owned(), proof.to_owned());
        self.tokens.push(token.to_owned());
    }

    fn text(&mut self, domain: String, text: String) {
        let mut all = self.challenges.domains.lock().expect("nothing panics while it holds the lock");
        all.entry(domain.clone()).or_default().push(text.clone());
        self.texts.push((domain, text));
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        let mut tokens = self.challenges.tokens.lock().expect("nothing panics while it holds the lock");
        self.tokens.iter().for_each(|token| drop(tokens.remove(token)));
        let mut domains = self.challenges.domains.lock().expect("nothing panics while it holds the lock");
        for (domain, text) in &self.texts {
            if let Some(texts) = domains.get_mut(domain) {
                texts.retain(|shown| shown != text);
            }
        }
        domains.retain(|_, texts| !texts.is_empty());
    }
}

/// Sees to it that there is a certificate that lives, for as long as the gateway does.
pub(crate) async fn keep(tls: &Tls, acme: &Acme, challenges: &Challenges, has_names: bool) {
    let order = Order { domains: acme.domains.clone(), certificate: tls.certificate.clone(), key: tls.key.clone() };
    let mut wait = RETRY;
    loop {
        let certificate = tls.certificate.clone();
        if on_disk(move || is_due(&certificate)).await {
            match obtain(acme, &order, challenges, has_names).await {
                Ok(()) => {
                    tracing::info!(domains = ?acme.domains, "a certificate was obtained");
                    wait = RETRY;
                }
                Err(error) => {
                    tracing::error!(%error, domains = ?acme.domains, "no certificate; asking again");
                    tokio::time::sleep(wait).await;
                    wait = clock::doubled(wait, 1, LOOK);
                    continue;
                }
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether there is no certificate, or two thirds of its time are over.
pub(crate) fn is_due(file: &Path) -> bool {
    let Ok(first) = CertificateDer::from_pem_file(file) else { return true };
    let Ok(certificate) = x509_cert::Certificate::from_der(&first) else { return true };
    let validity = certificate.tbs_certificate.validity;
    let (from, to) = (validity.not_before.to_unix_duration(), validity.not_after.to_unix_duration());
    let now = clock::now();
    now > from + to.saturating_sub(from) * 2 / 3
}

/// Obtains a certificate and puts it into its files.
pub(crate) async fn obtain(acme: &Acme, wanted: &Order, challenges: &Challenges, has_names: bool) -> Result<(), AcmeError> {
    // The client takes the process's provider, and the tree has two.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let account = account(acme).await?;
    let mut shown = Shown { challenges, tokens: Vec::new(), texts: Vec::new() };
    let domains: Vec<_> = wanted.domains.iter().map(|domain| Identifier::Dns(domain.clone())).collect();
    let mut order = account.new_order(&NewOrder::new(&domains)).await?;
    let kind = if has_names { ChallengeType::Dns01 } else { ChallengeType::Http01 };
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let domain = authorization.identifier().to_string();
        let challenge = authorization.challenge(kind.clone());
        let mut challenge = challenge.ok_or(AcmeError::NoChallenge { domain: domain.clone(), kind: kind.clone() })?;
        let proof = challenge.key_authorization();
        if has_names {
            let domain = domain.trim_start_matches("*.").to_ascii_lowercase();
            shown.text(domain, proof.dns_value());
        } else {
            shown.token(&challenge.token, proof.as_str());
        }
        challenge.set_ready().await?;
    }
    let patience = RetryPolicy::default().timeout(PATIENCE);
    let status = order.poll_ready(&patience).await?;
    if status != OrderStatus::Ready {
        return Err(AcmeError::Refused(status));
    }
    let key = order.finalize().await?;
    let chain = order.poll_certificate(&patience).await?;
    // The watcher takes both when they fit together; in between it keeps the old pair.
    let (key_file, certificate) = (wanted.key.clone(), wanted.certificate.clone());
    on_disk(move || {
        replace(&key_file, key.as_bytes())?;
        replace(&certificate, chain.as_bytes())
    })
    .await
}

/// What work on files answers, done where a slow disk holds up nobody.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    spawn_blocking(work).await.expect("work on files does not panic")
}

/// The account with the authority: the one that is kept, or a new one.
async fn account(acme: &Acme) -> Result<Account, AcmeError> {
    let builder = || match &acme.root {
        Some(root) => Account::builder_with_root(root),
        None => Account::builder(),
    };
    let file = acme.account.clone();
    if let Ok(kept) = on_disk(move || fs::read(file)).await {
        let credentials: AccountCredentials = serde_json::from_slice(&kept)?;
        return Ok(builder()?.from_credentials(credentials).await?);
    }
    let contact: Vec<&str> = acme.contact.iter().map(String::as_str).collect();
    let wanted = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let (account, credentials) = builder()?.create(&wanted, acme.directory.clone(), None).await?;
    let (file, bytes) = (acme.account.clone(), serde_json::to_vec(&credentials)?);
    on_disk(move || replace(&file, &bytes)).await?;
    Ok(account)
}

/// Writes a file that only its owner reads, whole or not at all.
fn replace(file: &Path, bytes: &[u8]) -> Result<(), AcmeError> {
    cowboy_host::files::replace(file, bytes).map_err(|source| AcmeError::File { file: file.to_owned(), source })
}
