//! A validator that changes what it sends: shares that it deals, and certificates.

use commonware_actor::{Feedback, Unreliable};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{CheckedSender, LimitedSender, Recipients};
use commonware_runtime::IoBufs;
use cowboy_node::engine;
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::SystemTime,
};

/// What a validator changes of its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Forgery {
    /// The share in its dealings to everybody: none lies on the polynomial that it publishes.
    EveryShare,
    /// The share in its dealings to one validator.
    ShareOf(PublicKey),
    /// From the second epoch on it sends its first certificate instead of every other, as one of the running epoch.
    OldCertificate,
}

/// The validator that forges, and how often it did. Clones count together.
#[derive(Clone)]
pub(crate) struct Forger {
    pub(crate) index: usize,
    forgery: Forgery,
    count: Arc<AtomicUsize>,
    /// The first certificate, with its epoch before it.
    first: Arc<OnceLock<Vec<u8>>>,
}

impl Forger {
    pub(crate) fn new(index: usize, forgery: Forgery) -> Self {
        Self { index, forgery, count: Arc::default(), first: Arc::default() }
    }

    /// How many messages it changed.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// A message as it is sent on a channel to these. Before each message stands its epoch, here one byte.
    fn forged(&self, channel: usize, to: &[PublicKey], message: Vec<u8>) -> Vec<u8> {
        let forged = match (&self.forgery, engine::CHANNELS[channel].0) {
            (Forgery::EveryShare, "dealings") => wrong_share(&message),
            (Forgery::ShareOf(player), "dealings") if to.contains(player) => wrong_share(&message),
            (Forgery::OldCertificate, "certificates") => {
                let first = self.first.get_or_init(|| message.clone());
                (message.first() != first.first()).then(|| [&message[..1], &first[1..]].concat())
            }
            _ => None,
        };
        self.count.fetch_add(usize::from(forged.is_some()), Ordering::Relaxed);
        forged.unwrap_or(message)
    }
}

/// A dealing with another share at its end. `None` for other messages: a dealing's second byte is zero.
fn wrong_share(message: &[u8]) -> Option<Vec<u8>> {
    let mut wrong = message.to_vec();
    *wrong.last_mut().filter(|_| message.get(1) == Some(&0))? ^= 1;
    Some(wrong)
}

/// A sender whose messages a forger may change.
#[derive(Clone)]
pub(crate) struct Forging<S> {
    inner: S,
    channel: usize,
    forger: Option<Forger>,
}

impl<S> Forging<S> {
    pub(crate) fn new(inner: S, channel: usize, forger: Option<Forger>) -> Self {
        Self { inner, channel, forger }
    }
}

impl<S: LimitedSender<PublicKey = PublicKey>> LimitedSender for Forging<S> {
    type PublicKey = PublicKey;
    type Checked<'a> = Checked<'a, S::Checked<'a>>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Self::Checked<'_>, SystemTime> {
        Ok(Checked { inner: self.inner.check(recipients)?, channel: self.channel, forger: self.forger.as_ref() })
    }
}

/// What [`Forging`] sends through.
pub(crate) struct Checked<'a, C> {
    inner: C,
    channel: usize,
    forger: Option<&'a Forger>,
}

impl<C: CheckedSender<PublicKey = PublicKey>> CheckedSender for Checked<'_, C> {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.inner.recipients()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let Some(forger) = self.forger else { return self.inner.send(message, priority) };
        let message: IoBufs = message.into();
        let message = forger.forged(self.channel, &self.inner.recipients(), message.coalesce().as_ref().to_vec());
        self.inner.send(message, priority)
    }
}
