//! Networks whose set of validators changes, and what must hold of every epoch.

use crate::{
    checks::require,
    common::genesis,
    network::{Network, Order, Validator},
};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_glue::{
    dkg::types::EpochOutcome,
    simulate::{property::Property, tracker::ProgressTracker},
};
use cowboy_chain::genesis::Funded;
use cowboy_node::{Chain, committee::ValidatorKeys, genesis as node_genesis, genesis::DevGenesis};
use cowboy_types::{
    Address, Amount, Instruction,
    cbor::Value,
    instruction::Actor,
    wire::{Blob, Text},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The validators of a network, and who joins and leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// Blocks of an epoch.
    pub(crate) length: u64,
    /// How many validators genesis names.
    pub(crate) validators: usize,
    /// The blocks after which newcomers register, one each.
    pub(crate) joins: Vec<u64>,
    /// The validators of genesis that give notice, each after a block.
    pub(crate) leaves: Vec<(usize, u64)>,
    /// The validator that takes all of their transactions.
    pub(crate) speaker: usize,
    /// Parameters that begin with another value, by name.
    pub(crate) parameters: Vec<(&'static str, u64)>,
}

/// A call of 0x09.
fn ask(method: &str, argument: &Value, value: Amount) -> Instruction {
    Instruction::Actor(Actor::Execute {
        target: Address::system(9),
        handler: Text::new(method).expect("a short name"),
        payload: Blob::new(argument.encode()).expect("a short payload"),
        value,
    })
}

/// The registration of a newcomer, by the account of its header key.
fn registration(network: &Network, keys: &ValidatorKeys) -> Instruction {
    let [network_proof, vrf_proof] = keys.proofs_of_possession(&network.genesis().hash(), keys.signer.address());
    let bytes = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
    let argument = Value::map([
        ("network_key", bytes(keys.network.public_key().as_ref())),
        ("network_proof", bytes(&network_proof)),
        ("signing_key", bytes(&keys.signer.public_key().0)),
        ("vrf_key", bytes(&keys.vrf_key().0)),
        ("vrf_proof", bytes(&vrf_proof)),
    ]);
    ask("register_validator", &argument, Amount::from_cby(100_000).expect("it fits"))
}

impl Sets {
    /// The network. Its validators are those of genesis, ascending by key, and then the newcomers. Those that leave are asked nothing.
    pub(crate) fn network(&self) -> Network {
        let parameters = self.parameters.iter().copied().chain([("consensus.epoch", self.length)]);
        let row = |name| cowboy_params::Params::row(name).expect("a row of the table").id;
        let count = u32::try_from(self.validators).expect("they are few");
        let mut dev = DevGenesis { parameters: parameters.map(|(name, value)| (row(name), value)).collect(), ..genesis(count) };
        let newcomers: Vec<ValidatorKeys> =
            (0..self.joins.len()).map(|number| ValidatorKeys::derive(format!("newcomer {number}").as_bytes())).collect();
        let founders = node_genesis::dev(genesis(count)).expect("a genesis").1;
        let leavers: Vec<_> = self.leaves.iter().map(|(index, after)| (founders[*index].signer.clone(), *after)).collect();
        let funded = newcomers.iter().map(|keys| &keys.signer).chain(leavers.iter().map(|(key, _)| key));
        dev.accounts.extend(funded.map(|key| Funded { address: key.address(), amount: Amount::from_cby(200_000).expect("it fits") }));
        dev.accounts.sort_by_key(|funded| funded.address);
        let mut network = Network::of(dev, newcomers.clone());
        let order = |key, after, instruction| Order { through: self.speaker, key, after, instruction };
        let joins = newcomers.iter().zip(&self.joins);
        let joins = joins.map(|(keys, after)| order(keys.signer.clone(), *after, registration(&network, keys)));
        let leaves = leavers.into_iter().map(|(key, after)| order(key, after, ask("leave", &Value::map([]), Amount::ZERO)));
        network.orders = joins.chain(leaves).collect();
        network.unasked = self.leaves.iter().map(|(index, _)| *index).collect();
        network
    }
}

/// What must hold of the epochs of every run: one group key, and after each dealing either the players sign that it was for, or the set
/// stays as it was.
#[derive(Clone)]
pub(crate) struct Epochs {
    /// The newest epoch that everybody reaches.
    pub(crate) last: u64,
    /// Who signs in which epoch, where a test knows: no dealing fails then.
    pub(crate) signers: BTreeMap<u64, BTreeSet<PublicKey>>,
    /// Counts the dealings that came through.
    pub(crate) dealt: Arc<AtomicU64>,
}

impl Epochs {
    pub(crate) fn until(last: u64) -> Self {
        Self { last, signers: BTreeMap::new(), dealt: Arc::default() }
    }

    /// The same, where these sign from an epoch on.
    pub(crate) fn from(mut self, epoch: u64, signers: impl IntoIterator<Item = PublicKey>) -> Self {
        let signers: BTreeSet<_> = signers.into_iter().collect();
        self.signers.extend((epoch..=self.last).map(|epoch| (epoch, signers.clone())));
        self
    }

    fn hold(&self, chain: &Chain) -> Result<u64, String> {
        let term = |epoch| chain.committees.term(epoch).ok_or_else(|| format!("epoch {epoch} is not known"));
        let (mut before, mut dealt) = (term(0)?, 0);
        for epoch in 0..=self.last {
            let now = term(epoch)?;
            let (old, new) = (&before.info, &now.info);
            require(new.output.public().public() == old.output.public().public(), || format!("another key signs in epoch {epoch}"))?;
            let is_dealt = new.outcome == EpochOutcome::Success;
            if epoch > 0 {
                let expected = if is_dealt { &old.players } else { old.output.players() };
                require(new.output.players() == expected, || format!("others sign in epoch {epoch} than were dealt to"))?;
                dealt += u64::from(is_dealt);
            }
            if let Some(expected) = self.signers.get(&epoch) {
                let found: BTreeSet<_> = new.output.players().iter().cloned().collect();
                require(found == *expected, || format!("in epoch {epoch} sign {found:?}, not {expected:?}"))?;
                require(is_dealt, || format!("the dealing before epoch {epoch} failed"))?;
            }
            before = now;
        }
        Ok(dealt)
    }
}

impl Property<PublicKey, Validator> for Epochs {
    fn name(&self) -> &str {
        "one group key, and each set was dealt to"
    }

    fn check<'a>(
        &'a self,
        _: &'a ProgressTracker<PublicKey>,
        states: &'a [&'a Validator],
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            let mut dealt = 0;
            for chain in states.iter().filter_map(|validator| validator.honest()) {
                dealt = self.hold(chain)?;
            }
            self.dealt.fetch_add(dealt, Ordering::Relaxed);
            Ok(())
        })
    }
}
