//! Spreads waiting transactions among validators.

use crate::chain::Chain;
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Receiver, Sender};
use commonware_runtime::Spawner;
use std::sync::Arc;

/// Starts spreading.
pub fn start<E: Spawner>(_context: E, _chain: Arc<Chain>, _channel: (impl Sender<PublicKey = PublicKey>, impl Receiver<PublicKey = PublicKey>)) {}
