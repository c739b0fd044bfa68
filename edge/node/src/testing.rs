//! What tests of several modules have in the place of the network.

use commonware_actor::{Feedback, Unreliable};
use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_p2p::{CheckedSender, LimitedSender, Recipients};
use commonware_runtime::IoBufs;
use std::{
    sync::{Arc, Mutex},
    time::SystemTime,
};

/// The key of a peer, another one for each seed.
pub(crate) fn peer(seed: u64) -> PublicKey {
    PrivateKey::from_seed(seed).public_key()
}

/// A sender that keeps what is sent until a test takes it, as a network does whose peers take nothing. Clones keep it together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    messages: Arc<Mutex<Vec<IoBufs>>>,
    /// Whether every peer has had its messages of this second.
    pub(crate) is_limited: bool,
    /// Whether the network takes no more.
    pub(crate) is_full: bool,
}

impl Kept {
    /// How many messages are kept.
    pub(crate) fn count(&self) -> usize {
        self.messages.lock().expect("one thread").len()
    }

    /// Takes the messages that are kept.
    pub(crate) fn take(&self) -> Vec<Vec<u8>> {
        let messages = std::mem::take(&mut *self.messages.lock().expect("one thread"));
        messages.into_iter().map(|message| message.coalesce().as_ref().to_vec()).collect()
    }
}

impl LimitedSender for Kept {
    type PublicKey = PublicKey;
    type Checked<'a> = CheckedKept;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<CheckedKept, SystemTime> {
        let recipients = match recipients {
            _ if self.is_limited => return Err(SystemTime::UNIX_EPOCH),
            Recipients::One(peer) => vec![peer],
            Recipients::Some(peers) => peers,
            Recipients::All => Vec::new(),
        };
        Ok(CheckedKept { kept: self.clone(), recipients })
    }
}

/// What [`Kept`] sends through.
#[derive(Debug)]
pub(crate) struct CheckedKept {
    kept: Kept,
    recipients: Vec<PublicKey>,
}

impl CheckedSender for CheckedKept {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.recipients.clone()
    }

    fn send(self, message: impl Into<IoBufs> + Send, _: bool) -> Unreliable<Feedback> {
        if self.kept.is_full {
            return Unreliable::Rejected;
        }
        self.kept.messages.lock().expect("one thread").push(message.into());
        Unreliable::new(Feedback::Ok)
    }
}
