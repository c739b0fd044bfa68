//! What a proxy does next: it registers, says that it is up, and speaks in dealings.

use crate::behaviour::Behaviour;
use crate::keys::Keys;
use crate::store::Store;
use crate::{answers, messages};
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::bls12381::primitives::group::Share;
use cowboy_api::sender::{Call, Request};
use cowboy_sealing::dealing::{Dealing, DealingError, Own, Receiver, Setting, round_key};
use cowboy_secrets::Outcome;
use cowboy_secrets::dealing::Phase;
use cowboy_service::{Calls, Chain, ChainError, Failures};
use cowboy_system::requests::secrets::{self as requests, Endpoint};
use cowboy_system::secrets::state;
use cowboy_system::secrets::types::{Committee, Proxy, Release, ReleaseKey, Round, bit};
use cowboy_system::standstill::{SECRETS, Standstill};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};
use std::sync::Arc;

/// Why a step cannot be taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    /// The chain cannot be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The member's files cannot be used.
    #[error(
        "the proxy's files cannot be used: {0}\n  fix: check the folder's permissions and space; restore a share that does not open from a copy \
         made in this epoch. Without it, the proxy answers again after the next dealing for which it is drawn"
    )]
    Store(#[from] std::io::Error),
    /// The dealing cannot be computed.
    #[error(transparent)]
    Dealing(#[from] DealingError),
}

/// What a proxy is, as it registers.
pub(crate) struct Identity {
    pub(crate) address: Address,
    pub(crate) keys: Keys,
    /// The proof that the key is the account's.
    pub(crate) proof: Fixed<64>,
    pub(crate) endpoint: String,
    pub(crate) port: u16,
    pub(crate) certificate: Hash,
    pub(crate) stake: Amount,
    pub(crate) behaviour: Arc<dyn Behaviour>,
}

impl Identity {
    /// Where it is reached.
    fn endpoint(&self) -> Endpoint {
        Endpoint { endpoint: self.endpoint.clone(), port: self.port, certificate: self.certificate }
    }
}

/// Steps without a failure until one is logged again at once.
pub(crate) const CALM: u32 = 60;

/// A proxy between two looks at the chain.
pub(crate) struct Member {
    identity: Identity,
    calls: Calls,
    /// What keeps it from one thing, and from nothing else.
    failures: Failures,
    /// Whether its record was seen since the start.
    is_seen: bool,
}

/// A key, and its dealing where one is under way.
struct KeyState {
    id: u32,
    key: ReleaseKey,
    round: Option<Round>,
}

impl Member {
    pub(crate) fn new(identity: Identity) -> Self {
        Self { identity, calls: Calls::default(), failures: Failures::lasting(CALM), is_seen: false }
    }

    /// Looks at the chain, and answers the calls to send. While governance pauses 0x04 there are none: they would be refused, and no deadline passes.
    pub(crate) async fn step(&mut self, chain: &Chain, store: &Store) -> Result<Vec<Call>, StepError> {
        let first = chain.read(&[state::proxy_key(self.identity.address), state::current_key(), SECRETS.key()]).await?;
        let height = first.height;
        let still: Standstill = first.read(2)?.unwrap_or_default();
        let mut calls = Vec::new();
        if still.is_still_at(Height(height)) {
            return Ok(calls);
        }
        match first.read::<Proxy>(0)? {
            None => {
                let (request, stake) = (self.registration(), self.identity.stake);
                calls.extend(self.calls.paid(height, "register", request, stake));
            }
            Some(proxy) => {
                self.note_registered(height, &proxy);
                calls.extend(self.keep_registered(chain.params().secrets.alive, height, &proxy));
                calls.extend(self.serve_demands(chain, store, (height, &still), &proxy.demands).await?);
            }
        }
        let Some(newest) = first.read::<u32>(1)? else { return Ok(calls) };
        for id in state::key_ids(Some(newest)).rev() {
            let records = chain.read(&[state::release_key(id), state::round_key(id)]).await?;
            let Some(key) = records.read::<ReleaseKey>(0)? else { continue };
            let at = KeyState { id, key, round: records.read::<Round>(1)? };
            match self.look(chain, store, records.height, &at).await {
                Ok(call) => calls.extend(call),
                // What cannot be said for one key, as without its files, stops neither the other nor heartbeats.
                Err(error @ (StepError::Dealing(_) | StepError::Store(_))) => {
                    if self.failures.is_logged(&format_args!("{id}: {error}")) {
                        tracing::warn!(key = id, %error, "nothing is said for this key");
                    }
                }
                Err(other) => return Err(other),
            }
        }
        if self.failures.is_over() {
            tracing::info!("the proxy answers all demands, and speaks for all keys again");
        }
        Ok(calls)
    }

    /// Answers the demands that the chain lists for this proxy: whoever has to and does not, pays. Until the chain lists one no more, it is answered
    /// again, whatever went wrong before.
    async fn serve_demands(
        &mut self,
        chain: &Chain,
        store: &Store,
        (height, still): (u64, &Standstill),
        demands: &[Hash],
    ) -> Result<Vec<Call>, StepError> {
        if demands.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<_> = demands.iter().map(state::release_record_key).collect();
        let records = chain.read(&keys).await?;
        let mut calls = Vec::new();
        for (place, id) in demands.iter().enumerate() {
            let Some(release) = records.read::<Release>(place)? else { continue };
            let open = release.demand.as_ref().filter(|demand| !demand.is_over);
            let Some(until) = open.map(|demand| demand.answered_until(still)) else { continue };
            let what = format!("serve:{id}");
            if !self.calls.is_time(height, &what) {
                continue;
            }
            let own = (&self.identity.keys, &*self.identity.behaviour);
            match answers::answer_demand(chain, store, own, (id, &release), until).await {
                Ok(answered) => {
                    let answer = Fixed(answered.answer.0.try_into().expect("an answer has 192 bytes"));
                    calls.extend(self.calls.once(height, what, requests::serve(*id, answer)));
                }
                Err(refusal) => {
                    if self.failures.is_logged(&format_args!("{id}: {refusal}")) {
                        tracing::warn!(release = %id, %refusal, "a demand cannot be served");
                    }
                }
            }
        }
        Ok(calls)
    }

    /// Logs once for each start that the chain has the proxy, or that it left.
    fn note_registered(&mut self, height: u64, proxy: &Proxy) {
        if std::mem::replace(&mut self.is_seen, true) {
            return;
        }
        let address = self.identity.address;
        match proxy.left_at {
            None => tracing::info!(proxy = %address, height, "the proxy is registered"),
            Some(left_at) => tracing::warn!(
                proxy = %address,
                left_at = left_at.0,
                "the proxy has left, and is drawn no more: `cowboy proxy status` says from when on its stake is free"
            ),
        }
    }

    fn registration(&self) -> Request {
        requests::register_proxy(self.identity.endpoint(), self.identity.keys.public(), self.identity.proof)
    }

    /// A heartbeat where one is due, and where it is reached, where that changed.
    fn keep_registered(&mut self, alive: u64, height: u64, proxy: &Proxy) -> Vec<Call> {
        let Identity { endpoint, port, certificate, .. } = &self.identity;
        let has_moved = &proxy.endpoint[..] != endpoint.as_str() || proxy.port != *port || proxy.certificate != *certificate;
        let is_due = proxy.is_heartbeat_due(alive, height) && proxy.left_at.is_none();
        let mut calls = Vec::new();
        if has_moved {
            calls.extend(self.calls.once(height, "update", requests::update_proxy(self.identity.endpoint())));
        }
        if is_due {
            calls.extend(self.calls.once(height, "heartbeat", requests::heartbeat()));
        }
        calls
    }

    /// What the proxy does for a key: it speaks in its dealing, and forgets what is over.
    async fn look(&mut self, chain: &Chain, store: &Store, height: u64, at: &KeyState) -> Result<Option<Call>, StepError> {
        self.forget(chain, store, at).await?;
        let Some(round) = &at.round else { return Ok(None) };
        let own = self.identity.keys.public();
        let dealer = round.dealers.iter().position(|member| member.key == own);
        let player = round.players.iter().position(|player| player.member.key == own);
        let speaks = match round.phase {
            Phase::Deal | Phase::Log => dealer,
            Phase::Join | Phase::Ack | Phase::Confirm => player,
        };
        let Some(index) = speaks.filter(|index| round.spoke & bit(*index) == 0) else { return Ok(None) };
        let Some(message) = self.message(chain, store, at, round).await? else { return Ok(None) };
        let what = format!("{}:{}:{}:{index}", at.id, round.number.0, message.method);
        Ok(self.calls.once(height, what, message))
    }

    /// Removes seeds of dealings that are over, and shares that are replaced. The newest seed stays where this proxy has a seat and no share that can be
    /// read.
    async fn forget(&self, chain: &Chain, store: &Store, at: &KeyState) -> Result<(), StepError> {
        let (newest, epoch) = (at.key.rounds.0, at.key.epoch);
        let mut first = newest.saturating_add(u64::from(at.round.is_none()));
        if at.round.is_none() && !store.share(at.id, epoch.0).is_ok_and(|share| share.is_some()) {
            let committee = chain.read(&[state::committee_key(at.id, epoch)]).await?.read::<Committee>(0)?;
            let own = self.identity.keys.public();
            let has_seat = committee.is_some_and(|committee| committee.members.iter().any(|member| member.key == own));
            first = first.saturating_sub(u64::from(has_seat));
        }
        Ok(store.forget(at.id, first, epoch.0.saturating_sub(1))?)
    }

    /// The method and the fields with which the proxy speaks in the phase of a round; none where the round is another one by now.
    async fn message(&self, chain: &Chain, store: &Store, at: &KeyState, round: &Round) -> Result<Option<Request>, StepError> {
        let seed = store.seed(at.id, round.number.0)?;
        let of = requests::Dealing { key_id: u64::from(at.id), round: round.number.0 };
        if round.phase == Phase::Join {
            return Ok(Some(of.join(round_key(&seed))));
        }
        let share = dealt_share(store, round.phase, (at.id, at.key.epoch))?;
        let own = Own { signer: self.identity.keys.dealing(), seed, share };
        let dealing = Dealing::new(self.setting(chain, at, round).await?, own)?;
        if round.phase == Phase::Deal {
            return Ok(Some(of.deal(dealing.deal()?)));
        }
        let Some(said) = messages::read(chain, at.id, round).await? else { return Ok(None) };
        Ok(Some(match round.phase {
            Phase::Ack => of.acknowledge(dealing.acknowledge(&said.deals)?),
            Phase::Log => of.log(dealing.log(&said.acks)?),
            _ => {
                let (outcome, share) = dealing.finish(&said.deals, &said.logs)?;
                if let Some(share) = share {
                    // It is kept before it is confirmed: what counts is never lost.
                    store.keep_share(at.id, at.key.epoch.0.saturating_add(1), &share)?;
                }
                of.confirm(outcome.digest(), Some(outcome.encode().to_vec()))
            }
        }))
    }

    /// The dealing as the chain shows it.
    async fn setting(&self, chain: &Chain, at: &KeyState, round: &Round) -> Result<Setting, StepError> {
        let standing = match at.key.epoch {
            Count::ZERO => None,
            epoch => {
                let records = chain.read(&[state::committee_key(at.id, epoch)]).await?;
                let committee = records.read::<Committee>(0)?.ok_or(ChainError::Record)?;
                Some(Outcome::decode(committee.outcome.bytes().clone()).map_err(|_| ChainError::Record)?)
            }
        };
        let receiver = |player: &cowboy_system::secrets::types::Player| Some(Receiver { key: player.member.key, joined: player.key? });
        Ok(Setting {
            genesis: chain.genesis,
            key_id: at.id,
            round: round.number.0,
            standing,
            dealers: round.dealers.iter().map(|member| member.key).collect(),
            players: round.players.iter().filter_map(receiver).collect(),
        })
    }
}

/// The share with which a dealer deals. Players need none: one that lost its share receives the next one (decision 665).
fn dealt_share(store: &Store, phase: Phase, (key_id, epoch): (u32, Count)) -> std::io::Result<Option<Share>> {
    match phase {
        Phase::Deal | Phase::Log => store.share(key_id, epoch.0),
        Phase::Join | Phase::Ack | Phase::Confirm => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share that does not open keeps its proxy from dealing, and from nothing else in a dealing.
    #[test]
    fn a_lost_share_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), &[7; 32]).expect("it opens");
        std::fs::write(folder.path().join("share-1-2"), b"damaged").expect("it is written");
        let own = |phase| dealt_share(&store, phase, (1, Count(2)));
        for phase in [Phase::Join, Phase::Ack, Phase::Confirm] {
            assert_eq!(own(phase).expect("none is needed"), None, "{phase:?}");
            assert!(store.unreadable().is_empty(), "it is not read");
        }
        for phase in [Phase::Deal, Phase::Log] {
            let error = StepError::from(own(phase).expect_err("it does not open")).to_string();
            assert!(error.contains("share-1-2") && error.contains("next dealing"), "{error}");
            assert_eq!(store.unreadable(), ["share-1-2"]);
        }
    }
}
