//! What a proxy answers, where that can be replaced: the simulated proxies of a devnet misbehave there.

/// Decisions of a proxy. Each method returns what it is given, unless an implementation replaces it.
pub trait Behaviour: Send + Sync {
    /// The answer to sign and to give, of the right one: 192 bytes. None for silence.
    fn answer(&self, right: Vec<u8>) -> Option<Vec<u8>> {
        Some(right)
    }
}

/// The behaviour of a real proxy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Honest;

impl Behaviour for Honest {}
