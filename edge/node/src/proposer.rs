//! Waits for the right moment, then lets the state machine build.

use crate::{
    application::Machine,
    block::{ConsensusContext, SealedBlock},
    chain::Chain,
    epoch, failing,
    pace::Advice,
    seeds::Scheme,
};
use commonware_consensus::{Application, marshal::ancestry::Ancestry};
use commonware_cryptography::Digested;
use commonware_glue::stateful;
use commonware_runtime::{Clock, Spawner};
use commonware_storage::Context;
use futures::{StreamExt as _, future::Either, pin_mut};
use std::{sync::Arc, time::Duration};

/// After how long a block that is not final yet will not be without another one. Far longer than any disk takes.
const LIMBO: Duration = Duration::from_secs(3);

/// The state machine behind the wait for its turn. Clones share it.
pub struct Proposer<E: Spawner + Clock + Context> {
    machine: stateful::Mailbox<E, Machine>,
    chain: Arc<Chain>,
}

impl<E: Spawner + Clock + Context> Proposer<E> {
    /// A proposer in front of this state machine.
    pub fn new(machine: stateful::Mailbox<E, Machine>, chain: Arc<Chain>) -> Self {
        Self { machine, chain }
    }

    async fn wait_for_turn(&self, clock: &E, parent: &SealedBlock) {
        let limbo = self.wait_for_limbo(clock, parent);
        let turn = self.wait_for_advice(clock, parent);
        pin_mut!(limbo, turn);
        // Whichever comes first.
        let _ = futures::future::select(limbo, turn).await;
    }

    /// Waits until it is clear that nothing but another block will make the parent final.
    ///
    /// A lone validator that was stopped between its two votes for a block does not vote for it again. Who waits for that
    /// block to be final, as somebody who mines one does, would wait for ever.
    async fn wait_for_limbo(&self, clock: &E, parent: &SealedBlock) {
        let is_alone = self.chain.validators() == 1;
        clock.sleep(LIMBO).await;
        if !is_alone || parent.header().number.0 <= self.chain.head.borrow().number {
            futures::future::pending().await
        }
    }

    async fn wait_for_advice(&self, clock: &E, parent: &SealedBlock) {
        let header = parent.header();
        loop {
            let changed = self.chain.pace.changed();
            match self.chain.pace.advise(header, self.chain.has_work_on(parent)) {
                Advice::Now => return,
                Advice::Wait => changed.await,
                Advice::At(ms) => {
                    let machine_ms = ms.saturating_add_signed(self.chain.pace.clock_ahead_ms().saturating_neg());
                    let time = self.chain.clock.wait_until(clock, machine_ms);
                    pin_mut!(changed, time);
                    if let Either::Right(_) = futures::future::select(changed, time).await {
                        return;
                    }
                }
            }
        }
    }
}

impl Chain {
    /// Whether a block on this parent is to be proposed because there is work. Where blocks have a rhythm nothing is asked of the mempool (decision 769): with each
    /// transaction that comes all queues would be looked through, of which those that wait for a nonce have no work.
    fn has_work_on(&self, parent: &SealedBlock) -> bool {
        self.pace.gap().is_none() && (self.carry(parent).has_work || self.mempool.has_work())
    }
}

/// Counts a block that is being built, for as long as it lives: a build may be cancelled.
struct Building(Arc<Chain>);

impl Building {
    fn new(chain: &Arc<Chain>) -> Self {
        chain.building.send_modify(|building| *building += 1);
        Self(chain.clone())
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        self.0.building.send_modify(|building| *building -= 1);
    }
}

impl<E: Spawner + Clock + Context> Clone for Proposer<E> {
    fn clone(&self) -> Self {
        Self { machine: self.machine.clone(), chain: self.chain.clone() }
    }
}

impl<E: Spawner + Clock + Context> Application<E> for Proposer<E> {
    type SigningScheme = Scheme;
    type Context = ConsensusContext;
    type Block = SealedBlock;
    type Input = epoch::Input;

    async fn propose(
        &mut self,
        (runtime, context): (E, ConsensusContext),
        ancestry: impl Ancestry<SealedBlock>,
        mut input: epoch::Input,
    ) -> Option<Digested<SealedBlock>> {
        let mut look = ancestry.clone();
        let parent = look.next().await?.inner().clone();
        if self.chain.validators() == 1 {
            failing::assert_goes_on(parent.header().number.0, self.chain.head.borrow().number);
        }
        self.chain.asked.send_replace(true);
        self.wait_for_turn(&runtime, &parent).await;
        let _building = Building::new(&self.chain);
        if input.payload.is_none() {
            let mut blocks = vec![parent];
            while blocks.last().is_some_and(|block| block.header().number.0 > self.chain.head.borrow().number.saturating_add(1)) {
                let Some(block) = look.next().await else { break };
                blocks.push(block.inner().clone());
            }
            input.payload = self.chain.next_log(&blocks);
        }
        self.machine.propose((runtime, context), ancestry, input).await
    }

    async fn verify(&mut self, context: (E, ConsensusContext), ancestry: impl Ancestry<SealedBlock>) -> bool {
        self.machine.verify(context, ancestry).await
    }
}

#[cfg(test)]
mod tests {
    use crate::{execute::tests::chain, pace::BlockTime};

    /// Decision 769: only a chain without a rhythm looks for work.
    #[test]
    fn a_steady_chain_looks_for_no_work() {
        let chain = chain(None);
        assert!(chain.carry(&chain.genesis).has_work, "genesis is yet to be written");
        assert!(!chain.has_work_on(&chain.genesis));
        chain.pace.set_block_time(BlockTime::Instant);
        assert!(chain.has_work_on(&chain.genesis));
    }
}
