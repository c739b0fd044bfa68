//! The state machine that the engine drives: builds blocks, checks blocks, and books final ones.

use crate::{
    block::{ConsensusContext, SealedBlock, protocol_context},
    chain::{Chain, Final, Output},
    epoch,
    execute::{self, Databases, Executed, Failed, Merkleized},
    rules::{commit, complete},
    seeds::{Scheme, SeedBytes},
};
use commonware_codec::Encode as _;
use commonware_consensus::{
    marshal::{ancestry::Ancestry, core::Mailbox, standard::Standard},
    types::{Height as BlockNumber, Round},
};
use commonware_glue::{
    dkg::ReshareBlock as _,
    stateful::{Application, Finality, Input, Proposed, db::DatabaseSet},
};
use commonware_runtime::{Clock, Spawner};
use commonware_storage::{Context, qmdb::sync::Target};
use commonware_utils::non_empty_range;
use cowboy_chain::{
    BlockInvalid, Mode,
    input::{Limits, beacon},
};
use cowboy_types::{
    TimestampMs, blake3,
    block::{Block, FIRST_VERSION, Header, body_hash},
    units::Count,
    wire::{Blob, Fixed, List},
};
use futures::{StreamExt as _, future::pending};
use std::sync::Arc;

/// How far the chain's clock goes for each height of a warp, in ms (decision 136).
pub const WARP_MS: u64 = 1_000;

/// The marshal of this chain: keeps blocks and certificates and delivers them in order.
pub type Marshal = Mailbox<Scheme, Standard<SealedBlock>>;

/// The state machine. Clones share it.
#[derive(Clone)]
pub struct Machine {
    chain: Arc<Chain>,
    marshal: Marshal,
}

impl Machine {
    /// The state machine of this node.
    pub fn new(chain: Arc<Chain>, marshal: Marshal) -> Self {
        Self { chain, marshal }
    }

    /// A header with everything that is known before the block runs.
    fn draft(&self, clock: &impl Clock, context: &ConsensusContext, parent: &SealedBlock, seeds: Vec<SeedBytes>) -> Header {
        let before = parent.header();
        let skipped = before.skipped.0.saturating_add(self.skip(parent));
        let height = before.number.0.saturating_add(1).saturating_add(skipped);
        let gap = self.chain.gap_ms(height.saturating_sub(before.height().0).max(1));
        let earliest = before.timestamp_ms.0.saturating_add(1);
        let now = match self.chain.pace.warping(before.height()) {
            Some(_) => before.timestamp_ms.0.saturating_add(height.saturating_sub(before.height().0).saturating_mul(WARP_MS)),
            None => self.chain.now_ms(clock),
        };
        let latest = if before.number.0 == 0 { u64::MAX } else { before.timestamp_ms.0.saturating_add(gap) };
        let parent_round = Round::new(context.round.epoch(), context.parent.0);
        let context = protocol_context(context);
        let beacon = beacon(&context, &parent.hash(), &seeds);
        let proof = self.chain.keys.as_ref().map_or(Fixed([0; 48]), |keys| keys.prove(&beacon, height));
        Header {
            // The state says it: execution fills it in.
            version: FIRST_VERSION,
            genesis: self.chain.config.genesis,
            parent: parent.hash(),
            number: Count(before.number.0.saturating_add(1)),
            skipped: Count(skipped),
            timestamp_ms: TimestampMs(now.clamp(earliest, latest)),
            seeds: List::new(seeds).expect("at most 256 seeds are carried"),
            proposer_vrf: proof,
            context,
            reshare: None,
            voters: Blob::new(self.chain.seeds.voters(parent_round)).unwrap_or_default(),
            extension: Blob::default(),
            ..before.clone()
        }
    }

    /// How many heights a warp jumps over before the next block.
    fn skip(&self, parent: &SealedBlock) -> u64 {
        let Some(target) = self.chain.pace.warping(parent.header().height()).filter(|_| self.chain.config.is_dev) else { return 0 };
        let next = parent.header().height().next().0;
        let carry = self.chain.carry(parent);
        if carry.has_work {
            return 0;
        }
        let due = carry.next_timer.map(|due| due.0).filter(|due| *due >= next);
        // Every height is executed under its version, or not at all.
        let last = target.0.min(self.chain.protocol.last_height().0);
        due.unwrap_or(last).min(last).saturating_sub(next)
    }
}

impl<E: Spawner + Clock + Context> Application<E> for Machine {
    type SigningScheme = Scheme;
    type Context = ConsensusContext;
    type Block = SealedBlock;
    type Databases = Databases<E>;
    type Captured = ();
    type Provider = ();
    type Input = epoch::Input;

    fn sync_targets(block: &SealedBlock) -> <Databases<E> as DatabaseSet<E>>::SyncTargets {
        let header = block.header();
        let range = non_empty_range!(header.ops_start.0.into(), header.ops_end.0.into());
        Target::new(header.ops_root.0.into(), range)
    }

    async fn genesis(&mut self) -> SealedBlock {
        self.chain.genesis.clone()
    }

    async fn propose(
        &mut self,
        (runtime, context): (E, ConsensusContext),
        ancestry: impl Ancestry<SealedBlock>,
        batch: execute::Batch<E>,
        input: Input<epoch::Input, ()>,
    ) -> Option<Proposed<Self, E>> {
        let mut ancestry = ancestry;
        let parent = ancestry.next().await?.inner().clone();
        let keys = self.chain.keys.as_ref()?;
        let seeds = self.chain.seeds.between(context.parent.0, context.round).await;
        let payload = input.upstream.payload.as_ref().map(|payload| Blob::new(epoch::encode(payload)));
        // A payload of 1,024 validators fits: none is longer.
        let payload = payload.map(|blob| blob.expect("payloads are bounded"));
        let mut header = self.draft(&runtime, &context, &parent, seeds);
        header.reshare = payload.as_ref().map(|payload| blake3(&[payload]));
        let number = header.number.0;
        let mode = Mode::Propose { candidates: self.chain.mempool.candidates(), limits: Limits::default() };
        let work = self.chain.input(&header, input.upstream.payload.as_ref(), mode)?;
        let executed = execute::run(&runtime, self.chain.fence(), work, self.chain.allocation(number), batch).await;
        let executed = executed.inspect_err(Failed::assert_not_of_disk);
        let Executed { merkleized, outcome, before } =
            executed.inspect_err(|error| tracing::warn!(number, %error, "no block is proposed")).ok()?;
        self.chain.mempool.reject(&outcome.rejected);
        complete(&mut header, &outcome);
        commit::<E>(&mut header, &merkleized);
        let transactions = List::new(outcome.included.clone())?;
        header.body = body_hash(&transactions);
        if !self.chain.may_sign(&header) {
            return None;
        }
        header.signature = keys.signer.sign(&header.signing_digest());
        let block = SealedBlock::new(Block { header, transactions, reshare: payload }, context);
        self.chain.keep_output(&block, Output::new(number, outcome, before));
        Some(Proposed { block, merkleized })
    }

    async fn process(
        &mut self,
        (runtime, _): (E, ConsensusContext),
        ancestry: impl Ancestry<SealedBlock>,
        batch: execute::Batch<E>,
        finality: Finality,
    ) -> Option<Merkleized<E>> {
        let mut ancestry = ancestry;
        let (Some(block), Some(parent)) = (ancestry.next().await, ancestry.next().await) else {
            return match finality {
                Finality::Candidate => None,
                // The node is stopping: the block is neither right nor wrong, and is executed again at the next start.
                Finality::Finalized => pending().await,
            };
        };
        let (block, parent) = (block.inner().clone(), parent.inner().clone());
        if finality == Finality::Candidate {
            if !self.chain.is_sound(&block, &parent) {
                self.chain.note_invalid(block.header());
                return None;
            }
            self.chain.note_header(block.header());
            self.chain.wait_until(&runtime, block.header().timestamp_ms).await;
        }
        let number = block.header().number.0;
        let refused = || {
            if finality == Finality::Candidate {
                self.chain.note_invalid(block.header());
            }
        };
        let Some(transactions) = self.chain.signed(&block, finality) else {
            refused();
            return None;
        };
        let input = self.chain.input(block.header(), block.payload().as_ref(), Mode::Verify { transactions })?;
        let executed = execute::run(&runtime, self.chain.fence(), input, self.chain.allocation(number), batch).await;
        let executed = executed.inspect_err(Failed::assert_not_of_disk);
        if executed.as_ref().is_err_and(Failed::is_cut_off) {
            // The block is neither right nor wrong.
            return pending().await;
        }
        if let (Finality::Finalized, Err(Failed::Invalid(BlockInvalid::Version { .. }))) = (finality, &executed) {
            // The node stops before this block, and a newer build executes it.
            return pending().await;
        }
        if let Err(Failed::Invalid(BlockInvalid::Transaction { .. } | BlockInvalid::Order)) = &executed {
            refused();
        }
        let Executed { merkleized, outcome, before } =
            executed.inspect_err(|error| tracing::warn!(number, %error, "a block is refused")).ok()?;
        let mut expected = block.header().clone();
        complete(&mut expected, &outcome);
        commit::<E>(&mut expected, &merkleized);
        if expected != *block.header() {
            refused();
            return None;
        }
        self.chain.keep_output(&block, Output::new(number, outcome, before));
        Some(merkleized)
    }

    async fn capture(
        &mut self,
        _: (E, ConsensusContext),
        block: &SealedBlock,
        _: &Merkleized<E>,
        _: <Databases<E> as DatabaseSet<E>>::Readers,
    ) {
        let output = self.chain.output(&block.hash()).expect("a block that is applied was executed by this process");
        self.chain.recent.push(output.number, output.before.clone());
    }

    async fn finalized(
        &mut self,
        (runtime, _): (E, ConsensusContext),
        block: &SealedBlock,
        (): (),
        _: <Databases<E> as DatabaseSet<E>>::Readers,
    ) {
        let output = self.chain.output(&block.hash()).expect("a block that is applied was executed by this process");
        let finalization = self.marshal.get_finalization(BlockNumber::new(output.number)).await;
        let certificate = finalization.map(|finalization| finalization.encode().to_vec());
        self.chain.publish(runtime, Final { block: block.clone(), output, certificate }).await;
    }
}
