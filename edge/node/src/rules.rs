//! The rules of a header, and the input for execution of a block: the same for the proposer and for those who verify.

use crate::{
    block::SealedBlock,
    certificate::first_wrong,
    chain::Chain,
    committee::ProposerVrf,
    committees::Term,
    dealer_logs,
    epoch::Payload,
    execute::Merkleized,
    pairings::{self, Signed, Signer},
    seeds::signature_of,
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_consensus::simplex::scheme::Namespace;
use commonware_glue::{dkg::ReshareBlock as _, stateful::Finality};
use commonware_runtime::{Clock, Spawner};
use commonware_storage::Context;
use cowboy_chain::{
    BlockInput, Mode, Outcome, SignedTransaction, StateKey,
    input::{RoundSeed, beacon},
};
use cowboy_store::state;
use cowboy_types::{TimestampMs, Transaction, block::Header, keccak256, units::Count};
use rand_core::CryptoRng;
use rayon::prelude::*;

impl Chain {
    /// What a block of this number writes before anything runs.
    pub fn allocation(&self, number: u64) -> &[(StateKey, Bytes)] {
        if number == 1 { &self.allocation } else { &[] }
    }

    /// The chain's clock: the computer's, and how far a dev chain is ahead of it.
    pub fn now_ms(&self, clock: &impl Clock) -> u64 {
        self.clock.now_ms(clock).saturating_add_signed(self.pace.clock_ahead_ms())
    }

    /// Waits until the block's time is at most `consensus.clock_ahead` ahead of this node's clock (decision 121).
    pub async fn wait_until(&self, clock: &impl Clock, timestamp: TimestampMs) {
        let tolerance = self.params().consensus.clock_ahead;
        if !self.config.is_dev {
            self.clock.wait_until(clock, timestamp.0.saturating_sub(tolerance)).await;
        }
    }

    /// How much later than its parent a block may be, in ms, if it lies this number of heights above it (decision 121).
    pub fn gap_ms(&self, heights: u64) -> u64 {
        heights.saturating_mul(self.params().consensus.clock_gap)
    }

    /// Whether everything about the header that does not depend on execution follows the rules.
    pub fn is_sound(&self, block: &SealedBlock, parent: &SealedBlock) -> bool {
        self.is_sound_of_run(block, parent, false)
    }

    /// The same. `is_proven` says that [`Chain::proven`] found the seeds and the proposer's VRF to be right.
    pub(crate) fn is_sound_of_run(&self, block: &SealedBlock, parent: &SealedBlock, is_proven: bool) -> bool {
        let (header, before) = (block.header(), parent.header());
        let epoch = header.context.epoch.0;
        let Some(term) = self.committees.term(epoch).filter(|_| epoch == self.committees.epoch_of(header.number.0)) else { return false };
        let Some(member) = term.committee.member(&header.context.leader.0) else { return false };
        let skipped = header.skipped.0.checked_sub(before.skipped.0);
        let gap = self.gap_ms(skipped.unwrap_or(0).saturating_add(1));
        let is_in_time = before.number.0 == 0 || header.timestamp_ms.0 <= before.timestamp_ms.0.saturating_add(gap);
        // Which version it must be, execution tells: the state has the schedule.
        self.config.versions.rules(header.version).is_some()
            && header.genesis == self.config.genesis
            && header.parent == parent.hash()
            && header.context.parent == parent.hash()
            && before.number.0.checked_add(1) == Some(header.number.0)
            && skipped.is_some_and(|skipped| skipped == 0 || self.config.is_dev)
            && header.extension.is_empty()
            && header.voters.len() <= term.committee.members().len().div_ceil(8)
            && header.timestamp_ms > before.timestamp_ms
            && is_in_time
            && header.signer() == Some(member.signer)
            && (is_proven || self.seeds.verify(header, &self.verifier) && member.verify_vrf(&vrf_of(header)))
            // Last, because it decodes points: by now the block is its leader's.
            && self.is_log_sound(block, &term)
    }

    /// Which of these headers have the right seeds and the right VRF of their proposer. All of them are verified together, and those before the first that is
    /// wrong count as right. One of which it is not known yet who signs it does not: it is verified by itself later.
    pub(crate) fn proven(&self, random: &mut impl CryptoRng, headers: &[&Header]) -> Vec<bool> {
        let namespace = Namespace::new(&self.namespace).seed;
        // Points are decoded and messages are hashed on all cores: that takes longer than the check.
        let signed: Vec<Option<Vec<Signed>>> = headers.par_iter().map(|header| self.signed_in(header, &namespace)).collect();
        let known: Vec<(usize, &[Signed])> =
            signed.iter().enumerate().filter_map(|(place, signed)| Some((place, signed.as_deref()?))).collect();
        let hold = |some: &[(usize, &[Signed])]| pairings::hold(&mut *random, some.iter().flat_map(|(_, signed)| signed.iter()));
        let wrong = first_wrong(&known, hold).unwrap_or(known.len());
        let mut proven = vec![false; headers.len()];
        known[..wrong].iter().for_each(|(place, _)| proven[*place] = true);
        proven
    }

    /// The signatures in a header that are verified with pairings: the VRF, and the seeds that this node has not seen itself. `None` where it is not known yet
    /// who signs, or they cannot be right.
    fn signed_in(&self, header: &Header, namespace: &[u8]) -> Option<Vec<Signed>> {
        let epoch = header.context.epoch.0;
        let term = self.committees.term(epoch)?;
        let vrf = term.committee.member(&header.context.leader.0)?.signed_vrf(epoch, &vrf_of(header))?;
        let group = (Signer::Group, *self.verifier.identity());
        let seeds = self.seeds.unseen(header)?.into_iter();
        let seeds = seeds.map(|(round, seed)| Some(Signed::new(group, namespace, &round.encode(), signature_of(&seed)?)));
        seeds.chain([Some(vrf)]).collect()
    }

    /// Whether the leader that a header names is the one that was drawn for its round. `None` where it is not known yet who signs in its epoch.
    pub(crate) fn is_leader_drawn(&self, header: &Header) -> Option<bool> {
        let term = self.committees.begun(header.context.epoch.0)?;
        let Ok(seed) = self.seeds.draw(header, &self.verifier) else { return Some(false) };
        let leader = term.leader(seed.as_ref().map(|seed| seed.0.as_slice()));
        Some(term.committee.members().get(leader).is_some_and(|member| member.network.as_ref() == header.context.leader.0))
    }

    /// Takes note of a header that is signed by its leader, to see two of one round.
    pub(crate) fn note_header(&self, header: &Header) {
        let Some(term) = self.committees.term(header.context.epoch.0) else { return };
        if let Some(leader) = term.committee.member(&header.context.leader.0) {
            self.faults.header(leader, header);
        }
    }

    /// Takes note of a final block's header: who voted before it, and that it is signed by its leader.
    pub(crate) fn note_final(&self, header: &Header) {
        let Some(term) = self.committees.term(header.context.epoch.0) else { return };
        let params = self.params();
        self.note_header(header);
        self.faults.finalized(header, &term.committee, params.consensus.downtime_window, params.consensus.downtime_share);
    }

    /// Takes note of a proposal that breaks a rule. One of a version that this build does not know may be valid.
    pub(crate) fn note_invalid(&self, header: &Header) {
        let Some(term) = self.committees.term(header.context.epoch.0) else { return };
        if let Some(leader) =
            term.committee.member(&header.context.leader.0).filter(|_| self.config.versions.rules(header.version).is_some())
        {
            self.faults.invalid(leader, header);
        }
    }

    /// Whether the payload is one, and a dealer's log in it is one of the block's epoch: nobody pays for its bytes.
    fn is_log_sound(&self, block: &SealedBlock, term: &Term) -> bool {
        match (block.payload(), &block.block().reshare) {
            (Some(Payload::DealerLog(log)), Some(bytes)) => dealer_logs::is_log_of(&term.info, &self.namespace, &log, bytes.len() - 1),
            (None, Some(_)) => false,
            _ => true,
        }
    }

    /// The input for execution of a block with this payload. `None` where the header or the payload is of no epoch of this chain.
    pub fn input(&self, header: &Header, payload: Option<&Payload>, mode: Mode) -> Option<BlockInput> {
        let next_epoch = match payload {
            Some(Payload::EpochInfo(info)) => Some(Term::new(info.clone())?.next_epoch()),
            _ => None,
        };
        let term = self.committees.term(header.context.epoch.0)?;
        let member = term.committee.member(&header.context.leader.0)?;
        let first = header.context.view.0.saturating_sub(u64::try_from(header.seeds.len()).ok()?);
        let seeds = (first..).zip(header.seeds.iter()).map(|(view, seed)| RoundSeed { epoch: header.context.epoch.0, view, seed: *seed });
        Some(BlockInput {
            mode,
            chain: self.config.clone(),
            version: None,
            height: header.height(),
            timestamp: header.timestamp_ms,
            beacon: beacon(&header.context, &header.parent, &header.seeds).into(),
            seeds: seeds.collect(),
            round: (header.context.epoch.0, header.context.view.0),
            order_key: keccak256(&[&header.proposer_vrf.0]),
            proposer: member.paid,
            next_epoch,
            images: self.images.clone(),
        })
    }

    /// The block's transactions with their signatures checked, or `None` where one does not hold.
    ///
    /// What waits in the mempool was checked when it came; the rest is checked on all cores.
    pub fn signed(&self, block: &SealedBlock, finality: Finality) -> Option<Vec<SignedTransaction>> {
        let transactions = &block.block().transactions;
        if finality == Finality::Finalized {
            return Some(transactions.iter().cloned().map(SignedTransaction::unchecked).collect());
        }
        // Where nothing waits, as in a node that catches up, no hash is needed to look for it.
        let waits = self.mempool.size().transactions > 0;
        let known = |transaction: &Transaction| {
            let known = waits.then(|| self.mempool.get(&transaction.digest())).flatten();
            known.filter(|known| known.transaction() == transaction)
        };
        transactions
            .par_iter()
            .map(|transaction| known(transaction).or_else(|| SignedTransaction::check(transaction.clone()).ok()))
            .collect()
    }
}

/// The proposer's VRF in a header.
fn vrf_of(header: &Header) -> ProposerVrf {
    let beacon = beacon(&header.context, &header.parent, &header.seeds);
    ProposerVrf { beacon, height: header.height().0, proof: header.proposer_vrf }
}

/// Puts into the header what execution decided.
pub fn complete(header: &mut Header, outcome: &Outcome) {
    header.version = outcome.version;
    header.base_fee_cycle = outcome.base_fees.cycle;
    header.base_fee_cell = outcome.base_fees.cell;
    header.usage = outcome.usage.clone();
    header.tx_root = outcome.tx_root;
    header.receipt_root = outcome.receipt_root;
}

/// Puts into the header the roots of the state after the block.
pub fn commit<E: Context + Spawner>(header: &mut Header, merkleized: &Merkleized<E>) {
    header.state_root = state::hash(merkleized.root());
    header.ops_root = state::hash(merkleized.ops_root());
    header.ops_start = Count(merkleized.sync_boundary().as_u64());
    header.ops_end = Count(merkleized.bounds().tip.size.as_u64());
}
