//! A validator that changes what it sends: shares that it deals, certificates, and what its blocks are made of. What all send is counted.

use commonware_actor::{Feedback, Unreliable};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{CheckedSender, LimitedSender, Recipients};
use commonware_runtime::IoBufs;
use cowboy_node::engine;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::SystemTime,
};

/// What all validators of a network sent: bytes by channel and first byte of the message, once for each recipient.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<Mutex<BTreeMap<(usize, u8), usize>>>);

impl Meter {
    fn note(&self, channel: usize, message: &[u8], recipients: usize) {
        let kind = message.first().copied().unwrap_or_default();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((channel, kind)).or_default() += message.len() * recipients;
    }

    /// The bytes of messages on a channel, by their first byte.
    pub(crate) fn bytes(&self, channel: &str) -> BTreeMap<u8, usize> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_channel = counts.iter().filter(|((number, _), _)| engine::CHANNELS[*number].0 == channel);
        of_channel.map(|((_, kind), bytes)| (*kind, *bytes)).collect()
    }
}

/// What a validator changes of its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Forgery {
    /// The share in its dealings to everybody: none lies on the polynomial that it publishes.
    EveryShare,
    /// The share in its dealings to one validator.
    ShareOf(PublicKey),
    /// The transactions that it names in its blocks: one is another than its header commits to.
    Bodies,
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
            (Forgery::Bodies, "broadcast") => other_body(&message),
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

/// A block without its transactions, of which the last is another one. `None` for other messages on the channel.
fn other_body(message: &[u8]) -> Option<Vec<u8>> {
    let mut other = message.to_vec();
    // The last byte says that no shares are dealt in the block.
    let last = other.len().checked_sub(2)?;
    *other.get_mut(last).filter(|_| message.first() == Some(&1))? ^= 1;
    Some(other)
}

/// A sender whose messages are counted, and which a forger may change.
#[derive(Clone)]
pub(crate) struct Forging<S> {
    inner: S,
    channel: usize,
    forger: Option<Forger>,
    meter: Meter,
}

impl<S> Forging<S> {
    pub(crate) fn new(inner: S, channel: usize, forger: Option<Forger>, meter: Meter) -> Self {
        Self { inner, channel, forger, meter }
    }
}

impl<S: LimitedSender<PublicKey = PublicKey>> LimitedSender for Forging<S> {
    type PublicKey = PublicKey;
    type Checked<'a> = Checked<'a, S::Checked<'a>>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Self::Checked<'_>, SystemTime> {
        Ok(Checked { inner: self.inner.check(recipients)?, channel: self.channel, forger: self.forger.as_ref(), meter: &self.meter })
    }
}

/// What [`Forging`] sends through.
pub(crate) struct Checked<'a, C> {
    inner: C,
    channel: usize,
    forger: Option<&'a Forger>,
    meter: &'a Meter,
}

impl<C: CheckedSender<PublicKey = PublicKey>> CheckedSender for Checked<'_, C> {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.inner.recipients()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let message: IoBufs = message.into();
        let (message, recipients) = (message.coalesce(), self.inner.recipients());
        self.meter.note(self.channel, message.as_ref(), recipients.len());
        match self.forger {
            None => self.inner.send(message, priority),
            Some(forger) => self.inner.send(forger.forged(self.channel, &recipients, message.as_ref().to_vec()), priority),
        }
    }
}
