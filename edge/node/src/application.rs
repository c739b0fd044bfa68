//! The state machine that the engine drives: builds blocks, checks blocks, and books final ones.

use crate::{
    block::{ConsensusContext, SealedBlock, protocol_context},
    chain::{Chain, FinalizedBlock, Head, Output},
    execute::{self, Databases, Executed, Merkleized},
    seeds::{Scheme, SeedBytes},
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_consensus::{
    marshal::{ancestry::Ancestry, core::Mailbox, standard::Standard},
    types::Height as BlockNumber,
};
use commonware_glue::stateful::{Application, Finality, Input, Proposed, db::DatabaseSet};
use commonware_runtime::{Clock, Spawner};
use commonware_storage::{Context, qmdb::sync::Target};
use commonware_utils::non_empty_range;
use cowboy_chain::{
    BlockInput, Mode, Outcome, SignedTransaction, StateKey,
    input::{Limits, RoundSeed},
};
use cowboy_store::{BlockRecord, state};
use cowboy_types::{
    Hash, TimestampMs, keccak256,
    block::{Block, HEADER_VERSION, Header},
    units::Count,
    wire::{Blob, Fixed, List},
};
use futures::StreamExt as _;
use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// How far ahead of a verifier's clock a block may be before the verifier waits, in ms (decision 121).
const CLOCK_TOLERANCE_MS: u64 = 500;

/// How far behind the next block a block may be, in ms, for each height between them (decision 121).
const MAX_GAP_MS: u64 = 3_600_000;

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

    /// The chain's clock: the machine's, and what a dev chain is ahead of it.
    fn now_ms(&self, clock: &impl Clock) -> u64 {
        now_ms(clock).saturating_add_signed(self.chain.pace.clock_ahead_ms())
    }

    fn allocation(&self, number: u64) -> &[(StateKey, Bytes)] {
        if number == 1 { &self.chain.allocation } else { &[] }
    }

    /// A header with everything that is known before the block runs.
    fn draft(&self, clock: &impl Clock, context: &ConsensusContext, parent: &SealedBlock, seeds: Vec<SeedBytes>) -> Header {
        let before = parent.header();
        let skipped = before.skipped.0.saturating_add(self.skip(parent));
        let height = before.number.0.saturating_add(1).saturating_add(skipped);
        let gap = height.saturating_sub(before.height().0).max(1).saturating_mul(MAX_GAP_MS);
        let earliest = before.timestamp_ms.0.saturating_add(1);
        let now = match self.chain.pace.warping() {
            Some(_) => before.timestamp_ms.0.saturating_add(height.saturating_sub(before.height().0).saturating_mul(WARP_MS)),
            None => self.now_ms(clock),
        };
        let latest = if before.number.0 == 0 { u64::MAX } else { before.timestamp_ms.0.saturating_add(gap) };
        let context = protocol_context(context);
        let beacon = beacon(&context, &parent.hash(), &seeds);
        let proof = self.chain.keys.as_ref().map_or(Fixed([0; 48]), |keys| keys.prove(&beacon, height));
        Header {
            version: HEADER_VERSION,
            genesis: self.chain.config.genesis,
            parent: parent.hash(),
            number: Count(before.number.0.saturating_add(1)),
            skipped: Count(skipped),
            timestamp_ms: TimestampMs(now.clamp(earliest, latest)),
            seeds: List::new(seeds).expect("at most 256 seeds are carried"),
            proposer_vrf: proof,
            context,
            reshare: None,
            voters: Blob::default(),
            extension: Blob::default(),
            ..before.clone()
        }
    }

    /// How many heights a warp jumps over before the next block.
    fn skip(&self, parent: &SealedBlock) -> u64 {
        let Some(target) = self.chain.pace.warping().filter(|_| self.chain.config.is_dev) else { return 0 };
        let next = parent.header().height().next().0;
        let carry = self.chain.carry(parent);
        if carry.has_work {
            return 0;
        }
        let due = carry.next_timer.map(|due| due.0).filter(|due| *due >= next);
        due.unwrap_or(target.0).min(target.0).saturating_sub(next)
    }

    /// Whether everything about the header that does not depend on execution follows the rules.
    fn is_sound(&self, block: &SealedBlock, parent: &SealedBlock) -> bool {
        let (header, before) = (block.header(), parent.header());
        let Some(member) = self.chain.committee.member(&header.context.leader.0) else { return false };
        let skipped = header.skipped.0.checked_sub(before.skipped.0);
        let gap = skipped.unwrap_or(0).saturating_add(1).saturating_mul(MAX_GAP_MS);
        let is_in_time = before.number.0 == 0 || header.timestamp_ms.0 <= before.timestamp_ms.0.saturating_add(gap);
        header.version == HEADER_VERSION
            && header.genesis == self.chain.config.genesis
            && header.parent == parent.hash()
            && header.context.parent == parent.hash()
            && before.number.0.checked_add(1) == Some(header.number.0)
            && skipped.is_some_and(|skipped| skipped == 0 || self.chain.config.is_dev)
            && header.extension.is_empty()
            && header.reshare.is_none()
            && header.timestamp_ms > before.timestamp_ms
            && is_in_time
            && cowboy_types::signing::recover(&header.signing_digest(), &header.signature) == Some(member.signer)
            && self.chain.seeds.verify(header, &self.chain.verifier)
            && member.verify_vrf(&beacon(&header.context, &header.parent, &header.seeds), header.height().0, &header.proposer_vrf)
    }

    /// What the law is told about a block.
    fn input(&self, header: &Header, mode: Mode) -> Option<BlockInput> {
        let member = self.chain.committee.member(&header.context.leader.0)?;
        let first = header.context.view.0.saturating_sub(u64::try_from(header.seeds.len()).ok()?);
        let seeds = (first..).zip(header.seeds.iter()).map(|(view, seed)| RoundSeed { epoch: header.context.epoch.0, view, seed: *seed });
        Some(BlockInput {
            mode,
            chain: self.chain.config.clone(),
            height: header.height(),
            timestamp: header.timestamp_ms,
            beacon: beacon(&header.context, &header.parent, &header.seeds).into(),
            seeds: seeds.collect(),
            order_key: keccak256(&[&header.proposer_vrf.0]),
            proposer: member.paid,
            images: self.chain.images.clone(),
        })
    }

    /// The block's transactions with their signatures checked, or `None` where one does not hold.
    fn signed(&self, block: &SealedBlock, finality: Finality) -> Option<Vec<SignedTransaction>> {
        let known = |transaction: &cowboy_types::Transaction| self.chain.mempool.get(&transaction.digest()).filter(|known| known.transaction() == transaction);
        let check = |transaction: &cowboy_types::Transaction| match finality {
            Finality::Finalized => Some(SignedTransaction::unchecked(transaction.clone())),
            Finality::Candidate => known(transaction).or_else(|| SignedTransaction::check(transaction.clone()).ok()),
        };
        block.block().transactions.iter().map(check).collect()
    }

    /// Waits until the block's time is at most the tolerance ahead of this node's clock.
    async fn wait_until(&self, clock: &impl Clock, timestamp: TimestampMs) {
        let ahead = timestamp.0.saturating_sub(CLOCK_TOLERANCE_MS).saturating_sub(self.now_ms(clock));
        if ahead > 0 && !self.chain.config.is_dev {
            clock.sleep(Duration::from_millis(ahead)).await;
        }
    }
}

/// The machine's clock in ms since 1970.
pub fn now_ms(clock: &impl Clock) -> u64 {
    let since = clock.current().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The time that many ms after 1970.
pub fn time_of(ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms)
}

/// The randomness of a block: the last seed before it; at the first view of an epoch a hash of the parent (decision 114).
pub fn beacon(context: &cowboy_types::Context, parent: &Hash, seeds: &[SeedBytes]) -> Vec<u8> {
    match seeds.last() {
        Some(seed) if context.view.0 > 1 => seed.0.to_vec(),
        _ => keccak256(&[b"cowboy-epoch-seed:", &parent.0]).0.to_vec(),
    }
}

/// Puts into the header what execution decided.
fn complete(header: &mut Header, outcome: &Outcome) {
    header.base_fee_cycle = outcome.base_fees.cycle;
    header.base_fee_cell = outcome.base_fees.cell;
    header.usage = outcome.usage.clone();
    header.tx_root = outcome.tx_root;
    header.receipt_root = outcome.receipt_root;
}

/// Puts into the header the roots of the state after the block.
fn commit<E: Context + Spawner>(header: &mut Header, merkleized: &Merkleized<E>) {
    header.state_root = state::hash(merkleized.root());
    header.ops_root = state::hash(merkleized.ops_root());
    header.ops_start = Count(merkleized.sync_boundary().as_u64());
    header.ops_end = Count(merkleized.bounds().tip.size.as_u64());
}

impl<E: Spawner + Clock + Context> Application<E> for Machine {
    type SigningScheme = Scheme;
    type Context = ConsensusContext;
    type Block = SealedBlock;
    type Databases = Databases<E>;
    type Captured = ();
    type Provider = ();
    type Input = ();

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
        _: Input<(), ()>,
    ) -> Option<Proposed<Self, E>> {
        let mut ancestry = ancestry;
        let parent = ancestry.next().await?.inner().clone();
        let keys = self.chain.keys.as_ref()?;
        let seeds = self.chain.seeds.between(context.parent.0, context.round).await;
        let mut header = self.draft(&runtime, &context, &parent, seeds);
        let number = header.number.0;
        let mode = Mode::Propose { candidates: self.chain.mempool.candidates(), limits: Limits::default() };
        let input = self.input(&header, mode)?;
        let executed = execute::run::<E>(input, self.allocation(number), batch).await;
        let Executed { merkleized, outcome, before } = executed.inspect_err(|error| tracing::warn!(number, %error, "no block is proposed")).ok()?;
        self.chain.mempool.reject(&outcome.rejected);
        complete(&mut header, &outcome);
        commit::<E>(&mut header, &merkleized);
        header.signature = keys.signer.sign(&header.signing_digest());
        let transactions = List::new(outcome.included.clone())?;
        let block = SealedBlock::new(Block { header, transactions, reshare: None }, context);
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
        let block = ancestry.next().await?.inner().clone();
        let parent = ancestry.next().await?.inner().clone();
        if finality == Finality::Candidate {
            if !self.is_sound(&block, &parent) {
                return None;
            }
            self.wait_until(&runtime, block.header().timestamp_ms).await;
        }
        let number = block.header().number.0;
        let input = self.input(block.header(), Mode::Verify { transactions: self.signed(&block, finality)? })?;
        let executed = execute::run::<E>(input, self.allocation(number), batch).await;
        let Executed { merkleized, outcome, before } = executed.inspect_err(|error| tracing::warn!(number, %error, "a block is refused")).ok()?;
        let mut expected = block.header().clone();
        complete(&mut expected, &outcome);
        commit::<E>(&mut expected, &merkleized);
        if expected != *block.header() {
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
        let record = BlockRecord {
            block: block.block().clone(),
            receipts: output.receipts.to_vec(),
            concerns: output.concerns.clone(),
            certificate: certificate.clone(),
            carry: output.carry.to_bytes(),
        };
        let (ledger, now) = (self.chain.ledger.clone(), now_ms(&runtime));
        let written = runtime.shared(true).spawn(move |_| async move { ledger.append(&record) }).await;
        match written {
            Ok(Ok(())) => {}
            Ok(Err(error)) => panic!("the ledger could not be written, and a block that is not in it must not be acknowledged: {error}"),
            Err(_) => return,
        }
        self.chain.mempool.advance(output.number, &output.writes, output.carry.base_fees);
        self.chain.forget_outputs(output.number);
        self.chain.pace.arrived(block.header().height(), block.header().timestamp_ms, now);
        self.chain.head.send_replace(Head::of(block));
        self.chain.keep_traces(&output.traces);
        let told = FinalizedBlock { block: block.clone(), receipts: output.receipts.clone(), traces: output.traces.clone(), certificate };
        // Nobody listening is no error.
        let _ = self.chain.blocks.send(Arc::new(told));
    }
}
