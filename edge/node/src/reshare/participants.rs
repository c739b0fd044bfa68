//! Who is dealt shares, as the staking state fixes it.

use crate::{chain::Chain, committees::Committees, epoch::roll::Roll};
use commonware_codec::DecodeExt as _;
use commonware_consensus::types::Epoch;
use commonware_cryptography::ed25519::PublicKey;
use commonware_glue::dkg::ParticipantsProvider;
use commonware_utils::ordered::Set;
use cowboy_state::Key;
use cowboy_system::staking::{
    state,
    types::{Member, ValidatorSet},
};
use std::sync::Arc;

/// Reads the players that the staking state fixes in the middle of each epoch.
///
/// They are asked for at the end of an epoch, when every block before its middle is final here: so the record is there, and nothing
/// that comes later changes it. Whoever is asked sooner waits for the state, which does not wait for the answer.
pub struct Players {
    chain: Arc<Chain>,
}

impl Players {
    /// The players of this chain.
    pub fn new(chain: Arc<Chain>) -> Self {
        Self { chain }
    }

    fn committees(&self) -> &Committees {
        &self.chain.committees
    }

    /// The set that the state fixed for an epoch; none where nobody staked then.
    async fn fixed(&self, epoch: u64) -> Option<Vec<Member>> {
        let fixed_at = state::players_fixed_at(self.chain.config.params.consensus.epoch, epoch)?;
        self.chain.wait_until_open().await;
        let mut head = self.chain.head.subscribe();
        // The sender lives as long as the chain.
        let _ = head.wait_for(|head| head.number >= fixed_at).await;
        // After a restart the state is behind the ledger for a while, and has no record yet that the others read.
        self.chain.wait_until_current().await;
        let stored = self.chain.state()?.read(vec![state::players_key(epoch).digest()]).await;
        let (_, body) = Key::open(stored.first()?.as_ref()?)?;
        let set = ValidatorSet::decode(body.to_vec()).ok()?;
        Some(set.members.into_vec()).filter(|members| !members.is_empty())
    }

    /// Who is dealt to where the state names nobody: who signs when it is asked.
    fn fallback(&self, epoch: u64) -> Vec<Member> {
        let term = self.committees().term(epoch.saturating_sub(2)).expect("an epoch that ends is known");
        term.info.output.players().iter().filter_map(|key| term.info.directory.get(key)).cloned().collect()
    }

    async fn members(&self, epoch: u64) -> Vec<Member> {
        match self.fixed(epoch).await {
            Some(members) => members,
            None => self.fallback(epoch),
        }
    }
}

impl ParticipantsProvider for Players {
    type PublicKey = PublicKey;
    type Directory = Roll;

    async fn participants(&mut self, epoch: Epoch) -> Set<PublicKey> {
        let members = self.members(epoch.get()).await;
        Set::from_iter_dedup(members.iter().map(|member| {
            PublicKey::decode(member.network_key.0.to_vec()).expect("a registered network key is a key: its owner signed with it")
        }))
    }

    /// What the newest set says of each, and what the epoch before says of those that are not in it.
    async fn directory(&mut self, epoch: Epoch, peers: Set<PublicKey>) -> Roll {
        let next = Roll::new(self.members(epoch.get().saturating_add(1)).await);
        let before = self.committees().term(epoch.get().saturating_sub(1)).expect("an epoch that ends is known");
        let known = |key| next.get(key).or_else(|| before.info.directory.get(key)).cloned();
        Roll::new(peers.iter().filter_map(known))
    }
}
