//! What committees release to this runner: a call opens a release, the members answer, and who answered is named (decisions 144, 551).

use cowboy_api::sender::{Call, Request};
use cowboy_proxy::{CollectError, FalseAnswer, collect};
use cowboy_sealing::TransportSecret;
use cowboy_secrets::PointG1;
use cowboy_service::{Chain, ChainError};
use cowboy_system::requests::secrets::{self as requests, Transport};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, keccak256};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// The wait before the chain is looked at again.
pub(crate) const PAUSE: Duration = Duration::from_millis(300);

/// The wait before a call that is not seen on the chain is sent again.
pub(crate) const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// What a runner asks the chain and its committees with.
pub(crate) struct Releases {
    node: String,
    /// The runner.
    pub(crate) runner: Address,
    /// What transport keys follow from, so that a runner that starts again reads what was released to it.
    seed: [u8; 32],
    post: Box<dyn Fn(Call) + Send + Sync>,
    chain: OnceCell<Arc<Chain>>,
}

impl Releases {
    pub(crate) fn new(node: &str, runner: Address, seed: [u8; 32], post: impl Fn(Call) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { node: node.to_owned(), runner, seed, post: Box::new(post), chain: OnceCell::new() })
    }

    /// The chain, with proofs.
    pub(crate) async fn chain(&self) -> Result<&Arc<Chain>, ChainError> {
        self.chain.get_or_try_init(|| async { Chain::connect(&self.node, None).await.map(Arc::new) }).await
    }

    /// The key to which answers about this are encrypted.
    pub(crate) fn transport(&self, about: &[&[u8]]) -> TransportSecret {
        let parts = [&[&b"cowboy-runner-transport:"[..], &self.seed], about].concat();
        TransportSecret::random(&mut ChaCha20Rng::from_seed(keccak256(&parts).0))
    }

    /// Posts a call of a system actor.
    pub(crate) fn post(&self, request: Request) {
        // What may be sent more than once is tried out first.
        (self.post)(Call { tries: 1, ..Call::from(request) });
    }

    /// What a call is to bring about, once the chain has it. The call goes out where it does not, and again where it takes long.
    pub(crate) async fn until<T, E, F>(&self, request: Request, mut look: impl FnMut() -> F) -> Result<T, E>
    where
        F: Future<Output = Result<Option<T>, E>>,
    {
        let mut posted: Option<Instant> = None;
        loop {
            if let Some(found) = look().await? {
                return Ok(found);
            }
            if posted.is_none_or(|posted| posted.elapsed() > AGAIN_AFTER) {
                posted = Some(Instant::now());
                self.post(request.clone());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The committee's signature over what a release on the chain is for. Names who answered, so that they are paid, and accuses those whose answers do
    /// not hold, also where the others are too few.
    pub(crate) async fn signature(&self, chain: &Chain, release: &Hash, transport: &TransportSecret) -> Result<PointG1, CollectError> {
        let collected = collect(chain, release, transport).await.inspect_err(|error| self.accuse(error.false_answers()))?;
        self.post(requests::close_release(*release, collected.epoch, collected.served));
        self.accuse(&collected.false_answers);
        Ok(collected.signature)
    }

    /// Shows the chain what members signed, and what does not hold.
    fn accuse(&self, answers: &[FalseAnswer]) {
        answers.iter().for_each(|answer| self.post(answer.accusation()));
    }
}

/// The key to which answers are encrypted, as calls name it.
pub(crate) fn named(transport: &TransportSecret) -> Transport {
    let public = transport.key();
    Transport { key: Fixed(*public.key.bytes()), proof: Fixed(*public.proof.bytes()) }
}
