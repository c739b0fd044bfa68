//! Signatures of transactions in a run of blocks, checked while the blocks before them are executed.

use crate::{block::SealedBlock, chain::Chain};
use commonware_glue::stateful::Finality;
use cowboy_chain::SignedTransaction;
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    thread,
};
use tokio::sync::oneshot;

/// How many blocks are checked at a time: more than there are cores, and few enough that a run of the largest blocks fills no memory with what was found.
const AHEAD: usize = 16;

/// The checks of the next blocks of a run.
#[derive(Debug, Default)]
pub(crate) struct Ahead(VecDeque<Checking>);

impl Ahead {
    /// Answers the check of the first of the blocks that are left of the run, and begins those of the next ones. `None` where no block is left.
    pub(crate) fn check_next<'a>(&mut self, chain: &Arc<Chain>, left: impl Iterator<Item = &'a SealedBlock>) -> Option<Checking> {
        let begun = self.0.len();
        self.0.extend(left.take(AHEAD).skip(begun).map(|block| Checking::begin(chain, block)));
        self.0.pop_front()
    }
}

/// The transactions of a block whose signatures are being checked, on all cores.
#[derive(Debug)]
pub(crate) struct Checking(Option<oneshot::Receiver<thread::Result<Option<Vec<SignedTransaction>>>>>);

impl Checking {
    /// Begins with a block. Blocks are checked in the order in which they are given, and those that nobody waits for any more are left out.
    ///
    /// The deterministic runtime has one thread: there a block is checked when its transactions are asked for.
    pub(crate) fn begin(chain: &Arc<Chain>, block: &SealedBlock) -> Self {
        if block.block().transactions.is_empty() || tokio::runtime::Handle::try_current().is_err() {
            return Self(None);
        }
        let (chain, block) = (chain.clone(), block.clone());
        Self(Some(in_pool(move || chain.signed(&block, Finality::Candidate))))
    }

    /// The transactions, or `None` where a signature does not hold.
    pub(crate) async fn ended(self, chain: &Chain, block: &SealedBlock) -> Option<Vec<SignedTransaction>> {
        match self.0 {
            Some(checked) => answered(checked).await,
            None => chain.signed(block, Finality::Candidate),
        }
    }
}

/// Does some work on all cores, unless nobody waits for it any more when its turn comes.
fn in_pool<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<thread::Result<T>> {
    let (answer, answered) = oneshot::channel();
    rayon::spawn_fifo(move || {
        if !answer.is_closed() {
            // A panic in the pool would abort the process. An answer that nobody waits for any more is dropped.
            let _ = answer.send(catch_unwind(AssertUnwindSafe(work)));
        }
    });
    answered
}

/// What comes of such work. A panic is passed on, so that the node ends and says what happened.
async fn answered<T>(answer: oneshot::Receiver<thread::Result<T>>) -> T {
    answer.await.expect("whoever waits is answered").unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::tests::{chain, transaction};
    use commonware_consensus::CertifiableBlock as _;
    use cowboy_types::{Address, Amount, Instruction, List, System, signing::PrivateKey};

    /// What comes of a block is the same in whatever thread it is checked, and of many at once each has its own answer.
    #[tokio::test]
    async fn each_block_has_its_own_answer() {
        let chain = chain(None);
        let key = PrivateKey::from_bytes([7; 32]).expect("a key");
        let payment = |amount| {
            let transfer = System::Transfer { to: Address([9; 20]), amount: Amount(amount) };
            let mut transaction = transaction(&chain, 0, Instruction::System(transfer), 21_000).transaction().clone();
            transaction.from = key.address();
            key.sign_transaction(&mut transaction);
            transaction
        };
        let block = |number: u64| {
            let mut transactions: Vec<_> = (0..number).map(payment).collect();
            if number % 3 == 2 {
                // The signature of another one.
                transactions[0].signature = transactions[1].signature;
            }
            let mut block = chain.genesis.block().clone();
            block.transactions = List::new(transactions).expect("few");
            SealedBlock::new(block, chain.genesis.context())
        };
        let blocks: Vec<SealedBlock> = (0..12).map(block).collect();
        let checks: Vec<Checking> = blocks.iter().map(|block| Checking::begin(&chain, block)).collect();
        for (number, (checking, block)) in checks.into_iter().zip(&blocks).enumerate() {
            let found = checking.ended(&chain, block).await.map(|signed| signed.len());
            assert_eq!(found, (number % 3 != 2).then_some(number), "block {number}");
            assert_eq!(Checking(None).ended(&chain, block).await.map(|signed| signed.len()), found, "block {number}");
        }
    }

    /// However many blocks a run has, few are checked at a time, and each once.
    #[test]
    fn few_blocks_are_checked_ahead() {
        let chain = chain(None);
        let blocks = vec![SealedBlock::new(chain.genesis.block().clone(), chain.genesis.context()); 2 * AHEAD];
        let mut ahead = Ahead::default();
        for first in 0..blocks.len() {
            assert!(ahead.check_next(&chain, blocks[first..].iter()).is_some());
            assert_eq!(ahead.0.len(), AHEAD.min(blocks.len() - first) - 1);
        }
        assert!(ahead.check_next(&chain, std::iter::empty()).is_none());
    }

    /// A panic of a check ends whoever waits for it, with what it said, and not the process.
    #[tokio::test]
    #[should_panic(expected = "a defect")]
    async fn a_panic_of_a_check_is_passed_on() {
        answered(in_pool(|| -> u8 { panic!("a defect") })).await;
    }
}
